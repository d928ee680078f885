package ghtest

import "fmt"

// UpdateBranch merges the base branch into the head as a person, like GitHub's button of that
// name, and returns the new head. It sends synchronize.
func (p *PullRequest) UpdateBranch(login string) string {
	p.s.mu.Lock()
	base, head, when := p.repo.branches[p.baseRef], p.headSHA, p.s.state.nextCommit()
	p.s.mu.Unlock()
	sha, err := p.headRepo.git.mergeCommit(head, base, fmt.Sprintf("Merge branch '%s' into %s", p.baseRef, p.headRef), when)
	if err != nil {
		p.s.opts.Fail("update the branch of #%d: %v", p.Number, err)
	}
	p.headRepo.moveBranch(login, p.headRef, sha, false)
	return sha
}

// ForcePushTo points the head branch to an existing commit. It sends synchronize.
func (p *PullRequest) ForcePushTo(sha string) {
	p.headRepo.moveBranch(p.author.login, p.headRef, sha, true)
}
