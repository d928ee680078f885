package review

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/render"
)

func checkSubject(repoID int64, headSHA string) string { return fmt.Sprintf("%d/%s", repoID, headSHA) }

// onHead does f while no other run writes the head's check: a check belongs
// to a SHA, and two pull requests may share it.
func (s *Service) onHead(ctx context.Context, repoID int64, headSHA string, f func(context.Context) error) error {
	const pause = 25 * time.Millisecond
	const headTTL = 2 * time.Minute // not renewed: more than a slow answer with many annotations takes
	for {
		l, ok, err := s.Store.Acquire(ctx, "check/"+checkSubject(repoID, headSHA), s.Owner, headTTL)
		if err != nil {
			return fmt.Errorf("take the lease of the head's check: %w", err)
		}
		if ok {
			ferr := f(ctx)
			if err := s.Store.Release(context.WithoutCancel(ctx), l); err != nil && ferr == nil {
				return fmt.Errorf("give back the lease of the head's check: %w", err)
			}
			return ferr
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// openCheck makes sure that the head has a check in progress. A completed one
// counts, unless a fresh run was asked for.
func (s *Service) openCheck(ctx context.Context, lease Lease, state TargetState, headSHA string) error {
	return s.onHead(ctx, state.RepoID, headSHA, func(ctx context.Context) error {
		newest, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(state.RepoID, headSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if newest != nil && (newest.State == WriteOpen || newest.State == WriteCompleted && !state.Fresh) {
			return nil
		}
		_, err = s.createCheck(ctx, lease, state.Target, newest, CheckWrite{
			Name: s.checkName(ctx, state.Target), HeadSHA: headSHA, DetailsURL: s.detailsURL(ctx, state.Target),
			Output:    render.PendingCheck(render.Pending{HeadSHA: headSHA, StartedAt: s.Now(), Reason: state.Reason}),
			StartedAt: s.Now(),
		})
		return err
	})
}

// completeCheck completes the head's check, or writes nothing where it is
// complete and says the same already. Call it under onHead.
func (s *Service) completeCheck(ctx context.Context, lease Lease, t Target, w CheckWrite) error {
	digest := w.Conclusion + " " + w.Output.Digest
	have, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(t.RepoID, w.HeadSHA))
	if err != nil {
		return fmt.Errorf("look for the head's check: %w", err)
	}
	if have != nil && have.State == WriteCompleted && have.Digest == digest {
		return nil
	}
	if have == nil || have.State != WriteOpen {
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
	if have.State != WriteCompleted {
		if err := s.fence(ctx, lease); err != nil {
			return err
		}
		w.ExternalID = have.ExternalID
		if err := s.GitHub.UpdateCheck(ctx, t, have.RemoteID, w); err != nil {
			return err
		}
	}
	have.State, have.Digest = WriteCompleted, digest
	if err := s.Store.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the completed check: %w", err)
	}
	return nil
}

// maxAnnotations is how many annotations GitHub takes in one request.
const maxAnnotations = 50

// createCheck creates a check run, the intent first. An intent of an earlier
// run that has no outcome is resolved by looking: its check may be there.
func (s *Service) createCheck(ctx context.Context, lease Lease, t Target, have *Write, w CheckWrite) (*Write, error) {
	if have != nil && have.State == WriteIntended {
		found, err := s.findCheck(ctx, t, w, have.ExternalID)
		if err != nil {
			return nil, err
		}
		if found != nil {
			have.RemoteID, have.State = found.ID, WriteOpen
			if found.Completed {
				have.State = WriteCompleted
			}
			if err := s.Store.Record(ctx, *have); err != nil {
				return nil, fmt.Errorf("record the check that was found: %w", err)
			}
			return have, nil
		}
	}
	if have == nil || have.State != WriteIntended {
		intent, err := s.Store.Intend(ctx, lease, Write{
			Kind: WriteCheck, Subject: checkSubject(t.RepoID, w.HeadSHA), Key: lease.Key, HeadSHA: w.HeadSHA,
			ExternalID: "reviewgate-" + strings.ToLower(rand.Text()),
		})
		if err != nil {
			return nil, fmt.Errorf("store the intent to create a check: %w", err)
		}
		have = &intent
	}
	if err := s.fence(ctx, lease); err != nil {
		return nil, err
	}
	w.ExternalID = have.ExternalID
	id, err := s.GitHub.CreateCheck(ctx, t, w)
	if id == 0 {
		return nil, err
	}
	have.RemoteID, have.State = id, WriteOpen
	if err == nil && w.Conclusion != "" {
		have.State = WriteCompleted
	}
	// It is there: to lose its id because the run was just cancelled would
	// cost a search.
	if rerr := s.Store.Record(context.WithoutCancel(ctx), *have); rerr != nil {
		return nil, errors.Join(err, fmt.Errorf("record the created check: %w", rerr))
	}
	return have, err
}

// findCheck looks for a check run by its external id, twice, since lists may
// lag behind a create.
func (s *Service) findCheck(ctx context.Context, t Target, w CheckWrite, externalID string) (*CheckRun, error) {
	return twice(ctx, func() (*CheckRun, error) {
		all, err := s.GitHub.Checks(ctx, t, w.HeadSHA, w.Name)
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

// cancelOldChecks completes what earlier runs of the target left open on
// other heads than headSHA. Where another open pull request has that head,
// the check is its to complete, and it is asked to.
func (s *Service) cancelOldChecks(ctx context.Context, lease Lease, t Target, headSHA string) error {
	old, err := s.Store.OpenChecks(ctx, lease.Key, headSHA)
	if err != nil {
		return fmt.Errorf("list the checks of older heads: %w", err)
	}
	for _, w := range old {
		if err := s.cancelCheck(ctx, lease, t, w, headSHA); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) cancelCheck(ctx context.Context, lease Lease, t Target, w Write, headSHA string) error {
	others, err := s.Store.TargetsOnHead(ctx, t.RepoID, w.HeadSHA)
	if err != nil {
		return fmt.Errorf("list the pull requests on the old head: %w", err)
	}
	for _, o := range others {
		if o.Key() != lease.Key {
			return nil // askOthers has asked for it
		}
	}
	return s.onHead(ctx, t.RepoID, w.HeadSHA, func(ctx context.Context) error {
		if now, err := s.Store.NewestWrite(ctx, WriteCheck, w.Subject); err != nil || now == nil || now.State == WriteCompleted {
			return err
		}
		return s.completeCheck(ctx, lease, t, CheckWrite{
			Name: s.checkName(ctx, t), HeadSHA: w.HeadSHA, Conclusion: "cancelled", Output: render.Superseded(headSHA),
			StartedAt: s.Now(), CompletedAt: s.Now(),
		})
	})
}

// askOthers asks the other open pull requests on a head that the target left
// to finish the head's check, which may have been waiting for it.
func (s *Service) askOthers(ctx context.Context, t Target, leftSHA string) error {
	if leftSHA == "" {
		return nil
	}
	w, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(t.RepoID, leftSHA))
	if err != nil || w == nil || w.State == WriteCompleted {
		return err
	}
	others, err := s.Store.TargetsOnHead(ctx, t.RepoID, leftSHA)
	if err != nil {
		return fmt.Errorf("list the pull requests on the head that was left: %w", err)
	}
	for _, o := range others {
		if o.Key() == t.Key() {
			continue
		}
		state, err := s.Store.Target(ctx, o.Key())
		if err != nil {
			return fmt.Errorf("read the state of %s: %w", o.Key(), err)
		}
		if state.Wanted > state.Done {
			return nil // its run is still to come
		}
		ask := ReviewAsk{Target: o, Reason: fmt.Sprintf("#%d left this head", t.Number)}
		if err := s.Store.Ask(ctx, ask, false); err != nil {
			return fmt.Errorf("ask %s to finish the head's check: %w", o.Key(), err)
		}
		return nil
	}
	return nil
}

// checkName is the check's name by the newest config that was good for the
// repository, for where the config in force is not at hand.
func (s *Service) checkName(ctx context.Context, t Target) string {
	if good, err := s.Store.GoodLayer(ctx, t.RepoID, layerRepository); err == nil && good != nil {
		if cfg, problems := s.Loader.Load(configLayer(good.Source, good.Files)); len(problems) == 0 {
			return cfg.Settings.Check.Name
		}
	}
	cfg, _ := s.Loader.Load()
	return cfg.Settings.Check.Name
}

// fence makes sure that the run still holds its target, right before a write.
func (s *Service) fence(ctx context.Context, l Lease) error {
	if err := s.Store.Renew(ctx, l, s.LeaseTTL); err != nil {
		return fmt.Errorf("make sure that %s is still ours: %w", l.Key, err)
	}
	return nil
}
