package ports_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestRerunTogether(t *testing.T) {
	a, ab := []string{"a"}, []string{"a", "b"}
	for _, c := range []struct{ one, other, want ports.Rerun }{
		{ports.Rerun{}, ports.Rerun{Decide: true}, ports.Rerun{}},
		{ports.Rerun{}, ports.Rerun{}, ports.Rerun{}},
		{ports.Rerun{Full: true}, ports.Rerun{Decide: true}, ports.Rerun{Full: true}},
		{ports.Rerun{Full: true}, ports.Rerun{Agents: a}, ports.Rerun{Full: true}},
		{ports.Rerun{Decide: true}, ports.Rerun{Agents: a}, ports.Rerun{Agents: a}},
		{ports.Rerun{Decide: true, Agents: a}, ports.Rerun{Decide: true}, ports.Rerun{Agents: a}},
		{ports.Rerun{Agents: []string{"b"}}, ports.Rerun{Agents: []string{"a", "a"}}, ports.Rerun{Agents: ab}},
		{ports.Rerun{}, ports.Rerun{Agents: a}, ports.Rerun{Full: true}},
	} {
		if diff := cmp.Diff(c.want, c.one.And(c.other)); diff != "" {
			t.Errorf("%+v and %+v (-want +got):\n%s", c.one, c.other, diff)
		}
	}
}

// The sum of several asks does not depend on their order, and runs everything that each of
// them alone would run.
func TestRerunMeetsAll(t *testing.T) {
	some := rapid.Custom(func(t *rapid.T) ports.Rerun {
		return ports.Rerun{
			Full: rapid.IntRange(0, 4).Draw(t, "full") == 0, Decide: rapid.Bool().Draw(t, "decide"),
			Agents: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "agents"),
		}
	})
	sample.Check(t, func(t *rapid.T) {
		asks := rapid.SliceOfN(some, 1, 5).Draw(t, "asks")
		together := func(all []ports.Rerun) ports.Rerun {
			r := all[0].Simple()
			for _, o := range all[1:] {
				r = r.And(o)
			}
			return r
		}
		got := together(asks)
		if diff := cmp.Diff(got, together(rapid.Permutation(asks).Draw(t, "permuted"))); diff != "" {
			t.Fatalf("in another order:\n%s", diff)
		}
		for _, agent := range []string{"a", "b", "c"} {
			for _, sameHead := range []bool{true, false} {
				for _, ask := range asks {
					if anew(ask, agent, sameHead) && !anew(got, agent, sameHead) {
						t.Fatalf("%+v runs %s again (same head: %t), but combined with the others, as %+v, it does not", ask, agent, sameHead, got)
					}
				}
			}
		}
	})
}

// anew reports whether an ask runs an agent again, even though a review of the same head, or
// of an equal change on another head, has its result.
func anew(r ports.Rerun, agent string, sameHead bool) bool {
	switch {
	case r.Full, slices.Contains(r.Agents, agent):
		return true
	case r.Decide, len(r.Agents) > 0:
		return false
	}
	return sameHead
}
