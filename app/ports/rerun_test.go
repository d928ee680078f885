package ports_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestRerunTogether(t *testing.T) {
	a, ab := []string{"a"}, []string{"a", "b"}
	for _, c := range []struct{ one, other, want Rerun }{
		{Rerun{}, Rerun{Decide: true}, Rerun{}},
		{Rerun{}, Rerun{}, Rerun{}},
		{Rerun{Full: true}, Rerun{Decide: true}, Rerun{Full: true}},
		{Rerun{Full: true}, Rerun{Agents: a}, Rerun{Full: true}},
		{Rerun{Decide: true}, Rerun{Agents: a}, Rerun{Agents: a}},
		{Rerun{Decide: true, Agents: a}, Rerun{Decide: true}, Rerun{Agents: a}},
		{Rerun{Agents: []string{"b"}}, Rerun{Agents: []string{"a", "a"}}, Rerun{Agents: ab}},
		{Rerun{}, Rerun{Agents: a}, Rerun{Full: true}},
	} {
		if diff := cmp.Diff(c.want, c.one.And(c.other)); diff != "" {
			t.Errorf("%+v and %+v (-want +got):\n%s", c.one, c.other, diff)
		}
	}
}

// What several asks come to does not depend on their order, and runs whatever
// one of them alone would.
func TestRerunMeetsAll(t *testing.T) {
	some := rapid.Custom(func(t *rapid.T) Rerun {
		return Rerun{
			Full: rapid.IntRange(0, 4).Draw(t, "full") == 0, Decide: rapid.Bool().Draw(t, "decide"),
			Agents: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "agents"),
		}
	})
	sample.Check(t, func(t *rapid.T) {
		asks := rapid.SliceOfN(some, 1, 5).Draw(t, "asks")
		together := func(all []Rerun) Rerun {
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
						t.Fatalf("%+v runs %s anew (same head: %t), and together with the others, %+v, does not", ask, agent, sameHead, got)
					}
				}
			}
		}
	})
}

// anew reports whether an ask runs an agent anew though a review of the same
// head, or of an equal change on another one, has its result.
func anew(r Rerun, agent string, sameHead bool) bool {
	switch {
	case r.Full, slices.Contains(r.Agents, agent):
		return true
	case r.Decide, len(r.Agents) > 0:
		return false
	}
	return sameHead
}
