package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/once"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Checks writes the check run of each head. A head has one check, whatever the number of
// open pull requests that share it.
type Checks struct {
	Configs     *inforce.Configs
	Followed    *FollowedHeads
	Writes      ports.Writes
	History     ports.History
	Intake      ports.Intake
	CheckWriter ports.CheckWriter
	Leases      lease.Keeper
	Log         zerolog.Logger
	Now         func() time.Time
	WebURL      string            // of GitHub, for links
	Found       func(what string) // is called when GitHub has a check that the store does not know
}

// OnHead calls f while it holds the lease on the head's check. A check belongs to a SHA,
// and two pull requests may share that SHA.
func (k *Checks) OnHead(ctx context.Context, repoID int64, headSHA string, f func(context.Context) error) error {
	return k.Leases.Alone(ctx, "check/"+CheckSubject(repoID, headSHA), f)
}

// CheckSubject is the subject under which writes to a head's check are stored.
func CheckSubject(repoID int64, headSHA string) string { return fmt.Sprintf("%d/%s", repoID, headSHA) }

// Open makes sure that the head has a check in progress. A completed check is left as it is
// if it is the target's answer, unless the ask wants a fresh run.
func (k *Checks) Open(ctx context.Context, lease ports.Lease, state ports.TargetState, headSHA string) error {
	return k.OnHead(ctx, state.RepoID, headSHA, func(ctx context.Context) error {
		newest, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(state.RepoID, headSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if newest == nil && k.mayHaveCheck(state, headSHA) {
			if newest, err = k.takeOver(ctx, lease, state.Target, headSHA); err != nil {
				return err
			}
		}
		if newest != nil && newest.State == ports.WriteOpen {
			return nil
		}
		if newest != nil && newest.State == ports.WriteCompleted && !state.Fresh {
			if answers, err := k.answersFor(ctx, state, newest); err != nil || answers {
				return err
			}
		}
		name, err := k.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		_, err = k.createCheck(ctx, lease, state.Target, newest, ports.CheckWrite{
			Name: name, HeadSHA: headSHA, DetailsURL: k.DetailsURL(ctx, state.Target),
			Output:    render.PendingCheck(render.Pending{HeadSHA: headSHA, StartedAt: k.Now(), Reason: state.Reason}),
			StartedAt: k.Now(),
		})
		return err
	})
}

// answersFor reports whether a head's completed check may stay while the target is
// reviewed. It may only if the target's newest answer is about this head. A check written
// for another pull request does not consider this one's base. If the head was replaced and
// then came back, its old check may show a decision made by hand, which the push has ended.
func (k *Checks) answersFor(ctx context.Context, state ports.TargetState, w *ports.Write) (bool, error) {
	last, err := k.History.LastPublished(ctx, state.Key())
	if err != nil {
		return false, fmt.Errorf("look for the newest answer: %w", err)
	}
	return last != nil && last.HeadSHA == w.HeadSHA, nil
}

// ReopenForBase opens a new check if the check on the head was written for another base
// branch and no event reported the change of base.
func (k *Checks) ReopenForBase(ctx context.Context, lease ports.Lease, state ports.TargetState, f *pipeline.PRFacts) error {
	last, err := k.History.LastPublished(ctx, state.Key())
	if err != nil {
		return fmt.Errorf("look for the newest answer: %w", err)
	}
	if last == nil || last.HeadSHA != f.Head.SHA || last.BaseRef == "" || last.BaseRef == f.Base.Ref || state.Fresh {
		return nil
	}
	state.Fresh = true
	err = k.Open(ctx, lease, state, f.Head.SHA)
	if ports.IsFinal(err) {
		return nil // writing the result will fail too, and that error explains why
	}
	return err
}

// mayHaveCheck reports whether a head may have a check of ours that the store does not
// know, because the database was lost or restored from a backup. This is possible in three
// cases: the target is an older pull request that the store sees for the first time, the
// sweep found the target, or no event reported the head.
func (k *Checks) mayHaveCheck(state ports.TargetState, headSHA string) bool {
	return state.Done == 0 && state.Reason != reasonOpened || state.Reason == ReasonFound || k.Followed.is(state.Key(), headSHA)
}

// Reasons of asks: one for a new pull request, one for a pull request that the sweep found.
const (
	reasonOpened = "opened"
	ReasonFound  = "found without an answer"
)

// takeOver stores the head's newest check run on GitHub, which the store does not know. It
// returns nil if there is none. Call it under OnHead.
func (k *Checks) takeOver(ctx context.Context, lease ports.Lease, t ports.Target, headSHA string) (*ports.Write, error) {
	runs, err := k.CheckWriter.Checks(ctx, t, headSHA)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	w, err := k.Writes.Intend(ctx, lease, ports.Write{
		Kind: ports.WriteCheck, Subject: CheckSubject(t.RepoID, headSHA), Key: t.Key(), HeadSHA: headSHA,
		ExternalID: runs[0].ExternalID, RemoteID: runs[0].ID,
	})
	if err != nil {
		return nil, fmt.Errorf("take over check run %d: %w", runs[0].ID, err)
	}
	w.State = ports.WriteOpen
	if runs[0].Completed {
		w.State = ports.WriteCompleted
	}
	if err := k.Writes.Record(ctx, w); err != nil {
		return nil, fmt.Errorf("take over check run %d: %w", runs[0].ID, err)
	}
	k.Found("check")
	return &w, nil
}

// Complete completes the head's check. It writes nothing if the check is already complete
// with the same content. Call it under OnHead.
func (k *Checks) Complete(ctx context.Context, lease ports.Lease, t ports.Target, w ports.CheckWrite) error {
	have, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(t.RepoID, w.HeadSHA))
	if err != nil {
		return fmt.Errorf("look for the head's check: %w", err)
	}
	if have != nil && have.State == ports.WriteCompleted && have.Conclusion == w.Conclusion && have.Digest == w.Output.Digest {
		return nil
	}
	if have == nil || have.State != ports.WriteOpen {
		open := w
		open.Conclusion, open.CompletedAt = "", time.Time{}
		open.Output = render.PendingCheck(render.Pending{HeadSHA: w.HeadSHA, StartedAt: w.StartedAt})
		if len(w.Output.Annotations) <= maxAnnotations {
			open = w // one request is enough
		}
		if have, err = k.createCheck(ctx, lease, t, have, open); err != nil {
			return err
		}
	}
	if have.State != ports.WriteCompleted {
		if err := k.Leases.Fence(ctx, lease); err != nil {
			return err
		}
		w.ExternalID = have.ExternalID
		// Annotations can't be removed. Record what is about to be sent, so that a second
		// try continues where the first one stopped.
		w.Repeat = have.Conclusion == w.Conclusion && have.Sending == w.Output.Digest
		if len(w.Output.Annotations) > 0 && !w.Repeat {
			have.Conclusion, have.Sending = w.Conclusion, w.Output.Digest
			if err := k.Writes.Record(ctx, *have); err != nil {
				return fmt.Errorf("note what is sent to the check: %w", err)
			}
		}
		if err := k.CheckWriter.UpdateCheck(ctx, t, have.RemoteID, w); err != nil {
			return err
		}
	}
	have.State, have.Conclusion, have.Digest, have.Sending = ports.WriteCompleted, w.Conclusion, w.Output.Digest, ""
	if err := k.Writes.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the completed check: %w", err)
	}
	return nil
}

// maxAnnotations is how many annotations GitHub accepts in one request.
const maxAnnotations = 50

// createCheck creates a check run, unless an earlier intent already created one that fits:
// w has no conclusion, or the same conclusion.
func (k *Checks) createCheck(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, w ports.CheckWrite) (*ports.Write, error) {
	intended := have != nil && have.State == ports.WriteIntended
	intend := func(ctx context.Context) (err error) {
		have, err = k.intendCheck(ctx, lease, t, w.HeadSHA)
		return err
	}
	_, err := once.Ensure(ctx, k.fence(lease), once.Creation{
		Intended: intended,
		Look: func(ctx context.Context) (bool, error) {
			there, conclusion, err := k.resolveCheck(ctx, t, have)
			if err != nil || !there || have.State == ports.WriteOpen || w.Conclusion == "" || w.Conclusion == conclusion {
				return there, err
			}
			return false, intend(ctx) // the existing check has another conclusion
		},
		Intend: intend,
		Create: func(ctx context.Context) (func(context.Context) error, error) {
			w.ExternalID = have.ExternalID
			id, err := k.CheckWriter.CreateCheck(ctx, t, w)
			if id == 0 {
				return nil, err
			}
			have.RemoteID, have.State = id, ports.WriteOpen
			if err == nil && w.Conclusion != "" {
				have.State = ports.WriteCompleted
			}
			return recorded(k.Writes, have), err
		},
	})
	return have, err
}

func (k *Checks) intendCheck(ctx context.Context, lease ports.Lease, t ports.Target, headSHA string) (*ports.Write, error) {
	intent, err := k.Writes.Intend(ctx, lease, ports.Write{
		Kind: ports.WriteCheck, Subject: CheckSubject(t.RepoID, headSHA), Key: lease.Key, HeadSHA: headSHA,
		ExternalID: "reviewgate-" + strings.ToLower(rand.Text()),
	})
	if err != nil {
		return nil, fmt.Errorf("store the intent to create a check: %w", err)
	}
	return &intent, nil
}

func (k *Checks) fence(l ports.Lease) func(context.Context) error {
	return func(ctx context.Context) error { return k.Leases.Fence(ctx, l) }
}

// recorded returns a function that records the write in its state at the time of the call.
func recorded(writes ports.Writes, w *ports.Write) func(context.Context) error {
	return func(ctx context.Context) error { return record(ctx, writes, w) }
}

func record(ctx context.Context, writes ports.Writes, w *ports.Write) error {
	if err := writes.Record(ctx, *w); err != nil {
		return fmt.Errorf("record what was written to GitHub: %w", err)
	}
	return nil
}

// resolveCheck finds out whether an intent to create a check succeeded, and records the
// check if so. Otherwise there is false.
func (k *Checks) resolveCheck(ctx context.Context, t ports.Target, w *ports.Write) (there bool, conclusion string, err error) {
	if w.State != ports.WriteIntended {
		return true, "", nil
	}
	found, err := k.findCheck(ctx, t, w.HeadSHA, w.ExternalID)
	if err != nil || found == nil {
		return false, "", err
	}
	w.RemoteID, w.State = found.ID, ports.WriteOpen
	if found.Completed {
		w.State = ports.WriteCompleted
	}
	if err := k.Writes.Record(ctx, *w); err != nil {
		return false, "", fmt.Errorf("record the check that was found: %w", err)
	}
	return true, found.Conclusion, nil
}

// findCheck looks for a check run by its external ID. It looks twice, because GitHub's
// lists may lag behind a create.
func (k *Checks) findCheck(ctx context.Context, t ports.Target, headSHA, externalID string) (*ports.CheckRun, error) {
	return once.LookTwice(ctx, func() (*ports.CheckRun, error) {
		all, err := k.CheckWriter.Checks(ctx, t, headSHA)
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

// CancelOld completes the repository's open checks on heads that no open target has any
// more, no matter which target opened them.
func (k *Checks) CancelOld(ctx context.Context, lease ports.Lease, t ports.Target) error {
	old, err := k.Writes.OpenChecks(ctx, t.RepoID)
	if err != nil {
		return fmt.Errorf("list the checks of older heads: %w", err)
	}
	for _, w := range old {
		err := k.cancelCheck(ctx, lease, t, w)
		switch {
		case err == nil:
		case w.Key == lease.Key || ctx.Err() != nil:
			return err
		default: // another pull request's check must not stop this run; a later run tries again
			k.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed now")
		}
	}
	return nil
}

func (k *Checks) cancelCheck(ctx context.Context, lease ports.Lease, t ports.Target, w ports.Write) error {
	newHead := ""
	if w.Key == lease.Key {
		newHead = t.HeadSHA
	}
	if newHead == w.HeadSHA {
		newHead = "" // closed, not superseded
	}
	return k.OnHead(ctx, t.RepoID, w.HeadSHA, func(ctx context.Context) error {
		now, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, w.Subject)
		if err != nil {
			return fmt.Errorf("look for the old head's check: %w", err)
		}
		if now == nil || now.ID != w.ID || now.State == ports.WriteCompleted {
			w.State = ports.WriteCompleted // a newer check replaced it
			return k.Writes.Record(ctx, w)
		}
		there, _, err := k.resolveCheck(ctx, t, now)
		if err == nil && !there {
			now.State = ports.WriteCompleted // it was never created
			return k.Writes.Record(ctx, *now)
		}
		var name string
		if err == nil {
			name, err = k.Name(ctx, t)
		}
		if err == nil {
			err = k.Complete(ctx, lease, t, ports.CheckWrite{
				Name: name, HeadSHA: w.HeadSHA, Conclusion: "cancelled", Output: render.Superseded(newHead),
				StartedAt: k.Now(), CompletedAt: k.Now(),
			})
		}
		var host *ports.HostError
		switch {
		case !ports.IsFinal(err):
			return err
		case errors.As(err, &host) && host.Kind == ports.HostForbidden: // a later run tries again, in case the permission is back
			k.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed now")
			return nil
		}
		// The commit or the repository is gone, so nobody waits for the check.
		k.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed")
		w.State = ports.WriteCompleted
		return k.Writes.Record(ctx, w)
	})
}

// Name returns the check's name, for callers that have not read the config in force.
func (k *Checks) Name(ctx context.Context, t ports.Target) (string, error) {
	cfg, err := k.Configs.Known(ctx, t)
	if err != nil {
		return "", err
	}
	return cfg.Settings.Check.Name, nil
}

// Publish completes the head's check. If several open pull requests share the head, the
// check waits for the last of them and shows the worst decision.
func (k *Checks) Publish(ctx context.Context, p *Publication) error {
	r, state := p.Review, p.State
	return k.OnHead(ctx, state.RepoID, r.HeadSHA, func(ctx context.Context) error {
		others, stricter, err := k.OthersOnHead(ctx, state, r.HeadSHA, r.Review.Facts.Repository.FullName(), p.mode())
		if err != nil {
			return err
		}
		if stricter {
			return k.LeaveTo(ctx, state, others)
		}
		shared, waiting := sharedHead(others)
		if waiting {
			k.Log.Info().EmbedObject(state.Target.At(r.HeadSHA)).Msg("check waits for another pull request on the same head")
			return nil
		}
		view := View(k.WebURL, state.Target, r, p.Config, nil, shared)
		view.Details, view.Inline = k.DetailsURL(ctx, state.Target), urls(k.WebURL, state.Target, p.inline)
		w := ports.CheckWrite{
			Name: p.Config.Settings.Check.Name, HeadSHA: r.HeadSHA, DetailsURL: view.Details,
			Conclusion: render.Conclusion(view), Output: render.Check(view),
			StartedAt: r.Record.StartedAt, CompletedAt: k.Now(),
		}
		if !p.Config.Settings.Check.Annotations {
			w.Output.Annotations = nil
		}
		return k.Complete(ctx, p.Lease, state.Target, w)
	})
}

// sharedHead returns the decisions of the other open pull requests on the head, for the
// check. waiting means that one of them is still to be reviewed; its run comes after this
// one and completes the check.
func sharedHead(others []ports.HeadDecision) (shared []render.SharedHead, waiting bool) {
	for _, d := range others {
		switch {
		case d.Pending:
			return nil, true
		case d.Decision == "":
			d.Decision = pipeline.DecisionNeedsFixes // given up or skipped: without a decision the head must not pass
		}
		shared = append(shared, render.SharedHead{Number: d.Target.Number, Decision: d.Decision})
	}
	return shared, false
}

// OthersOnHead lists the decisions of the other open pull requests on a head that count for
// its check. The configs of the base branches may set different modes. Then only the pull
// requests with the strictest mode count, and stricter reports that this target is not one
// of them. name is the repository's name as it was read, because modes may depend on it.
func (k *Checks) OthersOnHead(ctx context.Context, state ports.TargetState, headSHA, name, mode string) (others []ports.HeadDecision, stricter bool, err error) {
	all, err := k.History.HeadDecisions(ctx, state.RepoID, headSHA)
	if err != nil {
		return nil, false, fmt.Errorf("list the decisions on the head: %w", err)
	}
	strictest := strictness(mode)
	for _, d := range all {
		if d.Target.Key() == state.Key() {
			continue
		}
		cfg, err := k.Configs.Known(ctx, d.Target)
		if err != nil {
			return nil, false, err
		}
		of := strictness(cfg.Mode(name))
		if of > strictest {
			strictest, others = of, nil
		}
		if of == strictest {
			others = append(others, d)
		}
	}
	return others, strictest > strictness(mode), nil
}

// strictness orders the modes by how much their checks can block.
func strictness(mode string) int {
	return slices.Index([]string{config.ModeOff, config.ModeAdvisory, config.ModeEnforce}, mode)
}

// DetailsURL returns the URL of the comment if it is known, else of the pull request.
func (k *Checks) DetailsURL(ctx context.Context, t ports.Target) string {
	if t.Number == 0 {
		return ""
	}
	url := fmt.Sprintf("%s/%s/%s/pull/%d", k.WebURL, t.Owner, t.Name, t.Number)
	if w, err := k.Writes.NewestWrite(ctx, ports.WriteComment, t.Key()); err == nil && w != nil && w.RemoteID != 0 {
		url += fmt.Sprintf("#issuecomment-%d", w.RemoteID)
	}
	return url
}

// LeaveTo leaves a head's check to other pull requests. If the check is open, the others
// that are done are asked to complete it: this target reopened it, or the check was waiting
// for this target.
func (k *Checks) LeaveTo(ctx context.Context, state ports.TargetState, others []ports.HeadDecision) error {
	waits, err := k.IsWaiting(ctx, state)
	if err != nil || !waits {
		return err
	}
	for _, d := range others {
		if d.Pending {
			continue
		}
		ask := ports.ReviewAsk{Target: d.Target, Reason: "another pull request left this head's check to it", Rerun: ports.Rerun{Decide: true}}
		if err := k.Intake.Ask(ctx, ask); err != nil {
			return fmt.Errorf("ask %s to complete the check of its head: %w", d.Target.Key(), err)
		}
	}
	return nil
}

// IsWaiting reports whether the head has a check of ours that is not completed. An intent
// to create a check counts, too.
func (k *Checks) IsWaiting(ctx context.Context, state ports.TargetState) (bool, error) {
	w, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(state.RepoID, state.HeadSHA))
	if err != nil {
		return false, fmt.Errorf("look for the head's check: %w", err)
	}
	return w != nil && w.State != ports.WriteCompleted, nil
}

// OpenMeanwhile opens a new check for a review that waits, unless the check on the head is
// the target's answer. A green check for another base would let the pull request be merged
// in the meantime. If this fails, the next try opens the check.
func (k *Checks) OpenMeanwhile(ctx context.Context, lease ports.Lease, state ports.TargetState) {
	err := panics.Guard(func() error {
		newest, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(state.RepoID, state.HeadSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if newest != nil && newest.State == ports.WriteOpen {
			return nil
		}
		if off, err := k.Configs.SwitchedOff(ctx, state.Target); err != nil || off {
			return err
		}
		return k.Open(ctx, lease, state, state.HeadSHA)
	})
	if err != nil {
		k.Log.Warn().EmbedObject(state.Target).Err(err).Msg("no check could be opened while the review waits")
	}
}

// UpdateOpen writes into the head's open check, if there is one. It leaves a completed
// check as it is, because that is the answer for the head until the next one.
func (k *Checks) UpdateOpen(ctx context.Context, lease ports.Lease, state ports.TargetState, out ports.CheckOutput) error {
	return k.OnHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		w, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(state.RepoID, state.HeadSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if w == nil || w.State != ports.WriteOpen {
			return nil
		}
		name, err := k.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		if err := k.Leases.Fence(ctx, lease); err != nil {
			return err
		}
		return k.CheckWriter.UpdateCheck(ctx, state.Target, w.RemoteID, ports.CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, ExternalID: w.ExternalID, DetailsURL: k.DetailsURL(ctx, state.Target),
			Output: out,
		})
	})
}

// FollowedHeads holds, by target, heads that were read from GitHub but that no event
// reported. An entry is removed when the work on the target is done.
type FollowedHeads struct {
	mu sync.Mutex
	m  map[string]string
}

// Set stores the head of a target. An empty head removes the entry.
func (f *FollowedHeads) Set(key, headSHA string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if headSHA == "" {
		delete(f.m, key)
		return
	}
	if f.m == nil {
		f.m = map[string]string{}
	}
	f.m[key] = headSHA
}

func (f *FollowedHeads) is(key, headSHA string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m[key] == headSHA
}
