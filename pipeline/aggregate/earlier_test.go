package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// push is the review of a head whose only file has these lines. The models of the quality stage
// report the findings a and b.
func push(before *pipeline.Report, lines []string, a, b []pipeline.Finding) Input {
	in := panel(outputs{qualityA: a, qualityB: b})
	facts := *in.Facts
	facts.Head.SHA = fmt.Sprint("head of ", strings.Join(lines, "\n"))
	facts.Files = []pipeline.File{file("a.go", lines...)}
	in.Facts = &facts
	in.Manifest.Entries = pipeline.List[pipeline.ManifestEntry]{{Agent: "quality", Scope: pipeline.AgentScope{All: true}, Models: pipeline.List[string]{"a", "b"}}}
	for _, m := range []string{"a", "b"} {
		if !slices.ContainsFunc(in.Results, func(r pipeline.AgentResult) bool { return r.Model == m }) {
			in.Results = append(in.Results, pipeline.AgentResult{Agent: "quality", Model: m, Stage: pipeline.ReviewStageQuality, Status: pipeline.AgentOK})
		}
	}
	if before != nil {
		in.Previous = previous(*before)
	}
	return in
}

func TestMatchEarlierFindings(t *testing.T) {
	code := []string{"one", "two", "three", "four", "five", "six"}
	at := func(title, category string, s pipeline.Severity) pipeline.Finding {
		f := finding("a.go", 3, title, s)
		f.Category = category
		return f
	}
	old := at("Rows are skipped", "off-by-one", "major")
	list := func(f ...pipeline.Finding) []pipeline.Finding { return f }
	edited := func(line int, text string) []string {
		lines := slices.Clone(code)
		lines[line-1] = text
		return lines
	}
	wide := at("Rows are skipped", "off-by-one", "major")
	wide.StartLine, wide.EndLine = 2, 4
	for _, tt := range []struct {
		name  string
		lines []string
		a, b  []pipeline.Finding
		want  string // state, old or new id, and the severity that counts; or what became of the finding
	}{
		{"the same words", code, list(old), list(old), "open same major"},
		{"half of the words", code, list(at("Skips rows of page one", "wrong-order", "major")), list(old), "open same major"},
		{"only the category, by one model", code, list(at("Page one is empty", "off-by-one", "major")), nil, "open same major"},
		{"milder", code, list(at("Rows are skipped", "off-by-one", "info")), list(at("Rows are skipped", "off-by-one", "info")), "open same major"},
		{"milder, and the code around it changed", edited(4, "other"), list(at("Rows are skipped", "off-by-one", "info")), nil, "open same info"},
		{"neither the words nor the category", code, list(at("Page one is empty", "wrong-order", "major")), nil, "new other warning; open same major: not raised again; its lines are unchanged"},
		{"moved by lines above it", append([]string{"zero"}, code...), list(func() pipeline.Finding { f := at("Skips rows", "", "major"); f.StartLine, f.EndLine = 4, 4; return f }()), nil, "open same warning"}, // the code around it changed

		{"more lines around it", code, list(wide), list(wide), "open same major"},
		{"not raised again", code, nil, nil, "open same major: not raised again; its lines are unchanged"},
		{"its line changed", edited(3, "other"), nil, nil, "resolved"},
		{"its line is gone", []string{"one", "two", "four", "five", "six"}, nil, nil, "resolved"},
		{"the line beside it changed", edited(4, "other"), nil, nil, "resolved"},
	} {
		first := Aggregate(push(nil, code, list(old), list(old)))
		id := first.Findings[0].ID
		r := Aggregate(push(&first, tt.lines, tt.a, tt.b))
		var got []string
		for _, f := range r.Findings {
			same := "other"
			if f.ID == id {
				same = "same"
			}
			one := fmt.Sprintf("%s %s %s", f.State, same, f.GateSeverity)
			if f.HasReason(pipeline.ReasonNotRaised) {
				one += ": " + string(pipeline.ReasonNotRaised)
			}
			got = append(got, one)
		}
		if len(r.Changes.Resolved) > 0 {
			got = append(got, "resolved")
		}
		slices.Sort(got)
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
		if slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return f.GateSeverity == "major" }) != r.Decision.Blocks() {
			t.Errorf("%s: %s", tt.name, r.Decision)
		}
	}
}

// A finding that depends on another file and names it is resolved once that file changes and no
// model repeats the finding. Changes to files that it does not name don't matter.
func TestMatchDependsOnNamedFiles(t *testing.T) {
	code := []string{"one", "two", "three"}
	list := func(f ...pipeline.Finding) []pipeline.Finding { return f }
	for _, tt := range []struct {
		name, message string
		other         []string // lines of lib/total.go on the next head
		repeated      bool
		want          string // what becomes of the finding
	}{
		{"the file changed", "lib/total.go:2 passes nil.", []string{"call(x)", "call(y)"}, false, "resolved"},
		{"by its name only", "The caller in `total.go` passes nil.", []string{"call(x)", "call(y)"}, false, "resolved"},
		{"the file changed, and a model repeats it", "lib/total.go passes nil.", []string{"call(x)", "call(y)"}, true, "counts as warning"},
		{"the file is unchanged", "lib/total.go passes nil.", []string{"call(x)", "call(nil)"}, false, "counts as major"},
		{"another file changed", "A caller passes nil.", []string{"call(x)", "call(y)"}, false, "counts as major"},
		{"its own file is named", "a.go takes nil.", []string{"call(x)", "call(y)"}, false, "counts as major"},
		{"the file is gone from the change", "lib/total.go passes nil.", nil, false, "resolved"},
	} {
		with := func(in Input, other []string) Input {
			if other != nil {
				in.Facts.Files = append(in.Facts.Files, file("lib/total.go", other...))
			}
			return in
		}
		f := finding("a.go", 2, "Nil is not checked", "major")
		f.Message = tt.message
		first := Aggregate(with(push(nil, code, list(f), list(f)), []string{"call(x)", "call(nil)"}))
		again := list()
		if tt.repeated {
			again = list(f)
		}
		r := Aggregate(with(push(&first, code, again, nil), tt.other))
		got := ""
		for _, f := range r.Findings {
			got += "counts as " + string(f.GateSeverity)
		}
		if len(r.Changes.Resolved) > 0 {
			got += "resolved"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A second review of the same head does not change the result by chance. A finding that blocked in
// the last review blocks in this one and in later ones, until somebody decides. Other findings are
// dropped, and the report says so.
func TestReviewingAgainGivesTheSameResult(t *testing.T) {
	code := []string{"one", "two", "three", "four", "five", "six"}
	blocking, warning := finding("a.go", 2, "Blocks", "major"), finding("a.go", 6, "Alone", "major")
	first := Aggregate(push(nil, code, []pipeline.Finding{blocking, warning}, []pipeline.Finding{blocking}))
	report := first
	for round := range 3 {
		in := push(nil, code, nil, nil)
		in.SameHead = previous(report)
		report = Aggregate(in)
		if len(report.Findings) != 1 || report.Findings[0].ID != first.Findings[0].ID || !report.Decision.Blocks() || report.Findings[0].State != pipeline.StateNew {
			t.Fatalf("round %d: %s, %s", round, report.Decision, summary(report))
		}
		if dropped := len(report.Changes.NotRaised); (dropped == 1) != (round == 0) || len(report.Changes.Resolved) != 0 {
			t.Errorf("round %d: %d dropped, %d resolved", round, dropped, len(report.Changes.Resolved))
		}
		if report.Models.AutoDecision != pipeline.AutoHuman {
			t.Errorf("round %d: %s", round, report.Models.AutoDecision)
		}
		if got := report.Findings[0].FoundBy; len(got) != 2 {
			t.Errorf("round %d: found by %v", round, got)
		}
	}
	in := push(nil, code, nil, nil)
	in.SameHead = previous(report)
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: report.Findings[0].ID, By: "ann", Reason: "fine", Surroundings: report.Findings[0].Surroundings[0]}}
	if r := Aggregate(in); len(r.Findings) != 0 || len(r.Suppressed) != 1 || r.Decision.Blocks() {
		t.Errorf("dismissed: %s, %s", r.Decision, summary(r))
	}
	// The answer of a model that failed says nothing about the finding.
	in = push(nil, code, nil, nil)
	in.SameHead = previous(report)
	in.Results[0].Status = pipeline.AgentFailed
	if r := Aggregate(in); len(r.Findings) != 0 || len(r.Changes.Resolved) != 0 {
		t.Errorf("the finding is resolved although a model failed: %s", summary(r))
	}
}

// A dismissed finding stays dismissed as long as a model words it similarly and does not call it
// worse. Otherwise somebody has to confirm the dismissal.
func TestDismissalOfARewordedFinding(t *testing.T) {
	code := []string{"one", "two", "three", "four", "five", "six"}
	at := func(title, category string, s pipeline.Severity) pipeline.Finding {
		f := finding("a.go", 3, title, s)
		f.Category = category
		return f
	}
	for _, tt := range []struct {
		name string
		f    pipeline.Finding
		why  string // why it counts again; empty if it stays dismissed
	}{
		{"other words, half of them the old ones", at("Skipped rows of page one", "wrong-order", "major"), ""},
		{"less severe", at("Skipped rows", "off-by-one", "info"), ""},
		{"more severe", at("Skipped rows", "off-by-one", "critical"), "a model holds it to be critical now, and it was dismissed as major"},
		{"the same category in other words", at("Page one is empty", "off-by-one", "major"), "a model words it otherwise now"},
	} {
		old := at("Rows are skipped", "off-by-one", "major")
		first := Aggregate(push(nil, code, []pipeline.Finding{old}, []pipeline.Finding{old}))
		dismissal := pipeline.Dismissal{By: "ann", Reason: "fine", Surroundings: first.Findings[0].Surroundings[0]}
		var memory pipeline.Memory
		for _, id := range first.Findings[0].Fingerprints {
			dismissal.Fingerprint = id
			memory.Dismissed = append(memory.Dismissed, dismissal)
		}
		report := first
		for range 3 { // a suppressed finding is matched again too
			in := push(&report, code, []pipeline.Finding{old}, []pipeline.Finding{old})
			in.Memory = memory
			report = Aggregate(in)
		}
		in := push(&report, code, []pipeline.Finding{tt.f}, []pipeline.Finding{tt.f})
		in.Memory = memory
		r := Aggregate(in)
		if counts := len(r.Findings) == 1; counts != (tt.why != "") {
			t.Errorf("%s: %s", tt.name, summary(r))
			continue
		}
		if tt.why != "" && !slices.ContainsFunc(r.Findings[0].Reasons, func(r pipeline.Reason) bool {
			return r.Kind == pipeline.ReasonNotDismissed && strings.HasPrefix(r.Text, tt.why)
		}) {
			t.Errorf("%s: %q", tt.name, r.Findings[0].Reasons)
		}
	}
}

// defect is a defect that models word differently on each push.
type defect struct {
	n         int // its line contains the number
	title     []string
	category  string
	dismissed bool
	fixed     bool
	id        string
	known     bool // is in the last report
}

// spacing is the number of lines between defects, so that fixing one does not change the code
// around the others.
const spacing = 100

// Ids, dismissals and states follow the defects over all pushes, as long as a model keeps half of
// the words or the category. The models' words and the order of their findings don't matter.
func TestDefectsOverPushes(t *testing.T) {
	var categories []string
	for _, c := range config.Categories() {
		if config.Specific(c.ID) {
			categories = append(categories, c.ID)
		}
	}
	sample.Check(t, func(t *rapid.T) {
		var defects []*defect
		for i := range rapid.IntRange(1, 5).Draw(t, "defects") {
			d := &defect{n: i, category: rapid.SampledFrom(categories).Draw(t, "category")}
			for w := range 4 {
				d.title = append(d.title, fmt.Sprintf("defect%dw%d", i, w))
			}
			defects = append(defects, d)
		}
		fresh := 0
		reword := func(d *defect) pipeline.Finding {
			f := finding("a.go", spacing*d.n+5, "", "major")
			keep := rapid.Bool().Draw(t, "keeps the words") || d.dismissed
			f.Category = d.category
			words := []string{}
			if keep {
				words = append(words, rapid.Permutation(d.title).Draw(t, "words")[:(len(d.title)+1)/2]...)
				if rapid.Bool().Draw(t, "another category") {
					f.Category = rapid.SampledFrom(categories).Draw(t, "category")
				}
			}
			for range rapid.IntRange(1, 2).Draw(t, "more words") {
				fresh++
				words = append(words, fmt.Sprint("fresh", fresh))
			}
			f.Title = strings.Join(words, " ")
			return f
		}
		var memory pipeline.Memory
		var report *pipeline.Report
		for n := range 5 {
			for _, d := range defects {
				if n > 0 && !d.fixed && rapid.IntRange(0, 6).Draw(t, "fixed") == 0 {
					d.fixed = true
				}
			}
			lines := make([]string, 6*spacing)
			for i := range lines {
				lines[i] = fmt.Sprint("line ", i+1)
			}
			var a, b []pipeline.Finding
			alive := 0
			for _, d := range defects {
				lines[spacing*d.n+4] = fmt.Sprint("wrong ", d.n)
				if d.fixed {
					lines[spacing*d.n+4] = fmt.Sprint("right ", d.n)
					continue
				}
				// Each model, or both, may leave the finding out.
				raised := 3
				if d.known && !d.dismissed {
					raised = rapid.IntRange(0, 3).Draw(t, "raised by")
				}
				if raised&1 != 0 {
					a = append(a, reword(d))
				}
				if raised&2 != 0 {
					b = append(b, reword(d))
				}
				alive++
			}
			a, b = rapid.Permutation(a).Draw(t, "order of a"), rapid.Permutation(b).Draw(t, "order of b")
			in := push(report, lines, a, b)
			in.Memory = memory
			// The models are asked whether two findings are one defect, and answer correctly.
			in.Results = append(in.Results, pipeline.AgentResult{Agent: pipeline.Matcher, Model: "a", Status: pipeline.AgentOK})
			last := &in.Results[len(in.Results)-1]
			for _, p := range Undecided(in, 100, func(*Pair) bool { return true }) {
				last.Comparisons = append(last.Comparisons, pipeline.Comparison{One: p.OneKey, Other: p.OtherKey, Same: p.One.StartLine == p.Other.StartLine})
			}
			r := Aggregate(in)
			if len(r.Findings)+len(dismissedOf(r)) != alive {
				t.Fatalf("push %d: %d defects: %s, dismissed %d", n, alive, summary(r), len(r.Suppressed))
			}
			for _, d := range defects {
				f, aside := findingAt(r, spacing*d.n+5)
				switch {
				case d.fixed:
					if f != nil || d.known && !d.dismissed && !slices.ContainsFunc(r.Changes.Resolved, func(x pipeline.Finding) bool { return x.ID == d.id }) {
						t.Fatalf("push %d: defect %d is fixed, and the report still has it: %v", n, d.n, r.Changes.Resolved)
					}
					d.known = false
					continue
				case f == nil:
					t.Fatalf("push %d: defect %d is missing", n, d.n)
				case aside != d.dismissed:
					t.Fatalf("push %d: defect %d dismissed: %v, %q", n, d.n, aside, f.Reasons)
				case d.known && f.ID != d.id:
					t.Fatalf("push %d: defect %d was %s, and is %s: %s", n, d.n, d.id, f.ID, f.Title)
				case !aside && (f.State == pipeline.StateOpen) != d.known:
					t.Fatalf("push %d: defect %d is %s", n, d.n, f.State)
				}
				d.id, d.known, d.title, d.category = f.ID, true, strings.Fields(f.Title), f.Category
				if !d.dismissed && rapid.IntRange(0, 4).Draw(t, "dismissed") == 0 {
					d.dismissed = true
					for i, id := range f.Fingerprints {
						memory.Dismissed = append(memory.Dismissed, pipeline.Dismissal{Fingerprint: id, By: "ann", Reason: "fine", Surroundings: f.Surroundings[i]})
					}
				}
			}
			report = &r
		}
	})
}

// dismissedOf returns the lines of the dismissed findings.
func dismissedOf(r pipeline.Report) map[int]bool {
	out := map[int]bool{}
	for _, s := range r.Suppressed {
		out[s.Finding.StartLine] = true
	}
	return out
}

// findingAt is the finding at a line, and whether it is suppressed.
func findingAt(r pipeline.Report, line int) (f *pipeline.Finding, aside bool) {
	for i := range r.Findings {
		if r.Findings[i].StartLine == line {
			return &r.Findings[i], false
		}
	}
	for i := range r.Suppressed {
		if r.Suppressed[i].Finding.StartLine == line {
			return &r.Suppressed[i].Finding, true
		}
	}
	return nil, false
}
