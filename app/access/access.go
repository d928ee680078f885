package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// Checker finds out why GitHub refuses a review's calls.
type Checker struct {
	PullReader ports.PullReader
	Intake     ports.Intake
	Retry      retry.Policy
	Log        zerolog.Logger
}

// RefusedError is a refusal with a known reason. What people must do is written in the
// check if that is possible, else in the log.
type RefusedError struct {
	Result string // a clause, such as "the App is suspended"
	Remedy string // a sentence
	Mute   bool   // nothing can be written to the repository
	err    error
}

func (e *RefusedError) Error() string { return e.Result + ": " + e.err.Error() }
func (e *RefusedError) Unwrap() error { return e.err }

// Diagnose finds out why GitHub refused a review for good. If the repository was renamed or
// transferred, it asks for the review again at the new place and reports moved. Otherwise
// cause says what is wrong. err means that GitHub did not answer for now.
func (d *Checker) Diagnose(ctx context.Context, state ports.TargetState, refusal error) (cause error, moved bool, err error) {
	var host *ports.HostError
	if !errors.As(refusal, &host) || host.Kind != ports.HostForbidden && host.Kind != ports.HostNotFound {
		return refusal, false, nil
	}
	a, err := d.PullReader.Access(ctx, state.Target)
	switch {
	case err != nil && retry.Temporary(err) && d.Retry.InTime(state, err):
		return nil, false, err
	case err != nil:
		d.Log.Warn().EmbedObject(state.Target).Err(err).Msg("the reason for GitHub's refusal is unknown")
		return refusal, false, nil
	}
	if t := state.Target; a.Moved(&t) {
		d.Log.Info().EmbedObject(t).Int64("installation", t.Installation).Msg("the repository moved")
		t.HeadSHA = "" // a push may have come since
		ask := ports.ReviewAsk{Target: t, Reason: state.Reason, Fresh: state.Fresh}
		if err := d.Intake.Ask(ctx, ask); err != nil {
			return nil, false, fmt.Errorf("ask for a review at the repository's new place: %w", err)
		}
		return nil, true, nil
	}
	if why := RefusalOf(a); why != nil {
		why.err = refusal
		return why, false, nil
	}
	if host.Kind == ports.HostForbidden && state.Attempts == 0 {
		// Nothing forbids it now: the permission may have been granted a moment ago.
		return nil, false, &ports.HostError{Op: host.Op, Kind: ports.HostTransient, Status: host.Status, Err: host.Err}
	}
	return refusal, false, nil
}

// RefusalOf returns why the App can't review, or nil if it can.
func RefusalOf(a ports.Access) *RefusedError {
	switch {
	case !a.Installed:
		return &RefusedError{
			Result: "the App is not installed on the repository, or the repository is gone",
			Remedy: "Install the App on the repository again.", Mute: true,
		}
	case a.Suspended:
		return &RefusedError{
			Result: "the App's installation is suspended",
			Remedy: "An owner can unsuspend it on the installation's page.", Mute: true,
		}
	case len(a.Missing) > 0:
		return &RefusedError{
			Result: "the App lacks permissions: " + strings.Join(a.Missing, ", "),
			Remedy: "An owner must accept the App's permissions on the installation's page. Reviews go on by themselves then.",
		}
	}
	return nil
}
