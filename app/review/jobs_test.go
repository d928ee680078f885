package review

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Each kind of job that the queue knows has a handler, and no other kind has one.
func TestEachKindOfJobHasWork(t *testing.T) {
	works := (&Service{}).works()
	all := ports.AllJobs()
	for _, r := range all {
		if works[r.Kind] == nil {
			t.Errorf("nothing is done for %s jobs", r.Kind)
		}
	}
	if len(works) != len(all) {
		t.Errorf("work for %d kinds of job, of which the queue knows %d", len(works), len(all))
	}
}
