package memory

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// Keeper decides what reviewgate remembers.
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
		Tester: &Tester{Archive: s.Archive, Backtests: s.Backtests, Learning: s.Learning, Memory: s.Memory, Runner: runner, Now: now},
	}
}

const (
	// PerDay is how many records one person may propose in a repository in a day. Dismissals beyond
	// that count on their pull request, and teach nothing.
	PerDay = 20
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
	Own     bool           // the person is an author of the change, or may be
	Authors []ports.Person // of the change, as far as they are known
	Reason  string
	// MayApprove reports whether the person may approve records. It asks GitHub.
	MayApprove func(context.Context) (bool, error)
}

// Lesson is what a dismissal or an approval leads to. The zero value changes nothing.
type Lesson struct {
	Outcome Outcome
	// Change is the change to make. The zero value changes nothing.
	Change ports.MemoryChange
	// Record is the record that the dismissal is about, or that it proposes. It is nil if the dismissal
	// teaches nothing.
	Record *ports.MemoryRecord
	Trial  Trial // what the record would have hidden
	People int   // who have dismissed findings like it, apart from the authors of the changes
	// Left is how many more people would make the record active, or have a change of the config
	// proposed, if they dismissed findings like it.
	Left  int
	Patch *Patch
}

// Outcome says what a dismissal taught, or what became of an approval.
type Outcome string

// The outcomes. Only Active gives a record an effect. Nothing, TooMany and Full store nothing.
const (
	Nothing  Outcome = "nothing"  // findings like it can't be told from others
	TooMany  Outcome = "too many" // the person has proposed PerDay records
	Full     Outcome = "full"     // the repository has as many records as it may have
	Known    Outcome = "known"    // a record that is active or in quarantine already says so
	Hides    Outcome = "hides"    // it would have hidden findings that were right; it stays proposed
	Untried  Outcome = "untried"  // too few earlier reviews could be computed; it stays proposed
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
		if proposedSince(all, d.By, k.Now().AddDate(0, 0, -1)) >= PerDay {
			return Lesson{Outcome: TooMany}, nil
		}
		r.Votes = append(r.Votes, votesFor(all, r)...)
		l := Lesson{Outcome: Proposed, Record: r, Change: ports.MemoryChange{New: r, Newest: newest(all), By: d.By.Login, Why: r.About.Reason}}
		return k.judge(ctx, &d, l)
	}
	l := Lesson{Outcome: Known, Record: known, Change: ports.MemoryChange{
		ID: known.ID, From: known.State, Vote: &vote, Votes: len(known.Votes), By: d.By.Login, Why: r.About.Reason,
	}}
	known.Votes = append(slices.DeleteFunc(slices.Clone(known.Votes), func(v ports.MemoryVote) bool {
		return vote.Replaces(&v)
	}), vote)
	if known.State != ports.MemoryProposed {
		l.People = len(people(known))
		return l, nil
	}
	l.Outcome = Proposed
	return k.judge(ctx, &d, l)
}

// newest is the ID of the newest record, or 0.
func newest(all []ports.MemoryRecord) *int64 {
	var id int64
	for i := range all {
		id = max(id, all[i].ID)
	}
	return &id
}

// votesFor lists the votes of other people for proposals like a new record, each person's newest one.
// Those who voted agree about findings like it, though what they agreed to may be wider.
func votesFor(all []ports.MemoryRecord, r *ports.MemoryRecord) (votes []ports.MemoryVote) {
	for i := range all {
		o := &all[i]
		if o.State != ports.MemoryProposed || !isLike(o, r) {
			continue
		}
		for _, v := range o.Votes {
			if v.Person.Same(r.Author) {
				continue
			}
			at := slices.IndexFunc(votes, func(w ports.MemoryVote) bool { return w.Person.Same(v.Person) })
			switch {
			case at < 0:
				votes = append(votes, v)
			case v.At.After(votes[at].At):
				votes[at] = v
			}
		}
	}
	return votes
}

// judge decides whether a proposed record becomes active by a dismissal.
func (k *Keeper) judge(ctx context.Context, d *Dismissal, l Lesson) (Lesson, error) {
	r := l.Record
	voters := people(r)
	l.People = len(voters)
	if !r.Models {
		l.Outcome, l.Left = OfRule, max(0, disagree-len(voters))
		if len(voters) >= disagree {
			l.Patch = patchFor(d.Config, r)
		}
		return l, nil
	}
	approved := false
	if MayApprove(r, d.By, d.Target.Key(), d.Own) && !d.Own {
		var err error
		if approved, err = d.MayApprove(ctx); err != nil {
			return Lesson{}, err
		}
	}
	voters = slices.DeleteFunc(voters, r.Author.Same)
	l.Left = max(0, others-len(voters))
	if !approved && l.Left > 0 {
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
	if l.Trial.Inconclusive() {
		l.Outcome = Untried
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

// MayApprove reports whether a person may approve a record as far as its history goes: not if they are
// an author of the pull request where it was taught, or taught it on one of their own. target is the
// key of the pull request on which they ask; own says that they are an author of that one, or may be.
func MayApprove(r *ports.MemoryRecord, by ports.Person, target string, own bool) bool {
	if r.Own && r.Author.Same(by) {
		return false
	}
	if r.Cited.Key == target { // here it is known exactly; pushes that only merged the base don't count
		return !own
	}
	return !slices.ContainsFunc(r.Authors, by.Same)
}

// recordOf returns the record that a dismissal would teach. There is none if the finding is final, if
// it can't be told from others, or if no config could stop it.
func (k *Keeper) recordOf(d *Dismissal) (*ports.MemoryRecord, bool) {
	f := d.Finding
	about := aboutFinding(f, serviceOf(&d.Review.Review.Classification, f.Path))
	about.Reason = d.Reason
	k.clean(&about)
	about.Blocked = mayBlock(f)
	models := f.Model != ""
	switch {
	case len(d.Config.FinalIn(f.RuleID, f.Agent)) > 0, !memory.Like(&about, &about):
		return nil, false
	case !models && d.Config.Rule(f.RuleID) == nil:
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
		Author: d.By, Own: d.Own, Authors: d.Authors, Created: now, Used: now,
		Votes: []ports.MemoryVote{{Person: d.By, Key: d.Target.Key(), Finding: f.ID, Own: d.Own, At: now}},
	}, true
}

// aboutFinding says which findings are like a finding.
func aboutFinding(f *pipeline.Finding, service string) pipeline.FalsePositive {
	about := pipeline.FalsePositive{Service: service, Rule: brief(f.RuleID, maxName), Title: f.Title}
	if f.RuleID == "" {
		about.Agent, about.Category = brief(f.Agent, maxName), brief(f.Category, maxName)
	}
	return about
}

// clean removes secrets from the texts of a record, and then shortens them: a part of a secret might
// not be found.
func (k *Keeper) clean(a *pipeline.FalsePositive) {
	a.Title, a.Reason = brief(k.Redact(a.Title), maxTitle), brief(k.Redact(a.Reason), pipeline.MaxMemoryReason)
	a.Rule, a.Agent, a.Category = k.Redact(a.Rule), k.Redact(a.Agent), k.Redact(a.Category)
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

// like returns the live record about the same thing, or nil. One that has an effect goes first. A
// proposal that is wider than what was dismissed is left out: whoever dismissed one finding has not
// agreed to more. The same holds for an imported proposal, which nobody taught here.
func like(all []ports.MemoryRecord, r *ports.MemoryRecord) *ports.MemoryRecord {
	for _, state := range []ports.MemoryState{ports.MemoryActive, ports.MemoryQuarantined, ports.MemoryProposed} {
		for i := range all {
			o := &all[i]
			if o.State != state || !isLike(o, r) {
				continue
			}
			if state != ports.MemoryProposed || r.Imported() && o.Imported() || !o.Imported() && !memory.Wider(&o.About, &r.About) {
				return o
			}
		}
	}
	return nil
}

func isLike(a, b *ports.MemoryRecord) bool {
	return a.Models == b.Models && memory.Like(&a.About, &b.About)
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
// its vote for another record. A record that became active by votes is proposed again if too few are
// left. One that somebody approved stays.
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
		left := *r
		left.Votes = slices.DeleteFunc(slices.Clone(r.Votes), func(v ports.MemoryVote) bool {
			return v.Key == t.Key() && slices.Contains(fingerprints, v.Finding)
		})
		if len(left.Votes) == len(r.Votes) {
			continue
		}
		voters := slices.DeleteFunc(people(&left), r.Author.Same)
		if r.State == ports.MemoryActive && r.Approver == (ports.Person{}) && len(voters) < others {
			changes = append(changes, ports.MemoryChange{
				ID: r.ID, From: r.State, To: ports.MemoryProposed, By: by, Why: "people took back the dismissals that made it active",
			})
		}
		taken := map[string]bool{}
		for _, v := range r.Votes {
			if v.Key == t.Key() && slices.Contains(fingerprints, v.Finding) && !taken[v.Finding] {
				taken[v.Finding] = true
				changes = append(changes, ports.MemoryChange{ID: r.ID, Unvote: &ports.MemoryVote{Key: v.Key, Finding: v.Finding}, By: by, Why: "a dismissal was taken back"})
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
		return l, refusef("%s was revoked and can't be approved: dismiss a finding to teach it again", r.Name())
	case !r.State.Live():
		if full, err := k.full(ctx, r.Repository.RepoID); err != nil || full {
			l.Outcome = Full
			return l, err
		}
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

// full reports whether a repository has as many live records about models' findings as it may have.
func (k *Keeper) full(ctx context.Context, repoID int64) (bool, error) {
	all, err := k.Memory.MemoryRecords(ctx, ports.MemoryFilter{
		RepoID: repoID, States: []ports.MemoryState{ports.MemoryProposed, ports.MemoryActive, ports.MemoryQuarantined},
	})
	n := 0
	for i := range all {
		if all[i].Models {
			n++
		}
	}
	return n >= ports.MaxMemoryRecords, err
}
