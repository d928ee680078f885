package ghtest

import (
	"fmt"
	"strings"
)

// MergeMethod is how a merge queue puts a pull request on top of the previous entry, in the
// wording of GitHub's rulesets.
type MergeMethod string

// The methods.
const (
	QueueMerges   MergeMethod = "MERGE"  // a merge commit, the default
	QueueSquashes MergeMethod = "SQUASH" // one commit, with the title and the number
	QueueRebases  MergeMethod = "REBASE" // copies of its commits, without merges
)

// SetMergeMethod sets the method of the repository's merge queue.
func (set *Settings) SetMergeMethod(m MergeMethod) { set.repo.change(func() { set.mergeMethod = m }) }

// MergeGroup is an entry of a merge queue.
type MergeGroup struct {
	// HeadSHA is the commit of the group's checks, and HeadRef its ref.
	HeadSHA, HeadRef string
	// BaseSHA is the commit that the group was built on.
	BaseSHA string

	repo    *Repo
	baseRef string
}

// MergeGroup puts pull requests into the merge queue as one group and sends merge_group
// checks_requested. The ref is named after the last of them. GitHub itself creates a group
// for each pull request: see Next.
func (r *Repo) MergeGroup(pulls ...*PullRequest) *MergeGroup {
	if len(pulls) == 0 {
		r.s.opts.Fail("make a merge group of %s: name the pull requests", r.FullName())
	}
	r.s.mu.Lock()
	base := r.branches[pulls[len(pulls)-1].baseRef]
	r.s.mu.Unlock()
	return r.enqueue(base, pulls)
}

// Next puts pull requests into the queue behind the group. Their group is built on the head
// of this one.
func (g *MergeGroup) Next(pulls ...*PullRequest) *MergeGroup {
	if len(pulls) == 0 {
		g.repo.s.opts.Fail("make the next merge group of %s: name the pull requests", g.repo.FullName())
	}
	return g.repo.enqueue(g.HeadSHA, pulls)
}

func (r *Repo) enqueue(base string, pulls []*PullRequest) *MergeGroup {
	tip := base
	for _, p := range pulls {
		next, err := r.put(p, tip)
		if err != nil {
			r.s.opts.Fail("make a merge group with #%d: %v", p.Number, err)
		}
		tip = next
	}
	last := pulls[len(pulls)-1]
	g := &MergeGroup{HeadSHA: tip, BaseSHA: base, repo: r}
	r.change(func() {
		g.baseRef = last.baseRef
		branch := fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", g.baseRef, last.Number, base)
		g.HeadRef, r.branches[branch] = "refs/heads/"+branch, tip
	})
	g.send("checks_requested", nil)
	return g
}

// put adds a pull request on top of a commit by the repository's method, and returns its last
// commit.
func (r *Repo) put(p *PullRequest, tip string) (string, error) {
	r.s.mu.Lock()
	method, when, head, author := r.Settings.mergeMethod, r.s.state.nextCommit(), p.headSHA, p.author.login
	squash, merge := fmt.Sprintf("%s (#%d)", p.title, p.Number), p.mergeMessage()
	r.s.mu.Unlock()
	switch method {
	case QueueSquashes:
		who := signature{Name: author, Email: author + "@users.noreply.github.com", When: when}
		return r.git.commitMerge(tip, head, squash, who, tip)
	case QueueRebases:
		commits, err := r.git.history.commits(tip, head)
		for _, c := range commits {
			if err == nil && len(c.Parents) == 1 {
				tip, err = r.git.pick(tip, c, when)
			}
		}
		return tip, err
	}
	return r.git.mergeCommit(tip, head, merge, when)
}

// Destroy removes the group from the queue, for "merged", "invalidated" or "dequeued".
func (g *MergeGroup) Destroy(reason string) {
	g.repo.change(func() { delete(g.repo.branches, strings.TrimPrefix(g.HeadRef, "refs/heads/")) })
	g.send("destroyed", object{"reason": reason})
}

// CheckRuns lists the check runs on the group's head, oldest first.
func (g *MergeGroup) CheckRuns() []CheckRun { return g.repo.Checks.On(g.HeadSHA) }
