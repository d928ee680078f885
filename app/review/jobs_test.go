package review

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Each kind of job that the queue knows has a handler, and no other kind has one.
func TestEachKindOfJobHasAHandler(t *testing.T) {
	works := (&Service{}).works()
	all := ports.AllJobs()
	for _, r := range all {
		if works[r.Kind] == nil {
			t.Errorf("no handler for %s jobs", r.Kind)
		}
	}
	if len(works) != len(all) {
		t.Errorf("handlers for %d kinds of job, but the queue knows %d", len(works), len(all))
	}
}
