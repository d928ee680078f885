package ghtest

import (
	"fmt"
	"slices"
	"strings"
)

// pushedCommit is a commit in the form of push events: with the files that it changed against
// its first parent. A rename is a removal and an addition.
type pushedCommit struct {
	commit
	added, removed, modified []string
}

// pushed lists the commits that a push brings to a branch, oldest first. For a new branch and
// after a forced push, GitHub lists the commits that no other branch has. Here that is only
// the last one.
func (r *Repo) pushed(branch, sha string, forced bool) []pushedCommit {
	r.s.mu.Lock()
	before, told := r.branches[branch], slices.Contains(r.s.opts.Events, "push") && r.installed
	r.s.mu.Unlock()
	commits, err := []commit(nil), error(nil)
	if told && before != "" && !forced {
		commits, err = r.git.history.commits(before, sha)
	}
	if len(commits) == 0 && err == nil {
		var last commit
		last, err = r.git.history.commit(sha)
		commits = []commit{last}
	}
	list := make([]pushedCommit, len(commits))
	for i, c := range commits {
		list[i].commit = c
		if told && len(c.Parents) > 0 && err == nil {
			err = list[i].read(r.git)
		}
	}
	if err != nil {
		r.s.opts.Fail("list what a push to %s of %s brings: %v", branch, r.FullName(), err)
	}
	return list
}

// read finds the files that the commit changed.
func (p *pushedCommit) read(g *git) error {
	if changes, here, err := g.diffs.changesOfCommits(p.Parents[0], p.SHA); here || err != nil {
		for _, c := range changes {
			switch {
			case c.from == entry{}:
				p.added = append(p.added, c.path)
			case c.to == entry{}:
				p.removed = append(p.removed, c.path)
			default:
				p.modified = append(p.modified, c.path)
			}
		}
		return err
	}
	out, err := keep(g.objects, "names "+p.SHA, func() ([]byte, error) {
		return g.objects.run("diff-tree", "-r", "--no-renames", "--name-status", "-z", p.Parents[0], p.SHA, "--")
	})
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		switch path := fields[i+1]; fields[i] {
		case "A":
			p.added = append(p.added, path)
		case "D":
			p.removed = append(p.removed, path)
		default:
			p.modified = append(p.modified, path)
		}
	}
	return nil
}

// pushEvent creates a push event. The lock must be held.
func (r *Repo) pushEvent(branch, before, after string, pushed []pushedCommit, forced bool, sender *account) event {
	created := before == ""
	if created {
		before = zeroSHA
	}
	commits := make([]object, len(pushed))
	for i, p := range pushed {
		commits[i] = r.s.render.pushedCommit(r, p)
	}
	e := r.event("push", "", sender, object{
		"ref": "refs/heads/" + branch, "before": before, "after": after, "created": created, "deleted": false, "forced": forced && !created, "base_ref": nil,
		"compare": r.s.render.web("/%s/compare/%.12s...%.12s", r.fullName(), before, after), "commits": commits, "head_commit": commits[len(commits)-1],
		"pusher": object{"name": sender.login, "email": sender.login + "@users.noreply.github.com"},
	})
	// For historical reasons, these two are seconds since 1970 in push events.
	repo := e.payload["repository"].(object)
	repo["created_at"], repo["pushed_at"] = r.createdAt.Unix(), r.pushedAt.Unix()
	return e
}

func (v *renderer) pushedCommit(r *Repo, c pushedCommit) object {
	return object{
		"id": c.SHA, "tree_id": c.Tree, "distinct": true, "message": c.Message, "timestamp": stamp(c.CommittedAt), "url": v.web("/%s/commit/%s", r.fullName(), c.SHA),
		"author": object{"name": c.Name, "email": c.Email}, "committer": object{"name": c.Committer, "email": c.CEmail},
		"added": orNone(c.added), "removed": orNone(c.removed), "modified": orNone(c.modified),
	}
}

// DeleteBranch deletes a branch by a push, and sends push.
func (r *Repo) DeleteBranch(login, branch string) {
	r.s.happens(func() []event {
		before := r.branches[branch]
		delete(r.branches, branch)
		return []event{r.refEvent(login, "refs/heads/"+branch, before, zeroSHA)}
	})
}

// PushTag sends the push of a tag on a commit. Tags are not stored.
func (r *Repo) PushTag(login, tag, sha string) {
	r.s.happens(func() []event { return []event{r.refEvent(login, "refs/tags/"+tag, zeroSHA, sha)} })
}

// refEvent creates the push event of a ref that was created or deleted without commits. The
// lock must be held.
func (r *Repo) refEvent(login, ref, before, after string) event {
	sender := r.s.state.account(login, "User")
	return r.event("push", "", sender, object{
		"ref": ref, "before": before, "after": after, "created": before == zeroSHA, "deleted": after == zeroSHA, "forced": false, "base_ref": nil,
		"compare": r.s.render.web("/%s/compare/%s", r.fullName(), fmt.Sprintf("%.12s...%.12s", before, after)), "commits": []object{}, "head_commit": nil,
		"pusher": object{"name": login, "email": login + "@users.noreply.github.com"},
	})
}

// orNone is a list that is written as [] and not as null.
func orNone(paths []string) []string {
	if paths == nil {
		return []string{}
	}
	return paths
}

// PushGit pushes a revision of a repository on this machine to a branch as a person, without
// copying objects, and returns its SHA. Like a push by git, it is refused unless the branch is new or
// can be fast-forwarded. The other repository must stay in its place.
func (r *Repo) PushGit(login, branch, dir, rev string) string {
	shas, err := r.git.objects.borrow(dir, rev)
	if err != nil {
		r.s.opts.Fail("push %s to %s: %v", dir, r.FullName(), err)
	}
	if before := r.Branch(branch); before != "" {
		if base, err := r.git.history.mergeBase(before, shas[0]); err != nil || base != before {
			r.s.opts.Fail("push %s to %s of %s: not a fast-forward: %v", shas[0], branch, r.FullName(), err)
		}
	}
	r.moveBranch(login, branch, shas[0], false)
	return shas[0]
}
