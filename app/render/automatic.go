package render

import (
	"github.com/reviewgate/reviewgate/pipeline"
)

// Acts lists what reviewgate did on a pull request without a person, for the head of a
// view.
type Acts struct {
	Approved bool // our review on GitHub approves the head
	Rejected bool // our review on GitHub requests changes
	// People were asked to review because a person decides: logins, and teams as
	// "org/team-slug".
	People []string
	// Halted says that reviewgate approves and rejects nothing, because the pull request
	// was escalated.
	Halted bool
}

// None reports whether reviewgate did nothing by itself.
func (a *Acts) None() bool {
	return !a.Approved && !a.Rejected && !a.Halted && len(a.People) == 0
}

// Withdrawn is the reason why reviewgate dismisses its review on GitHub.
type Withdrawn string

// The reasons to dismiss a review.
const (
	WithdrawnMoved   Withdrawn = "moved"    // the pull request has another head
	WithdrawnBase    Withdrawn = "base"     // the pull request has another base branch
	WithdrawnChanged Withdrawn = "changed"  // the newest review has another result
	WithdrawnByHand  Withdrawn = "by hand"  // a person decided
	WithdrawnGivenUp Withdrawn = "given up" // the newest review could not be completed
	WithdrawnDraft   Withdrawn = "draft"    // drafts are not reviewed
	WithdrawnOff     Withdrawn = "off"      // reviews of the repository are switched off
	WithdrawnUnknown Withdrawn = "unknown"  // the head of the review is unknown
)

// AnyReview begins the marker of every review on GitHub.
const AnyReview = markerStart + "review "

// ReviewMarker returns the first line of a review on GitHub, which identifies the review.
// The id has letters and digits. Nobody else knows it before the review is written.
func ReviewMarker(id string) string { return AnyReview + id + " -->" }

// AutomaticReview returns the body of a review that reviewgate submits on GitHub without
// a person.
func AutomaticReview(id string, approves bool, r *pipeline.Report) string {
	p := markdownPen{}
	text := say("automatic review", struct {
		Approves bool
		Head     safe
		Models   *modelsPart
	}{approves, p.code(shortSHA(r.HeadSHA), maxName), sections{r: &pipeline.Review{Report: *r}, p: p}.models(Acts{})})
	return ReviewMarker(id) + "\n" + string(text)
}

// Dismissal returns the message with which reviewgate dismisses its review of a head.
func Dismissal(why Withdrawn, headSHA string) string {
	return string(say("dismissal", struct {
		Why  word
		Head safe
	}{word(why), plainPen{}.text(shortSHA(headSHA), maxName)}))
}

// ReviewRefused returns a notice that GitHub did not accept the review which belongs to
// the comment.
func ReviewRefused(approval bool) string {
	return Notice{Kind: NoticeReviewRefused, Wrong: reviewWord(approval)}.String()
}

// ReviewStuck returns a notice that an earlier review contradicts the comment, and that
// GitHub does not let reviewgate dismiss it.
func ReviewStuck(headSHA string, approval bool) string {
	return Notice{Kind: NoticeReviewStuck, Text: shortSHA(headSHA), Wrong: reviewWord(approval)}.String()
}

func reviewWord(approval bool) string {
	if approval {
		return "approval"
	}
	return "rejection"
}

// actsTaken holds the values for the phrase about acts without a person.
type actsTaken struct {
	Approved, Rejected, Halted bool
	People                     []safe
}

func (s sections) actsTaken(a Acts) actsTaken {
	people := each(a.People, func(who *string) safe { return s.p.text(*who, maxName) })
	shown, more := people.take(roomNotice)
	if more > 0 {
		shown = append(shown, moreOf(more))
	}
	return actsTaken{a.Approved, a.Rejected, a.Halted, shown}
}
