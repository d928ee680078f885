package ghtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// GitHub's fields of a review. A review without an event stays pending, and positions in place
// of lines are old: nobody here needs either.
var (
	createReviewSchema = fields(map[string]*schema{
		"commit_id": text(), "body": text(), "event": word("APPROVE", "REQUEST_CHANGES", "COMMENT").req(),
		"comments": list(fields(map[string]*schema{
			"path": text().req(), "body": text().req(), "line": integer().req(), "side": word("LEFT", "RIGHT"), "start_line": integer(), "start_side": word("LEFT", "RIGHT"),
		})),
	})
	dismissalSchema = fields(map[string]*schema{"message": text().req(), "event": word("DISMISS")})
	requestSchema   = fields(map[string]*schema{"reviewers": list(text()), "team_reviewers": list(text())})
)

// submittedAs are the states of submitted reviews by the event that makes them.
var submittedAs = map[string]string{"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}

// unprocessable creates a 422 whose reasons are plain texts.
func unprocessable(message, reason string) *Response {
	return answer(http.StatusUnprocessableEntity, object{
		"message": message, "errors": []string{reason}, "documentation_url": "https://docs.github.com/rest/pulls", "status": "422",
	})
}

// onPull runs f on the pull request that the path numbers, with the lock held.
func (c *call) onPull(write bool, f func(*PullRequest) *Response) *Response {
	return c.locked(func() *Response {
		p := c.pull("pull_number")
		switch {
		case p == nil:
			return notFound()
		case write && c.repo.archived:
			return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
		}
		return f(p)
	})
}

func listReviews(c *call) *Response {
	return c.onPull(false, func(p *PullRequest) *Response { return listed(c, p.Reviews.all, c.s.render.reviewOfAPI) })
}

// reviewAsk is a request for a review.
type reviewAsk struct {
	Body, Event string
	CommitID    string `json:"commit_id"`
	Comments    []lineComment
}

// lineComment is a comment on lines of the diff.
type lineComment struct {
	Path, Body, Side string
	Line             int
	StartLine        int    `json:"start_line"`
	StartSide        string `json:"start_side"`
}

// misplaced returns why a comment can't be on its lines of the diff, or "".
func (on *lineComment) misplaced(d *diff, l Limits) string {
	i := slices.IndexFunc(d.Files, func(f fileDiff) bool { return f.Path == on.Path })
	if i < 0 {
		return "Path could not be resolved"
	}
	if !d.Files[i].shown(l) {
		return "Line could not be resolved"
	}
	hunks := hunksOf(d.Files[i].Patch, on.Side == "LEFT")
	startHunks := hunksOf(d.Files[i].Patch, on.StartSide == "LEFT")
	switch start := on.StartLine; {
	case hunks[on.Line] == 0, start != 0 && startHunks[start] == 0:
		return "Line could not be resolved"
	case start != 0 && start >= on.Line:
		return "Start line must precede the end line."
	case start != 0 && startHunks[start] != hunks[on.Line]:
		return "Start line must be part of the same hunk as the line."
	}
	return ""
}

// hunksOf maps the line numbers of one side of a patch to hunks, counted from 1.
func hunksOf(patch string, left bool) map[int]int {
	hunks, hunk, n, other, side := map[int]int{}, 0, 0, byte('-'), 2
	if left {
		other, side = '+', 1
	}
	for line := range strings.SplitSeq(patch, "\n") {
		switch {
		case strings.HasPrefix(line, "@@ "): // such as @@ -1,2 +1,3 @@
			hunk++
			at, _, _ := strings.Cut(strings.Fields(line)[side][1:], ",")
			n, _ = strconv.Atoi(at)
		case line == "" || line[0] == other || line[0] == '\\':
		default:
			hunks[n] = hunk
			n++
		}
	}
	return hunks
}

func createReview(c *call) *Response {
	var ask reviewAsk
	if err := c.into(&ask); err != nil {
		return broken(err)
	}
	known, base, head := c.pullEnds()
	if known == nil {
		return notFound()
	}
	ask.CommitID = cmp.Or(ask.CommitID, head)
	d := &diff{}
	if len(ask.Comments) > 0 {
		var err error
		if d, err = known.repo.git.pullDiff(base, ask.CommitID); err != nil {
			return unprocessable("Unprocessable Entity", "Commit is not part of the pull request")
		}
	}
	return c.onPull(true, func(p *PullRequest) *Response {
		bot := c.s.state.app.bot
		if reason := c.unreviewable(p, ask, bot, d); reason != "" {
			return unprocessable("Unprocessable Entity", reason)
		}
		made := p.Reviews.add(bot, ask.CommitID, submittedAs[ask.Event], ask.Body)
		c.s.Webhook.enqueue(queued{event: made.event("submitted", bot, nil)})
		for _, on := range ask.Comments {
			c.s.Webhook.enqueue(queued{event: made.comment(on).event("created", nil)})
		}
		c.s.notify()
		return ok(c.s.render.reviewOfAPI(made))
	})
}

// unreviewable returns why a review is refused, or "". The lock must be held.
func (c *call) unreviewable(p *PullRequest, ask reviewAsk, author *account, d *diff) string {
	limit := c.s.limits.CommentChars
	texts := []string{ask.Body}
	for _, on := range ask.Comments {
		if reason := on.misplaced(d, c.s.limits); reason != "" {
			return reason
		}
		if strings.TrimSpace(on.Body) == "" {
			return "Body can't be blank"
		}
		texts = append(texts, on.Body)
	}
	alone := ask.Event == "COMMENT" && len(ask.Comments) > 0 // such a review needs no text
	switch {
	case p.locked:
		return "lock prevents review"
	case p.author == author && ask.Event == "APPROVE":
		return "Can not approve your own pull request"
	case p.author == author && ask.Event == "REQUEST_CHANGES":
		return "Can not request changes on your own pull request"
	case ask.Event != "APPROVE" && !alone && strings.TrimSpace(ask.Body) == "":
		return "Body can't be blank"
	case slices.ContainsFunc(texts, func(s string) bool { return over(utf8.RuneCountInString(s), limit) }):
		return fmt.Sprintf("Body is too long (maximum is %d characters)", limit)
	case !slices.Contains(p.heads, ask.CommitID):
		return "Commit is not part of the pull request"
	}
	return ""
}

// dismissReview dismisses a review that approves or requests changes.
func dismissReview(c *call) *Response {
	return c.onPull(true, func(p *PullRequest) *Response {
		r := p.Reviews.byID(c.number("review_id"))
		message, _ := c.json["message"].(string)
		switch {
		case r == nil:
			return notFound()
		case strings.TrimSpace(message) == "":
			return unprocessable("Validation Failed", "Message can't be blank")
		case r.State == "dismissed" || r.State == "commented":
			return unprocessable("Validation Failed", fmt.Sprintf("Can not dismiss a %s pull request review", r.State))
		}
		r.State, r.Dismissal = "dismissed", message
		p.updatedAt = c.s.now()
		c.s.Webhook.enqueue(queued{event: r.event("dismissed", c.s.state.app.bot, nil)})
		c.s.notify()
		return ok(c.s.render.reviewOfAPI(r))
	})
}

func listRequested(c *call) *Response {
	return c.onPull(false, func(p *PullRequest) *Response {
		return ok(object{"users": c.s.render.accounts(p.Reviews.requested), "teams": c.s.render.teams(p.repo, p.Reviews.requestedTeams)})
	})
}

// requestReviewers requests reviews of people and teams, of all or of none. Earlier requests
// stay.
func requestReviewers(c *call) *Response {
	var ask struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	if err := c.into(&ask); err != nil {
		return broken(err)
	}
	return c.onPull(true, func(p *PullRequest) *Response {
		if refused := c.unaskable(p, ask.Reviewers, ask.Teams); refused != nil {
			return refused
		}
		bot := c.s.state.app.bot
		for _, login := range ask.Reviewers {
			a := c.s.state.account(login, "User")
			if !slices.Contains(p.Reviews.requested, a) {
				p.Reviews.requested = append(p.Reviews.requested, a)
				c.s.Webhook.enqueue(queued{event: p.event("review_requested", bot, object{"requested_reviewer": c.s.render.account(a)})})
			}
		}
		for _, slug := range ask.Teams {
			if slug = fold(slug); !slices.Contains(p.Reviews.requestedTeams, slug) {
				p.Reviews.requestedTeams = append(p.Reviews.requestedTeams, slug)
				c.s.Webhook.enqueue(queued{event: p.event("review_requested", bot, object{"requested_team": c.s.render.team(p.repo, slug)})})
			}
		}
		p.updatedAt = c.s.now()
		c.s.notify()
		return answer(http.StatusCreated, c.s.render.pull(p))
	})
}

// unaskable refuses requests for the author and for people who are not collaborators. The
// lock must be held.
func (c *call) unaskable(p *PullRequest, logins, teams []string) *Response {
	for _, login := range logins {
		a := c.s.state.accounts[fold(login)]
		switch {
		case a == p.author:
			return refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case a == nil || a.kind != "User" || a != c.repo.owner && c.repo.roles[fold(login)] == "":
			return c.noCollaborator()
		}
	}
	for _, slug := range teams {
		if c.s.state.teams[fold(c.repo.owner.login+"/"+slug)] == nil {
			return c.noCollaborator()
		}
	}
	return nil
}

func (c *call) noCollaborator() *Response {
	return refuse(http.StatusUnprocessableEntity, fmt.Sprintf(
		"Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s repository.", c.repo.fullName()))
}

// reviewOfAPI writes a review in the API's form, with its state in capitals.
func (v *renderer) reviewOfAPI(r *review) object {
	return v.review(r).with(object{"state": strings.ToUpper(r.State), "body": r.Body})
}

func (v *renderer) accounts(all []*account) []any {
	list := []any{}
	for _, a := range all {
		list = append(list, v.account(a))
	}
	return list
}

func (v *renderer) teams(r *Repo, slugs []string) []any {
	list := []any{}
	for _, slug := range slugs {
		list = append(list, v.team(r, slug))
	}
	return list
}

// team writes a team of the account that owns a repository.
func (v *renderer) team(r *Repo, slug string) object {
	id := v.s.state.teams[fold(r.owner.login+"/"+slug)].id
	url := v.api("/organizations/%d/team/%d", r.owner.id, id)
	return object{
		"id": id, "node_id": nodeID("T", id), "name": slug, "slug": slug, "description": nil, "privacy": "closed", "notification_setting": "notifications_enabled",
		"permission": "push", "url": url, "html_url": v.web("/orgs/%s/teams/%s", r.owner.login, slug), "members_url": url + "/members{/member}",
		"repositories_url": url + "/repos", "type": "organization", "organization_id": r.owner.id, "parent": nil,
	}
}
