package commandrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

func (cr *commandRun) sender() ports.Person { return ports.Person{Login: cr.Sender, ID: cr.SenderID} }

// memoryRun is a command while it is judged what memory learns from it.
type memoryRun struct{ *commandRun }

// taught returns what memory learns from the command's word on a finding. Every word but a dismissal as
// a false positive takes back what an earlier one taught.
func (cr memoryRun) taught(ctx context.Context, r *ports.StoredReview, s *subject) ([]ports.MemoryChange, error) {
	if s.id == pipeline.AcceptedUnread {
		return nil, nil
	}
	if cr.what.Name != commands.Dismiss || cr.what.Class != learning.FalsePositive {
		return cr.Keeper.Withdraw(ctx, cr.Target, s.fingerprints, cr.Sender)
	}
	if s.finding == nil {
		return nil, nil
	}
	l, err := cr.Keeper.Teach(ctx, memory.Dismissal{
		Target: cr.Target, Review: r, Finding: s.finding, Config: cr.config, By: cr.sender(),
		Own: cr.authors.own || cr.authors.unknownPush, Authors: cr.authors.all, Reason: cr.what.Reason, MayApprove: cr.mayApprove,
	})
	if err != nil {
		return nil, fmt.Errorf("learn from a dismissal: %w", err)
	}
	change := l.Change
	change.Say = func(id int64) string {
		if change.New != nil && id == 0 {
			return memoryNotice(&memory.Lesson{Outcome: memory.Full}, "").String()
		}
		return memoryNotice(&l, ports.MemoryName(max(id, change.ID))).String()
	}
	return []ports.MemoryChange{change}, nil
}

// memoryNotice is the answer about a record.
func memoryNotice(l *memory.Lesson, name string) render.Notice {
	a := render.MemoryAnswer{
		Record: name, Outcome: string(l.Outcome), People: l.People, Left: l.Left, PerDay: memory.PerDay,
		Reviews: l.Trial.Reviews, Of: l.Trial.Of, Failed: l.Trial.Failed, Stopped: l.Trial.Stopped, Days: l.Trial.Days, More: l.Trial.More, Elsewhere: l.Trial.Elsewhere,
	}
	if r := l.Record; r != nil {
		a.State, a.Rule, a.Service = string(r.State), r.About.Rule, r.About.Service
		a.Organisation = r.Organisation || l.Change.Organisation
	}
	for _, h := range l.Trial.Hidden {
		a.Hidden = append(a.Hidden, render.HiddenFinding{Pull: h.Pull, Named: named(h.Finding, h.Title), Outcome: string(h.Outcome)})
	}
	if l.Patch != nil {
		a.File, a.Patch, a.Whole = l.Patch.File, l.Patch.Lines, l.Patch.Whole
	}
	return render.Notice{Kind: render.NoticeMemory, Memory: &a}
}

// record returns the record that the command names, if it holds in the repository.
func (cr memoryRun) record(ctx context.Context) (*ports.MemoryRecord, error) {
	r, err := cr.Keeper.Memory.MemoryRecord(ctx, ports.MemoryID(cr.what.Record))
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !r.Applies(cr.Target):
		return nil, nil
	}
	return &r, nil
}

// lacksForRecord returns what the sender lacks to approve or revoke a record. What holds in a whole
// organisation takes somebody with the permission admin in the organisation's own repository, who could
// change its config as well. To approve, that config must be in force: otherwise anybody who may create
// repositories could create this one.
func (cr memoryRun) lacksForRecord(ctx context.Context, r *ports.MemoryRecord) (string, error) {
	if !r.Organisation && !cr.what.Organisation {
		return "", nil
	}
	own := cr.Target
	own.Name = ports.OrganisationRepo
	permission, err := cr.PeopleReader.Permission(ctx, own, cr.Sender)
	if err != nil {
		return "", err
	}
	if permission != ports.PermissionAdmin {
		return render.TakesOrganisation, nil
	}
	if cr.what.Name == commands.Forget {
		return "", nil
	}
	layer, err := cr.Configs.Layers.GoodLayer(ctx, 0, ports.OrganisationLayer(cr.Target.Installation, cr.Target.Owner))
	if err != nil {
		return "", fmt.Errorf("look for the organisation's config: %w", err)
	}
	if layer == nil || len(layer.Files) == 0 {
		return render.TakesOrganisation, nil
	}
	return "", nil
}

// remember makes a record active, unless it would have hidden findings that were right.
func (cr memoryRun) remember(ctx context.Context) (verdict, error) {
	r, lacks, err := cr.recordFor(ctx)
	if err == nil && r != nil && lacks == "" && r.Cited.Key == cr.Target.Key() {
		err = cr.askAuthors(ctx)
	}
	switch {
	case err != nil:
		return verdict{}, err
	case r == nil:
		return refused(render.Notice{Kind: render.NoticeNoRecord, Text: cr.what.Record}), nil
	case lacks != "":
		return cr.notAllowed(lacks), nil
	case !memory.MayApprove(r, cr.sender(), cr.Target.Key(), cr.authors.own || cr.authors.unknownPush):
		return cr.notAllowed(render.TakesOtherApprover), nil
	case r.State == ports.MemoryRevoked:
		return refused(memoryNotice(&memory.Lesson{Outcome: render.MemoryRevoked, Record: r}, r.Name())), nil
	}
	l, err := cr.Keeper.Approve(ctx, r, memory.Approval{By: cr.sender(), Actor: cr.Sender, Anyway: cr.what.Anyway, Organisation: cr.what.Organisation})
	if err != nil {
		return verdict{}, err
	}
	v := answered(memoryNotice(&l, r.Name()))
	if l.Outcome == memory.Active {
		v.effect.Memory, v.effect.Audit = []ports.MemoryChange{l.Change}, cr.audit("", r.Name())
	}
	return v, nil
}

// forget revokes a record.
func (cr memoryRun) forget(ctx context.Context) (verdict, error) {
	r, lacks, err := cr.recordFor(ctx)
	switch {
	case err != nil:
		return verdict{}, err
	case r == nil:
		return refused(render.Notice{Kind: render.NoticeNoRecord, Text: cr.what.Record}), nil
	case lacks != "":
		return cr.notAllowed(lacks), nil
	}
	v := answered(memoryNotice(&memory.Lesson{Outcome: render.MemoryForgotten, Record: r}, r.Name()))
	if r.State != ports.MemoryRevoked {
		v.effect.Memory = []ports.MemoryChange{{ID: r.ID, From: r.State, To: ports.MemoryRevoked, By: cr.Sender, Why: "forgotten"}}
		v.effect.Audit = cr.audit("", r.Name())
	}
	return v, nil
}

// recordFor returns the record that the command names, or nil, and what the sender lacks for it.
func (cr memoryRun) recordFor(ctx context.Context) (r *ports.MemoryRecord, lacks string, err error) {
	if r, err = cr.record(ctx); err != nil || r == nil {
		return nil, "", err
	}
	lacks, err = cr.lacksForRecord(ctx, r)
	return r, lacks, err
}
