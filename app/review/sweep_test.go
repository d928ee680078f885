package review

import (
	"slices"
	"testing"
	"time"
)

// Of many lost deliveries those come first that nothing else finds.
func TestLostCommandsAreAskedForFirst(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	attempt := func(guid, event, action string, ago time.Duration) HookAttempt {
		return HookAttempt{GUID: guid, Event: event, Action: action, RepoID: 1, At: now.Add(-ago), Status: 502}
	}
	var l lostDeliveries
	l.note([]HookAttempt{
		attempt("scan", "check_run", "completed", 5*time.Hour),
		attempt("opened", "pull_request", "opened", 4*time.Hour),
		attempt("push", "push", "", 3*time.Hour),
		attempt("again", "check_run", "rerequested", 2*time.Hour),
		attempt("command", "issue_comment", "created", time.Hour),
		attempt("star", "star", "created", time.Hour),
	}, map[int64]bool{1: true})
	var got []string
	for _, a := range l.due(now) {
		got = append(got, a.GUID)
	}
	if want := []string{"again", "command", "opened", "push", "scan"}; !slices.Equal(got, want) {
		t.Errorf("asked for %v, want %v", got, want)
	}
}
