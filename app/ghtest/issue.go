package ghtest

import (
	"slices"
	"time"
)

// Issue is an issue as it is now.
type Issue struct {
	Number      int
	Author      string
	Title, Body string
	State       string // open or closed
	StateReason string // if closed: completed, not_planned or duplicate; if reopened: reopened
	Labels      []string
	// Edits counts how often it was written again.
	Edits int
}

// Issues are the issues of a repository. The Server's lock guards their fields.
type Issues struct {
	repo *Repo
	all  []*issue
	off  bool
}

// issue is an issue in the state. Pull requests are not among them.
type issue struct {
	Issue
	repo                           *Repo
	id                             int64
	author                         *account
	byApp                          bool
	createdAt, updatedAt, closedAt time.Time
	closedBy                       *account
}

// add opens an issue. The lock must be held.
func (l *Issues) add(author *account, title, body string, labels []string, byApp bool) *issue {
	l.repo.lastNumber++
	now := l.repo.s.now()
	i := &issue{
		Issue: Issue{Number: l.repo.lastNumber, Author: author.login, Title: title, Body: body, State: "open", Labels: slices.Clone(labels)},
		repo:  l.repo, id: l.repo.s.state.nextID(), author: author, byApp: byApp, createdAt: now, updatedAt: now,
	}
	l.all = append(l.all, i)
	return i
}

// Open opens an issue as a person does and sends issues opened.
func (l *Issues) Open(login, title, body string) (view Issue) {
	l.repo.s.happens(func() []event {
		author := l.repo.s.state.account(login, "User")
		i := l.add(author, title, body, nil, false)
		view = i.view()
		return []event{i.event("opened", author, nil)}
	})
	return view
}

// Edit replaces an issue's body as a person does and sends issues edited.
func (l *Issues) Edit(login string, number int, body string) {
	l.on(login, number, "edited", func(i *issue, _ *account) object {
		was := i.Body
		i.Body, i.updatedAt = body, l.repo.s.now()
		return bodyChanged(was)
	})
}

// Close closes an issue as a person does, as completed, not_planned or
// duplicate, and sends issues closed.
func (l *Issues) Close(login string, number int, reason string) {
	l.on(login, number, "closed", func(i *issue, by *account) object {
		i.setState("closed", reason, by, l.repo.s.now())
		return nil
	})
}

// Delete deletes an issue, as an owner can, and sends issues deleted.
func (l *Issues) Delete(number int) {
	l.on(l.repo.ownerLogin(), number, "deleted", func(i *issue, _ *account) object {
		l.all = slices.DeleteFunc(l.all, func(other *issue) bool { return other == i })
		return nil
	})
}

// on changes an issue as a person does, and sends the event.
func (l *Issues) on(login string, number int, action string, change func(*issue, *account) object) {
	l.repo.s.happens(func() []event {
		i := l.numbered(int64(number))
		if i == nil {
			return impossible("%s issue %d of %s: it does not exist", action, number, l.repo.fullName())
		}
		by := l.repo.s.state.account(login, "User")
		return []event{i.event(action, by, change(i, by))}
	})
}

// SetEnabled switches the repository's issues on or off.
func (l *Issues) SetEnabled(has bool) { l.repo.change(func() { l.off = !has }) }

// All lists the repository's issues, oldest first, without pull requests.
func (l *Issues) All() []Issue { return views(l.repo.s, &l.all, (*issue).view) }

// Labels lists the pull request's labels, in the order in which they came.
func (p *PullRequest) Labels() []string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.labels)
}

// view returns a copy that no later change reaches.
func (i *issue) view() Issue {
	v := i.Issue
	v.Labels = slices.Clone(i.Labels)
	return v
}

// setState opens or closes the issue. The lock must be held.
func (i *issue) setState(state, reason string, by *account, now time.Time) {
	if state == i.State {
		return
	}
	i.State, i.updatedAt, i.closedAt, i.closedBy = state, now, time.Time{}, nil
	if state == "closed" {
		i.closedAt, i.closedBy = now, by
		if reason == "" {
			reason = "completed"
		}
	} else {
		reason = "reopened"
	}
	i.StateReason = reason
}

// numbered returns the issue with this number, or nil. The lock must be held.
func (l *Issues) numbered(number int64) *issue {
	for _, i := range l.all {
		if int64(i.Number) == number {
			return i
		}
	}
	return nil
}

// event creates an issues event. The lock must be held.
func (i *issue) event(action string, sender *account, extra object) event {
	return i.repo.event("issues", action, sender, object{"issue": i.repo.s.render.issue(i)}.with(extra))
}

// issueFull writes an issue in the form of the routes for a single issue.
func (v *renderer) issueFull(i *issue) object {
	return v.issue(i).with(object{"closed_by": v.account(i.closedBy)})
}

// issue writes an issue in the form of lists and webhooks.
func (v *renderer) issue(i *issue) object {
	r := i.repo
	url := v.repoURL(r) + "/issues/" + itoa(i.Number)
	labels := []object{}
	for _, name := range i.Labels {
		labels = append(labels, v.label(r, name))
	}
	var via any
	if i.byApp {
		via = v.app("")
	}
	return object{
		"id": i.id, "node_id": nodeID("I", i.id), "number": i.Number, "url": url, "repository_url": v.repoURL(r), "labels_url": url + "/labels{/name}",
		"comments_url": url + "/comments", "events_url": url + "/events", "html_url": v.web("/%s/issues/%d", r.fullName(), i.Number),
		"title": i.Title, "body": orNil(i.Body), "user": v.account(i.author), "labels": labels, "state": i.State, "state_reason": orNil(i.StateReason),
		"locked": false, "active_lock_reason": nil, "assignee": nil, "assignees": []any{}, "milestone": nil, "comments": 0,
		"author_association": r.association(i.author), "performed_via_github_app": via,
		"created_at": stamp(i.createdAt), "updated_at": stamp(i.updatedAt), "closed_at": stamp(i.closedAt),
	}
}
