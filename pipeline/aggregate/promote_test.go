package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestPromote(t *testing.T) {
	at := func(line int, title string, confidence float64) pipeline.Finding {
		return sure(finding("a.go", line, title, pipeline.SeverityInfo), confidence)
	}
	section := func(f pipeline.Finding, s string) pipeline.Finding {
		f.Section, f.StartLine = s, 0
		return f
	}
	blocks := func(f pipeline.Finding) pipeline.Finding { f.Blocking = true; return f }
	in := func(f pipeline.Finding, path string) pipeline.Finding { f.Path = path; return f }
	const stays = 0.0
	for _, tt := range []struct {
		name     string
		residual pipeline.Finding // of agent y
		o        outputs
		want     float64 // the confidence of the promoted finding
		why      string
	}{
		{"the same line", at(2, "R", 0.4), outputs{x: {at(2, "F", 0.9)}}, 0.63, `promoted: x found "F" at the same place`},
		{"no confidence at all", at(2, "R", 0), outputs{x: {at(2, "F", 0.9)}}, 0.55, ""},
		{"just below the gate", at(2, "R", 0.49), outputs{x: {at(2, "F", 0.5)}}, 0.648, ""},
		{"an adjacent line", at(3, "R", 0.4), outputs{x: {at(2, "F", 0.9)}}, 0.63, ""},
		{"the adjacent line before", at(1, "R", 0.4), outputs{x: {at(2, "F", 0.9)}}, 0.63, ""},
		{"the line after the adjacent line", at(4, "R", 0.4), outputs{x: {at(2, "F", 0.9)}}, stays, ""},
		{"one of the merged findings' lines", at(6, "R", 0.4), outputs{x: {at(2, "F", 0.9), at(3, "F", 0.6)}, specA: {at(4, "F", 0.7), at(5, "F", 0.7)}}, 0.63, ""},
		{"the whole file and a line", at(0, "R", 0.4), outputs{x: {at(1, "F", 0.9)}}, stays, ""},
		{"the whole file twice", at(0, "R", 0.4), outputs{x: {at(0, "F", 0.9)}}, 0.63, ""},
		{"the same section", section(at(0, "R", 0.4), "Goals"), outputs{x: {section(at(0, "F", 0.9), "goals:")}}, 0.63, ""},
		{"another section", section(at(0, "R", 0.4), "Goals"), outputs{x: {section(at(0, "F", 0.9), "Plan")}}, stays, ""},
		{"another file", at(2, "R", 0.4), outputs{x: {in(at(2, "F", 0.9), "b.go")}}, stays, ""},
		{"its own agent", at(2, "R", 0.4), outputs{y: {at(2, "F", 0.9)}}, stays, ""},
		{"its own agent and another", at(2, "R", 0.4), outputs{y: {at(2, "F", 0.9)}, x: {at(3, "F", 0.6)}}, 0.63, ""},
		{"its own agent before another", at(4, "R", 0.4), outputs{y: {at(4, "F", 0.9), at(5, "H", 0.9)}, x: {at(3, "G", 0.6)}}, 0.63, `promoted: x found "G" at the same place`},
		{"findings of others on later lines", at(3, "R", 0.4), outputs{x: {at(4, "F", 0.9), at(5, "G", 0.9)}, specA: {at(5, "H", 0.9)}}, 0.63, `promoted: x found "F" at the same place`},
		{"another concern below the gate", at(2, "R", 0.4), outputs{x: {at(2, "F", 0.4)}}, stays, ""},

		{"all words of a title", at(1, "cache grows", 0.4), outputs{x: {at(5, "The cache grows without bound", 0.9)}}, 0.63, `promoted: x found "The cache grows without bound" in the same file under a similar title`},
		{"half of its words", at(1, "cache is never emptied", 0.4), outputs{x: {at(5, "Cache is huge", 0.9)}}, 0.63, ""},
		{"less than half of its words", at(1, "cache is not ever emptied", 0.4), outputs{x: {at(5, "Cache entry is huge", 0.9)}}, stays, ""},
		{"half of its words in another file", at(1, "cache grows", 0.4), outputs{x: {in(at(1, "Cache grows", 0.9), "b.go")}}, stays, ""},
		{"half of its words by its own agent", at(1, "cache grows", 0.4), outputs{y: {at(5, "Cache grows fast", 0.9)}}, stays, ""},
		{"the same place decides before similar words", at(2, "cache grows", 0.4), outputs{x: {at(5, "cache grows fast", 0.9)}, specA: {at(2, "F", 0.9)}}, 0.63, `promoted: spec found "F" at the same place`},

		{"it would block", blocks(at(1, "R", 0.4)), nil, 0.55, "promoted: it would block"},
		{"it would block, and it is confirmed", blocks(at(2, "R", 0.4)), outputs{x: {at(2, "F", 0.9)}}, 0.63, ""},
		{"nothing", at(2, "R", 0.4), nil, stays, ""},
	} {
		tt.residual.Category = "residual"
		o := plus(tt.o, outputs{y: {tt.residual}})
		for r := range o {
			for i := range o[r] {
				if o[r][i].Category == "" {
					o[r][i].FindingType = pipeline.FindingOmission
				}
			}
		}
		r := Aggregate(panel(o))
		i := slices.IndexFunc(r.Findings, func(f pipeline.Finding) bool { return f.Category == "residual" })
		if (i >= 0) != (tt.want != stays) {
			t.Errorf("%s: promoted: %v; concerns %+v", tt.name, i >= 0, r.ResidualConcerns)
			continue
		}
		if i < 0 {
			continue
		}
		f := r.Findings[i]
		if math.Abs(f.Confidence-tt.want) > 1e-9 || f.Severity != pipeline.SeverityWarning || f.FindingType != pipeline.FindingOmission || !slices.Equal(f.Reviewers, []string{"y"}) {
			t.Errorf("%s: %s, %v, %s, by %v; want confidence %v", tt.name, f.Severity, f.Confidence, f.FindingType, f.Reviewers, tt.want)
		}
		if !strings.Contains(strings.Join(inWords(f.Reasons), "\n"), "promoted: ") || tt.why != "" && !slices.Contains(inWords(f.Reasons), tt.why) {
			t.Errorf("%s: reasons %q, want %q", tt.name, f.Reasons, tt.why)
		}
	}
}

// A promoted finding takes the type of the finding that confirms it. The confidence of neither
// finding rises.
func TestPromotionIsNotAgreement(t *testing.T) {
	f, residual := finding("a.go", 2, "T", "major"), sure(finding("a.go", 2, "U", "critical"), 0.4)
	residual.FindingType = pipeline.FindingOmission
	r := Aggregate(panel(outputs{x: {f}, y: {residual}}))
	if len(r.Findings) != 2 || r.Findings[0].Confidence != 0.9 || len(r.Findings[0].Reviewers) != 1 || r.Findings[1].FindingType != pipeline.FindingError {
		t.Errorf("%+v", r.Findings)
	}
	if r.Coverage[0].Findings != 1 || r.Coverage[1].Findings != 1 || len(r.ResidualConcerns) != 0 {
		t.Errorf("%+v, %+v", r.Coverage, r.ResidualConcerns)
	}
}

// Several equal findings below the gate are promoted as one. They are not promoted beside an equal
// finding above the gate.
func TestEqualResiduals(t *testing.T) {
	at := func(title string, confidence float64) pipeline.Finding {
		return sure(finding("a.go", 2, title, "major"), confidence)
	}
	fixed := at("T", 0.4)
	fixed.SuggestedFix = "fix()"
	for _, tt := range []struct {
		name string
		o    outputs
		want string
	}{
		{"two below the gate", outputs{x: {at("F", 0.9)}, y: {at("R", 0.4)}, qualityA: {at("R", 0.3)}}, "F 0.9 [x]; R 0.63 [quality y]"},
		{"two below the gate that nothing confirms", outputs{y: {at("R", 0.4)}, qualityA: {at("R", 0.3)}}, ""},
		{"one equal to a finding above the gate", outputs{x: {at("T", 0.9)}, y: {fixed}}, "T 0.9 [x] fix()"},
		{"one equal to a finding of its own agent above the gate", outputs{y: {at("T", 0.9), fixed}}, "T 0.9 [y] fix()"},
		{"one that contradicts a finding above the gate", outputs{x: {acts(at("T", 0.9), "keep")}, y: {acts(fixed, "remove")}}, "Trade-off: T 0.9 [x y]"},
	} {
		r := Aggregate(panel(tt.o))
		var got []string
		for _, f := range r.Findings {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %v %v %s", f.Title, f.Confidence, f.Reviewers, f.SuggestedFix)))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if len(r.Findings) == 0 && len(r.ResidualConcerns) != 1 {
			t.Errorf("%s: %+v", tt.name, r.ResidualConcerns)
		}
	}
}

// Promotion compares the confidence with the gate in the settings.
func TestPromoteByTheConfidenceGate(t *testing.T) {
	in := panel(outputs{x: {finding("a.go", 2, "F", "info")}, y: {sure(finding("a.go", 2, "R", "info"), 0.4)}})
	in.Config.Settings.Synthesis.ConfidenceGate = 0.8
	r := Aggregate(in)
	if f := r.Findings[0]; f.Title != "R" || f.Confidence != 0.6 {
		t.Errorf("%s: %v, want 0.6", f.Title, f.Confidence)
	}
}

// The search for a similar title is bounded: it finds what is within the bound and nothing beyond.
func TestPromoteIsBounded(t *testing.T) {
	in := panel(outputs{y: {sure(finding("a.go", 0, "cache of users grows", "info"), 0.4)}})
	var others []pipeline.Finding
	for i := range maxCompared + 1 {
		others = append(others, finding("a.go", 2, fmt.Sprintf("cache w%d w%d w%d", i, i+1000, i+2000), "info"))
	}
	beyond, before := finding("a.go", 6, "users cache", "info"), finding("a.go", 1, "users cache", "info")
	for _, tt := range []struct {
		f    pipeline.Finding
		back int
	}{{beyond, 0}, {before, 1}} {
		in.Results = append(in.Results[:1:1], pipeline.AgentResult{Agent: "x", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: append(slices.Clone(others), tt.f)}})
		// The rarest words of the title are common in all the other titles.
		in.Results = append(in.Results, pipeline.AgentResult{Agent: "z", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: crowd("users", "of", "grows")}})
		if got := 1 - len(Aggregate(in).ResidualConcerns); got != tt.back {
			t.Errorf("line %d: %d promoted, want %d", tt.f.StartLine, got, tt.back)
		}
	}
}

// crowd makes these words common in another file.
func crowd(words ...string) []pipeline.Finding {
	var out []pipeline.Finding
	for i := range 2 * maxCompared {
		for _, w := range words {
			out = append(out, finding("b.go", 1, fmt.Sprintf("%s %s%d", w, w, i), "info"))
		}
	}
	return out
}
