package ghtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// pull finds the pull request that a parameter of the path numbers. The lock
// must be held.
func (c *call) pull(param string) *PullRequest {
	return found(c.repo.pulls, func(p *PullRequest) bool { return int64(p.Number) == c.number(param) })
}

// pullEnds finds the pull request of the path and its ends, without keeping
// the lock: what git says of them takes a while.
func (c *call) pullEnds() (p *PullRequest, base, head string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if p = c.pull("pull_number"); p != nil {
		base, head = p.ends()
	}
	return p, base, head
}

func listPulls(c *call) *Response {
	state, refused := c.oneOf("state", "open", "closed", "all")
	if refused != nil {
		return refused
	}
	q := c.req.URL.Query()
	directions := []string{"desc", "asc"}
	if q.Get("sort") != "" && q.Get("sort") != "created" {
		slices.Reverse(directions)
	}
	direction, refused := c.oneOf("direction", directions...)
	if refused != nil {
		return refused
	}
	return c.locked(func() *Response {
		pulls := slices.DeleteFunc(slices.Clone(c.repo.pulls), func(p *PullRequest) bool {
			return state != "all" && p.state != state ||
				q.Get("base") != "" && p.baseRef != q.Get("base") ||
				// GitHub ignores a head without an owner.
				strings.Contains(q.Get("head"), ":") && p.headRepo.owner.login+":"+p.headRef != q.Get("head")
		})
		if q.Get("sort") == "updated" {
			slices.SortStableFunc(pulls, func(a, b *PullRequest) int { return a.updatedAt.Compare(b.updatedAt) })
		}
		if direction == "desc" {
			slices.Reverse(pulls)
		}
		return listed(c, pulls, c.s.render.pull)
	})
}

func getPull(c *call) *Response {
	p, base, head := c.pullEnds()
	if p == nil {
		return notFound()
	}
	if strings.Contains(c.req.Header.Get("Accept"), ".diff") {
		return c.pullDiff(p, base, head)
	}
	p.repo.git.warm(base, head)
	_, mergeable, err := c.repo.git.mergeTree(base, head)
	unknown := errors.Is(err, errOldGit)
	if err != nil && !unknown {
		return broken(err)
	}
	return c.locked(func() *Response {
		full, err := c.s.render.pullFull(p)
		if err != nil {
			return broken(err)
		}
		// What isn't known GitHub leaves null, and calls unknown.
		if p.open() && !unknown {
			full["mergeable"], full["rebaseable"], full["mergeable_state"] = mergeable, mergeable, "clean"
			if p.draft {
				full["mergeable_state"] = "draft"
			}
			if !mergeable {
				full["mergeable_state"] = "dirty"
			}
		}
		return ok(full)
	})
}

// pullDiff answers with git's diff, unless it is too large.
func (c *call) pullDiff(p *PullRequest, base, head string) *Response {
	d, err := p.repo.git.pullDiff(base, head)
	if err != nil {
		return broken(err)
	}
	l := c.s.limits
	if over(len(d.Files), l.DiffFiles) || over(d.Lines, l.DiffLines) {
		return answer(http.StatusNotAcceptable, object{
			"message":           fmt.Sprintf("Sorry, the diff exceeded the maximum number of files (%d). Consider using 'List pull requests files' API or locally cloning the repository instead.", l.DiffFiles),
			"errors":            []object{{"resource": "PullRequest", "field": "diff", "code": "too_large"}},
			"documentation_url": "https://docs.github.com/rest/pulls/pulls#list-pull-requests-files", "status": "406",
		})
	}
	return &Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/vnd.github.v3.diff; charset=utf-8"}}, Body: []byte(d.Raw), cut: -1}
}

func listPullFiles(c *call) *Response {
	p, base, head := c.pullEnds()
	if p == nil {
		return notFound()
	}
	d, err := p.repo.git.pullDiff(base, head)
	if err != nil {
		return broken(err)
	}
	files := d.Files
	if over(len(files), c.s.limits.PullFiles) {
		files = files[:c.s.limits.PullFiles]
	}
	return c.locked(func() *Response {
		return listed(c, files, c.s.render.filesOfAnswer(p.headRepo, head))
	})
}

// filesOfAnswer returns what writes the changed files of one answer. After so many
// lines of patches the others look as if they had no lines.
func (v *renderer) filesOfAnswer(r *Repo, head string) func(fileDiff) object {
	lines := 0
	return func(f fileDiff) object {
		if f.shown(v.s.limits) {
			if over(lines+f.Lines, v.s.limits.AnswerLines) {
				f.Patch, f.Additions, f.Deletions = "", 0, 0
			} else {
				lines += f.Lines
			}
		}
		return v.file(r, head, f)
	}
}

// file writes a changed file. It leaves the patch out if the patch is too large, and if no
// line has changed: the file is binary or empty, or only its place or mode has changed.
func (v *renderer) file(r *Repo, head string, f fileDiff) object {
	path := (&url.URL{Path: f.Path}).EscapedPath()
	o := object{
		"sha": f.SHA, "filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deletions, "changes": f.Additions + f.Deletions,
		"blob_url": v.web("/%s/blob/%s/%s", r.fullName(), head, path), "raw_url": v.web("/%s/raw/%s/%s", r.fullName(), head, path),
		"contents_url": fmt.Sprintf("%s/contents/%s?ref=%s", v.repoURL(r), path, head),
	}
	if f.shown(v.s.limits) {
		o["patch"] = f.Patch
	}
	if f.Previous != "" {
		o["previous_filename"] = f.Previous
	}
	return o
}

func listPullCommits(c *call) *Response {
	p, base, head := c.pullEnds()
	if p == nil {
		return notFound()
	}
	commits, err := p.repo.git.history.commits(base, head)
	if err != nil {
		return broken(err)
	}
	if over(len(commits), c.s.limits.PullCommits) {
		commits = commits[:c.s.limits.PullCommits]
	}
	return c.locked(func() *Response {
		return listed(c, commits, func(cm commit) object { return c.s.render.commit(p.repo, cm) })
	})
}

// listPullsOfCommit lists the merged pull request that brought a commit into
// the default branch, or else the open ones that have it.
func listPullsOfCommit(c *call) *Response {
	sha := c.params["commit_sha"]
	if _, err := c.repo.git.history.commit(sha); err != nil {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+sha)
	}
	type candidate struct {
		pull       *PullRequest
		base, head string
	}
	var candidates []candidate
	var tip string
	c.locked(func() *Response {
		tip = c.repo.branches[c.repo.defaultBranch]
		for _, p := range c.repo.pulls {
			if base, head := p.ends(); p.open() || !p.mergedAt.IsZero() {
				candidates = append(candidates, candidate{p, base, head})
			}
		}
		return nil
	})
	landed, err := c.repo.git.history.contains(tip, sha)
	if err != nil {
		return broken(err)
	}
	var pulls []*PullRequest
	for _, cand := range candidates {
		commits, err := c.repo.git.history.commits(cand.base, cand.head)
		if err != nil {
			return broken(err)
		}
		if slices.ContainsFunc(commits, func(cm commit) bool { return cm.SHA == sha }) {
			pulls = append(pulls, cand.pull)
		}
	}
	return c.locked(func() *Response {
		pulls = slices.DeleteFunc(pulls, func(p *PullRequest) bool { return p.mergedAt.IsZero() == landed })
		return listed(c, pulls, c.s.render.pull)
	})
}
