package review

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// accessError is a refusal whose reason is known: what people must do about
// it stands in the check where one can be written, else in the log.
type accessError struct {
	result string // a clause, such as "the App is suspended"
	remedy string // a sentence
	mute   bool   // nothing can be written to the repository
	err    error
}

func (e *accessError) Error() string { return e.result + ": " + e.err.Error() }
func (e *accessError) Unwrap() error { return e.err }

// diagnose finds out why GitHub refused a review for good. A repository that
// was renamed or transferred is asked for again at its new place, which moved
// reports; otherwise cause says what is wrong. An err means that GitHub did
// not answer for the moment.
func (s *Service) diagnose(ctx context.Context, state ports.TargetState, refusal error) (cause error, moved bool, err error) {
	var host *ports.HostError
	if !errors.As(refusal, &host) || host.Kind != ports.HostForbidden && host.Kind != ports.HostNotFound {
		return refusal, false, nil
	}
	a, err := s.GitHub.Access(ctx, state.Target)
	switch {
	case err != nil && retry.Temporary(err) && s.retry.InTime(state, err):
		return nil, false, err
	case err != nil:
		s.Log.Warn().Str("target", state.Key()).Err(err).Msg("why GitHub refuses is not known")
		return refusal, false, nil
	}
	if t := state.Target; a.Moved(&t) {
		s.Log.Info().Str("target", state.Key()).Str("repository", t.Owner+"/"+t.Name).Int64("installation", t.Installation).Msg("the repository moved")
		t.HeadSHA = "" // a push may have come since
		ask := ports.ReviewAsk{Target: t, Reason: state.Reason, Fresh: state.Fresh}
		if err := s.Store.Ask(ctx, ask, state.Fresh); err != nil {
			return nil, false, fmt.Errorf("ask for a review at the repository's new place: %w", err)
		}
		return nil, true, nil
	}
	if why := refusalOf(a); why != nil {
		why.err = refusal
		return why, false, nil
	}
	if host.Kind == ports.HostForbidden && state.Attempts == 0 {
		// Nothing stands against it now: it may have been given a moment ago.
		return nil, false, &ports.HostError{Op: host.Op, Kind: ports.HostTransient, Status: host.Status, Err: host.Err}
	}
	return refusal, false, nil
}

// refusalOf says why the App can't review, or nil if nothing stands against it.
func refusalOf(a ports.Access) *accessError {
	switch {
	case !a.Installed:
		return &accessError{
			result: "the App is not installed on the repository, or the repository is gone",
			remedy: "Install the App on the repository again.", mute: true,
		}
	case a.Suspended:
		return &accessError{
			result: "the App's installation is suspended",
			remedy: "An owner can unsuspend it on the installation's page.", mute: true,
		}
	case len(a.Missing) > 0:
		return &accessError{
			result: "the App lacks permissions: " + strings.Join(a.Missing, ", "),
			remedy: "An owner must accept the App's permissions on the installation's page. Reviews go on by themselves then.",
		}
	}
	return nil
}
