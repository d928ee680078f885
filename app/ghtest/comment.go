package ghtest

import (
	"slices"
	"time"
)

// Comment is a comment on a pull request as it is now.
type Comment struct {
	ID                   int64
	Author               string
	Body                 string
	CreatedAt, UpdatedAt time.Time
	// Reactions in the order they were given.
	Reactions []Reaction
	// Edits counts how often the body was written again.
	Edits int
	// Path and the lines are those of a comment on lines. StartLine is 0 if it is on one line.
	Path            string
	StartLine, Line int
	Resolved        bool // the thread that a comment on lines began
}

// Reaction is an emoji that somebody put under a comment.
type Reaction struct {
	ID      int64
	User    string
	Content string // GitHub's word, such as "eyes"
}

// comment is a comment in the state.
type comment struct {
	Comment
	pull   *PullRequest
	author *account
	byApp  bool
}

// view returns a copy that no later change reaches.
func (c *comment) view() Comment {
	v := c.Comment
	v.Reactions = slices.Clone(c.Reactions)
	return v
}

// addComment adds a comment to the pull request. The lock must be held.
func (p *PullRequest) addComment(author *account, body string, byApp bool) *comment {
	now := p.s.now()
	c := &comment{
		Comment: Comment{ID: p.s.state.nextID(), Author: author.login, Body: body, CreatedAt: now, UpdatedAt: now},
		pull:    p, author: author, byApp: byApp,
	}
	p.repo.comments = append(p.repo.comments, c)
	p.updatedAt = now
	return c
}

// Comment comments on the pull request and sends issue_comment created.
func (p *PullRequest) Comment(login, body string) (view Comment) {
	p.s.happens(func() []event {
		author := p.s.state.account(login, "User")
		c := p.addComment(author, body, false)
		view = c.view()
		return []event{c.event("created", author, nil)}
	})
	return view
}

// EditComment edits a comment as its author and sends issue_comment edited.
func (p *PullRequest) EditComment(id int64, body string) {
	p.s.happens(func() []event {
		c := p.repo.comment(id)
		if c == nil {
			return impossible("edit comment %d: it does not exist", id)
		}
		return []event{c.event("edited", c.author, c.edit(body, p.s.now()))}
	})
}

// DeleteComment deletes a comment as its author and sends issue_comment deleted.
func (p *PullRequest) DeleteComment(id int64) {
	p.s.happens(func() []event {
		c := p.repo.comment(id)
		if c == nil {
			return impossible("delete comment %d: it does not exist", id)
		}
		p.repo.comments = slices.DeleteFunc(p.repo.comments, func(other *comment) bool { return other == c })
		return []event{c.event("deleted", c.author, nil)}
	})
}

// edit replaces the body and returns the changes for the event.
func (c *comment) edit(body string, now time.Time) object {
	was := c.Body
	c.Body, c.UpdatedAt = body, now
	c.Edits++
	return bodyChanged(was)
}

// bodyChanged is the part of an event about an edited body.
func bodyChanged(was string) object {
	return object{"changes": object{"body": object{"from": was}}}
}

// react adds a reaction, unless the user has given it before. The lock must be
// held.
func (c *comment) react(id int64, login, content string) (r Reaction, fresh bool) {
	for _, r := range c.Reactions {
		if r.User == login && r.Content == content {
			return r, false
		}
	}
	r = Reaction{ID: id, User: login, Content: content}
	c.Reactions = append(c.Reactions, r)
	return r, true
}

// comment returns the comment with this id, or nil. The lock must be held.
func (r *Repo) comment(id int64) *comment {
	return found(r.comments, func(c *comment) bool { return c.ID == id })
}

// commentsOn lists the comments of a pull request, oldest first. The lock must
// be held.
func (p *PullRequest) commentsOn() []*comment {
	var on []*comment
	for _, c := range p.repo.comments {
		if c.pull == p {
			on = append(on, c)
		}
	}
	return on
}

// Comments lists the comments on the pull request, oldest first.
func (p *PullRequest) Comments() []Comment {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var views []Comment
	for _, c := range p.commentsOn() {
		views = append(views, c.view())
	}
	return views
}

// AppComments lists the App's own comments on the pull request, oldest first.
func (p *PullRequest) AppComments() []Comment {
	return slices.DeleteFunc(p.Comments(), func(c Comment) bool { return c.Author != p.s.AppLogin() })
}
