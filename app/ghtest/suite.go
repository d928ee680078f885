package ghtest

import "strings"

// suiteKey names a check suite: an App, by its slug, has one on each commit. An empty slug
// means the App under test.
type suiteKey struct{ app, sha string }

// suite returns the id of an App's check suite on a commit, which it creates if necessary. An
// empty slug means the App under test. The lock must be held.
func (cs *Checks) suite(app, sha string) int64 {
	key := suiteKey{app, sha}
	if cs.suites[key] == 0 {
		cs.suites[key] = cs.repo.s.state.nextID()
	}
	return cs.suites[key]
}

// suiteRequested creates the check_suite event that GitHub sends on a push to every App that
// may write checks, unless the commit's author doesn't want it. Pushes to forks don't count.
// The lock must be held.
func (cs *Checks) suiteRequested(branch, before, sha string, sender *account) event {
	inst := cs.repo.s.state.installationOf(cs.repo)
	if inst == nil || cs.repo.parent != nil || !allows(inst.permissions, "checks:write") {
		return event{}
	}
	head, err := cs.repo.git.objects.commit(sha)
	if err != nil || skipsChecks(head.Message) {
		return event{err: err}
	}
	return cs.suiteEvent("requested", "", branch, before, head, sender)
}

// skipsChecks reports whether a commit's message ends in the trailer
// "skip-checks: true".
func skipsChecks(message string) bool {
	last := message[strings.LastIndex(message, "\n")+1:]
	key, value, _ := strings.Cut(last, ":")
	return strings.EqualFold(strings.TrimSpace(key), "skip-checks") && strings.EqualFold(strings.TrimSpace(value), "true")
}

// suiteEvent creates a check_suite event of an App's suite. The lock must be held.
func (cs *Checks) suiteEvent(action, app string, branch any, before string, head commit, sender *account) event {
	if before == "" {
		before = zeroSHA
	}
	runs := 0
	for _, c := range cs.runs {
		if c.HeadSHA == head.SHA && c.by == app {
			runs++
		}
	}
	pushed := cs.repo.s.render.pushedCommit(cs.repo, pushedCommit{commit: head})
	short := object{}
	for _, key := range []string{"id", "tree_id", "message", "timestamp", "author", "committer"} {
		short[key] = pushed[key]
	}
	return cs.repo.event("check_suite", action, sender, object{"check_suite": cs.repo.s.render.suite(cs.repo, app, head.SHA, "queued", "", branch, before).with(object{
		"latest_check_runs_count": runs, "check_runs_url": cs.repo.s.render.api("/repos/%s/check-suites/%d/check-runs", cs.repo.fullName(), cs.suite(app, head.SHA)), "head_commit": short,
	})})
}

// suite writes an App's check suite on a commit.
func (v *renderer) suite(r *Repo, app, sha, status, conclusion string, branch any, before string) object {
	id := r.Checks.suite(app, sha)
	return object{
		"id": id, "node_id": nodeID("CS", id), "head_branch": branch, "head_sha": sha, "status": status, "conclusion": orNil(conclusion),
		"url": v.api("/repos/%s/check-suites/%d", r.fullName(), id), "before": before, "after": sha, "pull_requests": v.pullsOnHead(r, sha), "app": v.app(app),
		"created_at": stamp(v.s.now()), "updated_at": stamp(v.s.now()),
	}
}

// RerequestSuite presses "Re-run all checks" on the pull request's head, as the
// user, and sends check_suite rerequested.
func (p *PullRequest) RerequestSuite(login string) {
	sha := p.HeadSHA()
	head, err := p.repo.git.objects.commit(sha)
	if err != nil {
		p.s.opts.Fail("re-run the checks of #%d: %v", p.Number, err)
	}
	p.s.mu.Lock()
	e := p.repo.Checks.suiteEvent("rerequested", "", p.repo.branchAt(sha), zeroSHA, head, p.s.state.account(login, "User"))
	p.s.mu.Unlock()
	p.s.Webhook.deliver(e)
}
