package review

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// onHead calls f while no other run writes the head's check: a check belongs to a SHA,
// and two pull requests may share it.
func (s *Service) onHead(ctx context.Context, repoID int64, headSHA string, f func(context.Context) error) error {
	return s.leases.Alone(ctx, "check/"+checkSubject(repoID, headSHA), f)
}

func checkSubject(repoID int64, headSHA string) string { return fmt.Sprintf("%d/%s", repoID, headSHA) }

// openCheck makes sure that the head has a check in progress. A completed one
// counts if it answers for the target, unless a fresh run was asked for.
func (s *Service) openCheck(ctx context.Context, lease ports.Lease, state ports.TargetState, headSHA string) error {
	return s.onHead(ctx, state.RepoID, headSHA, func(ctx context.Context) error {
		newest, err := s.Store.NewestWrite(ctx, ports.WriteCheck, checkSubject(state.RepoID, headSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if newest == nil && s.mayHaveCheck(state, headSHA) {
			if newest, err = s.takeOver(ctx, lease, state.Target, headSHA); err != nil {
				return err
			}
		}
		if newest != nil && newest.State == ports.WriteOpen {
			return nil
		}
		if newest != nil && newest.State == ports.WriteCompleted && !state.Fresh {
			if answers, err := s.answersFor(ctx, state, newest); err != nil || answers {
				return err
			}
		}
		name, err := s.checkName(ctx, state.Target)
		if err != nil {
			return err
		}
		_, err = s.createCheck(ctx, lease, state.Target, newest, ports.CheckWrite{
			Name: name, HeadSHA: headSHA, DetailsURL: s.detailsURL(ctx, state.Target),
			Output:    render.PendingCheck(render.Pending{HeadSHA: headSHA, StartedAt: s.Now(), Reason: state.Reason}),
			StartedAt: s.Now(),
		})
		return err
	})
}

// answersFor reports whether a head's completed check may stand while the target
// is reviewed: only if the target's newest answer is about this head. A check that the
// run of another pull request wrote knows nothing of this one's base. A check that was
// written before the head was replaced, and came back, says what counted then: a decision
// by hand is gone with the push.
func (s *Service) answersFor(ctx context.Context, state ports.TargetState, w *ports.Write) (bool, error) {
	last, err := s.Store.LastAnswer(ctx, state.Key())
	if err != nil {
		return false, fmt.Errorf("look for the newest answer: %w", err)
	}
	return last != nil && last.HeadSHA == w.HeadSHA, nil
}

// reopenForBase opens a new check if the one on the head was written for another base
// branch, and no event reported the change.
func (s *Service) reopenForBase(ctx context.Context, lease ports.Lease, state ports.TargetState, f *pipeline.PRFacts) error {
	last, err := s.Store.LastAnswer(ctx, state.Key())
	if err != nil {
		return fmt.Errorf("look for the newest answer: %w", err)
	}
	if last == nil || last.HeadSHA != f.Head.SHA || last.BaseRef == "" || last.BaseRef == f.Base.Ref || state.Fresh {
		return nil
	}
	state.Fresh = true
	err = s.openCheck(ctx, lease, state, f.Head.SHA)
	var host *ports.HostError
	if errors.As(err, &host) && !host.Temporary() {
		return nil // the result will be refused, too, and say why
	}
	return err
}

// mayHaveCheck reports whether a head that the store knows no check of may have
// one of ours, since the database was lost, or restored as it was before: it is
// the first that is heard of an older pull request, the sweep found it, or no
// event told of the head.
func (s *Service) mayHaveCheck(state ports.TargetState, headSHA string) bool {
	return state.Done == 0 && state.Reason != reasonOpened || state.Reason == reasonFound || s.followed.is(state.Key(), headSHA)
}

// The reasons of the asks for a new pull request, and for one that the sweep
// found.
const (
	reasonOpened = "opened"
	reasonFound  = "found without an answer"
)

// takeOver makes the head's newest check run on GitHub, which the store does
// not know, its own. It returns nil if there is none. Call it under onHead.
func (s *Service) takeOver(ctx context.Context, lease ports.Lease, t ports.Target, headSHA string) (*ports.Write, error) {
	runs, err := s.GitHub.Checks(ctx, t, headSHA)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	w, err := s.Store.Intend(ctx, lease, ports.Write{
		Kind: ports.WriteCheck, Subject: checkSubject(t.RepoID, headSHA), Key: t.Key(), HeadSHA: headSHA,
		ExternalID: runs[0].ExternalID, RemoteID: runs[0].ID,
	})
	if err != nil {
		return nil, fmt.Errorf("take over check run %d: %w", runs[0].ID, err)
	}
	w.State = ports.WriteOpen
	if runs[0].Completed {
		w.State = ports.WriteCompleted
	}
	if err := s.Store.Record(ctx, w); err != nil {
		return nil, fmt.Errorf("take over check run %d: %w", runs[0].ID, err)
	}
	s.found("check")
	return &w, nil
}

// completeCheck completes the head's check, or writes nothing where it is
// complete and says the same already. Call it under onHead.
func (s *Service) completeCheck(ctx context.Context, lease ports.Lease, t ports.Target, w ports.CheckWrite) error {
	digest := w.Conclusion + " " + w.Output.Digest
	have, err := s.Store.NewestWrite(ctx, ports.WriteCheck, checkSubject(t.RepoID, w.HeadSHA))
	if err != nil {
		return fmt.Errorf("look for the head's check: %w", err)
	}
	if have != nil && have.State == ports.WriteCompleted && have.Digest == digest {
		return nil
	}
	if have == nil || have.State != ports.WriteOpen {
		open := w
		open.Conclusion, open.CompletedAt = "", time.Time{}
		open.Output = render.PendingCheck(render.Pending{HeadSHA: w.HeadSHA, StartedAt: w.StartedAt})
		if len(w.Output.Annotations) <= maxAnnotations {
			open = w // one request says it all
		}
		if have, err = s.createCheck(ctx, lease, t, have, open); err != nil {
			return err
		}
	}
	if have.State != ports.WriteCompleted {
		if err := s.leases.Fence(ctx, lease); err != nil {
			return err
		}
		w.ExternalID = have.ExternalID
		// Annotations can't be taken back: what is being sent is noted first,
		// so that a second try goes on where the first one ended.
		sending := "sending " + digest
		w.Repeat = have.Digest == sending
		if len(w.Output.Annotations) > 0 && !w.Repeat {
			have.Digest = sending
			if err := s.Store.Record(ctx, *have); err != nil {
				return fmt.Errorf("note what is sent to the check: %w", err)
			}
		}
		if err := s.GitHub.UpdateCheck(ctx, t, have.RemoteID, w); err != nil {
			return err
		}
	}
	have.State, have.Digest = ports.WriteCompleted, digest
	if err := s.Store.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the completed check: %w", err)
	}
	return nil
}

// maxAnnotations is how many annotations GitHub takes in one request.
const maxAnnotations = 50

// createCheck creates a check run, the intent first. An intent of an earlier
// run that has no outcome is resolved by looking: its check may be there.
func (s *Service) createCheck(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, w ports.CheckWrite) (*ports.Write, error) {
	if have != nil && have.State == ports.WriteIntended {
		there, conclusion, err := s.resolveCheck(ctx, t, have)
		if err != nil {
			return nil, err
		}
		// One that was completed with another conclusion is not the answer.
		if there && (have.State == ports.WriteOpen || w.Conclusion == "" || w.Conclusion == conclusion) {
			return have, nil
		}
	}
	if have == nil || have.State != ports.WriteIntended {
		intent, err := s.Store.Intend(ctx, lease, ports.Write{
			Kind: ports.WriteCheck, Subject: checkSubject(t.RepoID, w.HeadSHA), Key: lease.Key, HeadSHA: w.HeadSHA,
			ExternalID: "reviewgate-" + strings.ToLower(rand.Text()),
		})
		if err != nil {
			return nil, fmt.Errorf("store the intent to create a check: %w", err)
		}
		have = &intent
	}
	if err := s.leases.Fence(ctx, lease); err != nil {
		return nil, err
	}
	w.ExternalID = have.ExternalID
	id, err := s.GitHub.CreateCheck(ctx, t, w)
	if id == 0 {
		return nil, err
	}
	have.RemoteID, have.State = id, ports.WriteOpen
	if err == nil && w.Conclusion != "" {
		have.State = ports.WriteCompleted
	}
	// It is there: to lose its id because the run was just cancelled would
	// cost a search.
	if rerr := s.Store.Record(context.WithoutCancel(ctx), *have); rerr != nil {
		return nil, errors.Join(err, fmt.Errorf("record the created check: %w", rerr))
	}
	return have, err
}

// resolveCheck finds out what became of an intent to create a check, and
// records it. there is false if nothing did.
func (s *Service) resolveCheck(ctx context.Context, t ports.Target, w *ports.Write) (there bool, conclusion string, err error) {
	if w.State != ports.WriteIntended {
		return true, "", nil
	}
	found, err := s.findCheck(ctx, t, w.HeadSHA, w.ExternalID)
	if err != nil || found == nil {
		return false, "", err
	}
	w.RemoteID, w.State = found.ID, ports.WriteOpen
	if found.Completed {
		w.State = ports.WriteCompleted
	}
	if err := s.Store.Record(ctx, *w); err != nil {
		return false, "", fmt.Errorf("record the check that was found: %w", err)
	}
	return true, found.Conclusion, nil
}

// findCheck looks for a check run by its external id, twice, since lists may
// lag behind a create.
func (s *Service) findCheck(ctx context.Context, t ports.Target, headSHA, externalID string) (*ports.CheckRun, error) {
	return twice(ctx, func() (*ports.CheckRun, error) {
		all, err := s.GitHub.Checks(ctx, t, headSHA)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].ExternalID == externalID {
				return &all[i], nil
			}
		}
		return nil, nil
	})
}

// twice looks for something again after a moment if it is not there at once.
func twice[T any](ctx context.Context, look func() (*T, error)) (*T, error) {
	const lag = time.Second
	found, err := look()
	if found != nil || err != nil {
		return found, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(lag):
	}
	return look()
}

// cancelOldChecks completes the repository's checks that are open on heads
// which no open target has any more, whoever opened them.
func (s *Service) cancelOldChecks(ctx context.Context, lease ports.Lease, t ports.Target) error {
	old, err := s.Store.OpenChecks(ctx, t.RepoID)
	if err != nil {
		return fmt.Errorf("list the checks of older heads: %w", err)
	}
	for _, w := range old {
		err := s.cancelCheck(ctx, lease, t, w)
		switch {
		case err == nil:
		case w.Key == lease.Key || ctx.Err() != nil:
			return err
		default: // it must not hold up another pull request; it is tried again
			s.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed now")
		}
	}
	return nil
}

func (s *Service) cancelCheck(ctx context.Context, lease ports.Lease, t ports.Target, w ports.Write) error {
	newHead := ""
	if w.Key == lease.Key {
		newHead = t.HeadSHA
	}
	if newHead == w.HeadSHA {
		newHead = "" // closed, not superseded
	}
	return s.onHead(ctx, t.RepoID, w.HeadSHA, func(ctx context.Context) error {
		now, err := s.Store.NewestWrite(ctx, ports.WriteCheck, w.Subject)
		if err != nil {
			return fmt.Errorf("look for the old head's check: %w", err)
		}
		if now == nil || now.ID != w.ID || now.State == ports.WriteCompleted {
			w.State = ports.WriteCompleted // a newer one stands in its place
			return s.Store.Record(ctx, w)
		}
		there, _, err := s.resolveCheck(ctx, t, now)
		if err == nil && !there {
			now.State = ports.WriteCompleted // it was never created
			return s.Store.Record(ctx, *now)
		}
		var name string
		if err == nil {
			name, err = s.checkName(ctx, t)
		}
		if err == nil {
			err = s.completeCheck(ctx, lease, t, ports.CheckWrite{
				Name: name, HeadSHA: w.HeadSHA, Conclusion: "cancelled", Output: render.Superseded(newHead),
				StartedAt: s.Now(), CompletedAt: s.Now(),
			})
		}
		var host *ports.HostError
		switch {
		case !errors.As(err, &host) || host.Temporary():
			return err
		case host.Kind == ports.HostForbidden: // until the permission is back
			s.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed now")
			return nil
		}
		// The commit or the repository is gone, and nothing waits for it.
		s.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed")
		w.State = ports.WriteCompleted
		return s.Store.Record(ctx, w)
	})
}

// checkName is the check's name, for where the config in force is not at hand.
func (s *Service) checkName(ctx context.Context, t ports.Target) (string, error) {
	cfg, err := s.configs.Known(ctx, t)
	if err != nil {
		return "", err
	}
	return cfg.Settings.Check.Name, nil
}
