package ghtest

import (
	"maps"
	"slices"
	"strings"
)

// zeroSHA stands for no commit in push events.
const zeroSHA = "0000000000000000000000000000000000000000"

// envelope adds the fields that every event of a repository has.
func (v *renderer) envelope(r *Repo, sender *account, payload object) object {
	payload["repository"], payload["sender"] = v.repo(r), v.account(sender)
	if r.owner.kind == "Organization" {
		payload["organization"] = v.organization(r.owner)
	}
	if i := v.s.state.installationOf(r); i != nil {
		payload["installation"] = object{"id": i.id, "node_id": nodeID("MDIz", i.id)}
	}
	return payload
}

func (v *renderer) organization(a *account) object {
	url := v.api("/orgs/%s", a.login)
	return object{
		"login": a.login, "id": a.id, "node_id": nodeID("O", a.id), "url": url, "repos_url": url + "/repos", "events_url": url + "/events", "hooks_url": url + "/hooks",
		"issues_url": url + "/issues", "members_url": url + "/members{/member}", "public_members_url": url + "/public_members{/member}",
		"avatar_url": v.web("/avatars/%d", a.id), "description": "",
	}
}

// event creates an event of a repository. The lock must be held.
func (r *Repo) event(name, action string, sender *account, payload object) event {
	if action != "" {
		payload["action"] = action
	}
	return event{name: name, action: action, installation: r.s.state.installationOf(r), repo: r, payload: r.s.render.envelope(r, sender, payload)}
}

// event creates a pull_request event. The lock must be held.
func (p *PullRequest) event(action string, sender *account, extra object) event {
	full, err := p.s.render.pullFull(p)
	e := p.repo.event("pull_request", action, sender, object{"number": p.Number, "pull_request": full}.with(extra))
	e.err = err
	return e
}

// event creates an issue_comment event. The lock must be held.
func (c *comment) event(action string, sender *account, extra object) event {
	return c.pull.repo.event("issue_comment", action, sender, object{"issue": c.pull.s.render.pullAsIssue(c.pull), "comment": c.pull.s.render.comment(c)}.with(extra))
}

// pullAsIssue writes a pull request in the form of an issue.
func (v *renderer) pullAsIssue(p *PullRequest) object {
	pull := v.pull(p)
	issue := pull["issue_url"].(string)
	o := object{}
	for _, k := range []string{"number", "state", "locked", "active_lock_reason", "title", "body", "user", "draft", "labels", "milestone", "assignee", "assignees",
		"author_association", "created_at", "updated_at", "closed_at", "html_url", "comments_url"} {
		o[k] = pull[k]
	}
	return o.with(object{
		"id": p.id + 1, "node_id": nodeID("I", p.id+1), "url": issue, "repository_url": v.repoURL(p.repo), "labels_url": issue + "/labels{/name}", "events_url": issue + "/events",
		"comments": len(p.commentsOn()), "performed_via_github_app": nil,
		"pull_request": object{"url": pull["url"], "html_url": pull["html_url"], "diff_url": pull["diff_url"], "patch_url": pull["patch_url"]},
	})
}

// event creates a check_run event. The lock must be held.
func (c *checkRun) event(action string, sender *account, extra object) event {
	s := c.repo.s
	run := s.render.check(c)
	run["check_suite"] = s.render.suite(c.repo, c.by, c.HeadSHA, c.Status, c.Conclusion, c.repo.branchAt(c.HeadSHA), zeroSHA)
	return c.repo.event("check_run", action, sender, object{"check_run": run}.with(extra))
}

// branchAt returns the first branch whose tip is the commit, or nil for a fork's commit.
func (r *Repo) branchAt(sha string) any {
	for _, name := range slices.Sorted(maps.Keys(r.branches)) {
		if r.branches[name] == sha {
			return name
		}
	}
	return nil
}

// send delivers a merge_group event.
func (g *MergeGroup) send(action string, extra object) {
	head, err := g.repo.git.history.commit(g.HeadSHA)
	if err != nil {
		g.repo.s.opts.Fail("write merge_group %s: %v", action, err)
	}
	g.repo.s.happens(func() []event {
		group := object{
			"head_sha": g.HeadSHA, "head_ref": g.HeadRef, "base_sha": g.BaseSHA, "base_ref": "refs/heads/" + g.baseRef,
			"head_commit": object{
				"id": head.SHA, "tree_id": head.Tree, "message": head.Message, "timestamp": stamp(head.CommittedAt),
				"author": object{"name": head.Name, "email": head.Email}, "committer": object{"name": head.Committer, "email": head.CEmail},
			},
		}
		return []event{g.repo.event("merge_group", action, g.repo.owner, object{"merge_group": group}.with(extra))}
	})
}

// installationPayload writes an installation event. The lock must be held.
func (v *renderer) installationPayload(action string, i *installation) object {
	inst := v.installation(i)
	// In webhooks these two are seconds since 1970.
	inst["created_at"], inst["updated_at"] = i.createdAt.Unix(), i.createdAt.Unix()
	payload := object{"action": action, "installation": inst, "sender": v.account(v.s.state.account("octocat", "User"))}
	if action == "created" || action == "deleted" || strings.HasSuffix(action, "suspend") {
		repos := []object{}
		for _, r := range v.s.state.reposOf(i) {
			repos = append(repos, v.repoShort(r))
		}
		payload["repositories"] = repos
	}
	return payload
}

// repoShort writes a repository in the form of the events of installations.
func (v *renderer) repoShort(r *Repo) object {
	return object{"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private}
}

func (v *renderer) pingPayload() object {
	return object{
		"zen": "Keep it logically awesome.", "hook_id": 1,
		"hook": object{
			"type": "App", "id": 1, "name": "web", "active": true, "events": v.s.opts.Events, "app_id": v.s.state.app.id,
			"config":     object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": v.s.Webhook.url},
			"updated_at": stamp(v.s.state.app.createdAt), "created_at": stamp(v.s.state.app.createdAt),
			"deliveries_url": v.api("/app/hook/deliveries"),
		},
	}
}
