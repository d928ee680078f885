package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// Keeper decides what is remembered.
type Keeper struct {
	Memory ports.Memory
	Tester *Tester
	Redact func(string) string // removes secrets from text that is stored
	Log    zerolog.Logger
	Now    func() time.Time
}

// NewKeeper returns a Keeper on a store. It tries records with a runner's engines.
func NewKeeper(s ports.Store, runner *run.Runner, log zerolog.Logger, now func() time.Time) *Keeper {
	return &Keeper{
		Memory: s.Memory, Redact: runner.Redact, Log: log, Now: now,
		Tester: &Tester{Archive: s.Archive, Backtests: s.Backtests, Learning: s.Learning, Runner: runner, Now: now},
	}
}

const (
	// perDay is how many records one person may propose in a repository in a day. Dismissals beyond
	// that count on their pull request, and teach nothing.
	perDay = 20
	// others is how many people must dismiss the like before a proposed record becomes active without
	// somebody who may approve it. Its author and the authors of the changes don't count.
	others = 2
	// disagree is how many people must dismiss a rule's findings before the answer proposes to change
	// the config.
	disagree = 3

	maxTitle = 200 // characters of a finding's title
)

// Dismissal is a dismissal of a finding as a false positive.
type Dismissal struct {
	Target  ports.Target
	Review  *ports.StoredReview // that the person saw
	Finding *pipeline.Finding
	Config  *config.Config
	By      ports.Person
	Own     bool // the person is an author of the change, or may be
	Reason  string
	// MayApprove reports whether the person may approve records. It asks GitHub.
	MayApprove func(context.Context) (bool, error)
}

// Lesson is what a dismissal teaches.
type Lesson struct {
	Outcome Outcome
	// Change is the change to make. It has neither an ID nor a new record if there is none to make.
	Change ports.MemoryChange
	// Record is the record that the dismissal is about, or that it proposes; nil if there is none.
	Record *ports.MemoryRecord
	Trial  Trial // what the record would have hidden
	People int   // who have dismissed findings like it, apart from the authors of the changes
	Patch  *Patch
}

// Outcome says what a dismissal taught, or what became of an approval.
type Outcome string

// The outcomes. The first five leave everything as it was, but for a vote.
const (
	Nothing  Outcome = "nothing"  // findings like it can't be told from others
	TooMany  Outcome = "too many" // the person has proposed perDay records
	Known    Outcome = "known"    // a record that is active or in quarantine already says so
	Hides    Outcome = "hides"    // it would have hidden findings that were right; it stays proposed
	OfRule   Outcome = "rule"     // the record is about a rule, and has no effect
	Proposed Outcome = "proposed"
	Active   Outcome = "active"
)

// Teach decides what a dismissal teaches. It computes earlier reviews if a record may become active.
func (k *Keeper) Teach(ctx context.Context, d Dismissal) (Lesson, error) {
	r, ok := k.recordOf(&d)
	if !ok {
		return Lesson{Outcome: Nothing}, nil
	}
	all, err := k.Memory.MemoryRecords(ctx, ports.MemoryFilter{RepoID: d.Target.RepoID})
	if err != nil {
		return Lesson{}, err
	}
	vote := r.Votes[0]
	known := like(all, r)
	if known == nil {
		if proposedSince(all, d.By, k.Now().AddDate(0, 0, -1)) >= perDay {
			return Lesson{Outcome: TooMany}, nil
		}
		l := Lesson{Outcome: Proposed, Record: r, Change: ports.MemoryChange{New: r, By: d.By.Login, Why: r.About.Reason}}
		return k.judge(ctx, &d, l)
	}
	l := Lesson{Outcome: Known, Record: known, Change: ports.MemoryChange{ID: known.ID, From: known.State, Vote: &vote, By: d.By.Login, Why: r.About.Reason}}
	known.Votes = append(slices.DeleteFunc(known.Votes, func(v ports.MemoryVote) bool {
		return v.Key == vote.Key && v.Finding == vote.Finding && v.Person.Same(vote.Person)
	}), vote)
	if known.State != ports.MemoryProposed {
		l.People = len(people(known))
		return l, nil
	}
	l.Outcome = Proposed
	return k.judge(ctx, &d, l)
}

// judge decides whether a proposed record becomes active by a dismissal.
func (k *Keeper) judge(ctx context.Context, d *Dismissal, l Lesson) (Lesson, error) {
	r := l.Record
	voters := people(r)
	l.People = len(voters)
	if !r.Models {
		l.Outcome = OfRule
		if len(voters) >= disagree {
			l.Patch = patchFor(d.Config, r)
		}
		return l, nil
	}
	approved := false
	if !d.Own && MayApprove(r, d.By) {
		var err error
		if approved, err = d.MayApprove(ctx); err != nil {
			return Lesson{}, err
		}
	}
	voters = slices.DeleteFunc(voters, r.Author.Same)
	if !approved && len(voters) < others {
		return l, nil
	}
	var err error
	if l.Trial, err = k.Tester.Try(ctx, r); err != nil {
		return Lesson{}, err
	}
	if l.Trial.Hides() {
		l.Outcome = Hides
		return l, nil
	}
	l.Outcome = Active
	if l.Change.New != nil {
		r.State = ports.MemoryActive
	} else {
		l.Change.To = ports.MemoryActive
	}
	if approved {
		r.Approver, l.Change.Approver = d.By, d.By
	}
	return l, nil
}

// Needed is how many people make a record active without somebody who may approve it, or have a
// change of the config proposed.
func Needed(r *ports.MemoryRecord) int {
	if r != nil && !r.Models {
		return disagree
	}
	return others
}

// MayApprove reports whether a person may approve a record as far as its history goes: nobody
// approves what they taught on a change of their own.
func MayApprove(r *ports.MemoryRecord, by ports.Person) bool { return !r.Own || !r.Author.Same(by) }

// recordOf returns the record that a dismissal would teach. There is none if the finding is final, if
// it can't be told from others, or if no config could stop it.
func (k *Keeper) recordOf(d *Dismissal) (*ports.MemoryRecord, bool) {
	f := d.Finding
	about := aboutFinding(f, serviceOf(&d.Review.Review.Classification, f.Path))
	about.Reason = brief(k.Redact(d.Reason), pipeline.MaxMemoryReason)
	about.Blocked = mayBlock(f)
	models := f.Model != ""
	switch {
	case len(d.Config.FinalIn(f.RuleID, f.Agent)) > 0, !memory.Like(&about, &about):
		return nil, false
	case !models && !hasRule(d.Config, f.RuleID):
		return nil, false
	}
	repository := d.Target
	repository.Number, repository.HeadSHA, repository.BaseSHA, repository.HeadRef = 0, "", "", ""
	now := k.Now()
	return &ports.MemoryRecord{
		State: ports.MemoryProposed, Repository: repository, About: about, Models: models,
		Cited: ports.MemoryCitation{
			Key: d.Target.Key(), Number: d.Target.Number, Finding: f.ID, BaseRef: d.Review.Review.Facts.Base.Ref,
			Path: f.Path, Line: f.StartLine, Lines: f.Flagged, End: ports.PullOpen,
		},
		Author: d.By, Own: d.Own, Created: now, Used: now,
		Votes: []ports.MemoryVote{{Person: d.By, Key: d.Target.Key(), Finding: f.ID, Own: d.Own, At: now}},
	}, true
}

// aboutFinding says which findings are like a finding.
func aboutFinding(f *pipeline.Finding, service string) pipeline.FalsePositive {
	about := pipeline.FalsePositive{Service: service, Rule: brief(f.RuleID, maxName), Title: brief(f.Title, maxTitle)}
	if f.RuleID == "" {
		about.Agent, about.Category = brief(f.Agent, maxName), brief(f.Category, maxName)
	}
	return about
}

// mayBlock reports whether a finding blocks, waits for a person, or is held to be grave.
func mayBlock(f *pipeline.Finding) bool {
	return max(f.Severity.Rank(), f.GateSeverity.Rank()) >= pipeline.SeverityMajor.Rank() || f.Blocking || f.HasReason(pipeline.ReasonHeld)
}

// serviceOf returns the first of the services to which a file belongs, or "".
func serviceOf(c *pipeline.Classification, path string) string {
	if all := servicesOf(c, path); len(all) > 0 {
		return all[0]
	}
	return ""
}

func servicesOf(c *pipeline.Classification, path string) (all []string) {
	for _, s := range c.Services {
		if slices.Contains(s.Files, path) {
			all = append(all, s.ID)
		}
	}
	return all
}

func hasRule(cfg *config.Config, id string) bool {
	return id != "" && slices.ContainsFunc(cfg.Rules, func(r config.Rule) bool { return r.ID == id })
}

// like returns the live record about the same thing, or nil. One that has an effect goes first.
func like(all []ports.MemoryRecord, r *ports.MemoryRecord) *ports.MemoryRecord {
	for _, state := range []ports.MemoryState{ports.MemoryActive, ports.MemoryQuarantined, ports.MemoryProposed} {
		for i := range all {
			if o := &all[i]; o.State == state && o.Models == r.Models && memory.Like(&o.About, &r.About) {
				return o
			}
		}
	}
	return nil
}

func proposedSince(all []ports.MemoryRecord, by ports.Person, since time.Time) (n int) {
	for i := range all {
		if all[i].Author.Same(by) && all[i].Created.After(since) {
			n++
		}
	}
	return n
}

// people lists those who dismissed findings like a record, each once. Authors of the changes don't
// count.
func people(r *ports.MemoryRecord) (all []ports.Person) {
	for _, v := range r.Votes {
		if !v.Own && !slices.ContainsFunc(all, v.Person.Same) {
			all = append(all, v.Person)
		}
	}
	return all
}

// Withdraw returns the changes that take back what a dismissal taught: the proposal that it made, and
// its vote for another record. An active record stays.
func (k *Keeper) Withdraw(ctx context.Context, t ports.Target, fingerprints []string, by string) (changes []ports.MemoryChange, err error) {
	all, err := k.Memory.MemoryRecords(ctx, ports.MemoryFilter{RepoID: t.RepoID})
	if err != nil {
		return nil, err
	}
	for i := range all {
		r := &all[i]
		if !r.State.Live() {
			continue
		}
		if r.State == ports.MemoryProposed && r.Cited.Key == t.Key() && slices.Contains(fingerprints, r.Cited.Finding) {
			changes = append(changes, ports.MemoryChange{
				ID: r.ID, From: r.State, To: ports.MemoryRevoked, By: by, Why: "the dismissal that taught it was taken back",
			})
			continue
		}
		taken := map[string]bool{}
		for _, v := range r.Votes {
			if v.Key == t.Key() && slices.Contains(fingerprints, v.Finding) && !taken[v.Finding] {
				taken[v.Finding] = true
				changes = append(changes, ports.MemoryChange{ID: r.ID, Unvote: &ports.MemoryVote{Key: v.Key, Finding: v.Finding}, By: by})
			}
		}
	}
	return changes, nil
}

// Approval is the wish to make a record active.
type Approval struct {
	By           ports.Person
	Actor        string // for the audit log
	Anyway       bool   // whatever it would have hidden
	Organisation bool   // for all repositories of the organisation
}

// Approve decides whether a record becomes active. The caller has checked who asks.
func (k *Keeper) Approve(ctx context.Context, r *ports.MemoryRecord, a Approval) (Lesson, error) {
	l := Lesson{Record: r, People: len(people(r))}
	wider := a.Organisation && !r.Organisation
	switch {
	case !r.Models:
		l.Outcome = OfRule
		return l, nil
	case r.State == ports.MemoryActive && !wider:
		l.Outcome = Known
		return l, nil
	case r.State == ports.MemoryRevoked:
		return l, fmt.Errorf("%s was revoked: it can't be approved, but be taught again", r.Name())
	}
	if !a.Anyway {
		tried := *r
		tried.Organisation = r.Organisation || a.Organisation
		var err error
		if l.Trial, err = k.Tester.Try(ctx, &tried); err != nil {
			return Lesson{}, err
		}
		if l.Trial.Hides() {
			l.Outcome = Hides
			return l, nil
		}
	}
	l.Outcome = Active
	l.Change = ports.MemoryChange{
		ID: r.ID, From: r.State, To: ports.MemoryActive, Approver: a.By, Organisation: wider,
		Uncited: r.State == ports.MemoryQuarantined, By: a.Actor, Why: "approved",
	}
	if a.Anyway {
		l.Change.Why = "approved anyway"
	}
	return l, nil
}
