package ports

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// TargetKind is the kind of a target.
type TargetKind string

// The kinds of target.
const (
	TargetPull  TargetKind = "pull"
	TargetGroup TargetKind = "merge_group"
)

// Target is what is reviewed: a pull request or a merge group. A merge group's check is on
// the group's own head SHA.
type Target struct {
	Kind         TargetKind
	Installation int64
	RepoID       int64
	Owner        string
	Name         string
	Number       int    // of the pull request; for a group, the number in its ref, or 0
	HeadSHA      string // the newest head that we know; for a group, its own SHA
	BaseSHA      string // for a group
	HeadRef      string // for a group
}

// Key identifies the target in the store. It stays the same after pushes, renames and
// transfers, because it contains GitHub's numeric repository ID.
func (t Target) Key() string {
	if t.Kind == TargetGroup {
		return fmt.Sprintf("group/%d/%s", t.RepoID, t.HeadSHA)
	}
	return fmt.Sprintf("pull/%d/%d", t.RepoID, t.Number)
}

// At returns the target with another head.
func (t Target) At(headSHA string) Target {
	t.HeadSHA = headSHA
	return t
}

// MarshalZerologObject adds the target to a log line: its key, and the fields that people
// know, such as repo=acme/shop pr=104 head=abc1234. A repository alone has no key.
func (t Target) MarshalZerologObject(e *zerolog.Event) {
	if t.Kind == TargetGroup || t.Number != 0 {
		e.Str("target", t.Key())
	}
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
	// AskedAt is when the oldest unfinished ask was made. Asks that somebody waits for take
	// precedence.
	AskedAt time.Time
	// Rerun is how much the wanted generation does again. It covers every unfinished ask.
	Rerun  Rerun
	Fresh  bool // the wanted generation must write a new check run even if nothing changed
	Closed bool
	GaveUp bool
	// GaveUpAt is when the target was given up. It is the zero time if it was not, or if
	// the time is unknown.
	GaveUpAt time.Time
	Attempts int // failed attempts at the wanted generation
	// FailedSince is when the first of these attempts failed; zero while Attempts is 0.
	FailedSince time.Time
	// Crashes counts the runs that died with their process, or whose lease expired, since
	// the target's last completed review. If it is above 0, the target is a suspect. It
	// need not be the cause, because other targets were under review at the same time.
	Crashes    int
	Quarantine Quarantine
	// Notices are the notices that the comment must still show, oldest first, such as why
	// commands were refused; at most MaxNotices.
	Notices []string
	// WrittenNotices are the notices that the comment has shown on this head within
	// NoticeStay, oldest first, at most MaxNotices.
	WrittenNotices []string
	// Scans is what the last review read from other Apps.
	Scans ScansRead
	// FixLoop is the state of the fix loop after the newest published review.
	FixLoop fixloop.State
	Resumes int // how many times people resumed it after an escalation
	// Result says why the last finished generation has no answer, such as "the App is
	// suspended".
	Result  string
	Overdue Overdue
}

// Overdue is a generation that ran out of time, and for which GitHub also refused the check
// that would have said so. The zero value means none.
type Overdue struct {
	Generation int64
	Attempts   int // failed attempts at that time
}

// Targets keeps the state of pull requests and merge groups. Methods that change a target
// return ErrNotFound if it does not exist.
type Targets interface {
	// Target returns the state of a target, or ErrNotFound.
	Target(ctx context.Context, key string) (TargetState, error)
	// TargetsOnHead lists the open pull requests last seen at the head.
	TargetsOnHead(ctx context.Context, repoID int64, headSHA string) ([]Target, error)
	// SetHead records the head that a read showed. SetReadsLabels records which label
	// events matter to the target.
	SetHead(ctx context.Context, key, headSHA string) error
	SetReadsLabels(ctx context.Context, key string, reads pipeline.LabelsRead) error
	// SetClosed records that a read showed the target closed, unless an event says that it was reopened
	// since. It adds to the log of the target how it ended.
	SetClosed(ctx context.Context, c Close) error
	// SetResult stores why the target's newest generation has no answer, and clears the mark
	// of SetOverdue. Finish without gaveUp clears the result.
	SetResult(ctx context.Context, key, result string) error
	// SetOverdue marks a generation as overdue. Finish clears the mark.
	SetOverdue(ctx context.Context, key string, o Overdue) error
	// AddNotice stores a notice that the comment must show once, and inserts a job for the
	// target to write it. It stores an equal notice only once. If MaxNotices are waiting,
	// it returns ErrManyNotices.
	AddNotice(ctx context.Context, key, notice string) error
	// NoticesWritten records that the comment shows these notices. Notices that were added
	// since are still to be written.
	NoticesWritten(ctx context.Context, key string, notices []string) error
}

// Quarantine is the record of a target whose review ended its child process; the zero value
// for all others. Pushes do not clear it.
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

// MaxNotices is how many notices may wait for one comment: as many as the commands that a
// pull request may have in an hour by default.
const MaxNotices = 20

// NoticeStay is how long the comment keeps showing a notice when it is written again on the
// same head, so that the person who asked has time to read it.
const NoticeStay = 10 * time.Minute

// PublishedHead is the head and base of a published review. BaseRef is empty for reviews by
// versions that did not store it.
type PublishedHead struct{ HeadSHA, BaseRef string }

// Lease is the right to work on a target or to write a head's check. Token grows with each
// holder, so that writes by an earlier holder can be detected.
type Lease struct {
	Key   string
	Owner string
	Token int64
}

// HeadDecision is the state of one open pull request on a head. Decision is that of the
// review of its wanted generation, empty if there is none. Pending means that a review is
// still to come.
type HeadDecision struct {
	Target   Target
	Decision pipeline.Decision
	Pending  bool
}
