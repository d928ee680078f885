package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

func message(f pipeline.Finding, text string) pipeline.Finding { f.Message = text; return f }

func advises(f pipeline.Finding, text string) pipeline.Finding { f.Recommendation = text; return f }

func TestContradictions(t *testing.T) {
	at := func(line int, title string, a pipeline.Action) pipeline.Finding {
		return acts(finding("a.go", line, title, pipeline.SeverityInfo), a)
	}
	in := func(f pipeline.Finding, path string) pipeline.Finding { f.Path = path; return f }
	section := func(f pipeline.Finding, s string) pipeline.Finding {
		f.Path, f.Section, f.StartLine = "", s, 0
		return f
	}
	for _, tt := range []struct {
		name     string
		a, b     pipeline.Finding
		combined bool
	}{
		{"remove and keep", at(2, "T", "remove"), at(2, "T", "keep"), true},
		{"remove and add", at(2, "T", "remove"), at(2, "T", "add"), true},
		{"keep and add", at(2, "T", "keep"), at(2, "T", "add"), false},
		{"remove and change", at(2, "T", "remove"), at(2, "T", "change"), false},
		{"remove and none", at(2, "T", "remove"), at(2, "T", "none"), false},
		{"verbs of opposite meaning", advises(at(2, "T", ""), "Cut it."), advises(at(2, "T", ""), "Keep, for consistency."), true},
		{"the action goes before the verb", advises(at(2, "T", "keep"), "Remove it."), at(2, "T", "keep"), false},
		{"a verb in the middle", advises(at(2, "T", ""), "Please remove it."), at(2, "T", "keep"), false},
		{"adjacent lines", at(2, "T", "remove"), at(3, "T", "keep"), true},
		{"a line between", at(2, "T", "remove"), at(4, "T", "keep"), false},
		{"another file", at(2, "T", "remove"), in(at(2, "T", "keep"), "b.go"), false},
		{"the same section", section(at(2, "T", "remove"), "Goals"), section(at(2, "T", "keep"), "goals!"), true},
		{"another section", section(at(2, "T", "remove"), "Goals"), section(at(2, "T", "keep"), "Plan"), false},
		{"half of the words in common", at(2, "the cache is slow", "remove"), at(2, "the cache pays off", "keep"), true},
		{"half of the shorter title in common", at(2, "the cache", "remove"), at(2, "the cache pays off quickly", "keep"), true},
		{"a word in the plural", at(2, "slow caches", "remove"), at(2, "the cache of entries pays", "keep"), true},
		{"less than half of the shorter title in common", at(2, "slow cache eviction", "remove"), at(2, "the cache pays off quickly", "keep"), false},
		{"only stop words in common", at(2, "it is in the way", "remove"), at(2, "it is in the plan", "keep"), false},
		{"no common word", at(2, "slow", "remove"), at(2, "fast", "keep"), false},
		{"half of the words in common, another line", at(2, "the cache is slow", "remove"), at(5, "the cache pays off", "keep"), false},
		{"impossible and essential", message(at(2, "T", ""), "It is impossible."), message(at(2, "T", ""), "This is ESSENTIAL."), true},
		{"in the titles", at(2, "offline mode is impossible", ""), at(2, "offline mode is essential", ""), true},
		{"impossible and wanted", message(at(2, "T", ""), "It is impossible."), message(at(2, "T", ""), "It is wanted."), false},
		{"the words not impossible", message(at(2, "T", ""), "It isn't impossible."), message(at(2, "T", ""), "It is essential."), false},
		{"impossible and essential in one finding", message(at(2, "T", ""), "Impossible, though essential."), message(at(2, "T", ""), "It is essential."), false},
		{"a part of a word", message(at(2, "T", ""), "It is impossible."), message(at(2, "T", ""), "The essentials."), false},
		{"a trade-off, which takes no side", at(2, "Trade-off: T", "remove"), at(2, "T", "keep"), false},
	} {
		for _, o := range []outputs{{x: {tt.a}, y: {tt.b}}, {x: {tt.b}, y: {tt.a}}, {qualityA: {tt.a}, qualityB: {tt.b}}} {
			r := Aggregate(panel(o))
			combined := slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return len(f.Perspectives) == 2 })
			if combined != tt.combined {
				t.Errorf("%s: became a trade-off: %v, want %v: %+v", tt.name, combined, tt.combined, r.Findings)
			}
		}
		if r := Aggregate(panel(outputs{x: {tt.a, tt.b}})); slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return f.Perspectives != nil }) {
			t.Errorf("%s: findings of one agent became a trade-off: %+v", tt.name, r.Findings)
		}
	}
}

func TestTradeOff(t *testing.T) {
	a := advises(message(acts(finding("a.go", 2, "the cache is slow", "major"), "remove"), "One caller,\n2 ms saved."), "Drop the cache.")
	b := advises(message(acts(finding("a.go", 3, "the cache is usual", "warning"), "keep"), "The others have one."), "Keep it.")
	a.Confidence, a.FindingType, a.AutofixClass, a.SuggestedFix = 0.95, pipeline.FindingOmission, pipeline.AutofixAuto, "nothing()"
	a.AutoClaim, a.Citation, a.Evidence, b.Evidence = "pattern", "a.go", pipeline.List[string]{"e1"}, pipeline.List[string]{"e2"}
	r := Aggregate(panel(outputs{x: {a}, y: {b}}))
	if len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Findings)
	}
	f := r.Findings[0]
	ids := slices.Clone(f.Fingerprints)
	f.ID, f.Fingerprints, f.Surroundings = "", nil, nil
	want := pipeline.Finding{
		Title: "Trade-off: the cache is slow", Severity: "major", GateSeverity: "major", Confidence: 0.95,
		Message: "Reviewers disagree. This is a trade-off, and no verdict on who is right:\n" +
			"x would remove it: One caller, 2 ms saved.\ny would keep it: The others have one.",
		WhyItMatters:   "The reviewers want opposite things at one place, so that following one goes against another.",
		Recommendation: "A person weighs the perspectives and decides.",
		Path:           "a.go", StartLine: 2, EndLine: 2, Evidence: pipeline.List[string]{"e1", "e2"},
		Action: "none", AutofixClass: "present", FindingType: "error", State: "new",
		Agent: "x", Reviewers: pipeline.List[string]{"x", "y"},
		Reasons: pipeline.List[pipeline.Reason]{{Text: "combined 2 findings that contradict one another"}},
		Perspectives: pipeline.List[pipeline.Perspective]{
			{Agent: "x", Action: "remove", Severity: "major", Message: "One caller,\n2 ms saved.", Recommendation: "Drop the cache."},
			{Agent: "y", Action: "keep", Severity: "warning", Message: "The others have one.", Recommendation: "Keep it."},
		},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
	if len(ids) != 2 || r.Coverage[0].Present != 1 || r.Coverage[1].Findings != 0 {
		t.Errorf("fingerprints %v, coverage %+v", ids, r.Coverage)
	}
}

// If one finding calls something impossible and another calls it essential, the trade-off is at
// least major. If only one of the two is not a model's, this does not block.
func TestImpossibleAndEssential(t *testing.T) {
	impossible := func(s pipeline.Severity) []pipeline.Finding {
		return []pipeline.Finding{message(finding("a.go", 2, "T", s), "It is impossible.")}
	}
	essential := []pipeline.Finding{message(finding("a.go", 2, "T", "info"), "It is essential.")}
	for _, tt := range []struct {
		name           string
		o              outputs
		severity, gate pipeline.Severity
	}{
		{"two agents", outputs{x: impossible("info"), y: essential}, "major", "major"},
		{"one of them critical", outputs{x: impossible("critical"), y: essential}, "critical", "critical"},
		{"an agent and a model", outputs{x: impossible("info"), qualityA: essential}, "major", "info"},
		{"a warning of an agent and a model", outputs{x: impossible("warning"), qualityA: essential}, "major", "warning"},
		{"an agent and two models", outputs{x: impossible("info"), qualityA: essential, qualityB: essential}, "major", "major"},
		{"two models", outputs{qualityA: impossible("info"), qualityB: essential}, "major", "info"},
		{"an agent and an unsure model", outputs{x: essential, qualityA: {sure(impossible("info")[0], 0.4)}}, "major", "warning"},
		{"a major of one model", outputs{qualityA: impossible("major"), qualityB: essential}, "major", "warning"},
	} {
		r := Aggregate(panel(tt.o))
		if f := r.Findings[0]; len(r.Findings) != 1 || f.Severity != tt.severity || f.GateSeverity != tt.gate || len(f.Perspectives) != 2 {
			t.Errorf("%s: %s, counts as %s; want %s, %s", tt.name, f.Severity, f.GateSeverity, tt.severity, tt.gate)
		}
	}
}

// A finding that calls something both impossible and essential takes no side.
func TestImpossibleAndEssentialInOneFinding(t *testing.T) {
	both := message(finding("a.go", 2, "T", "info"), "It is essential, and impossible.")
	for _, other := range []string{"It is impossible.", "It is essential."} {
		r := Aggregate(panel(outputs{x: {both}, y: {message(finding("a.go", 2, "T", "info"), other)}}))
		if f := r.Findings[0]; len(r.Findings) != 1 || f.Severity != "info" || f.Perspectives != nil {
			t.Errorf("together with %q it became a trade-off: %+v", other, r.Findings)
		}
	}
}

// A trade-off counts as much as its strictest side. By contradicting a finding, a model can't make
// the gate milder, and can't prove the finding that it denies.
func TestTradeOffAtTheGate(t *testing.T) {
	remove := func(s pipeline.Severity) []pipeline.Finding {
		return []pipeline.Finding{acts(finding("a.go", 2, "T", s), "remove")}
	}
	keep := func(s pipeline.Severity) []pipeline.Finding {
		return []pipeline.Finding{acts(finding("a.go", 2, "T", s), "keep")}
	}
	for _, tt := range []struct {
		name     string
		o        outputs
		counts   pipeline.Severity
		decision pipeline.Decision
	}{
		{"a critical that a model contradicts", outputs{x: remove("critical"), qualityA: keep("info")}, "critical", pipeline.DecisionFail},
		{"a model's major that an agent contradicts", outputs{qualityA: remove("major"), x: keep("info")}, "warning", pipeline.DecisionPassWithWarnings},
		{"two models, one major", outputs{qualityA: remove("major"), qualityB: keep("major")}, "warning", pipeline.DecisionPassWithWarnings},
		{"two models, one critical", outputs{qualityA: remove("critical"), qualityB: keep("info")}, "warning", pipeline.DecisionNeedsFixes},
		{"an agreed finding", outputs{qualityA: remove("critical"), qualityB: remove("info"), x: keep("info")}, "critical", pipeline.DecisionFail},
	} {
		r := Aggregate(panel(tt.o))
		if f := r.Findings[0]; len(r.Findings) != 1 || f.GateSeverity != tt.counts || r.Decision != tt.decision {
			t.Errorf("%s: counts as %s, %s; want %s, %s", tt.name, f.GateSeverity, r.Decision, tt.counts, tt.decision)
		}
	}
}

func TestTradeOffNamesItsSides(t *testing.T) {
	f := func(a pipeline.Action) pipeline.Finding {
		return message(acts(finding("a.go", 2, "T", "info"), a), strings.Repeat("m ", maxQuoted))
	}
	e := message(f(""), "It is essential.")
	got := Aggregate(panel(outputs{qualityA: {f("remove")}, qualityB: {f("add")}, x: {f("remove"), e}, y: {f("change")}})).Findings[0].Message
	long := strings.Repeat("m ", maxQuoted/2-1) + "m…"
	want := "Reviewers disagree. This is a trade-off, and no verdict on who is right:\n" +
		"y takes no side: " + long + "\nquality (a), x would remove it: " + long + "\nquality (b) would add to it: " + long + "\nx holds it to be essential: It is essential."
	lines := strings.Split(got, "\n")
	slices.Sort(lines[1:])
	wanted := strings.Split(want, "\n")
	slices.Sort(wanted[1:])
	if diff := cmp.Diff(wanted, lines); diff != "" {
		t.Error(diff)
	}
}

// Several findings in one dispute become one finding. Its place covers all their places that touch.
func TestOneDisputeOfMany(t *testing.T) {
	f := func(line int, title string, a pipeline.Action) pipeline.Finding {
		return acts(finding("a.go", line, title, "info"), a)
	}
	r := Aggregate(panel(outputs{
		x:             {f(1, "the cache is slow", "remove"), f(5, "other", "remove")},
		y:             {f(2, "the cache is usual", "keep"), f(2, "the cache is slow", "none")},
		specA:         {f(3, "the cache is odd", "remove")},
		specB:         {f(3, "something else", "remove")},
		{"z", "", ""}: nil,
	}))
	var titles []string
	for _, f := range r.Findings {
		titles = append(titles, fmt.Sprintf("%s (%d)", f.Title, len(f.Perspectives)))
	}
	slices.Sort(titles)
	if got := strings.Join(titles, ", "); got != "Trade-off: the cache is slow (2), other (0), something else (0)" {
		t.Errorf("%s", got)
	}
}

// Findings are also in dispute if only other findings with the same title connect their places. A
// finding that extends beyond the place of a dispute brings no other findings into it.
func TestPlacesOfADispute(t *testing.T) {
	f := func(first, last int, title string, a pipeline.Action) pipeline.Finding {
		f := acts(finding("a.go", first, title, "info"), a)
		f.EndLine = last
		return f
	}
	for _, tt := range []struct {
		name string
		o    outputs
		want string
	}{
		{"by way of another finding", outputs{x: {f(1, 1, "T", "remove")}, y: {f(3, 3, "T", "keep")}, specA: {f(2, 2, "T", "none")}}, "Trade-off: T (3)"},
		{"next to a finding that extends further", outputs{x: {f(5, 5, "all caches", "remove")}, y: {f(1, 6, "some caches", "keep"), f(2, 2, "few caches", "keep")}}, "Trade-off: all caches (2), few caches (0)"},
		{"several on both sides", outputs{x: {f(1, 1, "T", "remove"), f(1, 1, "T T2", "keep")}, y: {f(1, 1, "T", "remove"), f(1, 1, "T T2", "keep")}}, "Trade-off: T (2)"},
		{"several promoted findings, of which only one is in the dispute", outputs{
			x:     {f(1, 1, "one cache", "keep"), f(5, 5, "other", "none")},
			y:     {sure(f(1, 1, "two cache", "remove"), 0.4), sure(f(5, 5, "third", "none"), 0.4)},
			specA: {sure(f(6, 6, "fourth", "none"), 0.4)},
		}, "Trade-off: one cache (2), fourth (0), other (0), third (0)"},
	} {
		var titles []string
		for _, f := range Aggregate(panel(tt.o)).Findings {
			titles = append(titles, fmt.Sprintf("%s (%d)", f.Title, len(f.Perspectives)))
		}
		slices.Sort(titles)
		if got := strings.Join(titles, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Findings of one agent that contradict each other are not merged. If no other agent disputes them,
// they stay two findings, and neither is applied automatically.
func TestContradictoryFixesAreNotApplied(t *testing.T) {
	fixed := func(a pipeline.Action) pipeline.Finding {
		f := acts(finding("a.go", 2, "T", "info"), a)
		f.AutoClaim, f.Citation, f.SuggestedFix = "pattern", "a.go", "fix()"
		return f
	}
	r := Aggregate(panel(outputs{x: {fixed("remove"), fixed("keep")}}))
	if len(r.Findings) != 2 || r.Coverage[0].Auto != 0 {
		t.Errorf("%+v", r.Findings)
	}
	if r := Aggregate(panel(outputs{x: {fixed("remove")}})); r.Coverage[0].Auto != 1 {
		t.Errorf("without a dispute: %+v", r.Findings)
	}
}

// If more findings oppose a finding than can be compared, one of them might have made it major, so
// it counts as major.
func TestCrowdedDispute(t *testing.T) {
	impossible := message(finding("a.go", 0, "k0 k1 k2", "info"), "It is impossible.")
	others := func(n int) []pipeline.Finding {
		var out []pipeline.Finding
		for i := range n {
			// One of the three words is rarer than the words that all titles have in common.
			title := fmt.Sprintf("k%d %s", i%2, strings.Join(slices.Concat(common[i%5:], common[:i%5], common[i/5%5:], common[:i/5%5]), " "))
			out = append(out, message(finding("a.go", 0, title, "info"), "It is essential."))
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		o     outputs
		major bool
	}{
		{"too many", outputs{x: {impossible}, y: others(maxCompared)}, true},
		{"one fewer", outputs{x: {impossible}, y: others(maxCompared - 1)}, false},
		{"too many of a model", outputs{x: {impossible}, qualityA: others(maxCompared)}, false},
		{"too many for a model", outputs{qualityA: {impossible}, y: others(maxCompared)}, false},
	} {
		r := Aggregate(panel(tt.o))
		f := r.Findings[slices.IndexFunc(r.Findings, func(f pipeline.Finding) bool { return f.Title == impossible.Title })]
		raised := slices.Contains(inWords(f.Reasons), "raised to major: more findings oppose it than are compared with it")
		if (f.Severity == pipeline.SeverityMajor) != tt.major || raised != tt.major || r.Decision.Blocks() != tt.major {
			t.Errorf("%s: %s, %s: %q", tt.name, f.Severity, r.Decision, f.Reasons)
		}
	}
}

var common = []string{"c0", "c1", "c2", "c3", "c4"}

// In one section of a document, findings that ask for opposite actions contradict each other, even
// if their titles have nothing in common. In code, their titles must be similar.
func TestContradictionsInOneSection(t *testing.T) {
	in := func(title string, a pipeline.Action, section string) pipeline.Finding {
		f := acts(finding("", 0, title, "info"), a)
		f.Section = section
		return f
	}
	line := func(title string, a pipeline.Action) pipeline.Finding {
		return acts(finding("a.go", 2, title, "info"), a)
	}
	say := func(f pipeline.Finding, text string) pipeline.Finding { f.Message = text; return f }
	for _, tt := range []struct {
		name string
		a, b pipeline.Finding
		want bool
	}{
		{"remove and keep", in("Repeats the overview", "remove", "3. Scope"), in("Anchors the terms", "keep", "3 scope"), true},
		{"remove and add", in("Repeats the overview", "remove", "Scope"), in("Limits are missing", "add", "Scope"), false},
		{"impossible and essential", say(in("Offline mode", "", "Scope"), "It is impossible."), say(in("Sync", "", "Scope"), "This is essential."), true},
		{"another section", in("Repeats the overview", "remove", "Scope"), in("Anchors the terms", "keep", "Goals"), false},
		{"keep and keep", in("Repeats the overview", "keep", "Scope"), in("Anchors the terms", "keep", "Scope"), false},
		{"lines of code", line("Repeats the loop", "remove"), line("Anchors the names", "keep"), false},
	} {
		r := Aggregate(panel(outputs{x: {tt.a}, y: {tt.b}}))
		if got := len(r.Findings) == 1 && len(r.Findings[0].Perspectives) == 2; got != tt.want {
			t.Errorf("%s: became a trade-off: %v, want %v: %s", tt.name, got, tt.want, summary(r))
		}
	}
	own := Aggregate(panel(outputs{x: {in("Repeats the overview", "remove", "Scope"), in("Anchors the terms", "keep", "Scope")}}))
	if len(own.Findings) != 2 {
		t.Errorf("findings of one reviewer became a trade-off: %s", summary(own))
	}
}

func TestSectionsAreOrderedByTheirNumbers(t *testing.T) {
	want := []string{"", "2. Goals", "2.9 Users", "2.10 Costs", "10. Risks", "10. Risks and more", "Appendix 2", "Appendix 10"}
	var findings []pipeline.Finding
	for i := len(want) - 1; i > 0; i-- {
		f := finding("", 0, "T"+want[i], "info")
		f.Section = want[i]
		findings = append(findings, f)
	}
	var got []string
	for _, f := range Aggregate(panel(outputs{x: findings})).Findings {
		got = append(got, f.Section)
	}
	if diff := cmp.Diff(want[1:], got); diff != "" {
		t.Error(diff)
	}
	for i, a := range want {
		for k, b := range want {
			if c := bySection(a, b); (c < 0) != (i < k) || (c == 0) != (i == k) {
				t.Errorf("%q and %q: %d", a, b, c)
			}
		}
	}
}
