package ghtest

import (
	"slices"
	"time"
)

// Review is a submitted review. GitHub's REST API accepts no reactions to its body.
type Review struct {
	ID          int64
	Author      string
	State       string // approved, changes_requested, commented or dismissed
	CommitID    string // the reviewed head
	Body        string
	SubmittedAt time.Time
	Dismissal   string // the App's reason for the dismissal
}

// review is a review in the state.
type review struct {
	Review
	pull   *PullRequest
	author *account
}

// Reviews are the reviews of a pull request and the requests for them. The Server's lock
// guards their fields.
type Reviews struct {
	pull           *PullRequest
	all            []*review
	requested      []*account
	requestedTeams []string // slugs
}

// reviewComment is a comment on a line of the change in the state.
type reviewComment struct {
	comment
	review   *review
	commitID string
}

// reviewStates are the states in which a review can be submitted.
var reviewStates = []string{"approved", "changes_requested", "commented"}

// Submit submits a review of the head as it is, and sends pull_request_review
// submitted.
func (rv *Reviews) Submit(login, state, body string) Review {
	return rv.submit(login, "User", state, body)
}

func (rv *Reviews) submit(login, kind, state, body string) (view Review) {
	if !slices.Contains(reviewStates, state) {
		rv.pull.s.opts.Fail("review #%d: the state %q is not one of %v", rv.pull.Number, state, reviewStates)
	}
	rv.pull.s.happens(func() []event {
		r := rv.add(rv.pull.s.state.account(login, kind), rv.pull.headSHA, state, body)
		view = r.Review
		return []event{r.event("submitted", r.author, nil)}
	})
	return view
}

// Edit edits the body of a review as its author, and sends pull_request_review edited.
func (rv *Reviews) Edit(id int64, body string) {
	rv.pull.s.happens(func() []event {
		r := rv.byID(id)
		if r == nil {
			return impossible("edit review %d: it does not exist", id)
		}
		was := r.Body
		r.Body = body
		return []event{r.event("edited", r.author, bodyChanged(was))}
	})
}

// Comment comments on a line of a changed file. As on GitHub, a single comment gets its
// own review. It sends both events.
func (rv *Reviews) Comment(login, path string, line int, body string) (view Comment) {
	rv.pull.s.happens(func() []event {
		r := rv.add(rv.pull.s.state.account(login, "User"), rv.pull.headSHA, "commented", "")
		c := r.comment(lineComment{Path: path, Line: line, Body: body})
		view = c.view()
		return []event{r.event("submitted", r.author, nil), c.event("created", nil)}
	})
	return view
}

// EditComment edits a comment on a line as its author, and sends
// pull_request_review_comment edited.
func (rv *Reviews) EditComment(id int64, body string) {
	rv.pull.s.happens(func() []event {
		c := rv.pull.repo.reviewComment(id)
		if c == nil {
			return impossible("edit review comment %d: it does not exist", id)
		}
		return []event{c.event("edited", c.edit(body, rv.pull.s.now()))}
	})
}

// DeleteComment deletes a comment on a line as its author.
func (rv *Reviews) DeleteComment(id int64) {
	rv.pull.s.happens(func() []event {
		c := rv.pull.repo.reviewComment(id)
		if c == nil {
			return impossible("delete review comment %d: it does not exist", id)
		}
		rv.pull.repo.reviewComments = slices.DeleteFunc(rv.pull.repo.reviewComments, func(other *reviewComment) bool { return other == c })
		return []event{c.event("deleted", nil)}
	})
}

// Comments lists the comments on lines of the change, oldest first.
func (rv *Reviews) Comments() []Comment {
	rv.pull.s.mu.Lock()
	defer rv.pull.s.mu.Unlock()
	var views []Comment
	for _, c := range rv.pull.lineComments() {
		views = append(views, c.view())
	}
	return views
}

// AppComments lists the App's own comments on lines of the change, oldest first.
func (rv *Reviews) AppComments() []Comment {
	return slices.DeleteFunc(rv.Comments(), func(c Comment) bool { return c.Author != rv.pull.s.AppLogin() })
}

// All lists the reviews of the pull request, oldest first.
func (rv *Reviews) All() []Review {
	return views(rv.pull.s, &rv.all, func(r *review) Review { return r.Review })
}

// OfApp lists the App's own reviews of the pull request, oldest first.
func (rv *Reviews) OfApp() []Review {
	return slices.DeleteFunc(rv.All(), func(r Review) bool { return r.Author != rv.pull.s.AppLogin() })
}

// Dismiss dismisses a review as a user, and sends pull_request_review
// dismissed.
func (rv *Reviews) Dismiss(login string, id int64) {
	rv.pull.s.happens(func() []event {
		r := rv.byID(id)
		if r == nil {
			return impossible("dismiss review %d: it does not exist", id)
		}
		r.State = "dismissed"
		return []event{r.event("dismissed", rv.pull.s.state.account(login, "User"), nil)}
	})
}

// Requested lists the requested reviewers in the order of their requests: logins, and teams
// as "org/team-slug".
func (rv *Reviews) Requested() []string {
	rv.pull.s.mu.Lock()
	defer rv.pull.s.mu.Unlock()
	var all []string
	for _, a := range rv.requested {
		all = append(all, a.login)
	}
	for _, slug := range rv.requestedTeams {
		all = append(all, rv.pull.repo.owner.login+"/"+slug)
	}
	return all
}

// Unrequest removes a person from the requested reviewers, as the author, and sends
// review_request_removed.
func (rv *Reviews) Unrequest(login string) {
	rv.pull.act(rv.pull.authorLogin(), "review_request_removed", func(*account) object {
		a := rv.pull.s.state.account(login, "User")
		rv.requested = slices.DeleteFunc(rv.requested, func(other *account) bool { return other == a })
		return object{"requested_reviewer": rv.pull.s.render.account(a)}
	})
}

// byID returns the review with this id, or nil. The lock must be held.
func (rv *Reviews) byID(id int64) *review {
	return found(rv.all, func(r *review) bool { return r.ID == id })
}

// add adds a review of a commit to the pull request. Its author is no longer a
// requested reviewer. The lock must be held.
func (rv *Reviews) add(author *account, commit, state, body string) *review {
	rv.pull.updatedAt = rv.pull.s.now()
	rv.requested = slices.DeleteFunc(rv.requested, func(a *account) bool { return a == author })
	r := &review{
		Review: Review{ID: rv.pull.s.state.nextID(), Author: author.login, State: state, CommitID: commit, Body: body, SubmittedAt: rv.pull.updatedAt},
		pull:   rv.pull, author: author,
	}
	rv.all = append(rv.all, r)
	return r
}

// comment adds a comment on lines to the review. The lock must be held.
func (r *review) comment(on lineComment) *reviewComment {
	now := r.pull.s.now()
	c := &reviewComment{
		comment: comment{
			Comment: Comment{
				ID: r.pull.s.state.nextID(), Author: r.author.login, Body: on.Body, CreatedAt: now, UpdatedAt: now,
				Path: on.Path, StartLine: on.StartLine, Line: on.Line,
			},
			pull: r.pull, author: r.author,
		},
		review: r, commitID: r.CommitID,
	}
	r.pull.repo.reviewComments = append(r.pull.repo.reviewComments, c)
	return c
}

// lineComments lists the comments on lines of the change, oldest first. The lock must be held.
func (p *PullRequest) lineComments() (on []*reviewComment) {
	for _, c := range p.repo.reviewComments {
		if c.pull == p {
			on = append(on, c)
		}
	}
	return on
}

// reviewComment returns the comment with this id, or nil. The lock must be held.
func (r *Repo) reviewComment(id int64) *reviewComment {
	return found(r.reviewComments, func(c *reviewComment) bool { return c.ID == id })
}

// event creates a pull_request_review event. The lock must be held.
func (r *review) event(action string, sender *account, extra object) event {
	s := r.pull.s
	return r.pull.repo.event("pull_request_review", action, sender, object{"review": s.render.review(r), "pull_request": s.render.pull(r.pull)}.with(extra))
}

// event creates a pull_request_review_comment event. The lock must be held.
func (c *reviewComment) event(action string, extra object) event {
	s := c.pull.s
	return c.pull.repo.event("pull_request_review_comment", action, c.author, object{"comment": s.render.reviewComment(c), "pull_request": s.render.pull(c.pull)}.with(extra))
}

func (v *renderer) review(r *review) object {
	pull, page := v.api("/repos/%s/pulls/%d", r.pull.repo.fullName(), r.pull.Number), v.web("/%s/pull/%d#pullrequestreview-%d", r.pull.repo.fullName(), r.pull.Number, r.ID)
	return object{
		"id": r.ID, "node_id": nodeID("PRR", r.ID), "user": v.account(r.author), "body": orNil(r.Body), "commit_id": r.CommitID,
		"submitted_at": stamp(r.SubmittedAt), "state": r.State, "html_url": page, "pull_request_url": pull,
		"author_association": r.pull.repo.association(r.author),
		"_links":             object{"html": object{"href": page}, "pull_request": object{"href": pull}},
	}
}

func (v *renderer) reviewComment(c *reviewComment) object {
	url := v.api("/repos/%s/pulls/comments/%d", c.pull.repo.fullName(), c.ID)
	pull, page := v.api("/repos/%s/pulls/%d", c.pull.repo.fullName(), c.pull.Number), v.web("/%s/pull/%d#discussion_r%d", c.pull.repo.fullName(), c.pull.Number, c.ID)
	o := object{
		"id": c.ID, "node_id": nodeID("PRRC", c.ID), "url": url, "html_url": page, "pull_request_url": pull, "pull_request_review_id": c.review.ID,
		"diff_hunk": "@@ -0,0 +1 @@", "path": c.Path, "position": c.Line, "original_position": c.Line, "commit_id": c.commitID, "original_commit_id": c.commitID,
		"user": v.account(c.author), "body": c.Body, "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt),
		"author_association": c.pull.repo.association(c.author), "reactions": c.tally(url),
		"start_line": nil, "original_start_line": nil, "start_side": nil, "line": c.Line, "original_line": c.Line, "side": "RIGHT", "subject_type": "line",
		"_links": object{"self": object{"href": url}, "html": object{"href": page}, "pull_request": object{"href": pull}},
	}
	if c.StartLine > 0 {
		o["start_line"], o["original_start_line"], o["start_side"] = c.StartLine, c.StartLine, "RIGHT"
	}
	return o
}

func createReviewReaction(c *call) *Response {
	return c.locked(func() *Response {
		found := c.repo.reviewComment(c.number("comment_id"))
		if found == nil {
			return notFound()
		}
		return c.reactTo(&found.comment)
	})
}

// Team puts users into a team of an organisation, which it creates if necessary. Without
// users the team is empty.
func (s *Server) Team(org, slug string, logins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.account(org, "Organization")
	t := &team{id: s.state.nextID(), members: map[string]string{}}
	for _, login := range logins {
		t.members[fold(s.state.account(login, "User").login)] = "active"
	}
	if s.state.teams == nil {
		s.state.teams = map[string]*team{}
	}
	s.state.teams[fold(org+"/"+slug)] = t
	s.notify()
}

// InviteToTeam invites a user into a team. Nobody is a member before they have accepted.
func (s *Server) InviteToTeam(org, slug, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.teams[fold(org+"/"+slug)]
	if t == nil {
		s.opts.Fail("invite %s to %s/%s: there is no such team", login, org, slug)
		return
	}
	t.members[fold(s.state.account(login, "User").login)] = "pending"
	s.notify()
}

// getTeamMembership tells whether a user is in a team. A team of an account
// where the App is not installed is not found.
func getTeamMembership(c *call) *Response {
	return c.locked(func() *Response {
		org := c.params["org"]
		t := c.s.state.teams[fold(org+"/"+c.params["team_slug"])]
		if t == nil {
			return notFound()
		}
		state := t.members[fold(c.params["username"])]
		if state == "" || fold(c.caller.installation.account.login) != fold(org) {
			return notFound()
		}
		return ok(object{
			"url": c.s.render.api("/orgs/%s/teams/%s/memberships/%s", org, c.params["team_slug"], c.params["username"]), "role": "member", "state": state,
		})
	})
}
