package ghtest

import "fmt"

// Faults tells what is wrong with what the App has left on the pull request,
// in a sentence each, once it is done with it: more than one comment of its
// own, a head with more than one check run that isn't completed, one such run
// on a head that isn't the newest, no completed run on the newest head of an open
// pull request, more than one review of its own that was not dismissed, and one of
// a head that isn't the newest of an open pull request. What the App says is not
// looked at.
func (p *PullRequest) Faults() []string {
	var faults []string
	if n := len(p.AppComments()); n > 1 {
		faults = append(faults, fmt.Sprintf("#%d has %d comments of the App", p.Number, n))
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, sha := range p.heads {
		open, completed := 0, 0
		for _, c := range p.repo.checks {
			switch {
			case c.HeadSHA != sha || c.foreign:
			case c.Completed():
				completed++
			default:
				open++
			}
		}
		which := "an old head"
		if sha == p.headSHA {
			which = "its head"
		}
		switch {
		case open > 1:
			faults = append(faults, fmt.Sprintf("#%d has %d open check runs on %s, %.7s", p.Number, open, which, sha))
		case open == 1:
			faults = append(faults, fmt.Sprintf("#%d has an open check run on %s, %.7s", p.Number, which, sha))
		case completed == 0 && sha == p.headSHA && p.open():
			faults = append(faults, fmt.Sprintf("#%d has no check run on %s, %.7s", p.Number, which, sha))
		}
	}
	return append(faults, p.wrongReviews()...)
}

// wrongReviews tells what is wrong with the App's reviews. The lock must be held.
func (p *PullRequest) wrongReviews() []string {
	var faults []string
	standing := 0
	for _, r := range p.reviews {
		if r.author != p.s.state.app.bot || r.State != "approved" && r.State != "changes_requested" {
			continue
		}
		standing++
		if r.CommitID != p.headSHA && p.open() {
			faults = append(faults, fmt.Sprintf("#%d is %s at %.7s, which is an old head", p.Number, r.State, r.CommitID))
		}
	}
	if standing > 1 {
		faults = append(faults, fmt.Sprintf("#%d has %d reviews of the App that stand", p.Number, standing))
	}
	return faults
}
