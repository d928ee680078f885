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
		attempt("edit", "issue_comment", "edited", 6*time.Hour),
		attempt("star", "star", "created", time.Hour),
	}, map[int64]bool{1: true}, now)
	var got []string
	for _, a := range l.due(now) {
		got = append(got, a.GUID)
	}
	if want := []string{"again", "command", "opened", "push", "edit", "scan"}; !slices.Equal(got, want) {
		t.Errorf("asked for %v, want %v", got, want)
	}
}

// A process that remembers what failed need not read the log again from the oldest
// delivery that is lost.
func TestTheLogIsReadOnce(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	oldest := now.Add(-time.Hour)
	var l lostDeliveries
	if got := l.since(time.Time{}, now); !got.Equal(now.Add(-logReaches)) {
		t.Errorf("an unknown log is read since %v", got)
	}
	if got := l.since(oldest, now); !got.Equal(oldest.Add(-logOverlap)) {
		t.Errorf("a new process reads since %v", got)
	}
	lost := HookAttempt{GUID: "command", Event: "issue_comment", Action: "created", Status: 502, At: oldest}
	l.note([]HookAttempt{lost}, nil, now)
	later := now.Add(30 * time.Second)
	if got := l.since(oldest, later); !got.Equal(now.Add(-logLate)) {
		t.Errorf("the same process reads since %v", got)
	}
	l.note(nil, nil, later)
	if due := l.due(later); len(due) != 1 || due[0] != lost {
		t.Errorf("what was lost is %+v", due)
	}
}
