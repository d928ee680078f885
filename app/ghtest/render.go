package ghtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// object is a JSON object. encoding/json sorts its keys, so that equal objects have equal
// bytes and ETags.
type object map[string]any

// with adds the keys of extra.
func (o object) with(extra object) object {
	maps.Copy(o, extra)
	return o
}

// stamp writes a time like GitHub. It returns nil for the zero time.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// orNil is nil for an empty string.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// renderer writes GitHub's objects as its API and its webhooks do. It may create the ids of
// labels, suites and accounts that it shows. The Server's lock must be held.
type renderer struct{ s *Server }

func (v *renderer) api(format string, args ...any) string {
	return v.s.URL + fmt.Sprintf(format, args...)
}

// web is the address of a page. The page exists only as a link.
func (v *renderer) web(format string, args ...any) string {
	return "https://github.example" + fmt.Sprintf(format, args...)
}

func (v *renderer) account(a *account) any {
	if a == nil {
		return nil
	}
	u := v.api("/users/%s", a.login)
	return object{
		"login": a.login, "id": a.id, "node_id": nodeID("U", a.id), "type": a.kind, "site_admin": false,
		"avatar_url": v.web("/avatars/%d", a.id), "gravatar_id": "", "url": u, "html_url": v.web("/%s", a.login),
		"followers_url": u + "/followers", "following_url": u + "/following{/other_user}", "gists_url": u + "/gists{/gist_id}",
		"starred_url": u + "/starred{/owner}{/repo}", "subscriptions_url": u + "/subscriptions", "organizations_url": u + "/orgs",
		"repos_url": u + "/repos", "events_url": u + "/events{/privacy}", "received_events_url": u + "/received_events",
	}
}

// repoLinks are the addresses a repository carries: the field's name without
// "_url", and the path.
var repoLinks = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}", "branches": "/branches{/branch}",
	"collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}", "commits": "/commits{/sha}", "compare": "/compare/{base}...{head}",
	"contents": "/contents/{+path}", "contributors": "/contributors", "deployments": "/deployments", "downloads": "/downloads", "events": "/events",
	"forks": "/forks", "git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}", "hooks": "/hooks",
	"issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}", "issues": "/issues{/number}", "keys": "/keys{/key_id}",
	"labels": "/labels{/name}", "languages": "/languages", "merges": "/merges", "milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}",
	"pulls": "/pulls{/number}", "releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}", "subscribers": "/subscribers",
	"subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

// repoURL is the address of a repository in the API.
func (v *renderer) repoURL(r *Repo) string { return v.api("/repos/%s", r.fullName()) }

// repo writes a repository in the form that most answers have.
func (v *renderer) repo(r *Repo) any {
	if r == nil || r.deleted {
		return nil
	}
	url, page := v.repoURL(r), v.web("/%s", r.fullName())
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	open := 0
	for _, p := range r.pulls {
		if p.open() {
			open++
		}
	}
	for _, i := range r.Issues.all {
		if i.State == "open" {
			open++
		}
	}
	o := object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "owner": v.account(r.owner),
		"private": r.private, "visibility": visibility, "fork": r.parent != nil, "archived": r.archived, "disabled": false, "is_template": false,
		"description": nil, "homepage": nil, "language": nil, "license": nil, "mirror_url": nil, "topics": []string{},
		"default_branch": r.defaultBranch, "size": 1, "forks": 0, "forks_count": 0, "open_issues": open, "open_issues_count": open,
		"stargazers_count": 0, "watchers": 0, "watchers_count": 0, "allow_forking": true, "web_commit_signoff_required": false,
		"has_issues": !r.Issues.off, "has_projects": true, "has_wiki": false, "has_pages": false, "has_downloads": true, "has_discussions": false,
		"created_at": stamp(r.createdAt), "updated_at": stamp(r.createdAt), "pushed_at": stamp(r.pushedAt),
		"url": url, "html_url": page, "clone_url": page + ".git", "git_url": "git://github.example/" + r.fullName() + ".git",
		"ssh_url": "git@github.example:" + r.fullName() + ".git", "svn_url": page,
	}
	for name, path := range repoLinks {
		o[name+"_url"] = url + path
	}
	return o
}

func (v *renderer) app(by string) object {
	a, perms := v.s.state.app, v.s.opts.Permissions
	if by != "" {
		a.id, a.slug = v.s.state.account(by+"[bot]", "Bot").id, by
	}
	return object{
		"id": a.id, "slug": a.slug, "node_id": nodeID("A", a.id), "owner": v.account(a.owner), "name": a.slug, "description": "",
		"external_url": "https://reviewgate.example", "html_url": v.web("/apps/%s", a.slug), "created_at": stamp(a.createdAt), "updated_at": stamp(a.createdAt),
		"permissions": perms, "events": v.s.opts.Events,
	}
}

func (v *renderer) installation(i *installation) object {
	var suspendedBy any
	if !i.suspendedAt.IsZero() {
		suspendedBy = v.account(v.s.state.app.owner)
	}
	return object{
		"id": i.id, "account": v.account(i.account), "repository_selection": "selected", "app_id": v.s.state.app.id, "app_slug": v.s.state.app.slug,
		"access_tokens_url": v.api("/app/installations/%d/access_tokens", i.id), "repositories_url": v.api("/installation/repositories"),
		"html_url": v.web("/settings/installations/%d", i.id), "target_id": i.account.id, "target_type": i.account.kind,
		"permissions": i.permissions, "events": v.s.opts.Events, "created_at": stamp(i.createdAt), "updated_at": stamp(i.createdAt),
		"single_file_name": nil, "suspended_by": suspendedBy, "suspended_at": stamp(i.suspendedAt),
	}
}

// end writes one end of a pull request.
func (v *renderer) end(r *Repo, ref, sha string) object {
	owner := v.account(r.owner)
	return object{"label": r.owner.login + ":" + ref, "ref": ref, "sha": sha, "user": owner, "repo": v.repo(r)}
}

// label writes a label of a repository.
func (v *renderer) label(r *Repo, name string) object {
	if r.labels[name] == 0 {
		r.labels[name] = v.s.state.nextID()
	}
	id := r.labels[name]
	return object{"id": id, "node_id": nodeID("LA", id), "url": v.repoURL(r) + "/labels/" + name, "name": name, "color": "ededed", "default": false, "description": ""}
}

// association guesses a user's association with a repository, like GitHub: it shows members,
// and not permissions.
func (r *Repo) association(a *account) string {
	switch {
	case a == r.owner:
		return "OWNER"
	case slices.Index(roles, r.roles[fold(a.login)]) >= slices.Index(roles, "triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}

// pull writes a pull request in the form of lists.
func (v *renderer) pull(p *PullRequest) object {
	url, page := v.api("/repos/%s/pulls/%d", p.repo.fullName(), p.Number), v.web("/%s/pull/%d", p.repo.fullName(), p.Number)
	issue := v.api("/repos/%s/issues/%d", p.repo.fullName(), p.Number)
	statuses := v.repoURL(p.repo) + "/statuses/" + p.headSHA
	labels := []object{}
	for _, name := range p.labels {
		labels = append(labels, v.label(p.repo, name))
	}
	links := object{}
	for name, href := range map[string]string{
		"self": url, "html": page, "issue": issue, "comments": issue + "/comments", "commits": url + "/commits", "statuses": statuses,
		"review_comments": url + "/comments", "review_comment": v.repoURL(p.repo) + "/pulls/comments{/number}",
	} {
		links[name] = object{"href": href}
	}
	return object{
		"id": p.id, "node_id": nodeID("PR", p.id), "number": p.Number, "state": p.state, "locked": p.locked, "active_lock_reason": nil,
		"title": p.title, "body": orNil(p.body), "user": v.account(p.author), "draft": p.draft, "labels": labels, "milestone": nil,
		"assignee": nil, "assignees": []any{}, "requested_reviewers": v.accounts(p.Reviews.requested), "requested_teams": v.teams(p.repo, p.Reviews.requestedTeams), "auto_merge": nil,
		"author_association": p.repo.association(p.author),
		"created_at":         stamp(p.createdAt), "updated_at": stamp(p.updatedAt), "closed_at": stamp(p.closedAt), "merged_at": stamp(p.mergedAt),
		"merge_commit_sha": orNil(p.mergeSHA), "head": v.end(p.headRepo, p.headRef, p.headSHA), "base": v.end(p.repo, p.baseRef, p.baseSHA),
		"url": url, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "issue_url": issue, "commits_url": url + "/commits",
		"review_comments_url": url + "/comments", "review_comment_url": v.repoURL(p.repo) + "/pulls/comments{/number}",
		"comments_url": issue + "/comments", "statuses_url": statuses, "_links": links,
	}
}

// pullFull writes a pull request with the counts that only its own route and webhooks
// have.
func (v *renderer) pullFull(p *PullRequest) (object, error) {
	base, head := p.ends()
	d, err := p.repo.git.pullDiff(base, head)
	if err != nil {
		return nil, err
	}
	commits, err := p.repo.git.history.commits(base, head)
	if err != nil {
		return nil, err
	}
	return v.pull(p).with(object{
		"merged": !p.mergedAt.IsZero(), "merged_by": v.account(p.mergedBy), "mergeable": nil, "rebaseable": nil, "mergeable_state": "unknown",
		"comments": len(p.commentsOn()), "review_comments": len(p.lineComments()), "maintainer_can_modify": false, "commits": len(commits),
		"additions": d.Additions, "deletions": d.Deletions, "changed_files": len(d.Files),
	}), nil
}

// reactionWords are the reactions GitHub knows.
var reactionWords = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func (v *renderer) comment(c *comment) object {
	url := v.api("/repos/%s/issues/comments/%d", c.pull.repo.fullName(), c.ID)
	var via any
	if c.byApp {
		via = v.app("")
	}
	return object{
		"id": c.ID, "node_id": nodeID("IC", c.ID), "url": url, "html_url": v.web("/%s/pull/%d#issuecomment-%d", c.pull.repo.fullName(), c.pull.Number, c.ID),
		"issue_url": v.api("/repos/%s/issues/%d", c.pull.repo.fullName(), c.pull.Number), "user": v.account(c.author), "body": c.Body,
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "author_association": c.pull.repo.association(c.author),
		"performed_via_github_app": via, "reactions": c.tally(url),
	}
}

// tally counts the reactions to a comment of this URL.
func (c *comment) tally(url string) object {
	reactions := object{"url": url + "/reactions", "total_count": len(c.Reactions)}
	for _, word := range reactionWords {
		n := 0
		for _, r := range c.Reactions {
			if r.Content == word {
				n++
			}
		}
		reactions[word] = n
	}
	return reactions
}

func (v *renderer) reaction(r Reaction, at time.Time) object {
	return object{"id": r.ID, "node_id": nodeID("REA", r.ID), "user": v.account(v.s.state.account(r.User, "User")), "content": r.Content, "created_at": stamp(at)}
}

// pullMinimal writes a pull request in the form that check runs have.
func (v *renderer) pullMinimal(p *PullRequest) object {
	end := func(r *Repo, ref, sha string) object {
		return object{"ref": ref, "sha": sha, "repo": object{"id": r.id, "url": v.repoURL(r), "name": r.name}}
	}
	return object{
		"id": p.id, "number": p.Number, "url": v.api("/repos/%s/pulls/%d", p.repo.fullName(), p.Number),
		"head": end(p.headRepo, p.headRef, p.headSHA), "base": end(p.repo, p.baseRef, p.baseSHA),
	}
}

// pullsOnHead lists the repository's own open pull requests whose head is the commit. As on
// GitHub, those from forks are not among them.
func (v *renderer) pullsOnHead(r *Repo, sha string) []object {
	on := []object{}
	for _, p := range r.pulls {
		if p.open() && p.headSHA == sha && p.headRepo == r {
			on = append(on, v.pullMinimal(p))
		}
	}
	return on
}

func (v *renderer) check(c *checkRun) object {
	url := v.api("/repos/%s/check-runs/%d", c.repo.fullName(), c.ID)
	details := c.DetailsURL
	if details == "" {
		details = "https://reviewgate.example"
	}
	return object{
		"id": c.ID, "node_id": nodeID("CR", c.ID), "name": c.Name, "head_sha": c.HeadSHA, "external_id": c.ExternalID, "url": url,
		"html_url": v.web("/%s/runs/%d", c.repo.fullName(), c.ID), "details_url": details, "status": c.Status, "conclusion": orNil(c.Conclusion),
		"started_at": stamp(c.StartedAt), "completed_at": stamp(c.CompletedAt),
		"output": object{
			"title": orNil(c.Title), "summary": orNil(c.Summary), "text": orNil(c.Text),
			"annotations_count": len(c.Annotations), "annotations_url": url + "/annotations",
		},
		"check_suite": object{"id": c.suite}, "app": v.app(c.by), "pull_requests": v.pullsOnHead(c.repo, c.HeadSHA),
	}
}

func (v *renderer) commit(r *Repo, c commit) object {
	url, page := v.repoURL(r)+"/commits/"+c.SHA, v.web("/%s/commit/%s", r.fullName(), c.SHA)
	parents := []object{}
	for _, p := range c.Parents {
		parents = append(parents, object{"sha": p, "url": v.repoURL(r) + "/commits/" + p, "html_url": v.web("/%s/commit/%s", r.fullName(), p)})
	}
	return object{
		"sha": c.SHA, "node_id": nodeID("C", r.id) + c.SHA, "url": url, "html_url": page, "comments_url": url + "/comments", "parents": parents,
		"author": v.committer(c.Email), "committer": v.committer(c.CEmail),
		"commit": object{
			"url": v.repoURL(r) + "/git/commits/" + c.SHA, "message": c.Message, "comment_count": 0,
			"author":       object{"name": c.Name, "email": c.Email, "date": stamp(c.AuthoredAt)},
			"committer":    object{"name": c.Committer, "email": c.CEmail, "date": stamp(c.CommittedAt)},
			"tree":         object{"sha": c.Tree, "url": v.repoURL(r) + "/git/trees/" + c.Tree},
			"verification": unverified(),
		},
	}
}

func unverified() object {
	return object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
}

// committer finds the account of a commit's address, which does not exist for commits from
// elsewhere.
func (v *renderer) committer(email string) any {
	for _, a := range v.s.state.accounts {
		if email == a.login+"@users.noreply.github.com" {
			return v.account(a)
		}
	}
	return nil
}
