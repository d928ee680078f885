package ghtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// PR describes a pull request to open.
type PR struct {
	Title  string // "Change" by default
	Body   string
	Author string // "alice" by default
	Head   string // branch, "change" by default
	Base   string // the default branch by default
	Draft  bool
	// Fork is the account whose fork has the head branch. It is created if necessary. Empty
	// means a branch of the repository itself.
	Fork   string
	Labels []string
	// Files are committed to the head branch first. An empty map makes an empty commit. If
	// Files is nil, the branch must exist.
	Files Files
}

// PullRequest is one pull request.
type PullRequest struct {
	// Number is its number in the repository.
	Number int
	// Reviews are its reviews and the requests for them.
	Reviews *Reviews
	// Alerts are its code scanning alerts.
	Alerts *Alerts

	s                    *Server
	repo                 *Repo
	id                   int64
	title, body          string
	author               *account
	state                string
	draft, locked        bool
	headRepo             *Repo
	headRef, headSHA     string
	baseRef, baseSHA     string
	heads                []string // all heads so far, oldest first
	labels               []string
	createdAt, updatedAt time.Time
	closedAt, mergedAt   time.Time
	mergedBy             *account
	mergeSHA             string
}

// OpenPR opens a pull request and sends pull_request opened.
func (r *Repo) OpenPR(pr PR) *PullRequest {
	pr.Title, pr.Author = cmp.Or(pr.Title, "Change"), cmp.Or(pr.Author, "alice")
	pr.Head = cmp.Or(pr.Head, "change")
	r.s.mu.Lock()
	pr.Base = cmp.Or(pr.Base, r.defaultBranch)
	base := r.branches[pr.Base]
	r.s.mu.Unlock()
	head := r
	if pr.Fork != "" {
		head = r.fork(pr.Fork)
	}
	if pr.Files != nil {
		head.branchOff(pr.Head, base)
		head.CommitAs(pr.Author, pr.Head, pr.Files, pr.Title)
	}
	tip := head.Branch(pr.Head)
	if base == "" || tip == "" {
		r.s.opts.Fail("open a pull request from %s to %s of %s: commit to both branches first", pr.Head, pr.Base, r.FullName())
	}

	r.git.warm(base, tip)
	var p *PullRequest
	r.s.happens(func() []event {
		r.lastNumber++
		p = &PullRequest{
			Number: r.lastNumber, s: r.s, repo: r, id: r.s.state.nextID(), title: pr.Title, body: pr.Body,
			author: r.s.state.account(pr.Author, "User"), state: "open", draft: pr.Draft,
			headRepo: head, headRef: pr.Head, headSHA: tip, baseRef: pr.Base, baseSHA: base,
			heads: []string{tip}, labels: slices.Clone(pr.Labels), createdAt: r.s.now(), updatedAt: r.s.now(),
		}
		p.Reviews, p.Alerts = &Reviews{pull: p}, &Alerts{pull: p}
		r.pulls = append(r.pulls, p)
		return []event{p.event("opened", p.author, nil)}
	})
	return p
}

// branchOff starts a branch at a commit unless the branch exists.
func (r *Repo) branchOff(branch, sha string) {
	r.change(func() {
		if r.branches[branch] == "" {
			r.branches[branch] = sha
		}
	})
}

// open reports whether the pull request is open. The lock must be held.
func (p *PullRequest) open() bool { return p.state == "open" }

// ends returns the commits between which the pull request's changes lie: the merge base with
// the present base branch, and the head. A merged pull request keeps its base. The lock must
// be held.
func (p *PullRequest) ends() (base, head string) {
	base = p.baseSHA
	if tip := p.repo.branches[p.baseRef]; p.open() && tip != "" {
		base = tip
	}
	return base, p.headSHA
}

// ref is GitHub's ref of the head, below refs/.
func (p *PullRequest) ref() string { return fmt.Sprintf("pull/%d/head", p.Number) }

// HeadSHA returns the SHA of the head.
func (p *PullRequest) HeadSHA() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.headSHA
}

// BaseSHA returns the SHA of the base that the pull request shows.
func (p *PullRequest) BaseSHA() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.baseSHA
}

// authorLogin returns the author's login, which RenameAccount may change.
func (p *PullRequest) authorLogin() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.author.login
}

// Repo returns the repository the pull request is opened against.
func (p *PullRequest) Repo() *Repo { return p.repo }

// Fork returns the repository of the head branch.
func (p *PullRequest) Fork() *Repo { return p.headRepo }

// Push commits to the head branch as the author and returns the new head. It
// sends synchronize.
func (p *PullRequest) Push(files Files, message string) string {
	return p.headRepo.CommitAs(p.authorLogin(), p.headRef, files, message)
}

// ForcePush replaces the head branch by one commit on top of the base branch's
// tip and returns it. It sends synchronize.
func (p *PullRequest) ForcePush(files Files, message string) string {
	p.s.mu.Lock()
	base, login := p.repo.branches[p.baseRef], p.author.login
	p.s.mu.Unlock()
	sha := p.headRepo.commitOn(base, login, files, message)
	p.headRepo.moveBranch(login, p.headRef, sha, true)
	return sha
}

// synchronize moves the head. The lock must be held.
func (p *PullRequest) synchronize(sha string, sender *account) event {
	before := p.headSHA
	p.setHead(sha)
	p.updatedAt = p.s.now()
	return p.event("synchronize", sender, object{"before": before, "after": sha})
}

// setHead points the pull request at a commit. The lock must be held.
func (p *PullRequest) setHead(sha string) {
	p.headSHA, p.baseSHA = sha, p.repo.branches[p.baseRef]
	if !slices.Contains(p.heads, sha) {
		p.heads = append(p.heads, sha)
	}
}

// act changes the pull request as a user does, and sends the event.
func (p *PullRequest) act(login, action string, change func(sender *account) object) {
	p.s.happens(func() []event {
		sender := p.s.state.account(login, "User")
		extra := change(sender)
		p.updatedAt = p.s.now()
		return []event{p.event(action, sender, extra)}
	})
}

// Edit lists the changes to a pull request. Nil fields stay unchanged.
type Edit struct{ Title, Body, Base *string }

// Edit edits the pull request as its author. It sends edited.
func (p *PullRequest) Edit(e Edit) {
	if e.Base != nil {
		base := p.repo.Branch(*e.Base)
		if base == "" {
			p.s.opts.Fail("retarget #%d to %s: there is no such branch", p.Number, *e.Base)
		}
		p.repo.git.warm(base, p.HeadSHA())
	}
	p.act(p.authorLogin(), "edited", func(*account) object {
		changes := object{}
		if e.Title != nil {
			changes["title"] = object{"from": p.title}
			p.title = *e.Title
		}
		if e.Body != nil {
			changes["body"] = object{"from": p.body}
			p.body = *e.Body
		}
		if e.Base != nil {
			changes["base"] = object{"ref": object{"from": p.baseRef}, "sha": object{"from": p.baseSHA}}
			p.baseRef, p.baseSHA = *e.Base, p.repo.branches[*e.Base]
		}
		return object{"changes": changes}
	})
}

// Label adds a label, as the author.
func (p *PullRequest) Label(name string) {
	p.act(p.authorLogin(), "labeled", func(*account) object {
		if !slices.Contains(p.labels, name) {
			p.labels = append(p.labels, name)
		}
		return object{"label": p.s.render.label(p.repo, name)}
	})
}

// Unlabel removes a label, as the author.
func (p *PullRequest) Unlabel(name string) {
	p.act(p.authorLogin(), "unlabeled", func(*account) object {
		p.labels = slices.DeleteFunc(p.labels, func(l string) bool { return l == name })
		return object{"label": p.s.render.label(p.repo, name)}
	})
}

// Close closes the pull request without merging it.
func (p *PullRequest) Close() {
	p.act(p.authorLogin(), "closed", func(*account) object {
		p.state, p.closedAt = "closed", p.s.now()
		return nil
	})
}

// Reopen opens a closed pull request again, at what its branch has become since.
func (p *PullRequest) Reopen() {
	p.act(p.authorLogin(), "reopened", func(*account) object {
		p.state, p.closedAt = "open", time.Time{}
		if tip := p.headRepo.branches[p.headRef]; tip != "" && !p.headRepo.deleted {
			p.setHead(tip)
		}
		return nil
	})
}

// ReadyForReview ends the draft state.
func (p *PullRequest) ReadyForReview() {
	p.act(p.authorLogin(), "ready_for_review", func(*account) object { p.draft = false; return nil })
}

// ConvertToDraft makes the pull request a draft.
func (p *PullRequest) ConvertToDraft() {
	p.act(p.authorLogin(), "converted_to_draft", func(*account) object { p.draft = true; return nil })
}

// Lock locks the conversation. Only people with write permission can comment then, and no
// App.
func (p *PullRequest) Lock() {
	p.act(p.repo.ownerLogin(), "locked", func(*account) object { p.locked = true; return nil })
}

// Unlock unlocks the conversation.
func (p *PullRequest) Unlock() {
	p.act(p.repo.ownerLogin(), "unlocked", func(*account) object { p.locked = false; return nil })
}

// Merge merges the pull request with a merge commit, whose SHA it returns.
func (p *PullRequest) Merge() string {
	p.s.mu.Lock()
	into, owner := p.baseRef, p.repo.owner.login
	base, head, when, message := p.repo.branches[into], p.headSHA, p.s.state.nextCommit(), p.mergeMessage()
	p.s.mu.Unlock()
	sha, err := p.repo.git.mergeCommit(base, head, message, when)
	if err != nil {
		p.s.opts.Fail("merge #%d: %v", p.Number, err)
	}
	p.act(owner, "closed", func(sender *account) object {
		now := p.s.now()
		p.state, p.closedAt, p.mergedAt, p.mergedBy, p.mergeSHA, p.baseSHA = "closed", now, now, sender, sha, base
		return nil
	})
	p.repo.moveBranch(owner, into, sha, false)
	return sha
}

// mergeMessage is the message of the merge commit. The lock must be held.
func (p *PullRequest) mergeMessage() string {
	return fmt.Sprintf("Merge pull request #%d from %s\n\n%s", p.Number, p.headRef, p.title)
}

// UpdateBranch merges the base branch into the head as a person, like GitHub's button of that
// name, and returns the new head. It sends synchronize.
func (p *PullRequest) UpdateBranch(login string) string {
	p.s.mu.Lock()
	base, head, when := p.repo.branches[p.baseRef], p.headSHA, p.s.state.nextCommit()
	message := fmt.Sprintf("Merge branch '%s' into %s", p.baseRef, p.headRef)
	p.s.mu.Unlock()
	sha, err := p.headRepo.git.mergeCommit(head, base, message, when)
	if err != nil {
		p.s.opts.Fail("update the branch of #%d: %v", p.Number, err)
	}
	p.headRepo.moveBranch(login, p.headRef, sha, false)
	return sha
}

// ForcePushTo points the head branch to an existing commit. It sends synchronize.
func (p *PullRequest) ForcePushTo(sha string) {
	p.headRepo.moveBranch(p.authorLogin(), p.headRef, sha, true)
}
