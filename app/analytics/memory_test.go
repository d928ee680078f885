package analytics

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// A summary holds no logs: those of this test would take more than 400 MB.
func TestSummaryHoldsNoLogs(t *testing.T) {
	var bodies [100][][]byte
	for i := range bodies {
		bodies[i] = storedLog(i)
	}
	peak := sample.WatchHeap()
	n := 40_000
	_, err := Summarise(t.Context(), func(yield func([]learning.Entry, error) bool) {
		var d learning.Decoder
		for i := range n {
			var log []learning.Entry
			for _, body := range bodies[i%len(bodies)] {
				e, err := d.Decode(body)
				if err != nil {
					yield(nil, err)
					return
				}
				log = append(log, e)
			}
			if !yield(log, nil) {
				return
			}
		}
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if mb := peak() >> 20; mb > 100 {
		t.Errorf("%d MB for %d logs", mb, n)
	}
}

// A summary of nothing has all keys, and its lists are empty.
func TestSummaryOfNothing(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(summarised(t, nil, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var nulls []string
	for _, part := range strings.Split(string(b), ",") {
		if key, value, _ := strings.Cut(part, ":"); strings.HasPrefix(value, "null") {
			nulls = append(nulls, key)
		}
	}
	got := strings.Join(nulls, " ")
	if got != `"average_fix_iterations" "median_seconds" "p90_seconds" "precision" "precision"` {
		t.Errorf("%s are null in %s", got, b)
	}
	for _, list := range []string{"hints", "calibration", "probation", "services", "rows"} {
		if !strings.Contains(string(b), `"`+list+`":[]`) {
			t.Errorf("%s is not an empty list in %s", list, b)
		}
	}
	for _, form := range []string{Text(summarised(t, nil, Options{})), Markdown(summarised(t, nil, Options{By: ByRule}))} {
		if !strings.Contains(form, "0 reviews of 0 pull requests") {
			t.Errorf("without logs: %s", form)
		}
	}
}
