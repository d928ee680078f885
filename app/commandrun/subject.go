package commandrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// subject is a finding that a command may be about.
type subject struct {
	id, title, path string
	fingerprints    []string // all its fingerprints, including the ID
	surroundings    []string // one for each fingerprint; see pipeline.Finding
	critical        bool     // by its own severity or the gate's
	accepted        bool     // set by said
	rule, agent     string
	finding         *pipeline.Finding // nil if the review does not have it
	// ignore is the reason in a comment that asks to ignore the finding and waits for
	// acceptance, or empty.
	ignore string
}

// subjects returns the findings of a review, including suppressed ones.
func subjects(r *pipeline.Report) []subject {
	var all []subject
	for i := range r.Findings {
		all = append(all, subjectOf(&r.Findings[i]))
	}
	for i := range r.Suppressed {
		all = append(all, subjectOf(&r.Suppressed[i].Finding))
	}
	return all
}

func subjectOf(f *pipeline.Finding) subject {
	s := subject{
		id: f.ID, title: f.Title, path: f.Path, fingerprints: slices.Clone(f.Fingerprints), surroundings: f.Surroundings, rule: f.RuleID, agent: f.Agent,
		finding:  f,
		critical: f.Severity == pipeline.SeverityCritical || f.GateSeverity == pipeline.SeverityCritical,
	}
	waits, _ := f.Reason(pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged)
	s.ignore = waits.Text
	if f.ID != "" && !slices.Contains(s.fingerprints, f.ID) {
		s.fingerprints = append(s.fingerprints, f.ID)
	}
	return s
}

// unread returns, as one subject, the parts of a head that could not be read and hold the
// gate.
func unread(r *ports.StoredReview) []subject {
	for _, i := range r.Review.Report.Incomplete {
		if i.Gating && i.Unread() {
			return []subject{{id: pipeline.AcceptedUnread, fingerprints: []string{pipeline.AcceptedUnread}, surroundings: []string{pipeline.UnreadOn(&r.Review.Facts)}}}
		}
	}
	return nil
}

// decidedOn lists the findings that people decided about, including findings that have since left
// the review.
func decidedOn(of []subject, m pipeline.Memory) []subject {
	var fingerprints []string
	for _, d := range m.Dismissed {
		fingerprints = append(fingerprints, d.Fingerprint)
	}
	for _, a := range m.Accepted {
		fingerprints = append(fingerprints, a.Fingerprint)
	}
	var all []subject
	for _, s := range of {
		if slices.ContainsFunc(s.fingerprints, func(f string) bool { return slices.Contains(fingerprints, f) }) {
			all = append(all, s)
		}
	}
	for _, f := range fingerprints {
		if !slices.ContainsFunc(all, func(s subject) bool { return slices.Contains(s.fingerprints, f) }) {
			all = append(all, subject{id: f, fingerprints: []string{f}})
		}
	}
	for i := range all {
		all[i].accepted = slices.ContainsFunc(m.Accepted, func(a pipeline.Acceptance) bool {
			return slices.Contains(all[i].fingerprints, a.Fingerprint)
		})
	}
	return all
}

// called returns the findings that an ID, or the beginning of one, may name.
func called(all []subject, id string) []subject {
	var some []subject
	for _, s := range all {
		if s.id == id {
			return []subject{s}
		}
		if slices.ContainsFunc(s.fingerprints, func(f string) bool { return strings.HasPrefix(f, id) }) {
			some = append(some, s)
		}
	}
	return some
}

// onFinding applies the command to a finding of the review that was the newest when the
// command was given. The person has not seen reviews of later pushes.
func (cr *commandRun) onFinding(ctx context.Context) (verdict, error) {
	r, err := cr.History.ReviewAsOf(ctx, cr.Target.Key(), cr.ReceivedAt)
	if err != nil {
		return verdict{}, fmt.Errorf("read the newest review: %w", err)
	}
	if r == nil {
		return refused(render.Notice{Kind: render.NoticeNoReview}), nil
	}
	all, kind := subjects(&r.Review.Report), render.NoticeNoFinding
	if cr.what.Name == commands.Accept && cr.what.Finding == commands.Unread {
		if all, kind = unread(r), render.NoticeAllRead; len(all) == 0 {
			return refused(render.Notice{Kind: kind}), nil
		}
	}
	if cr.what.Name == commands.Restore {
		m, err := cr.Commands.Taught(ctx, r.Key, r.HeadSHA, r.Review.Facts.Base.Ref)
		if err != nil {
			return verdict{}, fmt.Errorf("read what was said of findings: %w", err)
		}
		all, kind = decidedOn(all, m), render.NoticeUndecided
	}
	found := called(all, cr.what.Finding)
	switch {
	case len(found) == 0:
		return refused(cr.list(kind, all)), nil
	case len(found) > 1:
		return refused(cr.list(render.NoticeSeveral, found)), nil
	}
	if lacks, err := cr.lacksFor(ctx, &found[0]); err != nil || lacks != "" {
		return cr.notAllowed(lacks), err
	}
	v := cr.rerun(ports.Rerun{Decide: true})
	v.effect = cr.verdictOn(&found[0])
	v.effect.HeadSHA, v.effect.BaseRef = r.HeadSHA, r.Review.Facts.Base.Ref
	v.effect.Audit = cr.audit(r.HeadSHA, found[0].id)
	if v.effect.Entry, err = cr.judged(ctx, &found[0]); err != nil {
		return verdict{}, err
	}
	v.effect.Memory, err = memoryRun{cr}.taught(ctx, r, &found[0])
	return v, err
}

// lacksFor returns what the sender lacks for the command because of the finding. Taking
// back an acceptance loosens the gate as much as a dismissal does, so it needs the same
// rights.
func (cr *commandRun) lacksFor(ctx context.Context, s *subject) (string, error) {
	switch {
	case cr.what.Accepted && !s.accepted:
		return "", nil
	case cr.what.Critical && len(cr.config.FinalIn(s.rule, s.agent)) > 0:
		return cr.lacksForFinal(ctx, cr.config.FinalIn(s.rule, s.agent))
	case (cr.what.Critical || s.ignore != "") && s.critical: // accepting the comment's ignore has the effect of a dismissal
		if lacks, err := cr.unless(ctx, cr.mayMaintain, render.TakesCritical); err != nil || lacks != "" {
			return lacks, err
		}
	}
	if cr.what.Own {
		return cr.judgesOwn(ctx)
	}
	return "", nil
}

// list returns a refusal with the findings that the sender could have meant.
func (cr *commandRun) list(kind render.NoticeKind, of []subject) render.Notice {
	n := render.Notice{Kind: kind, Text: cr.what.Finding, More: max(0, len(of)-render.MaxNamed)}
	for _, s := range of[:min(len(of), render.MaxNamed)] {
		n.Names = append(n.Names, named(s.id, s.title))
	}
	return n
}

// verdictOn returns the command's effect on each fingerprint of a finding.
func (cr *commandRun) verdictOn(s *subject) ports.Effect {
	var e ports.Effect
	for i, f := range s.fingerprints {
		around := pipeline.SurroundingsUnknown // in a review by a version that did not store them
		if i < len(s.surroundings) {
			around = s.surroundings[i]
		}
		switch cr.what.Name {
		case commands.Dismiss:
			e.Dismiss = append(e.Dismiss, pipeline.Dismissal{
				Fingerprint: f, Path: s.path, Class: string(cr.what.Class), Reason: cr.what.Reason, By: cr.Sender, Override: cr.maintains || len(cr.finalIn) > 0, FinalIn: cr.finalIn,
				Surroundings: around,
			})
		case commands.Accept:
			e.Accept = append(e.Accept, pipeline.Acceptance{Fingerprint: f, By: cr.Sender, Ignore: s.ignore, Surroundings: around})
		default:
			e.Restore = append(e.Restore, f)
		}
	}
	return e
}

// audit returns the command's entry for the audit log.
func (cr *commandRun) audit(headSHA, subject string) *ports.AuditEntry {
	return &ports.AuditEntry{
		At: cr.Now(), RepoID: cr.Target.RepoID, Key: cr.Target.Key(), HeadSHA: headSHA, Actor: cr.Sender,
		Action: string(cr.what.Name), Subject: subject, Reason: cr.what.Reason,
	}
}

// byHand decides about the head whose review the comment showed when the command came. It
// refuses if nobody had seen a review of the current head by then: the head may have been
// pushed after the command, which can wait long for GitHub. If the head's review had been
// given up by then, it decides anyway, because there is no review to wait for.
func (cr *commandRun) byHand(ctx context.Context) (verdict, error) {
	key := cr.Target.Key()
	now, err := cr.PullReader.Pull(ctx, cr.Target)
	if err != nil {
		return verdict{}, err
	}
	state, err := cr.Targets.Target(ctx, key)
	if err != nil {
		return verdict{}, fmt.Errorf("read the target's state: %w", err)
	}
	r, err := cr.History.ReviewAsOf(ctx, key, cr.ReceivedAt)
	if err != nil {
		return verdict{}, fmt.Errorf("read the review that was shown: %w", err)
	}
	shown := r != nil && r.HeadSHA == now.HeadSHA && r.Review.Facts.Base.Ref == now.BaseRef
	gaveUp := state.GaveUp && state.Done >= state.Wanted && state.HeadSHA == now.HeadSHA && !state.GaveUpAt.After(cr.ReceivedAt)
	if !shown && !gaveUp {
		return refused(render.Notice{Kind: render.NoticeHeadMoved, Command: cr.what.Name}), nil
	}
	action := pipeline.HandOverride
	if cr.what.Name == commands.Reject {
		action = pipeline.HandReject
	} else if err := cr.askAuthority(ctx); err != nil {
		return verdict{}, err
	}
	v := cr.rerun(ports.Rerun{Decide: true})
	v.ask.ByHand = true
	v.effect = ports.Effect{
		ByHand:  &pipeline.HandDecision{Action: action, By: cr.Sender, Reason: cr.what.Reason, At: cr.Now(), FinalIn: cr.finalIn},
		HeadSHA: now.HeadSHA, BaseRef: now.BaseRef, Audit: cr.audit(now.HeadSHA, ""),
		Entry: cr.decided(learning.Action(action), now.HeadSHA, now.BaseRef),
	}
	if shown && r.Review.Report.Models != nil {
		v.effect.Audit.AutoDecision = r.Review.Report.Models.AutoDecision
	}
	return v, nil
}
