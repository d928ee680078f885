package render

import (
	"github.com/reviewgate/reviewgate/pipeline"
)

// Acts are what was done on a pull request without a person, for the head that a
// view is of.
type Acts struct {
	Approved bool // a review of ours on GitHub approves it
	Rejected bool // one requests changes
	// People are who was asked to review since a person decides: logins, and teams
	// as "org/team-slug".
	People []string
	// Halted says that nothing more is, though it could be: it was escalated.
	Halted bool
}

// Withdrawn is why a review on GitHub is dismissed.
type Withdrawn string

// The reasons.
const (
	WithdrawnMoved   Withdrawn = "moved"    // the head is another
	WithdrawnBase    Withdrawn = "base"     // the base branch is another
	WithdrawnChanged Withdrawn = "changed"  // the newest review comes to something else
	WithdrawnByHand  Withdrawn = "by hand"  // a person decided
	WithdrawnGivenUp Withdrawn = "given up" // the newest review could not be completed
	WithdrawnDraft   Withdrawn = "draft"    // drafts are not reviewed
	WithdrawnOff     Withdrawn = "off"      // nothing is reviewed there any more
	WithdrawnUnknown Withdrawn = "unknown"  // it is not known what it was of
)

// AnyReview begins the marker of every review on GitHub.
const AnyReview = markerStart + "review "

// ReviewMarker is the first line of a review on GitHub. It finds the review again;
// the id is of letters and digits, and nobody else's until it is written.
func ReviewMarker(id string) string { return AnyReview + id + " -->" }

// AutomaticReview is the body of a review on GitHub that is submitted without a
// person.
func AutomaticReview(id string, approves bool, r *pipeline.Report) string {
	p := markdownPen{}
	text := say("automatic review", struct {
		Approves bool
		Head     safe
		Models   *modelsPart
	}{approves, p.code(shortSHA(r.HeadSHA), maxName), sections{r: &pipeline.Review{Report: *r}, p: p}.models(Acts{})})
	return ReviewMarker(id) + "\n" + string(text)
}

// Dismissal is what is said as a review on GitHub of a head is dismissed.
func Dismissal(why Withdrawn, headSHA string) string {
	return string(say("dismissal", struct {
		Why  word
		Head safe
	}{word(why), plainPen{}.text(shortSHA(headSHA), maxName)}))
}

// ReviewRefused is for a comment beside which the review that it comes to is
// missing: GitHub did not take it.
func ReviewRefused(approval bool) string {
	return Notice{Kind: NoticeReviewRefused, Wrong: reviewWord(approval)}.String()
}

// ReviewStuck is for a comment beside which a review of a head stands that does
// not go with it: GitHub does not let it be dismissed.
func ReviewStuck(headSHA string, approval bool) string {
	return Notice{Kind: NoticeReviewStuck, Text: shortSHA(headSHA), Wrong: reviewWord(approval)}.String()
}

func reviewWord(approval bool) string {
	if approval {
		return "approval"
	}
	return "rejection"
}

// did is what was done without a person.
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
