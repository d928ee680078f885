package ghtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed graphql/github.graphql
var graphqlSchema string

// graphql is GitHub's schema, cut to what the stand-in answers. Other documents are refused.
var graphql = gqlparser.MustLoadSchema(&ast.Source{Name: "github.graphql", Input: graphqlSchema})

// graphqlRoutes is GraphQL's one route, which GitHub's OpenAPI description lacks.
var graphqlRoutes = []*route{{method: "POST", template: "/graphql", auth: asInstallation, body: graphqlBody, graphql: true, serve: serveGraphQL}}

var graphqlBody = fields(map[string]*schema{"query": text().req(), "variables": {kind: "object", open: true, items: &schema{kind: "any"}}})

// graphqlProblem is an error in an answer, which comes with status 200.
type graphqlProblem struct {
	Type    string `json:"type,omitempty"`
	Path    []any  `json:"path,omitempty"`
	Message string `json:"message"`
}

// resolver computes a field from its arguments.
type resolver func(args map[string]any) any

// serveGraphQL answers a document. A field that fails is null, and the others are answered.
func serveGraphQL(c *call) *Response {
	var ask struct {
		Query     string
		Variables map[string]any
	}
	if err := json.Unmarshal(c.body, &ask); err != nil {
		return broken(err)
	}
	doc, err := gqlparser.LoadQueryWithRules(graphql, ask.Query, nil)
	if err != nil || len(doc.Operations) != 1 {
		return ok(object{"errors": []graphqlProblem{{Message: fmt.Sprintf("the document is not valid: %v", err)}}})
	}
	op := doc.Operations[0]
	vars, invalid := validator.VariableValues(graphql, op, ask.Variables)
	if invalid != nil {
		return ok(object{"errors": []graphqlProblem{{Message: invalid.Error()}}})
	}
	return c.locked(func() *Response {
		data, problems := object{}, []graphqlProblem{}
		for _, s := range op.SelectionSet {
			field := s.(*ast.Field) // fragments are for parts of an answer
			value, problem := c.graphqlField(field.Name, field.ArgumentMap(vars))
			if problem != nil {
				problem.Path = []any{field.Alias}
				problems = append(problems, *problem)
			}
			data[field.Alias] = selected(value, field.SelectionSet, vars)
		}
		c.s.notify()
		answer := object{"data": data}
		if len(problems) > 0 {
			answer["errors"] = problems
		}
		return ok(answer)
	})
}

// selected returns the fields of a value that a document selects.
func selected(value any, selection ast.SelectionSet, vars map[string]any) any {
	switch v := value.(type) {
	case []object:
		all := []any{}
		for _, o := range v {
			all = append(all, selected(o, selection, vars))
		}
		return all
	case object:
		if v == nil {
			return nil
		}
		out := object{}
		for _, s := range selection {
			field := s.(*ast.Field)
			value := v[field.Name]
			if r, ok := value.(resolver); ok {
				value = r(field.ArgumentMap(vars))
			}
			out[field.Alias] = selected(value, field.SelectionSet, vars)
		}
		return out
	}
	return value
}

var (
	errNoPermission = &graphqlProblem{Type: "FORBIDDEN", Message: "Resource not accessible by integration"}
	errReadOnly     = &graphqlProblem{Type: "UNPROCESSABLE", Message: "Repository was archived so is read-only."}
)

func noNode(id string) *graphqlProblem {
	return &graphqlProblem{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

// graphqlField answers a field of a query or a mutation. The lock must be held.
func (c *call) graphqlField(name string, args map[string]any) (any, *graphqlProblem) {
	input, _ := args["input"].(map[string]any)
	switch name {
	case "repository":
		owner, _ := args["owner"].(string)
		name, _ := args["name"].(string)
		repo, _ := c.s.state.find(owner, name)
		if repo == nil || !c.caller.covers(repo) {
			return object(nil), &graphqlProblem{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name)}
		}
		return object{"pullRequest": resolver(func(args map[string]any) any {
			number, _ := strconv.Atoi(fmt.Sprint(args["number"]))
			p := found(repo.pulls, func(p *PullRequest) bool { return p.Number == number })
			if p == nil || !c.caller.permitted(readPulls) {
				return object(nil)
			}
			return c.threadsOf(p)
		})}, nil
	case "updatePullRequestReviewComment":
		id, _ := input["pullRequestReviewCommentId"].(string)
		body, _ := input["body"].(string)
		cm := c.commentByNode("PRRC", id)
		switch {
		case cm == nil:
			return object(nil), noNode(id)
		case cm.author != c.s.state.app.bot || !c.caller.permitted(writePulls):
			return object(nil), errNoPermission
		case cm.pull.repo.archived || cm.pull.locked:
			return object(nil), errReadOnly
		case body == "" || over(len([]rune(body)), c.s.limits.CommentChars):
			return object(nil), &graphqlProblem{Type: "UNPROCESSABLE", Message: "Body is invalid"}
		}
		c.s.Webhook.enqueue(queued{event: cm.event("edited", cm.edit(body, c.s.now()))})
		return object{"pullRequestReviewComment": c.lineComment(cm)}, nil
	case "resolveReviewThread", "unresolveReviewThread":
		id, _ := input["threadId"].(string)
		cm := c.commentByNode("PRRT", id)
		switch {
		case cm == nil:
			return object(nil), noNode(id)
		case !c.caller.permitted([]string{"contents:write"}):
			return object(nil), errNoPermission
		}
		cm.Resolved = name == "resolveReviewThread"
		return object{"thread": c.thread(cm)}, nil
	}
	return nil, &graphqlProblem{Message: "the stand-in does not answer " + name}
}

// commentByNode returns the comment with a node id of its own, or that began the thread with
// it. It returns nil if the caller can't see one. The lock must be held.
func (c *call) commentByNode(kind, id string) *reviewComment {
	for _, repo := range c.s.state.repos {
		if !c.caller.covers(repo) {
			continue
		}
		if cm := found(repo.reviewComments, func(cm *reviewComment) bool { return nodeID(kind, cm.ID) == id }); cm != nil {
			return cm
		}
	}
	return nil
}

func (c *call) threadsOf(p *PullRequest) object {
	return object{"reviewThreads": resolver(func(args map[string]any) any {
		all := p.lineComments()
		end := len(all)
		if before, ok := args["before"].(string); ok {
			end = max(0, slices.IndexFunc(all, func(cm *reviewComment) bool { return nodeID("cursor", cm.ID) == before }))
		}
		last, _ := strconv.Atoi(fmt.Sprint(args["last"]))
		begin := max(0, end-min(last, 100)) // as many are on a page
		nodes := []object{}
		for _, cm := range all[begin:end] {
			nodes = append(nodes, c.thread(cm))
		}
		info := object{"hasPreviousPage": begin > 0, "hasNextPage": end < len(all), "startCursor": nil, "endCursor": nil}
		if begin < end {
			info["startCursor"], info["endCursor"] = nodeID("cursor", all[begin].ID), nodeID("cursor", all[end-1].ID)
		}
		return object{"nodes": nodes, "pageInfo": info, "totalCount": len(all)}
	})}
}

// thread writes the thread that a comment began. There are no answers here.
func (c *call) thread(cm *reviewComment) object {
	return object{
		"id": nodeID("PRRT", cm.ID), "isResolved": cm.Resolved, "pullRequest": resolver(func(map[string]any) any { return c.threadsOf(cm.pull) }),
		"comments": object{"nodes": []object{c.lineComment(cm)}, "totalCount": 1, "pageInfo": object{"hasPreviousPage": false, "hasNextPage": false}},
	}
}

// lineComment writes a comment. Ids outgrow GraphQL's integers, so they are texts.
func (c *call) lineComment(cm *reviewComment) object {
	return object{
		"id": nodeID("PRRC", cm.ID), "fullDatabaseId": strconv.FormatInt(cm.ID, 10), "body": cm.Body,
		"viewerDidAuthor": cm.author == c.s.state.app.bot, "pullRequest": resolver(func(map[string]any) any { return c.threadsOf(cm.pull) }),
	}
}
