package retry_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

var errDatabase = errors.New("connection reset")

// github is an error of GitHub, wrapped as callers wrap it.
func github(kind ports.HostKind, after time.Duration) error {
	return fmt.Errorf("review: %w", &ports.HostError{Op: "read the files", Kind: kind, RetryAfter: after, Err: errors.New("bad gateway")})
}

func TestWaitsDoubleUpToTwoMinutes(t *testing.T) {
	p := retry.Policy{Base: time.Second}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 120, 120, 120} {
		if got := p.Wait(i+1, errDatabase); got != want*time.Second {
			t.Errorf("after %d failures the wait is %s, want %ds", i+1, got, want)
		}
	}
	if got := p.Wait(1000, errDatabase); got != 2*time.Minute {
		t.Errorf("after 1000 failures the wait is %s", got)
	}
}

func TestWaitsAreAsLongAsGitHubAsks(t *testing.T) {
	p := retry.Policy{Base: time.Second}
	for _, test := range []struct {
		failures    int
		asked, want time.Duration
	}{
		{1, time.Hour, time.Hour},
		{100, time.Hour, time.Hour}, // longer than any wait of ours
		{7, time.Minute, 64 * time.Second},
		{3, 0, 4 * time.Second},
	} {
		if got := p.Wait(test.failures, github(ports.HostLimited, test.asked)); got != test.want {
			t.Errorf("GitHub asks for %s after %d failures: the wait is %s, want %s", test.asked, test.failures, got, test.want)
		}
	}
}

// A review is tried again only if the next attempt falls within the window, which begins
// with the first failure.
func TestReviewsAreGivenUpAfterTheWindow(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	p := retry.Policy{Base: time.Second, Window: time.Hour, Now: func() time.Time { return now }}
	for name, test := range map[string]struct {
		state ports.TargetState
		err   error
		want  bool
	}{
		"the first failure":                   {ports.TargetState{}, errDatabase, true},
		"the next attempt is just in time":    {ports.TargetState{Attempts: 2, FailedSince: now.Add(5*time.Second - time.Hour)}, errDatabase, true},
		"the next attempt is just too late":   {ports.TargetState{Attempts: 2, FailedSince: now.Add(4*time.Second - time.Hour)}, errDatabase, false},
		"GitHub asks for less than is left":   {ports.TargetState{}, github(ports.HostLimited, 59*time.Minute), true},
		"GitHub asks for more than is left":   {ports.TargetState{}, github(ports.HostLimited, 61*time.Minute), false},
		"many attempts, but not for long yet": {ports.TargetState{Attempts: 50, FailedSince: now.Add(-57 * time.Minute)}, errDatabase, true},
	} {
		if got := p.InTime(test.state, test.err); got != test.want {
			t.Errorf("%s: in time %t, want %t", name, got, test.want)
		}
	}
}

func TestWhatMaySucceedLater(t *testing.T) {
	panicked := panics.Guard(func() error { panic("boom") })
	for name, test := range map[string]struct {
		err       error
		temporary bool
		panicked  bool
	}{
		"the store fails":                    {errDatabase, true, false},
		"GitHub is down":                     {github(ports.HostTransient, 0), true, false},
		"GitHub limits calls":                {github(ports.HostLimited, 0), true, false},
		"GitHub refuses":                     {github(ports.HostForbidden, 0), false, false},
		"GitHub says that it does not exist": {github(ports.HostNotFound, 0), false, false},
		"GitHub rejects the request":         {github(ports.HostInvalid, 0), false, false},
		"the review has used up its calls":   {github(ports.HostBudget, 0), false, false},
		"the error is final":                 {fmt.Errorf("review: %w", &retry.FinalError{Err: errDatabase}), false, false},
		"a use case panicked":                {fmt.Errorf("review: %w", panicked), false, true},
		"a stage panicked":                   {fmt.Errorf("review: %w", &pipeline.PanicError{Value: "boom"}), false, true},
		"reading the pull request panicked":  {fmt.Errorf("review: %w", normalize.ErrPanic), false, true},
	} {
		if got := retry.Temporary(test.err); got != test.temporary {
			t.Errorf("%s: temporary %t, want %t", name, got, test.temporary)
		}
		if got := retry.Panicked(test.err); got != test.panicked {
			t.Errorf("%s: panicked %t, want %t", name, got, test.panicked)
		}
	}
}

func TestJobsAreTriedAHundredTimes(t *testing.T) {
	p := retry.Policy{Base: time.Second}
	refused := github(ports.HostForbidden, 0)
	for name, test := range map[string]struct {
		attempt int
		err     error
		after   time.Duration // 0 if the job is not tried again
	}{
		"no error":         {1, nil, 0},
		"the first time":   {1, errDatabase, time.Second},
		"the third time":   {3, errDatabase, 4 * time.Second},
		"the 99th time":    {99, errDatabase, 2 * time.Minute},
		"the 100th time":   {100, errDatabase, 0},
		"GitHub asks":      {1, github(ports.HostLimited, time.Hour), time.Hour},
		"GitHub refuses":   {1, refused, 0},
		"after many tries": {1000, errDatabase, 0},
		"its own wait":     {1, &ports.RetryError{After: time.Minute, Err: errDatabase}, time.Minute},
	} {
		err := p.Job(test.attempt, test.err)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", name, err, test.err)
		}
		var again *ports.RetryError
		if errors.As(err, &again); (again != nil) != (test.after != 0) || again != nil && again.After != test.after {
			t.Errorf("%s: %v, want another attempt after %s", name, err, test.after)
		}
	}
}
