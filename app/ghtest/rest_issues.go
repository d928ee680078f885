package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// GitHub's limits for an issue.
const (
	maxIssueTitle = 256 // characters
	maxLabelName  = 50  // characters
)

// Some of the fields that GitHub accepts. The App does not use the others.
var (
	createIssueSchema = fields(map[string]*schema{"title": text().req(), "body": text(), "labels": list(text())})
	updateIssueSchema = fields(map[string]*schema{
		"title": text(), "body": text(), "labels": list(text()), "state": word("open", "closed"),
		"state_reason": word("completed", "not_planned", "duplicate", "reopened"),
	})
	addLabelsSchema = fields(map[string]*schema{"labels": list(text()).req()})
)

func itoa(n int) string { return strconv.Itoa(n) }

// issueText is what a request says of an issue, with nil for what it doesn't.
type issueText struct {
	Title, Body, State *string
	StateReason        *string `json:"state_reason"`
	Labels             []string
}

// issueText reads a request and checks it against the limits.
func (c *call) issueText() (t issueText, bad *Response) {
	if err := c.into(&t); err != nil {
		return t, broken(err)
	}
	if t.Title != nil {
		if strings.TrimSpace(*t.Title) == "" {
			return t, invalid("Issue", "title", "missing_field", "Title can't be blank")
		}
		if utf8.RuneCountInString(*t.Title) > maxIssueTitle {
			return t, invalid("Issue", "title", "custom", fmt.Sprintf("title is too long (maximum is %d characters)", maxIssueTitle))
		}
	}
	if limit := c.s.limits.CommentChars; t.Body != nil && over(utf8.RuneCountInString(*t.Body), limit) {
		return t, invalid("Issue", "body", "custom", fmt.Sprintf("body is too long (maximum is %d characters)", limit))
	}
	return t, badLabels(t.Labels)
}

func badLabels(names []string) *Response {
	for _, name := range names {
		if n := utf8.RuneCountInString(name); n > maxLabelName || strings.TrimSpace(name) == "" {
			return invalid("Label", "name", "invalid", fmt.Sprintf("Name %.60q is blank or longer than %d characters", name, maxLabelName))
		}
	}
	return nil
}

// issuable refuses where the repository has no issues, or they can't be
// written.
func (c *call) issuable(write bool) *Response {
	switch {
	case write && c.repo.archived:
		return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
	case c.repo.Issues.off:
		return refuse(http.StatusGone, "Issues are disabled for this repo")
	}
	return nil
}

// listIssues lists issues and pull requests, which are issues as well.
func listIssues(c *call) *Response {
	state, refused := c.oneOf("state", "open", "closed", "all")
	if refused != nil {
		return refused
	}
	sort, refused := c.oneOf("sort", "created", "updated", "comments")
	if refused != nil {
		return refused
	}
	direction, refused := c.oneOf("direction", "desc", "asc")
	if refused != nil {
		return refused
	}
	q := c.req.URL.Query()
	from, err := time.Parse(time.RFC3339, q.Get("since"))
	if q.Get("since") != "" && err != nil {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n\"since\" is not a valid date-time.")
	}
	var labels []string
	if q.Get("labels") != "" {
		labels = strings.Split(q.Get("labels"), ",")
	}
	return c.locked(func() *Response {
		if refused := c.issuable(false); refused != nil {
			return refused
		}
		all := slices.DeleteFunc(c.repo.Issues.listed(), func(i listedIssue) bool {
			return state != "all" && i.state != state || i.updatedAt.Before(from) ||
				q.Get("creator") != "" && fold(q.Get("creator")) != fold(i.author.login) ||
				slices.ContainsFunc(labels, func(name string) bool { return !slices.Contains(i.labels, name) })
		})
		slices.SortStableFunc(all, func(a, b listedIssue) int {
			if sort == "updated" {
				return a.updatedAt.Compare(b.updatedAt)
			}
			return a.number - b.number
		})
		if direction == "desc" {
			slices.Reverse(all)
		}
		return listed(c, all, func(i listedIssue) object { return i.render() })
	})
}

// listedIssue is an issue or a pull request as lists take it.
type listedIssue struct {
	number    int
	state     string
	author    *account
	labels    []string
	updatedAt time.Time
	render    func() object
}

func (l *Issues) listed() []listedIssue {
	var all []listedIssue
	v := l.repo.s.render
	for _, i := range l.all {
		all = append(all, listedIssue{i.Number, i.State, i.author, i.Labels, i.updatedAt, func() object { return v.issue(i) }})
	}
	for _, p := range l.repo.pulls {
		all = append(all, listedIssue{p.Number, p.state, p.author, p.labels, p.updatedAt, func() object { return v.pullAsIssue(p) }})
	}
	return all
}

func createIssue(c *call) *Response {
	t, bad := c.issueText()
	if bad != nil {
		return bad
	}
	return c.locked(func() *Response {
		if refused := c.issuable(true); refused != nil {
			return refused
		}
		body := ""
		if t.Body != nil {
			body = *t.Body
		}
		bot := c.s.state.app.bot
		made := c.repo.Issues.add(bot, *t.Title, body, t.Labels, true)
		c.s.Webhook.enqueue(queued{event: made.event("opened", bot, nil)})
		c.s.notify()
		rendered := c.s.render.issueFull(made)
		resp := answer(http.StatusCreated, rendered)
		resp.Header.Set("Location", rendered["url"].(string))
		return resp
	})
}

// onIssue runs f on the issue that the path numbers, with the lock held.
func (c *call) onIssue(write bool, f func(*issue) *Response) *Response {
	return c.locked(func() *Response {
		if refused := c.issuable(write); refused != nil {
			return refused
		}
		if i := c.repo.Issues.numbered(c.number("issue_number")); i != nil {
			return f(i)
		}
		if n := c.number("issue_number"); n > 0 && n <= int64(c.repo.lastNumber) && c.pull("issue_number") == nil {
			return refuse(http.StatusGone, "This issue was deleted")
		}
		return notFound()
	})
}

func getIssue(c *call) *Response {
	return c.onIssue(false, func(i *issue) *Response { return ok(c.s.render.issueFull(i)) })
}

func updateIssue(c *call) *Response {
	t, bad := c.issueText()
	if bad != nil {
		return bad
	}
	return c.onIssue(true, func(i *issue) *Response {
		bot := c.s.state.app.bot
		i.Edits++
		i.updatedAt = c.s.now()
		if t.Title != nil {
			i.Title = *t.Title
		}
		if t.Labels != nil {
			i.Labels = slices.Clone(t.Labels)
		}
		if t.Body != nil {
			was := i.Body
			i.Body = *t.Body
			c.s.Webhook.enqueue(queued{event: i.event("edited", bot, bodyChanged(was))})
		}
		if t.State != nil && *t.State != i.State {
			reason := ""
			if t.StateReason != nil {
				reason = *t.StateReason
			}
			i.setState(*t.State, reason, bot, c.s.now())
			c.s.Webhook.enqueue(queued{event: i.event(map[string]string{"open": "reopened", "closed": "closed"}[*t.State], bot, nil)})
		}
		c.s.notify()
		return ok(c.s.render.issueFull(i))
	})
}

// onLabels runs f on the pull request that the path numbers, with the lock
// held, and answers with its labels.
func (c *call) onLabels(f func(*PullRequest) *Response) *Response {
	return c.locked(func() *Response {
		p := c.pull("issue_number")
		switch {
		case p == nil:
			return notFound()
		case c.repo.archived:
			return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
		}
		if refused := f(p); refused != nil {
			return refused
		}
		c.s.notify()
		labels := []object{}
		for _, name := range p.labels {
			labels = append(labels, c.s.render.label(c.repo, name))
		}
		return ok(labels)
	})
}

// relabel changes the labels of a pull request and queues the event that the
// App causes. The lock must be held.
func (c *call) relabel(p *PullRequest, action, name string, labels []string) {
	p.labels, p.updatedAt = labels, c.s.now()
	c.s.Webhook.enqueue(queued{event: p.event(action, c.s.state.app.bot, object{"label": c.s.render.label(p.repo, name)})})
}

func addLabels(c *call) *Response {
	t, bad := c.issueText()
	if bad != nil {
		return bad
	}
	return c.onLabels(func(p *PullRequest) *Response {
		for _, name := range t.Labels {
			if !slices.Contains(p.labels, name) {
				c.relabel(p, "labeled", name, append(slices.Clone(p.labels), name))
			}
		}
		return nil
	})
}

func removeLabel(c *call) *Response {
	return c.onLabels(func(p *PullRequest) *Response {
		name := c.params["name"]
		if !slices.Contains(p.labels, name) {
			return refuse(http.StatusNotFound, "Label does not exist")
		}
		c.relabel(p, "unlabeled", name, slices.DeleteFunc(slices.Clone(p.labels), func(l string) bool { return l == name }))
		return nil
	})
}
