package analytics

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it anew:\n%s", file, diff)
	}
}

// story is a pull request's log as it is made.
type story struct {
	base learning.Entry
	log  []learning.Entry
	last *learning.Review
}

func tell(repository string, number int) *story {
	return &story{base: learning.Entry{Repository: repository, Number: number, At: begin.Add(time.Duration(number) * 24 * time.Hour)}}
}

func (s *story) add(kind learning.Kind, event string, fill func(*learning.Entry)) *story {
	s.base.At = s.base.At.Add(90 * time.Minute)
	e := s.base
	e.Kind, e.Event = kind, event
	if fill != nil {
		fill(&e)
	}
	s.log = append(s.log, e)
	return s
}

// review adds a review of a new head.
func (s *story) review(decision pipeline.Decision, fill func(*learning.Review), findings ...learning.Finding) *story {
	n := len(s.log) + 1
	r := &learning.Review{
		HeadSHA: fmt.Sprintf("head%d", n), BaseRef: "main", BaseSHA: "base", ConfigVersion: "config", Version: "1.0.0", Iteration: n,
		Services: pipeline.List[string]{"cart"}, Decision: decision, Condition: "critical > 0", DurationMS: 1500, Findings: findings,
	}
	if s.last != nil && s.last.Decision.Blocks() {
		r.FixIterations = s.last.FixIterations + 1
	}
	if fill != nil {
		fill(r)
	}
	s.last = r
	return s.add(learning.KindReview, fmt.Sprintf("run%d-%d", s.base.Number, n), func(e *learning.Entry) { e.Review = r })
}

func (s *story) judged(finding string, verdict learning.Judgement, class learning.DismissalClass, person string) *story {
	return s.add(learning.KindJudged, fmt.Sprint("comment", len(s.log)), func(e *learning.Entry) {
		e.Judged = &learning.Judged{Findings: pipeline.List[string]{finding}, Verdict: verdict, Class: class, Person: person}
	})
}

func (s *story) decided(action learning.Action) *story {
	return s.add(learning.KindDecided, fmt.Sprint("comment", len(s.log)), func(e *learning.Entry) {
		e.Decided = &learning.Decided{Action: action, HeadSHA: s.last.HeadSHA, BaseRef: "main", Person: "lead"}
	})
}

func (s *story) end(kind learning.Kind) *story { return s.add(kind, string(kind), nil) }

// found is a finding of models, or of a rule without any.
func found(id, agent, rule string, severity pipeline.Severity, status learning.Status, models ...learning.Stated) learning.Finding {
	f := learning.Finding{
		ID: id, Agent: agent, Rule: rule, Models: models, Severity: severity, Gate: severity, Category: "error-handling", Path: "cart/total.go", First: 5, Last: 6,
		Services: pipeline.List[string]{"cart"}, Status: status,
	}
	if len(models) > 0 {
		f.Stage, f.Prompt = "spec", "9f86d081884c7d65"
	}
	return f
}

// asks sets what two models said in the stage spec.
func asks(auto pipeline.AutoDecision, weak, strong pipeline.Verdict, agreed, weakOnly, strongOnly int) func(*learning.Review) {
	return func(r *learning.Review) {
		r.Strategy, r.Confidence, r.AutoDecision = "parallel", 0.9, auto
		r.Stages = pipeline.List[learning.Stage]{{
			Stage: "spec", Models: pipeline.List[learning.Verdict]{{Model: "haiku", Verdict: weak}, {Model: "sonnet", Verdict: strong}}, Agreed: agreed,
			Only: pipeline.List[learning.OnlyOne]{{Model: "haiku", Count: weakOnly}, {Model: "sonnet", Count: strongOnly}},
		}}
		for i, m := range []string{"haiku", "sonnet"} {
			r.Use = append(r.Use, learning.Use{Agent: "spec-reviewer", Model: m, Input: 1000, Output: 100, Cost: 0.002 * float64(1+4*i)})
			r.Asked = append(r.Asked, learning.Asked{Agent: "spec-reviewer", Model: m, Stage: "spec", Checklist: "c1", Lines: pipeline.List[learning.Lines]{{Path: "cart/total.go", First: 1, Last: 9}}})
		}
	}
}

// tenPulls are pull requests whose numbers can be counted by hand.
func tenPulls() (logs [][]learning.Entry) {
	const critical, major, warning, info = pipeline.SeverityCritical, pipeline.SeverityMajor, pipeline.SeverityWarning, pipeline.SeverityInfo
	const open, fixed = learning.StatusOpen, learning.StatusFixed
	haiku, sonnet := learning.Stated{Model: "haiku", Confidence: 0.6}, learning.Stated{Model: "sonnet", Confidence: 0.95}
	spec := func(id string, s pipeline.Severity, status learning.Status, models ...learning.Stated) learning.Finding {
		return found(id, "spec-reviewer", "", s, status, models...)
	}
	rule := func(id, rule string, s pipeline.Severity, status learning.Status) learning.Finding {
		return found(id, "security-reviewer", rule, s, status)
	}
	hostile := rule("h1", "=1+1|@alice", warning, open)
	hostile.Category, hostile.Services = "<b>bold</b> |", pipeline.List[string]{"-2+3\x1b[31m"}
	hostileModel := func(r *learning.Review) {
		asks(pipeline.AutoApproveWithNotes, "PASS", "UNKNOWN", 0, 0, 0)(r)
		r.Stages[0].Models[1].Model, r.Stages[0].Only[1].Model, r.Services = "Haiku", "Haiku", hostile.Services
	}
	for _, s := range []*story{
		tell("acme/shop", 1). // fails, is fixed, passes
					review("fail", asks("auto_reject", "FAIL", "FAIL", 1, 0, 2), spec("f1", critical, open, haiku, sonnet), spec("f2", major, open, sonnet), spec("f3", warning, open, sonnet)).
					review("pass", asks("auto_approve", "PASS", "PASS", 0, 0, 0), spec("f1", critical, fixed, haiku, sonnet), spec("f2", major, fixed, sonnet), spec("f3", warning, fixed, sonnet)).
					end(learning.KindMerged),
		tell("acme/shop", 2). // passes at once
					review("pass", asks("auto_approve", "PASS", "PASS", 0, 0, 0)).end(learning.KindMerged),
		tell("acme/shop", 3). // a false positive
					review("needs_fixes", asks("human", "FAIL", "PASS", 0, 1, 0), spec("f1", major, open, haiku)).judged("f1", learning.Dismissed, learning.FalsePositive, "p").
					review("pass", asks("auto_approve", "PASS", "PASS", 0, 0, 0), spec("f1", major, open, haiku)).end(learning.KindMerged),
		tell("acme/shop", 4). // merged by an override
					review("fail", nil, rule("f1", "sec-sql-01", critical, open), rule("f2", "sec-log-01", warning, open)).decided(learning.Overrode).end(learning.KindMerged),
		tell("acme/shop", 5). // closed
					review("fail", nil, rule("f1", "sec-sql-01", critical, open)).end(learning.KindClosed),
		tell("acme/shop", 6). // merged with a warning, and another one that is accepted
					review("pass_with_warnings", nil, rule("f1", "sec-log-01", warning, open), rule("f2", "sec-log-01", info, open)).
					judged("f2", learning.Accepted, "", "q").end(learning.KindMerged),
		tell("acme/shop", 7). // a person disagrees
					review("pass", asks("auto_approve", "PASS", "PASS", 0, 0, 0)).decided(learning.Rejected),
		tell("acme/shop", 8). // takes three attempts; dismissals of all classes
					review("needs_fixes", nil, rule("f1", "sec-sql-01", critical, open), rule("f2", "sec-log-01", warning, open), rule("f3", "sec-log-01", warning, open), rule("f4", "sec-log-01", warning, open)).
					judged("f2", learning.Dismissed, learning.WontFix, "p").judged("f3", learning.Dismissed, learning.Duplicate, "p").judged("f4", learning.Dismissed, learning.Other, "q").
					review("needs_fixes", nil).review("needs_fixes", nil).review("pass", nil, rule("f1", "sec-sql-01", critical, fixed)).end(learning.KindMerged),
		tell("acme/web", 9).review("pass_with_warnings", hostileModel, hostile),
		tell("acme/web", 10). // gone, and never shown; a person approves the first head on GitHub
					review("needs_fixes", nil, rule("f1", "sec-sql-01", critical, open), rule("f2", "sec-log-01", warning, open), spec("f3", major, open, haiku), rule("f4", "sec-log-01", warning, learning.StatusUnshown)).
					decided(learning.Approved).
					review("pass", nil, rule("f1", "sec-sql-01", critical, learning.StatusWithdrawn), rule("f2", "sec-log-01", warning, learning.StatusObsolete), spec("f3", major, learning.StatusNotRaised, haiku)),
	} {
		logs = append(logs, s.log)
	}
	return logs
}

func summarised(t *testing.T, logs [][]learning.Entry, o Options) *Summary {
	t.Helper()
	s, err := Summarise(t.Context(), each(logs), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func csvOf(t *testing.T, s *Summary) string {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func seedOf(t *testing.T, logs [][]learning.Entry, o Options) string {
	t.Helper()
	var b bytes.Buffer
	describe := func(_ context.Context, run, finding string) (string, bool) {
		return "Bug count mismatch: 3 vs 4", run == "run1-1" && finding == "f1"
	}
	if err := Seed3(t.Context(), &b, each(logs), summarised(t, logs, o), describe); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestForms(t *testing.T) {
	t.Parallel()
	logs := tenPulls()
	s := summarised(t, logs, Options{Since: begin})
	golden(t, "ten.txt", Text(s))
	golden(t, "ten.md", Markdown(s))
	js, err := render.Indented(s)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "ten.json", string(js))
	golden(t, "ten-seed3.json", seedOf(t, logs, Options{Since: begin}))
	var log bytes.Buffer
	if n, err := Log(t.Context(), &log, each(logs), begin.Add(9*24*time.Hour)); err != nil || n != 4 {
		t.Errorf("%d entries, %v", n, err)
	}
	golden(t, "ten.jsonl", log.String())
	log.Reset()
	if n, err := Log(t.Context(), &log, each(logs), time.Time{}); err != nil || n != 31 || strings.Count(log.String(), `"person":""`) != 8 || strings.Count(log.String(), `"person":`) != 8 {
		t.Errorf("all %d entries, %v", n, err)
	}
	if logs[2][1].Judged.Person != "p" {
		t.Error("the log itself was changed")
	}
	for _, by := range Tables() {
		s := summarised(t, logs, Options{By: by})
		golden(t, "ten-"+string(by)+".csv", csvOf(t, s))
	}
	golden(t, "ten-model.md", Markdown(summarised(t, logs, Options{By: ByModel})))

	many := drawLogs(3, 400)
	found := []ports.RepositoryProbation{
		{Repository: "acme/shop", Probation: ports.Probation{Kind: ports.ProbationRule, ID: "R1", Judged: 25, People: 4, Precision: 0.12, High: 0.3, Since: begin}},
		{Repository: "acme/web", Probation: ports.Probation{Kind: ports.ProbationAgent, ID: "@alice\x1b[31m|<b>", Judged: 40, People: 3, Precision: 0, High: 0.09, Since: begin}},
	}
	s = summarised(t, many, Options{Probation: found})
	golden(t, "many.txt", Text(s))
	if md := Markdown(s); !strings.Contains(md, "### Candidates for probation\n\n- The rule R1 of acme/shop was right in 3 of 25 pull requests") || strings.Contains(md, "@alice") || strings.Contains(md, "<b>") {
		t.Errorf("candidates in markdown: %s", md[:1500])
	}
	found = slices.Repeat(found, 20)
	if text := Text(summarised(t, nil, Options{Probation: found})); !strings.Contains(text, "  - and 20 more: --format json has all\n") {
		t.Errorf("many candidates: %s", text)
	}
	if text := Text(summarised(t, nil, Options{Probation: found, By: ByRule})); strings.Contains(text, "robation") {
		t.Errorf("a table alone has candidates: %s", text)
	}
	for _, by := range []By{ByModel, ByWeek, ByService} {
		golden(t, "many-"+string(by)+".txt", Text(summarised(t, many, Options{By: by})))
	}
}

// The text is at most 100 columns wide and has no control characters.
func TestTextIsNarrow(t *testing.T) {
	t.Parallel()
	long := tenPulls()
	for i := range long {
		for j := range long[i] {
			if r := long[i][j].Review; r != nil {
				for k := range r.Findings {
					r.Findings[k].Rule = strings.Repeat("long-", 40) + "\x1b[31m\n" + r.Findings[k].Rule
				}
			}
		}
	}
	many := slicesRepeat(long, 5000)
	for _, by := range append(Tables(), "") {
		for _, logs := range [][][]learning.Entry{long, drawLogs(1, 300), many} {
			for _, line := range strings.Split(Text(summarised(t, logs, Options{By: by})), "\n") {
				if n := utf8.RuneCountInString(line); n > 100 || strings.ContainsAny(line, "\x1b\r") {
					t.Errorf("by %q: %d columns: %q", by, n, line)
				}
			}
		}
	}
}

// slicesRepeat returns n of the logs, over and over.
func slicesRepeat(logs [][]learning.Entry, n int) (out [][]learning.Entry) {
	for i := range n {
		out = append(out, logs[i%len(logs)])
	}
	return out
}

// No cell of a spreadsheet is a formula, and the cells come back as they were written.
func TestCSVIsHarmless(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=x": "'=x", "\rx": "x", "a\nb": "a b", "\x1b[31m": "[31m", `a"b,c`: `a"b,c`, "plain": "plain",
	} {
		s := tell("acme/shop", 1).review("fail", nil, found("f1", name, name, pipeline.SeverityMajor, learning.StatusOpen))
		out := csvOf(t, summarised(t, [][]learning.Entry{s.log}, Options{By: ByRule}))
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%q: %d rows, %v", name, len(rows), err)
		}
		if rows[1][1] != want || rows[1][2] != want {
			t.Errorf("%q is written as %q", name, rows[1][:3])
		}
	}
	if err := CSV(&bytes.Buffer{}, summarised(t, nil, Options{})); err == nil {
		t.Error("several tables were written as one")
	}
}

// Names stay in their cells, and nothing in them is active.
func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a|b", "@alice", "`x` | y", "<b>x</b>", "[a](https://b.c)", "x\n| y", "#12", "](("} {
		f := found("f1", name, name, pipeline.SeverityMajor, learning.StatusOpen, learning.Stated{Model: name, Confidence: 0.5})
		f.Category, f.Services, f.Prompt = name, pipeline.List[string]{name}, name
		var logs [][]learning.Entry
		for i := range 30 {
			s := tell(name, i).review("fail", func(r *learning.Review) { r.Services = f.Services }, f)
			for _, person := range []string{"p", "q", "r"} {
				s.judged("f1", learning.Dismissed, learning.FalsePositive, fmt.Sprint(person, i))
			}
			logs = append(logs, s.log)
		}
		for _, by := range append(Tables(), "") {
			md := Markdown(summarised(t, logs, Options{By: by}))
			cells := 0
			for _, line := range strings.Split(md, "\n") {
				if !strings.HasPrefix(line, "|") {
					cells = 0
					continue
				}
				n := strings.Count(line, "|") - strings.Count(line, `\|`)
				if cells != 0 && n != cells {
					t.Errorf("%q breaks a table by %q: %s", name, by, line)
				}
				cells = n
			}
			for _, active := range []string{"@alice", "<b>", "](https"} {
				if i := strings.Index(md, active); i >= 0 && !strings.Contains(md[:i], "`") {
					t.Errorf("%q is active by %q:\n%s", name, by, md)
				}
			}
			if strings.Contains(md, "@alice") {
				t.Errorf("a mention by %q:\n%s", by, md)
			}
		}
	}
}

// Keys of different models differ, and none is that of another field.
func TestSeedKeys(t *testing.T) {
	t.Parallel()
	x := seed3{keys: map[string]string{}, taken: map[string]bool{"final": true}}
	for model, want := range map[string]string{"haiku": "haiku", "claude-Haiku-4.5": "claude_haiku_4_5", "final": "final_2", "": "model", "é": "_"} {
		if got := x.key(model); got != want {
			t.Errorf("%q: %s, want %s", model, got, want)
		}
	}
	if a, b := x.key("Haiku"), x.key("HAIKU"); a != "haiku_2" || b != "haiku_3" || x.key("Haiku") != a {
		t.Errorf("%s and %s", a, b)
	}
}

// A summary counts the entries, and every field of the seed's example is there.
func TestSeedHasTheExamplesFields(t *testing.T) {
	t.Parallel()
	var got struct {
		Reviews []map[string]json.RawMessage
		Summary struct {
			Total    int `json:"total_reviews"`
			Approved int `json:"auto_approved"`
			Rejected int `json:"auto_rejected"`
			Human    int `json:"human_decided"`
		}
	}
	if err := json.Unmarshal([]byte(seedOf(t, tenPulls(), Options{})), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Summary
	if s.Total != len(got.Reviews) || s.Total != s.Approved+s.Rejected+s.Human {
		t.Errorf("%d entries, and a summary of %+v", len(got.Reviews), s)
	}
	for _, field := range strings.Fields(`date feature task service strategy models stage haiku_verdict sonnet_verdict agreed_count haiku_only_count
		sonnet_only_count contradiction_count confidence auto_decision human_override fix_iterations final_verdict findings`) {
		if got.Reviews[0][field] == nil {
			t.Errorf("the first entry has no %s", field)
		}
	}
	if empty := seedOf(t, nil, Options{}); !json.Valid([]byte(empty)) || !strings.Contains(empty, `"reviews": []`) {
		t.Errorf("without logs: %s", empty)
	}
}
