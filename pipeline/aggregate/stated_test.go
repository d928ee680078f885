package aggregate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A finding says how sure each of its models said to be, whatever became of the confidence: the
// highest of a model that was asked several times, and nothing for an agent without a model.
func TestStatedConfidence(t *testing.T) {
	major := finding("a.go", 2, "T", pipeline.SeverityMajor)
	in := panel(outputs{qualityA: {sure(major, 0.6)}, qualityB: {sure(major, 0.8)}, x: {sure(major, 1)}})
	in = several(in, qualityA, []pipeline.Finding{sure(major, 0.7)}, []pipeline.Finding{sure(major, 0.5)})
	r := Aggregate(in)
	if len(r.Findings) != 1 {
		t.Fatal(summary(r))
	}
	want := pipeline.List[pipeline.Maker]{{Agent: "quality", Model: "a", Stated: 0.7}, {Agent: "quality", Model: "b", Stated: 0.8}, {Agent: "x"}}
	if diff := cmp.Diff(want, r.Findings[0].FoundBy); diff != "" {
		t.Error(diff)
	}
	if r.Findings[0].Confidence <= 0.8 {
		t.Errorf("confidence %.2f, which agreement did not change", r.Findings[0].Confidence)
	}
}

// What no rule has yet changed counts: a model can't claim what it stated before, and a lowered
// confidence does not lower it.
func TestStatedIsWhatTheModelStates(t *testing.T) {
	f := sure(finding("a.go", 2, "T", pipeline.SeverityMajor), 0.9)
	f.FoundBy = pipeline.List[pipeline.Maker]{{Agent: "quality", Model: "a", Stated: 0.1}}
	r := Aggregate(panel(outputs{qualityA: {f}}))
	if want := (pipeline.List[pipeline.Maker]{{Agent: "quality", Model: "a", Stated: 0.9}}); !cmp.Equal(want, r.Findings[0].FoundBy) {
		t.Errorf("found by %+v", r.Findings[0].FoundBy)
	}
}

// A finding that stays although no model raised it again keeps what its models stated when they
// did, in every later review. If one raises it again, what it states now may be more.
func TestStatedOfAFindingThatStays(t *testing.T) {
	code := []string{"one", "two", "three", "four", "five", "six"}
	blocking := finding("a.go", 2, "Blocks", "major")
	report := Aggregate(push(nil, code, []pipeline.Finding{sure(blocking, 0.7)}, []pipeline.Finding{sure(blocking, 0.8)}))
	first := report.Findings[0]
	for round := range 3 {
		in := push(nil, code, nil, nil)
		in.SameHead = previous(report)
		report = Aggregate(in)
		if diff := cmp.Diff(first.FoundBy, report.Findings[0].FoundBy); diff != "" || first.FoundBy[0].Stated != 0.7 || first.FoundBy[1].Stated != 0.8 {
			t.Errorf("round %d: %+v%s", round, first.FoundBy, diff)
		}
	}
	old := report
	old.Findings = []pipeline.Finding{report.Findings[0]}
	old.Findings[0].FoundBy = pipeline.List[pipeline.Maker]{{Agent: first.FoundBy[0].Agent, Model: first.FoundBy[0].Model}}
	in := push(nil, code, nil, nil)
	in.SameHead = previous(old)
	if got := Aggregate(in).Findings[0].FoundBy; len(got) != 1 || got[0].Stated != 0 {
		t.Errorf("an older version's finding is said to be stated with %+v", got)
	}
}
