package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// commentBody reads the body of a comment and checks it against the limits.
func (c *call) commentBody() (string, *Response) {
	body := c.json["body"].(string)
	if strings.TrimSpace(body) == "" {
		return "", invalid("IssueComment", "body", "missing_field", "Body can't be blank")
	}
	if limit := c.s.limits.CommentChars; over(utf8.RuneCountInString(body), limit) {
		return "", invalid("IssueComment", "data", "unprocessable", fmt.Sprintf("Body is too long (maximum is %d characters)", limit))
	}
	return body, nil
}

// talkable refuses to write where GitHub accepts no comments.
func (c *call) talkable(p *PullRequest) *Response {
	switch {
	case c.repo.archived:
		return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
	case p.locked:
		return refuse(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	return nil
}

func listComments(c *call) *Response {
	since := c.req.URL.Query().Get("since")
	from, err := time.Parse(time.RFC3339, since)
	if since != "" && err != nil {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n\"since\" is not a valid date-time.")
	}
	return c.locked(func() *Response {
		p := c.pull("issue_number")
		if p == nil {
			return notFound()
		}
		comments := slices.DeleteFunc(p.commentsOn(), func(cm *comment) bool { return cm.UpdatedAt.Before(from) })
		return listed(c, comments, c.s.render.comment)
	})
}

func createComment(c *call) *Response {
	body, bad := c.commentBody()
	if bad != nil {
		return bad
	}
	return c.locked(func() *Response {
		p := c.pull("issue_number")
		if p == nil {
			return notFound()
		}
		if refused := c.talkable(p); refused != nil {
			return refused
		}
		bot := c.s.state.app.bot
		made := p.addComment(bot, body, true)
		c.s.Webhook.enqueue(queued{event: made.event("created", bot, nil)})
		c.s.notify()
		rendered := c.s.render.comment(made)
		resp := answer(http.StatusCreated, rendered)
		resp.Header.Set("Location", rendered["url"].(string))
		return resp
	})
}

// onComment runs f on the comment that the path names, with the lock held.
func (c *call) onComment(f func(*comment) *Response) *Response {
	return c.locked(func() *Response {
		found := c.repo.comment(c.number("comment_id"))
		if found == nil {
			return notFound()
		}
		return f(found)
	})
}

func getComment(c *call) *Response {
	return c.onComment(func(cm *comment) *Response { return ok(c.s.render.comment(cm)) })
}

func updateComment(c *call) *Response {
	body, bad := c.commentBody()
	if bad != nil {
		return bad
	}
	return c.onComment(func(cm *comment) *Response {
		if refused := c.talkable(cm.pull); refused != nil {
			return refused
		}
		before := cm.Body
		cm.edit(body, c.s.now())
		c.s.Webhook.enqueue(queued{event: cm.event("edited", c.s.state.app.bot, object{"changes": object{"body": object{"from": before}}})})
		c.s.notify()
		return ok(c.s.render.comment(cm))
	})
}

func deleteComment(c *call) *Response {
	return c.onComment(func(cm *comment) *Response {
		if refused := c.talkable(cm.pull); refused != nil {
			return refused
		}
		c.repo.comments = slices.DeleteFunc(c.repo.comments, func(other *comment) bool { return other == cm })
		c.s.Webhook.enqueue(queued{event: cm.event("deleted", c.s.state.app.bot, nil)})
		c.s.notify()
		return &Response{Status: http.StatusNoContent, Header: http.Header{}, cut: -1}
	})
}

func listReactions(c *call) *Response {
	word, refused := c.oneOf("content", append([]string{""}, reactionWords...)...)
	if refused != nil {
		return refused
	}
	return c.onComment(func(cm *comment) *Response {
		reactions := slices.DeleteFunc(slices.Clone(cm.Reactions), func(r Reaction) bool { return word != "" && r.Content != word })
		return listed(c, reactions, func(r Reaction) object { return c.s.render.reaction(r, cm.CreatedAt) })
	})
}

// createReaction answers 201 for a new reaction and 200 for an existing one.
func createReaction(c *call) *Response {
	return c.onComment(c.reactTo)
}

// reactTo adds the requested reaction. The lock must be held.
func (c *call) reactTo(cm *comment) *Response {
	if refused := c.talkable(cm.pull); refused != nil {
		return refused
	}
	r, fresh := cm.react(c.s.state.nextID(), c.s.state.app.bot.login, c.json["content"].(string))
	c.s.notify()
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return answer(status, c.s.render.reaction(r, cm.CreatedAt))
}
