package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// github returns the App's access to a repository.
type github struct {
	ports.PullReader
	access ports.Access
	fails  error
	asked  int
}

func (g *github) Access(context.Context, ports.Target) (ports.Access, error) {
	g.asked++
	return g.access, g.fails
}

// store records the requested reviews.
type store struct {
	ports.Intake
	asks  []ports.ReviewAsk
	fails error
}

func (s *store) Ask(_ context.Context, ask ports.ReviewAsk) error {
	s.asks = append(s.asks, ask)
	return s.fails
}

func refusal(kind ports.HostKind) error {
	return &ports.HostError{Op: "read the files", Kind: kind, Status: 403, Err: errors.New("Resource not accessible by integration")}
}

var (
	now   = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	state = ports.TargetState{
		Target: ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 2, Owner: "acme", Name: "shop", Number: 3, HeadSHA: "abc"},
		Reason: "pushed", Fresh: true, Attempts: 1, FailedSince: now.Add(-time.Minute),
	}
	// here is full access to a repository.
	here = ports.Access{Installed: true, Installation: 1, Owner: "acme", Name: "shop"}
)

func diagnose(t *testing.T, g *github, s *store, state ports.TargetState, refusal error) (cause error, moved bool, err error) {
	t.Helper()
	c := access.Checker{PullReader: g, Intake: s, Retry: retry.Policy{Base: time.Second, Window: time.Hour, Now: func() time.Time { return now }}}
	return c.Diagnose(t.Context(), state, refusal)
}

// The App's access explains why a review was refused.
func TestReasonsOfRefusals(t *testing.T) {
	uninstalled, suspended, missing := here, here, here
	uninstalled.Installed = false
	suspended.Suspended = true
	missing.Missing = []string{"checks: write", "contents: read"}
	for name, test := range map[string]struct {
		access ports.Access
		result string // empty if the reason is not known
		mute   bool
	}{
		"the App is not installed":      {uninstalled, "the App is not installed on the repository, or the repository is gone", true},
		"the installation is suspended": {suspended, "the App's installation is suspended", true},
		"permissions are missing":       {missing, "the App lacks permissions: checks: write, contents: read", false},
		"nothing is missing":            {here, "", false},
	} {
		for _, kind := range []ports.HostKind{ports.HostForbidden, ports.HostNotFound} {
			s, refused := &store{}, refusal(kind)
			cause, moved, err := diagnose(t, &github{access: test.access}, s, state, refused)
			if err != nil || moved || !errors.Is(cause, refused) || len(s.asks) > 0 {
				t.Errorf("%s: cause %v, moved %t, asks %v, error %v", name, cause, moved, s.asks, err)
			}
			var why *access.RefusedError
			switch {
			case errors.As(cause, &why) != (test.result != ""):
				t.Errorf("%s: cause %v", name, cause)
			case why != nil && (why.Result != test.result || why.Mute != test.mute || why.Remedy == ""):
				t.Errorf("%s: %+v", name, why)
			}
		}
	}
}

// The App looks into refusals and missing items only. Other errors explain themselves.
func TestOtherErrorsAreNotLookedInto(t *testing.T) {
	for _, trouble := range []error{errors.New("connection reset"), refusal(ports.HostInvalid), refusal(ports.HostLimited), refusal(ports.HostBudget)} {
		g := &github{}
		cause, moved, err := diagnose(t, g, nil, state, trouble)
		if !errors.Is(cause, trouble) || moved || err != nil || g.asked != 0 {
			t.Errorf("%v: cause %v, moved %t, error %v after %d questions", trouble, cause, moved, err, g.asked)
		}
	}
}

// A review of a renamed or transferred repository is requested at the new place. A push may
// have come since, so the ask has no head.
func TestRepositoriesThatMoved(t *testing.T) {
	place := func(installation int64, owner, name string) ports.Access {
		return ports.Access{Installed: true, Installation: installation, Owner: owner, Name: name}
	}
	for name, to := range map[string]ports.Access{
		"renamed": place(1, "acme", "store"), "transferred": place(9, "globex", "shop"), "installed anew": place(9, "acme", "shop"),
	} {
		s := &store{}
		cause, moved, err := diagnose(t, &github{access: to}, s, state, refusal(ports.HostNotFound))
		if cause != nil || !moved || err != nil {
			t.Errorf("%s: cause %v, moved %t, error %v", name, cause, moved, err)
		}
		want := []ports.ReviewAsk{{
			Target: ports.Target{Kind: ports.TargetPull, Installation: to.Installation, RepoID: 2, Owner: to.Owner, Name: to.Name, Number: 3},
			Reason: "pushed", Fresh: true,
		}}
		if diff := cmp.Diff(want, s.asks); diff != "" {
			t.Errorf("%s: asks (-want +got):\n%s", name, diff)
		}
	}
	errDatabase := errors.New("connection reset")
	_, moved, err := diagnose(t, &github{access: place(1, "acme", "store")}, &store{fails: errDatabase}, state, refusal(ports.HostNotFound))
	if moved || !errors.Is(err, errDatabase) {
		t.Errorf("the database fails: moved %t, error %v", moved, err)
	}
}

// A permission may have been granted a moment ago, so the first refusal without a reason is
// tried again. "Not found" is not tried again.
func TestFirstRefusalIsTemporary(t *testing.T) {
	first := state
	first.Attempts, first.FailedSince = 0, time.Time{}
	cause, moved, err := diagnose(t, &github{access: here}, nil, first, refusal(ports.HostForbidden))
	if cause != nil || moved || !retry.Temporary(err) || err == nil {
		t.Errorf("the first refusal: cause %v, moved %t, error %v", cause, moved, err)
	}
	gone := refusal(ports.HostNotFound)
	if cause, _, err := diagnose(t, &github{access: here}, nil, first, gone); !errors.Is(cause, gone) || err != nil {
		t.Errorf("not found: cause %v, error %v", cause, err)
	}
}

// When GitHub does not say what access the App has, the question is repeated while there is
// time. After that the refusal is the cause.
func TestGitHubDoesNotSayWhy(t *testing.T) {
	down, refused := refusal(ports.HostTransient), refusal(ports.HostForbidden)
	late := state
	late.FailedSince = now.Add(-time.Hour)
	for name, test := range map[string]struct {
		state      ports.TargetState
		fails      error
		cause, err error
	}{
		"there is time":        {state, down, nil, down},
		"there is no time":     {late, down, refused, nil},
		"it refuses to say so": {state, refusal(ports.HostForbidden), refused, nil},
	} {
		cause, moved, err := diagnose(t, &github{fails: test.fails}, nil, test.state, refused)
		if !errors.Is(cause, test.cause) || errors.As(cause, new(*access.RefusedError)) || moved || !errors.Is(err, test.err) {
			t.Errorf("%s: cause %v, moved %t, error %v", name, cause, moved, err)
		}
	}
}
