package recovery

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// The lost deliveries that nothing else finds come first.
func TestUrgencyOfLostDeliveries(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	attempt := func(id int64, guid, event, action string, status int) ports.HookAttempt {
		return ports.HookAttempt{ID: id, GUID: guid, Event: event, Action: action, RepoID: 1, At: at.Add(time.Duration(id) * time.Minute), Status: status}
	}
	all := []ports.HookAttempt{
		attempt(9, "edit", "issue_comment", "edited", 502),
		attempt(8, "command", "issue_comment", "created", 504), // GitHub lists the newest first
		attempt(7, "again", "check_run", "rerequested", 502),
		attempt(6, "push", "push", "", 502),
		attempt(5, "opened", "pull_request", "opened", 0),
		attempt(4, "star", "star", "created", 502),
		attempt(2, "command", "issue_comment", "created", 502),
		attempt(0, "scan", "check_run", "completed", 502),
	}
	want := map[string]int{"again": 3, "command": 3, "opened": 2, "push": 2, "edit": 1, "scan": 0}
	for _, repos := range []map[int64]bool{{1: true}, {2: true}} {
		got := map[string]int{}
		for _, d := range lostDeliveries(all, repos) {
			got[d.GUID] = d.Urgency
			if d.GUID == "command" && (d.ID != 8 || !d.At.Equal(at.Add(2*time.Minute)) || d.Status != 504) {
				t.Errorf("the command is %+v, want its newest attempt with the time of the first", d)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lost, by urgency (-want +got):\n%s", diff)
		}
		delete(want, "scan") // no review waits for it in other repositories
	}
}

func TestWaitsBetweenLooks(t *testing.T) {
	var all time.Duration
	for looks, want := range []time.Duration{1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		if got := lookAgain(looks); got != want*time.Minute {
			t.Errorf("after %d looks, the next look is after %s, want %d minutes", looks, got, want)
		}
		all += want * time.Minute
	}
	if all.Round(time.Hour) != 34*time.Hour || lookAgain(maxLooks-1) < logReaches {
		t.Errorf("looks end after %s, and then wait %s", all, lookAgain(maxLooks-1))
	}
}

// remembered is a store that knows one target and the check on its head.
type remembered struct {
	ports.Targets
	ports.Writes
	ports.Layers
	state ports.TargetState
	check *ports.Write
}

func (r remembered) Target(context.Context, string) (ports.TargetState, error) { return r.state, nil }

func (r remembered) NewestWrite(context.Context, ports.WriteKind, string) (*ports.Write, error) {
	return r.check, nil
}

func (remembered) GoodLayer(context.Context, int64, string) (*ports.GoodLayer, error) {
	return nil, nil
}

func (remembered) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

// A review that was given up is answered by the check that says so. A cancelled or incomplete
// check is not an answer.
func TestGivenUpReviewIsAnsweredByItsCheck(t *testing.T) {
	pull := ports.Target{Kind: ports.TargetPull, RepoID: 2, Number: 3, HeadSHA: "aaa"}
	for name, tt := range map[string]struct {
		check *ports.Write
		want  bool
	}{
		"it says so":             {&ports.Write{State: ports.WriteCompleted, Conclusion: "failure"}, true},
		"it was found on GitHub": {&ports.Write{State: ports.WriteCompleted}, true},
		"it was cancelled":       {&ports.Write{State: ports.WriteCompleted, Conclusion: "cancelled"}, false},
		"it is being sent":       {&ports.Write{State: ports.WriteOpen, Conclusion: "failure", Sending: "0f"}, false},
		"there is none":          {nil, false},
	} {
		store := remembered{state: ports.TargetState{Target: pull, Wanted: 2, Done: 2, GaveUp: true}, check: tt.check}
		f := &Finder{Configs: &inforce.Configs{Layers: store, Loader: config.NewLoader(1)}, Targets: store, Writes: store}
		answered, asked, err := f.answered(t.Context(), ports.OpenPull{Target: pull}, false)
		if err != nil || answered != tt.want || asked != 2 {
			t.Errorf("%s: answered %v, asked for generation %d (%v)", name, answered, asked, err)
		}
	}
}
