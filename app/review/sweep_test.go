package review

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Of many lost deliveries those come first that nothing else finds.
func TestUrgencyOfLostDeliveries(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	attempt := func(id int64, guid, event, action string, status int) HookAttempt {
		return HookAttempt{ID: id, GUID: guid, Event: event, Action: action, RepoID: 1, At: at.Add(time.Duration(id) * time.Minute), Status: status}
	}
	read := sortAttempts([]HookAttempt{
		attempt(9, "edit", "issue_comment", "edited", 502),
		attempt(8, "command", "issue_comment", "created", 504), // GitHub lists the newest first
		attempt(7, "again", "check_run", "rerequested", 502),
		attempt(6, "push", "push", "", 502),
		attempt(5, "opened", "pull_request", "opened", 0),
		attempt(4, "star", "star", "created", 502),
		attempt(3, "came", "pull_request", "opened", 202),
		attempt(2, "command", "issue_comment", "created", 502),
		attempt(1, "came", "pull_request", "opened", 502),
		attempt(0, "scan", "check_run", "completed", 502),
	}, map[int64]bool{1: true})
	got := map[string]int{}
	for _, d := range read.Lost {
		got[d.GUID] = d.Urgency
		if d.GUID == "command" && (d.ID != 8 || !d.At.Equal(at.Add(2*time.Minute)) || d.Status != 504) {
			t.Errorf("the command is %+v, want its newest attempt with the time of the first", d)
		}
	}
	if diff := cmp.Diff(map[string]int{"again": 3, "command": 3, "opened": 2, "push": 2, "edit": 1, "scan": 0}, got); diff != "" {
		t.Errorf("lost, by urgency (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"came", "star"}, read.Settled, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("settled (-want +got):\n%s", diff)
	}
	if other := sortAttempts([]HookAttempt{attempt(0, "scan", "check_run", "completed", 502)}, nil); len(other.Lost) != 0 {
		t.Errorf("news of others' checks that nobody waits for is %+v", other.Lost)
	}
}

func TestWaitsBetweenAsks(t *testing.T) {
	var all time.Duration
	for asked, want := range []time.Duration{1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		if got := askAgain(asked); got != want*time.Minute {
			t.Errorf("asked for %d times before, the next ask is after %s, want %d minutes", asked, got, want)
		}
		all += want * time.Minute
	}
	if all.Round(time.Hour) != 34*time.Hour || askAgain(maxAsks-1) < logReaches {
		t.Errorf("asks end after %s, and then wait %s", all, askAgain(maxAsks-1))
	}
}
