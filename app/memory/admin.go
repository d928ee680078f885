package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Op is what an operator asks for.
type Op string

// What an operator may ask for.
const (
	OpApprove Op = "approve"
	OpRevoke  Op = "revoke"
	OpImport  Op = "import"
)

// Operator is who changes records by the command line, in the audit log.
const Operator = "the operator"

// RefusedError says why a request of the operator is refused. Asking again does not help.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

func refusef(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Ask is a change that an operator asks for.
type Ask struct {
	Op           Op
	ID           int64 // of a record, to approve or revoke it
	Anyway       bool  // approves it whatever it would have hidden
	Organisation bool  // approves it for all repositories of the organisation
	Repository   ports.Target
	Contents     Contents // to import into Repository
}

// Answer is what became of an Ask.
type Answer struct {
	State   ports.MemoryState // of the record
	Outcome Outcome           // of an approval
	Hidden  []Hidden          // what the record would have hidden
	More    int
	// Reviews of the Of earlier ones were computed for an approval. Inconclusive says that it was tried
	// on too few.
	Reviews, Of  int
	Inconclusive bool
	// Proposed and Patterns were imported. Known are records that the repository has already.
	Proposed, Known, Patterns int
}

// Obey makes the change that an operator asks for. Whoever may use the database may do so.
func (k *Keeper) Obey(ctx context.Context, a Ask) (out Answer, err error) {
	if a.Op == OpImport {
		return k.importInto(ctx, a.Repository, &a.Contents)
	}
	r, err := k.Memory.MemoryRecord(ctx, a.ID)
	if errors.Is(err, ports.ErrNotFound) {
		return out, refusef("%s does not exist: `reviewgate memory list` shows the records", ports.MemoryName(a.ID))
	}
	if err != nil {
		return out, err
	}
	var change ports.MemoryChange
	switch a.Op {
	case OpRevoke:
		if r.State == ports.MemoryRevoked {
			return Answer{State: r.State}, nil
		}
		change = ports.MemoryChange{ID: r.ID, From: r.State, To: ports.MemoryRevoked, By: Operator, Why: "revoked"}
	case OpApprove:
		l, err := k.Approve(ctx, &r, Approval{By: ports.Person{Login: Operator}, Actor: Operator, Anyway: a.Anyway, Organisation: a.Organisation})
		if err != nil {
			return out, err
		}
		out = Answer{State: r.State, Outcome: l.Outcome, Hidden: l.Trial.Hidden, More: l.Trial.More + l.Trial.Elsewhere,
			Reviews: l.Trial.Reviews, Of: l.Trial.Of, Inconclusive: l.Trial.Inconclusive()}
		if l.Outcome != Active {
			return out, nil
		}
		change = l.Change
	default:
		return out, refusef("%q is not a known operation; is the server another version?", a.Op)
	}
	out.State = change.To
	_, err = k.Memory.ChangeMemory(ctx, []ports.MemoryChange{change})
	return out, err
}

// importInto proposes records, and adds patterns. Records that say what the repository's own say
// already are left out.
func (k *Keeper) importInto(ctx context.Context, to ports.Target, c *Contents) (out Answer, err error) {
	if err := c.check(k.Now()); err != nil {
		return out, &RefusedError{err.Error()}
	}
	all, err := k.Memory.MemoryRecords(ctx, ports.MemoryFilter{RepoID: to.RepoID})
	if err != nil {
		return out, err
	}
	var changes []ports.MemoryChange
	now := k.Now()
	for _, about := range c.Wrong {
		k.clean(&about)
		r := ports.MemoryRecord{State: ports.MemoryProposed, Repository: to, About: about, Models: true, Created: now, Used: now}
		if like(all, &r) != nil {
			out.Known++
			continue
		}
		all = append(all, r)
		changes = append(changes, ports.MemoryChange{New: &r, By: Operator, Why: "imported"})
	}
	_, err = k.Memory.ChangeMemory(ctx, changes)
	if errors.Is(err, ports.ErrMemoryFull) {
		return out, refusef("%s would have more than %d records of memory: revoke some, or import fewer", to.Owner+"/"+to.Name, ports.MaxMemoryRecords)
	}
	if err != nil {
		return out, err
	}
	out.Proposed, out.Patterns = len(changes), len(c.Patterns)
	return out, k.Memory.AddMemoryPatterns(ctx, to.RepoID, k.cleanPatterns(c.Patterns))
}

// cleanPatterns returns patterns without secrets. A pattern of which nothing is left to tell it from
// others is left out.
func (k *Keeper) cleanPatterns(patterns []ports.MemoryPattern) (out []ports.MemoryPattern) {
	for _, p := range patterns {
		p.Title, p.Example = brief(k.Redact(p.Title), maxTitle), brief(k.Redact(p.Example), maxPlace)
		p.Rule, p.Category = k.Redact(p.Rule), k.Redact(p.Category)
		if p.Key = patternKey(p.Rule, p.Category, p.Title); p.Key != "" {
			out = append(out, p)
		}
	}
	return out
}

// Repository returns the repository with a name, owner/name in any case.
func Repository(ctx context.Context, from ports.MemoryReader, name string) (ports.Target, error) {
	all, err := from.KnownRepositories(ctx)
	if err != nil {
		return ports.Target{}, err
	}
	for _, t := range all {
		if strings.EqualFold(t.Owner+"/"+t.Name, name) {
			return t, nil
		}
	}
	return ports.Target{}, refusef("the database does not know %s yet: it will after the first review there", name)
}
