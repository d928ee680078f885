package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// sizedFindings draws findings of all severities in any order. Their texts are long, short,
// or long when escaped. Their titles number them.
func sizedFindings(t *rapid.T) []pipeline.Finding {
	n := rapid.SampledFrom([]int{0, 1, 3, 40, 300, sample.Size(1000, 2500), sample.Size(2500, 10_000)}).Draw(t, "findings")
	words := rapid.SampledFrom(append(costly, "", "Plain words. ", "<&amp;>`|@a")).Draw(t, "words")
	long := strings.Repeat(words, rapid.SampledFrom([]int{1, 10, 2000}).Draw(t, "repeated"))
	fix := rapid.SampledFrom([]string{"", "x", strings.Repeat("fix ` ```\n", 30)}).Draw(t, "fix")
	path := rapid.SampledFrom([]string{"pricing/total.ts", strings.Repeat("d@`|/", 800)}).Draw(t, "path")
	seed := rapid.IntRange(0, 1<<20).Draw(t, "seed")
	out := make([]pipeline.Finding, n)
	for i := range out {
		out[i] = pipeline.Finding{
			Title: fmt.Sprintf("F%05d %s", i, long), Severity: pipeline.Severities()[(i*7+seed*(i%5))%4],
			Path: path, StartLine: 42, EndLine: 42, Message: long, WhyItMatters: "w " + long, Recommendation: "r " + long,
			Evidence: pipeline.List[string]{long, long}, SuggestedFix: fix, Agent: fmt.Sprintf("agent-%d", i%3), RuleID: "rule",
		}
	}
	return out
}

var (
	titled = regexp.MustCompile(`F[0-9]{5}`)
	hidden = regexp.MustCompile(`…and ([0-9,]+) more \((.*?)\) that.*`)
)

// shownTitles returns the numbers of the findings in a text, in order.
func shownTitles(text string) []int {
	var out []int
	for _, m := range titled.FindAllString(text, -1) {
		if n := number(m[1:]); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// costly are texts that become much longer when escaped.
var costly = []string{"<@`é", "<", "<\n", "&#", "@a", "`", "`a`", "$ ", "~", "\U0010fffe", "\U000e0041", "\u202e", "😀", "\xff", "a\u0301\u0301", "日本", "|", "1. ", "a1b2c3d "}

// Every report fits, whether GitHub counts bytes, runes or UTF-16 units. It shows the worst
// findings and counts the others correctly.
func TestEveryReportFits(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := cleanView()
		fs := sizedFindings(t)
		setFindings(&v, pipeline.DecisionFail, "critical > 0", fs...)
		n := rapid.SampledFrom([]int{0, 1, 3, 40, sample.Size(100, 300)}).Draw(t, "items of each list")
		text := strings.Repeat(rapid.SampledFrom(costly).Draw(t, "text of the items"), rapid.SampledFrom([]int{1, 20, 2000}).Draw(t, "length"))
		fillLists(&v, n, text, rapid.SampledFrom([]string{"", "https://github.example/", longestDetails}).Draw(t, "details"))
		order := worstFirst(fs)
		comment, check := wholeComment(v), Check(v)
		bare := Comment(v).Body
		for name, text := range map[string]string{"comment": bare, "whole comment": comment, "summary": check.Summary, "text": check.Text} {
			if !utf8.ValidString(text) || len(text) > maxBody || utf8.RuneCountInString(text) > maxBody || len(utf16.Encode([]rune(text))) > maxBody {
				t.Fatalf("%s has %d bytes", name, len(text))
			}
		}
		forPeople, _, _ := strings.Cut(comment, machineStart)
		inCheck, _, _ := strings.Cut(check.Text, machineStart)
		for name, text := range map[string]string{"comment": bare, "whole comment": forPeople, "text": inCheck} {
			shown := shownTitles(text)
			if len(shown) > len(order) || !slices.Equal(shown, order[:len(shown)]) {
				t.Fatalf("%s does not show the worst findings first: %v", name, shown)
			}
			if len(fs) > 0 && len(shown) == 0 {
				t.Fatalf("%s shows no finding", name)
			}
			left := 0
			if m := hidden.FindStringSubmatch(text); m != nil {
				left = number(m[1])
				if n := len(cut(text, " **1 · ", m[0])); n < maxBody/5 {
					t.Fatalf("the findings take %d bytes of the %s, but %d are left out", n, name, left)
				}
				if name != "text" && v.Details != "" && !strings.Contains(m[0], "](https://") {
					t.Fatalf("no link to the findings left out: %s", m[0])
				}
			}
			if len(shown)+left != len(fs) {
				t.Fatalf("%s shows %d findings and leaves out %d of %d", name, len(shown), left, len(fs))
			}
		}
		if title := check.Title; len(title) > 255 || !utf8.ValidString(title) {
			t.Fatalf("title %q", title)
		}
		readBack(t, v, comment)
		checkCounts(t, v, comment)
		checkAnnotations(t, v, check)
	})
}

// machineStart begins the machine-readable section of a comment.
const machineStart = "<details><summary><b>Machine-readable report</b>"

type listInComment struct{ name, start, end, item string }

// listed holds the lists of a comment: where each begins and ends, and a text that each
// item has once.
var listed = []listInComment{
	{"problems", "> [!WARNING]", "\n\n", "\n> - "},
	{"missing", "> [!CAUTION]", "\n\n", "\n> - "},
	{"shared heads", "This head is also that of pull", "\n\n", "(passed)"},
	{"proposed config", "### Proposed config", "\n\n<", "\n- Rule "},
	{"reviewers of the session", "### Session", "\n\n- ", " | no answer | "},
	{"review reports", "### Review reports", "\n\n<details><summary><b>", "**Specification: blocked**"},
	{"resolved", "<b>Resolved</b>", "</details>", "\n- "},
	{"unconfirmed", "<b>Not confirmed</b>", "</details>", "\n- "},
	{"disagreements", "<b>Reviewers disagree</b>", "</details>", "\n- "},
	{"set aside", "<b>Set aside</b>", "</details>", "\n- "},
	{"coverage", "<b>Coverage</b>", "</details>", "\n- "},
	{"gaps", "<b>Gaps in the config</b>", "</details>", " looks like "},
}

// counts returns the texts that may precede the count of items left out.
func (l listInComment) counts() []string {
	if l.name == "review reports" { // its items have lists of their own
		return []string{""}
	}
	return []string{"", "- ", "> - "}
}

var leftOut = regexp.MustCompile(`…and ([0-9,]+) more`)

// checkCounts compares the lists of a comment with those of the report without a limit.
func checkCounts(t *rapid.T, v View, comment string) {
	v.Review.Report.Findings = slices.DeleteFunc(slices.Clone(v.Review.Report.Findings), func(f pipeline.Finding) bool { return f.Perspectives == nil })
	whole := Markdown(v)
	for _, l := range listed {
		part := cut(comment, l.start, l.end)
		shown, left := strings.Count(part, l.item), 0
		for _, line := range strings.Split(part, "\n") {
			// The line that counts the rest looks like an item, too. A count within
			// an item is about the item's own parts.
			if m := leftOut.FindStringSubmatchIndex(line); m != nil && (slices.Contains(l.counts(), line[:m[0]]) || l.name == "shared heads") {
				left = number(line[m[2]:m[3]])
				if l.item == "\n- " || l.item == "\n> - " {
					shown--
				}
				if v.Details != "" && !strings.Contains(line[m[0]:], "](https://") {
					t.Fatalf("no link to the items that %s leaves out: %s", l.name, line)
				}
			}
		}
		if all := strings.Count(cut(whole, l.start, l.end), l.item); shown+left != all {
			t.Fatalf("%s: %d shown, %d left out, of %d", l.name, shown, left, all)
		}
	}
}

func cut(s, start, end string) string {
	_, s, _ = strings.Cut(s, start)
	s, _, _ = strings.Cut(s, end)
	return s
}

func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		panic(err)
	}
	return n
}

var longestDetails = "https://github.example/" + strings.Repeat("x", maxDetails-23)

// The comment fits if every list leaves items out and links to the details page. Short
// texts leave the least room, because the most of them are shown.
func TestEveryLinkFits(t *testing.T) {
	for length, texts := range map[int][]string{1: sample.Of(t, 4, costly), 20: sample.Of(t, 1, costly)} {
		for _, text := range texts {
			v := cleanView()
			setFindings(&v, pipeline.DecisionFail, "critical > 0")
			fillLists(&v, 300, strings.Repeat(text, length), longestDetails)
			if comment, check := Comment(v).Body, Check(v); max(len(comment), len(check.Summary), len(check.Text)) > maxBody {
				t.Errorf("%d times %q: comment has %d bytes, summary %d, text %d", length, text, len(comment), len(check.Summary), len(check.Text))
			}
		}
	}
}

// fillLists fills the lists around the findings with n items each, and sets every single
// text.
func fillLists(v *View, n int, text, details string) {
	v.Notices = slices.Repeat([]string{text}, max(1, min(n, 20)))
	v.Review.Report.Gate.Condition, v.Record.RunID, v.Record.Version = text, text, text
	v.Review.Facts.Base.Ref, v.Review.Facts.Repository.DefaultBranch = text, text
	if n > 0 {
		v.Review.Report.Models = &pipeline.ModelsReport{Strategy: text, ConfidenceLabel: text, Verdicts: slices.Repeat(pipeline.List[pipeline.ModelVerdict]{{Model: text}}, n)}
	}
	v.Details = details
	session := &pipeline.SessionReport{
		Rule: 2, Cycle: 9, ResumedBy: text, Outdated: slices.Repeat(pipeline.List[pipeline.SessionReviewer]{{Reviewer: text, HeadSHA: text, Summary: text}}, n),
		Reviewers: slices.Repeat(pipeline.List[pipeline.SessionReviewer]{{Reviewer: text, State: pipeline.AskedMissing, Note: text}}, n),
		State: pipeline.SessionState{
			Escalation: &pipeline.SessionPause{Rule: 1, Reviewers: slices.Repeat(pipeline.List[string]{text}, n)},
			Pause:      &pipeline.SessionPause{Rule: 2, Reviewers: slices.Repeat(pipeline.List[string]{text}, n), Clarification: strings.Repeat(text+"\n", n)},
			Concerns:   slices.Repeat(pipeline.List[pipeline.SessionConcern]{{Reviewer: text, Summary: text}}, n),
		},
	}
	if n > 0 {
		v.Review.Report.Session, v.People = session, slices.Repeat([]string{text}, n)
	}
	for range n {
		r := &v.Review
		r.Report.Incomplete = append(r.Report.Incomplete, pipeline.Incompleteness{What: "patch", Path: text, Why: text, Gating: true},
			pipeline.Incompleteness{What: "commits", Path: text, Why: text})
		r.Report.Changes.Resolved = append(r.Report.Changes.Resolved, pipeline.Finding{Title: text, Severity: pipeline.SeverityInfo, Path: text})
		r.Report.Changes.Unconfirmed = append(r.Report.Changes.Unconfirmed, pipeline.Finding{Title: text, Severity: pipeline.SeverityInfo, Path: text, Agent: text})
		r.Report.Suppressed = append(r.Report.Suppressed, pipeline.Suppressed{Finding: pipeline.Finding{Title: text, Severity: pipeline.SeverityInfo, Path: text}, Reason: text})
		r.Report.ResidualConcerns = append(r.Report.ResidualConcerns, pipeline.SourcedText{Text: text, Source: text})
		r.Report.Findings = append(r.Report.Findings, pipeline.Finding{Title: text, Severity: pipeline.SeverityInfo, GateSeverity: pipeline.SeverityInfo, Path: text,
			Perspectives: slices.Repeat(pipeline.List[pipeline.Perspective]{{Agent: text, Model: text, Message: text, Recommendation: "r " + text}}, 9)})
		r.Report.ReviewReports = append(r.Report.ReviewReports, pipeline.ReviewReportOutcome{Place: text, Rationale: text, Readiness: pipeline.Readiness(text),
			QualityScores: pipeline.QualityScores{Grade: text}, ReviewPaths: slices.Repeat(pipeline.List[string]{text}, 20),
			Recommendations: slices.Repeat(pipeline.List[pipeline.Recommendation]{{Priority: text, Finding: text, Recommendation: "r " + text, Reviewer: text}}, 10),
			Errors:          slices.Repeat(pipeline.List[pipeline.ReviewReportError]{{Source: text, Error: text, Recovery: text}}, 20)})
		r.Report.GapLog = append(r.Report.GapLog, pipeline.GapLogEntry{Concern: text, Path: text, Line: 1, Quote: text, Missed: text,
			Suggestion: pipeline.ConfigPatch{File: text, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: text, Value: text}}}})
		r.Facts.Config.Problems = append(r.Facts.Config.Problems, pipeline.ConfigProblem{Layer: text, File: text, Problem: text, Remedy: text})
		r.Facts.Files = append(r.Facts.Files, pipeline.File{Path: text, Generated: true, GeneratedByPath: true})
		r.Manifest.Skipped = append(r.Manifest.Skipped, pipeline.SkippedAgent{Agent: text, Reason: text})
		r.Manifest.Entries = append(r.Manifest.Entries, pipeline.ManifestEntry{Agent: text, Policies: slices.Repeat(pipeline.List[pipeline.PolicyMatch]{{Policy: text, Trigger: text}}, 9)})
		r.Classification.Domains = append(r.Classification.Domains, pipeline.Domain{ID: text, Files: slices.Repeat(
			pipeline.List[pipeline.DomainFile]{{Path: text, Mappings: slices.Repeat(pipeline.List[string]{text}, 4)}}, 9)})
		proposed := &r.Report.ProposedConfig
		proposed.Files, proposed.Condition, proposed.Decision = append(proposed.Files, text), text, pipeline.DecisionFail
		proposed.Tests = &pipeline.PolicyTests{
			Cases: 9999, Failed: 9999, NotRun: 9999, ProblemsMore: 9999,
			Failures: slices.Repeat(pipeline.List[pipeline.TestFailure]{{Name: text, Why: text}}, 9),
			Problems: slices.Repeat(pipeline.List[pipeline.ConfigProblem]{{Layer: text, File: text, Pointer: text, Problem: text, Remedy: text}}, 9),
		}
		proposed.AgentsAdded, proposed.AgentsGone = append(proposed.AgentsAdded, text), append(proposed.AgentsGone, text)
		proposed.Changes = append(proposed.Changes, pipeline.ConfigChange{File: config.FileRules, ID: text, Change: text, Fields: slices.Repeat(pipeline.List[string]{text}, 12)})
		if v.Backtest == nil {
			v.Backtest = &pipeline.ConfigBacktest{Days: 90, Stored: 812, Reviews: 500, Changed: 14, Blocked: 5, Passing: 9, Unknown: 3, Why: pipeline.List[string]{text, text, text}}
			v.Backtest.Named = slices.Repeat(pipeline.List[pipeline.BacktestedReview]{{
				Pull: text, HeadSHA: text, From: pipeline.DecisionPass, To: pipeline.DecisionFail, Because: text, People: text,
			}}, 5)
		}
		r.Classification.Risk.Reasons = append(r.Classification.Risk.Reasons, pipeline.RiskReason{Reason: text, Points: 1})
		r.Facts.Config.Layers = append(r.Facts.Config.Layers, pipeline.ConfigLayer{Name: text, Used: true})
		v.Shared = append(v.Shared, SharedHead{Number: 1, Decision: pipeline.DecisionPass})
	}
}

func worstFirst(fs []pipeline.Finding) []int {
	order := make([]int, len(fs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return fs[b].Severity.Rank() - fs[a].Severity.Rank() })
	return order
}

func checkAnnotations(t *rapid.T, v View, check ports.CheckOutput) {
	list := check.Annotations
	if len(list) > maxAnnotations {
		t.Fatalf("%d annotations", len(list))
	}
	all := 0
	diff := newDiffIndex(v.Review.Facts.Files)
	for _, f := range v.Review.Report.Findings {
		if _, _, ok := diff.changed(f.Path, f.StartLine, f.EndLine); ok {
			all++
		}
	}
	want := fmt.Sprintf("The worst %d of %s findings on changed lines have an annotation there.", len(list), grouped(all))
	if strings.Contains(check.Text, want) != (len(list) < all) {
		t.Fatalf("%d of %d annotations; the text has %q: %v", len(list), all, want, strings.Contains(check.Text, want))
	}
	levels := []string{"failure", "warning", "notice"}
	worst := 0
	for _, a := range list {
		level := slices.Index(levels, a.Level)
		if level < worst {
			t.Fatalf("an annotation of level %s follows a milder one", a.Level)
		}
		worst = level
		if a.StartLine <= 0 || a.EndLine < a.StartLine || a.Message == "" || a.Title == "" {
			t.Fatalf("annotation is not valid: %+v", a)
		}
		if len(a.Message) > 64<<10 || len(a.RawDetails) > 64<<10 || len(a.Title) > 255 {
			t.Fatalf("annotation is too long: %d, %d, %d", len(a.Message), len(a.RawDetails), len(a.Title))
		}
		for _, s := range []string{a.Path, a.Message, a.RawDetails, a.Title} {
			if !utf8.ValidString(s) {
				t.Fatalf("annotation is not UTF-8: %q", s)
			}
		}
		if _, whole := diff.text(a.Path, a.StartLine, a.EndLine); !whole {
			t.Fatalf("annotation on %s:%d-%d is outside the diff", a.Path, a.StartLine, a.EndLine)
		}
	}
}

func TestFitPrefersLength(t *testing.T) {
	long := func(i int) safe { return safe(strings.Repeat("L", 100)) }
	short := func(i int) safe { return "s" }
	for _, c := range []struct {
		name    string
		n, room int
		want    string // L, s for each finding
	}{
		{"all long", 2, 300, "LL"},
		{"the worst long, all shown", 3, 150, "Lss"},
		{"all short", 3, 50, "sss"},
		{"not all fit: half of the room for long ones", 200, 300, "L" + strings.Repeat("s", 66)},
		{"nothing fits", 2, 1, ""},
		{"no limit", 3, unlimited, "LLL"},
	} {
		got := ""
		for _, s := range fit(c.n, c.room, long, short) {
			got += string(s[:1])
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func BenchmarkComment(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Comment(v)
			}
			perFinding(b, n)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Check(v)
			}
			perFinding(b, n)
		})
	}
}

// BenchmarkHostile renders findings and lists that consist of attacks.
func BenchmarkHostile(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := hostileFindings(n)
		for name, render := range map[string]func(){
			"comment": func() { Comment(v) }, "check": func() { Check(v) }, "text": func() { Text(v, TextOptions{}) },
		} {
			b.Run(fmt.Sprintf("%s/findings=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					render()
				}
				perFinding(b, n)
			})
		}
	}
}

// hostileFindings returns a view with n findings. Each has different texts made of attacks.
func hostileFindings(n int) View {
	v := attackedView("x")
	text := func(i int) string {
		var b strings.Builder
		for j := range 6 {
			b.WriteString(attacks[(i+j*7)%len(attacks)].text + strings.Repeat("<@`é", j*40))
		}
		return b.String()
	}
	fs := make([]pipeline.Finding, n)
	for i := range fs {
		fs[i] = pipeline.Finding{
			Title: text(i), Severity: pipeline.Severities()[i%4], Path: "pricing/total.ts", StartLine: 42, EndLine: 42, Message: text(i + 1),
			WhyItMatters: text(i + 2), Recommendation: text(i + 3), Evidence: pipeline.List[string]{text(i + 4)}, SuggestedFix: text(i + 5),
			Agent: text(i % 9), RuleID: text(i + 6),
		}
		v.Review.Report.Changes.Resolved = append(v.Review.Report.Changes.Resolved, fs[i])
	}
	setFindings(&v, pipeline.DecisionFail, "critical > 0", fs...)
	return v
}

// BenchmarkText renders all findings.
func BenchmarkText(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Text(v, TextOptions{})
			}
			perFinding(b, n)
		})
	}
}

func BenchmarkSARIF(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := SARIF(v); err != nil {
					b.Fatal(err)
				}
			}
			perFinding(b, n)
		})
	}
}

func perFinding(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/finding")
}
