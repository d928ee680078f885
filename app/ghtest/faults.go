package ghtest

import "fmt"

// Faults lists the faults in what the App left on the pull request, in a sentence each, after
// the App is done with it. These are faults: more than one comment of the App; a head with
// more than one check run that isn't completed; one such run on a head that isn't the newest;
// no completed run on the newest head of an open pull request; more than one review of the
// App that was not dismissed; such a review of an older head of an open pull request. The
// App's texts are not checked.
func (p *PullRequest) Faults() []string {
	var faults []string
	if n := len(p.AppComments()); n > 1 {
		faults = append(faults, fmt.Sprintf("#%d has %d comments of the App", p.Number, n))
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, sha := range p.heads {
		open, completed := 0, 0
		for _, c := range p.repo.Checks.runs {
			switch {
			case c.HeadSHA != sha || c.others():
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
	return append(faults, p.Reviews.faults()...)
}

// faults lists the faults of the App's reviews. The lock must be held.
func (rv *Reviews) faults() []string {
	var faults []string
	standing := 0
	for _, r := range rv.all {
		if r.author != rv.pull.s.state.app.bot || r.State != "approved" && r.State != "changes_requested" {
			continue
		}
		standing++
		if r.CommitID != rv.pull.headSHA && rv.pull.open() {
			faults = append(faults, fmt.Sprintf("#%d is %s at %.7s, which is an old head", rv.pull.Number, r.State, r.CommitID))
		}
	}
	if standing > 1 {
		faults = append(faults, fmt.Sprintf("#%d has %d reviews of the App that stand", rv.pull.Number, standing))
	}
	return faults
}
