package memory_test

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// What was taught on a pull request to another branch holds only there until it was merged. What another
// repository taught does not tell its reason.
func TestWhereRecordsHold(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ports.MemoryRecord)
		want   bool
		reason string
	}{
		"to this branch":         {func(r *ports.MemoryRecord) { r.Cited.End = ports.PullOpen }, true, "the proxy ends it"},
		"to another one":         {func(r *ports.MemoryRecord) { r.Cited.End, r.Cited.BaseRef = ports.PullOpen, "mine" }, false, ""},
		"to another one, closed": {func(r *ports.MemoryRecord) { r.Cited.End, r.Cited.BaseRef = ports.PullClosed, "mine" }, false, ""},
		"imported":               {func(r *ports.MemoryRecord) { r.Cited = ports.MemoryCitation{} }, true, "the proxy ends it"},
		"in another repository": {func(r *ports.MemoryRecord) {
			r.Cited.BaseRef, r.Repository.RepoID, r.Organisation = "trunk", shop.RepoID+1, true
		}, true, ""},
	} {
		r := active(12)
		test.change(&r)
		s := &store{records: []ports.MemoryRecord{r}}
		wrong, _, err := s.keeper().Snapshot(t.Context(), files{"base1": there}.view(nil))
		if err != nil || len(wrong) > 0 != test.want || len(wrong) > 0 && wrong[0].Reason != test.reason {
			t.Errorf("%s: %+v, %v", name, wrong, err)
		}
	}
}
