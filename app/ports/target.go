package ports

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// TargetKind tells what is reviewed.
type TargetKind string

// The kinds of target.
const (
	TargetPull  TargetKind = "pull"
	TargetGroup TargetKind = "merge_group"
)

// Target is what is reviewed: a pull request, or a merge group, whose check
// stands on the group's own head SHA.
type Target struct {
	Kind         TargetKind
	Installation int64
	RepoID       int64
	Owner        string
	Name         string
	Number       int    // of the pull request; for a group the one its ref names, or 0
	HeadSHA      string // newest known to us; for a group the SHA itself
	BaseSHA      string // for a group
	HeadRef      string // for a group
}

// Key names the target in the store: stable over pushes, renames and
// transfers, since it is made from GitHub's numeric repository id.
func (t Target) Key() string {
	if t.Kind == TargetGroup {
		return fmt.Sprintf("group/%d/%s", t.RepoID, t.HeadSHA)
	}
	return fmt.Sprintf("pull/%d/%d", t.RepoID, t.Number)
}

// Answer is what a published review was about. BaseRef is empty for reviews of versions
// that did not store it.
type Answer struct{ HeadSHA, BaseRef string }

// At returns the target with another head.
func (t Target) At(headSHA string) Target {
	t.HeadSHA = headSHA
	return t
}

// MarshalZerologObject puts the target into a log line: its key, and what people know it
// by, such as repo=acme/shop pr=104 head=abc1234.
func (t Target) MarshalZerologObject(e *zerolog.Event) {
	e.Str("target", t.Key())
	if t.Name != "" {
		e.Str("repo", t.Owner+"/"+t.Name)
	}
	if t.Number != 0 {
		e.Int("pr", t.Number)
	}
	if t.HeadSHA != "" {
		e.Str("head", t.HeadSHA[:min(len(t.HeadSHA), 7)])
	}
}

// TargetState is what the store knows of a target.
type TargetState struct {
	Target
	Wanted int64 // generation asked for
	Done   int64 // generation finished
	Author int64 // id of the account that opened the pull request, 0 if unknown
	Reason string
	// AskedAt is when the oldest ask that is not done was made: of those that
	// somebody waits for, if any does.
	AskedAt time.Time
	// Rerun is how much the wanted generation does anew: what meets every ask
	// that is not done.
	Rerun  Rerun
	Fresh  bool // the wanted generation must write a new check run even if nothing changed
	Closed bool
	GaveUp bool
	// GaveUpAt is when, the zero time if it was not or that is not known.
	GaveUpAt time.Time
	Attempts int // failed attempts at the wanted generation
	// FailedSince is when the first of them failed, zero if none did.
	FailedSince time.Time
	// Crashes counts the runs whose process died, or that lost their lease by expiry,
	// since a review of the target was last completed. Above 0 the target is a suspect,
	// but not to blame: others were under review beside it.
	Crashes    int
	Quarantine Quarantine
	// Notices are to be said once in the comment, oldest first, such as why
	// commands were refused; at most MaxNotices.
	Notices []string
	// Said are the notices that were said of this head within NoticeStay, oldest
	// first, at most MaxNotices.
	Said []string
	// Scans is what its last review took in of what others found.
	Scans ScansRead
	// FixLoop is where the fix loop stands after the newest published review.
	FixLoop fixloop.State
	Resumes int // how many times people have had it go on after it was escalated
	// Result says in words how the generation that was finished last ended
	// where it could not be answered, such as "the App is suspended".
	Result  string
	Overdue Overdue
}

// Overdue is a generation whose time was over while GitHub did not even take the check
// that says so; the zero value for none.
type Overdue struct {
	Generation int64
	Attempts   int // that had failed by then
}

// Targets keeps what is known of pull requests and merge groups. Methods that change a
// target return ErrNotFound where there is none.
type Targets interface {
	// Target returns what is known of a target, or ErrNotFound.
	Target(ctx context.Context, key string) (TargetState, error)
	// TargetsOnHead lists the open pull requests last seen at the head.
	TargetsOnHead(ctx context.Context, repoID int64, headSHA string) ([]Target, error)
	// SetHead records the head that a read showed; SetReadsLabels which label
	// events matter to the target.
	SetHead(ctx context.Context, key, headSHA string) error
	SetReadsLabels(ctx context.Context, key string, reads pipeline.LabelsRead) error
	SetClosed(ctx context.Context, key string, closed bool) error
	// SetResult keeps how the target's newest generation ended where it could
	// not be answered. Finish without gaveUp clears it. SetOverdue notes that a
	// generation is overdue. SetResult and Finish clear that.
	SetResult(ctx context.Context, key, result string) error
	SetOverdue(ctx context.Context, key string, o Overdue) error
	// AddNotice keeps a notice to be said once and inserts a job for the
	// target, so that it is. One that is kept already is kept once. Where
	// MaxNotices wait it returns ErrManyNotices.
	AddNotice(ctx context.Context, key, notice string) error
	// NoticesSaid notes that these notices were said: those that came since are
	// to be.
	NoticesSaid(ctx context.Context, key string, said []string) error
}

// Quarantine is what is known of a target whose review ended the child process it ran in;
// the zero value for all others. It outlasts pushes.
type Quarantine struct {
	Deaths int       // child processes that the review ended
	Since  time.Time // when it ended the first
	Next   time.Time // when it is tried again
}

// Quarantined is a target that is in quarantine.
type Quarantined struct {
	Target
	Quarantine
}

// MaxNotices is how many notices may wait to be said in one comment: as many as
// a pull request has commands in an hour by default.
const MaxNotices = 20

// NoticeStay is how long a notice that was said stays when the comment is written
// again on the same head, for another answer say: whoever asked has to get round
// to reading it.
const NoticeStay = 10 * time.Minute

// Lease is the right to work on a target or to write a head's check. Token
// grows with each holder, so that a write by a holder that was thought dead
// can be told.
type Lease struct {
	Key   string
	Owner string
	Token int64
}

// HeadDecision is where one open pull request on a head stands. Decision is
// that of the review of its wanted generation, empty if there is none; Pending
// says that one is still to come.
type HeadDecision struct {
	Target   Target
	Decision pipeline.Decision
	Pending  bool
}
