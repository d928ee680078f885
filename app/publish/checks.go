package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	Found       func(what string) // is told that a check was found which the store had lost
}

// OnHead calls f while no other run writes the head's check: a check belongs to a SHA,
// and two pull requests may share it.
func (k *Checks) OnHead(ctx context.Context, repoID int64, headSHA string, f func(context.Context) error) error {
	return k.Leases.Alone(ctx, "check/"+CheckSubject(repoID, headSHA), f)
}

// CheckSubject names the check of a head among writes.
func CheckSubject(repoID int64, headSHA string) string { return fmt.Sprintf("%d/%s", repoID, headSHA) }

// Open makes sure that the head has a check in progress. A completed one
// counts if it answers for the target, unless a fresh run was asked for.
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

// answersFor reports whether a head's completed check may stand while the target
// is reviewed: only if the target's newest answer is about this head. A check that the
// run of another pull request wrote knows nothing of this one's base. A check that was
// written before the head was replaced, and came back, says what counted then: a decision
// by hand is gone with the push.
func (k *Checks) answersFor(ctx context.Context, state ports.TargetState, w *ports.Write) (bool, error) {
	last, err := k.History.LastAnswer(ctx, state.Key())
	if err != nil {
		return false, fmt.Errorf("look for the newest answer: %w", err)
	}
	return last != nil && last.HeadSHA == w.HeadSHA, nil
}

// ReopenForBase opens a new check if the one on the head was written for another base
// branch, and no event reported the change.
func (k *Checks) ReopenForBase(ctx context.Context, lease ports.Lease, state ports.TargetState, f *pipeline.PRFacts) error {
	last, err := k.History.LastAnswer(ctx, state.Key())
	if err != nil {
		return fmt.Errorf("look for the newest answer: %w", err)
	}
	if last == nil || last.HeadSHA != f.Head.SHA || last.BaseRef == "" || last.BaseRef == f.Base.Ref || state.Fresh {
		return nil
	}
	state.Fresh = true
	err = k.Open(ctx, lease, state, f.Head.SHA)
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
func (k *Checks) mayHaveCheck(state ports.TargetState, headSHA string) bool {
	return state.Done == 0 && state.Reason != reasonOpened || state.Reason == ReasonFound || k.Followed.is(state.Key(), headSHA)
}

// The reasons of the asks for a new pull request, and for one that the sweep
// found.
const (
	reasonOpened = "opened"
	ReasonFound  = "found without an answer"
)

// takeOver makes the head's newest check run on GitHub, which the store does
// not know, its own. It returns nil if there is none. Call it under onHead.
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

// Complete completes the head's check, or writes nothing where it is
// complete and says the same already. Call it under onHead.
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
			open = w // one request says it all
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
		// Annotations can't be taken back: what is being sent is noted first,
		// so that a second try goes on where the first one ended.
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

// maxAnnotations is how many annotations GitHub takes in one request.
const maxAnnotations = 50

// createCheck creates a check run, unless an earlier intent has led to one that says the
// same: w.Conclusion is empty, or its conclusion.
func (k *Checks) createCheck(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, w ports.CheckWrite) (*ports.Write, error) {
	intended := have != nil && have.State == ports.WriteIntended
	_, err := once.Ensure(ctx, k.fence(lease), once.Thing{
		Intended: intended,
		Look: func(ctx context.Context) (bool, error) {
			there, conclusion, err := k.resolveCheck(ctx, t, have)
			if err != nil || !there || have.State == ports.WriteOpen || w.Conclusion == "" || w.Conclusion == conclusion {
				return there, err
			}
			return false, k.intendCheck(ctx, lease, t, w.HeadSHA, &have) // that one gave another answer
		},
		Intend: func(ctx context.Context) error { return k.intendCheck(ctx, lease, t, w.HeadSHA, &have) },
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

func (k *Checks) intendCheck(ctx context.Context, lease ports.Lease, t ports.Target, headSHA string, have **ports.Write) error {
	intent, err := k.Writes.Intend(ctx, lease, ports.Write{
		Kind: ports.WriteCheck, Subject: CheckSubject(t.RepoID, headSHA), Key: lease.Key, HeadSHA: headSHA,
		ExternalID: "reviewgate-" + strings.ToLower(rand.Text()),
	})
	if err != nil {
		return fmt.Errorf("store the intent to create a check: %w", err)
	}
	*have = &intent
	return nil
}

func (k *Checks) fence(l ports.Lease) func(context.Context) error {
	return func(ctx context.Context) error { return k.Leases.Fence(ctx, l) }
}

// recorded returns what records a write as it is then.
func recorded(writes ports.Writes, w *ports.Write) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := writes.Record(ctx, *w); err != nil {
			return fmt.Errorf("record what was written to GitHub: %w", err)
		}
		return nil
	}
}

// resolveCheck finds out what became of an intent to create a check, and
// records it. there is false if nothing did.
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

// findCheck looks for a check run by its external id, twice, since lists may
// lag behind a create.
func (k *Checks) findCheck(ctx context.Context, t ports.Target, headSHA, externalID string) (*ports.CheckRun, error) {
	return once.Look(ctx, func() (*ports.CheckRun, error) {
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

// CancelOld completes the repository's checks that are open on heads
// which no open target has any more, whoever opened them.
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
		default: // it must not hold up another pull request; it is tried again
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
			w.State = ports.WriteCompleted // a newer one stands in its place
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
		case !errors.As(err, &host) || host.Temporary():
			return err
		case host.Kind == ports.HostForbidden: // until the permission is back
			k.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed now")
			return nil
		}
		// The commit or the repository is gone, and nothing waits for it.
		k.Log.Warn().Str("head", w.HeadSHA).Err(err).Msg("the old head's check can't be completed")
		w.State = ports.WriteCompleted
		return k.Writes.Record(ctx, w)
	})
}

// Name is the check's name, for where the config in force is not at hand.
func (k *Checks) Name(ctx context.Context, t ports.Target) (string, error) {
	cfg, err := k.Configs.Known(ctx, t)
	if err != nil {
		return "", err
	}
	return cfg.Settings.Check.Name, nil
}

// Publish completes the head's check. Where several open pull requests
// share the head, the check waits for the last of them and carries the worst
// decision.
func (k *Checks) Publish(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config) error {
	return k.OnHead(ctx, state.RepoID, r.HeadSHA, func(ctx context.Context) error {
		others, stricter, err := k.OthersOnHead(ctx, state, r.HeadSHA, r.Review.Facts.Repository.FullName(), modeOf(r, cfg))
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
		view := View(k.WebURL, state.Target, r, cfg, nil, shared)
		view.Details = k.DetailsURL(ctx, state.Target)
		w := ports.CheckWrite{
			Name: cfg.Settings.Check.Name, HeadSHA: r.HeadSHA, DetailsURL: view.Details,
			Conclusion: render.Conclusion(view), Output: render.Check(view),
			StartedAt: r.Record.StartedAt, CompletedAt: k.Now(),
		}
		if !cfg.Settings.Check.Annotations {
			w.Output.Annotations = nil
		}
		return k.Complete(ctx, lease, state.Target, w)
	})
}

// sharedHead is what the check says of the other open pull requests on its head,
// and whether one of them has still to be reviewed: then its run, which comes
// after this one, completes the check.
func sharedHead(others []ports.HeadDecision) (shared []render.SharedHead, waiting bool) {
	for _, d := range others {
		switch {
		case d.Pending:
			return nil, true
		case d.Decision == "":
			d.Decision = pipeline.DecisionNeedsFixes // given up or skipped: no decision is no pass
		}
		shared = append(shared, render.SharedHead{Number: d.Target.Number, Decision: d.Decision})
	}
	return shared, false
}

// OthersOnHead lists where the other open pull requests on a head stand that have
// a say in its check. The base branches' configs may ask for different modes: then
// only those with the strictest have, and stricter tells that it is not this
// target's. The repository's name is the one that was read, as modes may go by it.
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

// strictness orders the modes by what their checks can block.
func strictness(mode string) int {
	return slices.Index([]string{config.ModeOff, config.ModeAdvisory, config.ModeEnforce}, mode)
}

// DetailsURL is the comment where it is known, else the pull request.
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

// LeaveTo leaves a head's check to others. If it is open, those that are done
// are asked to complete it: whatever opened it again, or has been waited for, was
// this target.
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
		if err := k.Intake.Ask(ctx, ask, false); err != nil {
			return fmt.Errorf("ask %s to complete the check of its head: %w", d.Target.Key(), err)
		}
	}
	return nil
}

// IsWaiting reports whether the head has a check of ours, or the intent to
// create one, that is not completed.
func (k *Checks) IsWaiting(ctx context.Context, state ports.TargetState) (bool, error) {
	w, err := k.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(state.RepoID, state.HeadSHA))
	if err != nil {
		return false, fmt.Errorf("look for the head's check: %w", err)
	}
	return w != nil && w.State != ports.WriteCompleted, nil
}

// OpenMeanwhile opens a new check for a review that waits, unless the one on the head
// answers for the target: a green check for another base would let it be merged in the
// meantime. If that fails, the next try opens it.
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

// UpdateOpen writes into the open check of the head, if it has one. A completed check
// answers for the head meanwhile, and stays as it is.
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
