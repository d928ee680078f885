package ports

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The bounds of a repository's memory.
const (
	MaxMemoryRecords  = 500  // records that are proposed, active or quarantined; as many again about rules
	MaxMemoryPatterns = 1000 // those that were seen last are kept
)

// ErrMemoryFull means that a repository has MaxMemoryRecords.
var ErrMemoryFull = errors.New("the repository has as many records of memory as it may have")

// ErrMemoryChanged means that a record has another state or other votes by now than the caller has
// seen, or that one like it was stored.
var ErrMemoryChanged = errors.New("the records of memory have changed meanwhile")

// MemoryReader reads what was taught about repositories, and what keeps being found there.
type MemoryReader interface {
	// MemoryRecord returns a record, or ErrNotFound.
	MemoryRecord(ctx context.Context, id int64) (MemoryRecord, error)
	// MemoryRecords lists the chosen records by ID.
	MemoryRecords(ctx context.Context, which MemoryFilter) ([]MemoryRecord, error)
	// MemoryPatterns lists the chosen patterns of a repository: of each service, those first that
	// were found most often.
	MemoryPatterns(ctx context.Context, repoID int64, which PatternFilter) ([]MemoryPattern, error)
	// MemoryLog lists the changes of a record, newest first.
	MemoryLog(ctx context.Context, r MemoryRecord, limit int) ([]AuditEntry, error)
	// KnownRepositories lists the repositories that the store knows, as targets without a number,
	// by name.
	KnownRepositories(ctx context.Context) ([]Target, error)
}

// Memory keeps what was taught about repositories.
type Memory interface {
	MemoryReader
	// ChangeMemory makes all of the changes or none, each with an entry in the audit log. It returns
	// the ID of the record of each. Its error may be ErrMemoryFull or ErrMemoryChanged.
	ChangeMemory(ctx context.Context, changes []MemoryChange) (ids []int64, err error)
	// CheckedMemory stores the newest commit at which the cited lines of a record were found.
	CheckedMemory(ctx context.Context, id int64, commit string) error
	// AddMemoryPatterns stores patterns. Of a pattern that is known, the greater frequency and the
	// later time count.
	AddMemoryPatterns(ctx context.Context, repoID int64, patterns []MemoryPattern) error
}

// MemoryState is the state of a record.
type MemoryState string

// The states. Only an active record has an effect in reviews.
const (
	MemoryProposed    MemoryState = "proposed"
	MemoryActive      MemoryState = "active"
	MemoryQuarantined MemoryState = "quarantined" // the lines that it cites are gone or changed
	MemoryExpired     MemoryState = "expired"     // it was not used for too long
	MemoryRevoked     MemoryState = "revoked"
)

// Live reports whether the record counts towards MaxMemoryRecords.
func (s MemoryState) Live() bool {
	return s == MemoryProposed || s == MemoryActive || s == MemoryQuarantined
}

// MemoryRecord is a kind of finding that a person judged wrong in a repository.
type MemoryRecord struct {
	ID    int64
	State MemoryState
	// Repository is where it was taught, without a number and a head. The record is deleted with it.
	Repository Target
	// Organisation says that it holds in all repositories that the owner has in the installation.
	Organisation bool
	// About is what it is about, without Record.
	About pipeline.FalsePositive
	// Models says that it is about models' findings. Otherwise it is about those of a rule, and has
	// no effect in reviews.
	Models bool
	Cited  MemoryCitation
	Author Person
	// Own says that the author was an author of the pull request, or may have been.
	Own bool
	// Authors are those who opened the pull request or pushed to it, as far as they were known.
	Authors  []Person
	Approver Person // zero if nobody approved it by a command
	Created  time.Time
	Used     time.Time // when it was approved, or last had an effect
	Hits     int       // findings on which it had an effect
	// Votes are the dismissals of findings like it, the first one its author's.
	Votes []MemoryVote
}

// Imported reports whether nobody taught the record on a pull request.
func (r *MemoryRecord) Imported() bool { return r.Cited.Key == "" }

// Name is how people refer to the record, such as M-12.
func (r *MemoryRecord) Name() string { return MemoryName(r.ID) }

// MemoryName is the name of the record with an ID.
func MemoryName(id int64) string { return fmt.Sprintf("M-%d", id) }

// MemoryID returns the ID in a record's name, or 0 if the text is not such a name.
func MemoryID(name string) int64 {
	digits, ok := strings.CutPrefix(strings.ToUpper(name), "M-")
	id, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || id <= 0 || MemoryName(id) != "M-"+digits {
		return 0
	}
	return id
}

// Applies reports whether the record holds in a repository.
func (r *MemoryRecord) Applies(t Target) bool {
	return r.Repository.RepoID == t.RepoID ||
		r.Organisation && r.Repository.Installation == t.Installation && strings.EqualFold(r.Repository.Owner, t.Owner)
}

// HoldsOn reports whether the record holds in reviews against a base branch. What was taught on a pull
// request to another branch holds only there until that was merged: anybody may open one to a branch of
// their own, and nobody can check the lines that it cites.
func (r *MemoryRecord) HoldsOn(t Target, base string) bool {
	return r.Cited.BaseRef == "" || r.Cited.BaseRef == base || r.Cited.End == PullMerged || r.Repository.RepoID != t.RepoID
}

// Person is an account on GitHub. ID is 0 if it is unknown.
type Person struct {
	Login string
	ID    int64
}

// Same reports whether both are the same account. An account can change its login, and an event may
// lack its ID, so either is enough.
func (p Person) Same(o Person) bool {
	return p.ID != 0 && p.ID == o.ID || p.Login != "" && strings.EqualFold(p.Login, o.Login)
}

// MemoryCitation is the finding by which a record was taught. It is zero for an imported record.
type MemoryCitation struct {
	Key     string // of the target
	Number  int    // of the pull request
	Finding string // its ID
	BaseRef string
	Path    string
	Line    int
	// Lines are the digests of the lines that it flags; see pipeline.Finding.Flagged. Without any,
	// nothing is checked.
	Lines []string
	End   PullEnd // of the pull request
	// CheckedAt is the newest commit at which the lines were found, once the pull request was merged.
	CheckedAt string
}

// MemoryVote is a person's dismissal, as a false positive, of a finding like a record.
type MemoryVote struct {
	Person  Person
	Key     string // of the target
	Finding string // its ID
	Own     bool   // as in MemoryRecord
	At      time.Time
}

// Replaces reports whether a new vote for a record takes the place of an earlier one: of a person, the
// newest counts. A vote on a pull request of their own replaces no other.
func (v *MemoryVote) Replaces(earlier *MemoryVote) bool {
	return v.Person.Same(earlier.Person) && (earlier.Own || !v.Own)
}

// MemoryFilter chooses records. The zero value chooses all.
type MemoryFilter struct {
	RepoID int64 // only those that were taught in this repository, with their votes
	// Holding, if its RepoID is set, chooses those that hold in the repository.
	Holding Target
	States  []MemoryState // any of these; none for all
	// Newest limits the number of records to those that were used last. 0 for all.
	Newest int
}

// PatternFilter chooses patterns. The zero value chooses all.
type PatternFilter struct {
	Services []string  // "" means files that belong to no service; an empty list means all
	Since    time.Time // only those that were seen since then
	Most     int       // of each service; 0 means all
	// Without is the key of a target. What it added is taken off: the patterns are as if it had never
	// been reviewed.
	Without string
}

// MemoryChange is a change of one record: of a new one, or of the one with an ID. Without either,
// nothing changes, and there is only something to Say.
type MemoryChange struct {
	New *MemoryRecord // to store, with its first vote
	ID  int64
	// From is the state that the record must still have, or empty for any. To is its new state, or
	// empty if it keeps its state. A record that becomes active counts as used.
	From, To MemoryState
	Approver Person // if it becomes active by a person's word
	// Organisation makes it hold in the organisation.
	Organisation bool
	// Uncited drops the citation: somebody confirmed the record although its lines are gone.
	Uncited bool
	Vote    *MemoryVote // to add; replaces the same person's earlier vote
	// Votes is how many votes the caller saw. With From and Vote, there must still be as many: what
	// follows from a vote depends on the others.
	Votes int
	// Newest, if set, is the ID of the newest record of the repository that the caller saw, or 0 if
	// the repository had no record. A newer one like New is an ErrMemoryChanged.
	Newest *int64
	// Unvote removes the votes by a finding.
	Unvote *MemoryVote

	By  string // who makes the change, for the audit log
	Why string // also for the audit log
	// Say, if set, returns the notice for the comment. It gets the record's ID, or 0 if a new record
	// was refused because the repository has too many.
	Say func(id int64) string
}

// MemoryPattern is what keeps being found in the files of a service.
type MemoryPattern struct {
	Key string // identifies it in the service
	pipeline.RecurringFinding
}

// MemoryCounts is what a review adds to memory once it is published. The zero value adds nothing.
type MemoryCounts struct {
	Hits map[int64]int `json:"hits,omitempty"` // by record: findings on which it had an effect
	// Seen are the patterns of the review's findings, without Frequency: it counts pull requests.
	Seen []MemoryPattern `json:"seen,omitempty"`
	// Outside says that the author of the change may lack write permission. Then Seen counts only once
	// the pull request is merged.
	Outside bool `json:"outside,omitempty"`
}
