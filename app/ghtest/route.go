package ghtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is one operation of the API.
type route struct {
	method   string
	template string // as in GitHub's OpenAPI description
	auth     authKind
	// needs lists permissions, each as "name:level". The installation must have one of them.
	needs   []string
	body    *schema // of a request with a body
	free    bool    // costs nothing of the rate limit
	creates bool    // counts as creating content
	graphql bool    // has a rate limit of its own
	serve   func(*call) *Response
}

// authKind says who may call.
type authKind int

const (
	asApp          authKind = iota // with the App's JWT
	asInstallation                 // with an installation token
	asGit                          // with an installation token, as the password of x-access-token
)

const repoPath = "/repos/{owner}/{repo}"

// Permissions that several routes need. Conversations of pull requests are issues, and either
// permission is enough.
var (
	readPulls    = []string{"pull_requests:read"}
	writePulls   = []string{"pull_requests:write"}
	readContents = []string{"contents:read"}
	readMetadata = []string{"metadata:read"}
	readMembers  = []string{"members:read"}
	readChecks   = []string{"checks:read"}
	writeChecks  = []string{"checks:write"}
	readAlerts   = []string{"security_events:read"}
	readTalk     = []string{"issues:read", "pull_requests:read"}
	writeTalk    = []string{"issues:write", "pull_requests:write"}
	readIssues   = []string{"issues:read"}
	writeIssues  = []string{"issues:write"}
)

// routes is the API. A template with fewer parameters comes before one that matches the same
// path.
var routes = []*route{
	{method: "GET", template: "/app", auth: asApp, serve: getApp},
	{method: "GET", template: "/app/installations", auth: asApp, serve: listInstallations},
	{method: "GET", template: "/app/installations/{installation_id}", auth: asApp, serve: getInstallation},
	{method: "POST", template: "/app/installations/{installation_id}/access_tokens", auth: asApp, body: tokenSchema, serve: createToken},
	{method: "GET", template: "/app/hook/config", auth: asApp, serve: getHookConfig},
	{method: "GET", template: "/app/hook/deliveries", auth: asApp, serve: listDeliveries},
	{method: "GET", template: "/app/hook/deliveries/{delivery_id}", auth: asApp, serve: getDelivery},
	{method: "POST", template: "/app/hook/deliveries/{delivery_id}/attempts", auth: asApp, serve: redeliver},
	{method: "GET", template: repoPath + "/installation", auth: asApp, serve: getRepoInstallation},

	{method: "GET", template: "/installation/repositories", auth: asInstallation, serve: listRepos},
	{method: "GET", template: "/rate_limit", auth: asInstallation, free: true, serve: getRateLimit},
	{method: "GET", template: "/users/{username}", auth: asInstallation, serve: getUser},

	{method: "GET", template: "/orgs/{org}/teams/{team_slug}/memberships/{username}", auth: asInstallation, needs: readMembers, serve: getTeamMembership},

	{method: "GET", template: repoPath, auth: asInstallation, needs: readMetadata, serve: getRepo},
	{method: "GET", template: repoPath + "/collaborators/{username}/permission", auth: asInstallation, needs: readMetadata, serve: getPermission},

	{method: "GET", template: repoPath + "/pulls", auth: asInstallation, needs: readPulls, serve: listPulls},
	{method: "GET", template: repoPath + "/pulls/{pull_number}", auth: asInstallation, needs: readPulls, serve: getPull},
	{method: "GET", template: repoPath + "/pulls/{pull_number}/files", auth: asInstallation, needs: readPulls, serve: listPullFiles},
	{method: "GET", template: repoPath + "/pulls/{pull_number}/commits", auth: asInstallation, needs: readPulls, serve: listPullCommits},
	{method: "GET", template: repoPath + "/pulls/{pull_number}/reviews", auth: asInstallation, needs: readPulls, serve: listReviews},
	{method: "POST", template: repoPath + "/pulls/{pull_number}/reviews", auth: asInstallation, needs: writePulls, body: createReviewSchema, creates: true, serve: createReview},
	{method: "PUT", template: repoPath + "/pulls/{pull_number}/reviews/{review_id}/dismissals", auth: asInstallation, needs: writePulls, body: dismissalSchema, serve: dismissReview},
	{method: "GET", template: repoPath + "/pulls/{pull_number}/requested_reviewers", auth: asInstallation, needs: readPulls, serve: listRequested},
	{method: "POST", template: repoPath + "/pulls/{pull_number}/requested_reviewers", auth: asInstallation, needs: writePulls, body: requestSchema, serve: requestReviewers},

	{method: "GET", template: repoPath + "/branches", auth: asInstallation, needs: readContents, serve: listBranches},
	{method: "GET", template: repoPath + "/branches/{branch}", auth: asInstallation, needs: readContents, serve: getBranch},
	{method: "GET", template: repoPath + "/rules/branches/{branch}", auth: asInstallation, needs: readMetadata, serve: listRules},
	{method: "GET", template: repoPath + "/commits/{ref}/check-runs", auth: asInstallation, needs: readChecks, serve: listCheckRuns},
	{method: "GET", template: repoPath + "/commits/{commit_sha}/pulls", auth: asInstallation, needs: readPulls, serve: listPullsOfCommit},
	{method: "GET", template: repoPath + "/commits/{ref}", auth: asInstallation, needs: readContents, serve: getCommit},
	{method: "GET", template: repoPath + "/compare/{basehead}", auth: asInstallation, needs: readContents, serve: compare},
	{method: "GET", template: repoPath + "/contents/{path}", auth: asInstallation, needs: readContents, serve: getContents},
	{method: "GET", template: repoPath + "/git/ref/{ref}", auth: asInstallation, needs: readContents, serve: getRef},
	{method: "GET", template: repoPath + "/git/matching-refs/{ref}", auth: asInstallation, needs: readContents, serve: listRefs},
	{method: "GET", template: repoPath + "/git/trees/{tree_sha}", auth: asInstallation, needs: readContents, serve: getTree},
	{method: "GET", template: repoPath + "/git/blobs/{file_sha}", auth: asInstallation, needs: readContents, serve: getBlob},
	{method: "GET", template: repoPath + "/git/commits/{commit_sha}", auth: asInstallation, needs: readContents, serve: getGitCommit},

	{method: "POST", template: repoPath + "/check-runs", auth: asInstallation, needs: writeChecks, body: createCheckSchema, serve: createCheck},
	{method: "GET", template: repoPath + "/check-runs/{check_run_id}", auth: asInstallation, needs: readChecks, serve: getCheck},
	{method: "PATCH", template: repoPath + "/check-runs/{check_run_id}", auth: asInstallation, needs: writeChecks, body: updateCheckSchema, serve: updateCheck},
	{method: "GET", template: repoPath + "/check-runs/{check_run_id}/annotations", auth: asInstallation, needs: readChecks, serve: listAnnotations},

	{method: "GET", template: repoPath + "/code-scanning/alerts", auth: asInstallation, needs: readAlerts, serve: listAlerts},

	{method: "GET", template: repoPath + "/issues/comments/{comment_id}", auth: asInstallation, needs: readTalk, serve: getComment},
	{method: "PATCH", template: repoPath + "/issues/comments/{comment_id}", auth: asInstallation, needs: writeTalk, body: commentSchema, serve: updateComment},
	{method: "DELETE", template: repoPath + "/issues/comments/{comment_id}", auth: asInstallation, needs: writeTalk, serve: deleteComment},
	{method: "GET", template: repoPath + "/issues/comments/{comment_id}/reactions", auth: asInstallation, needs: readTalk, serve: listReactions},
	{method: "POST", template: repoPath + "/issues/comments/{comment_id}/reactions", auth: asInstallation, needs: writeTalk, body: reactionSchema, creates: true, serve: createReaction},
	{method: "POST", template: repoPath + "/pulls/comments/{comment_id}/reactions", auth: asInstallation, needs: writePulls, body: reactionSchema, creates: true, serve: createReviewReaction},

	{method: "GET", template: repoPath + "/issues/{issue_number}/comments", auth: asInstallation, needs: readTalk, serve: listComments},
	{method: "POST", template: repoPath + "/issues/{issue_number}/comments", auth: asInstallation, needs: writeTalk, body: commentSchema, creates: true, serve: createComment},

	{method: "GET", template: repoPath + "/issues", auth: asInstallation, needs: readIssues, serve: listIssues},
	{method: "POST", template: repoPath + "/issues", auth: asInstallation, needs: writeIssues, body: createIssueSchema, creates: true, serve: createIssue},
	{method: "GET", template: repoPath + "/issues/{issue_number}", auth: asInstallation, needs: readIssues, serve: getIssue},
	{method: "PATCH", template: repoPath + "/issues/{issue_number}", auth: asInstallation, needs: writeIssues, body: updateIssueSchema, serve: updateIssue},
	{method: "POST", template: repoPath + "/issues/{issue_number}/labels", auth: asInstallation, needs: writeTalk, body: addLabelsSchema, serve: addLabels},
	{method: "DELETE", template: repoPath + "/issues/{issue_number}/labels/{name}", auth: asInstallation, needs: writeTalk, serve: removeLabel},
}

// manySegments are the parameters that may contain slashes.
var manySegments = map[string]bool{"{path}": true, "{ref}": true, "{basehead}": true, "{branch}": true, "{tree_sha}": true}

func (rt *route) name() string { return rt.method + " " + rt.template }

// Routes lists the stand-in's routes, each as "METHOD template" in the wording of GitHub's
// OpenAPI description.
func Routes() []string {
	var names []string
	for _, rt := range routes {
		names = append(names, rt.name())
	}
	return names
}

// match finds the route of a request and its parameters. escaped is the path as it was sent,
// without /api/v3.
func match(method, escaped string) (*route, map[string]string) {
	segments := strings.Split(strings.Trim(escaped, "/"), "/")
	for _, rt := range slices.Concat(gitRoutes, graphqlRoutes, routes) {
		if rt.method != method {
			continue
		}
		params, ok := rt.match(segments)
		if ok && rt.auth == asGit {
			params["repo"], ok = strings.CutSuffix(params["repo"], ".git")
		}
		if ok {
			return rt, params
		}
	}
	return nil, nil
}

func (rt *route) match(segments []string) (map[string]string, bool) {
	params := map[string]string{}
	wanted := strings.Split(strings.Trim(rt.template, "/"), "/")
	for i, w := range wanted {
		n := 1
		if manySegments[w] {
			n = len(segments) - (len(wanted) - i - 1)
		}
		if n > len(segments) || n < 1 && w != "{path}" {
			return nil, false
		}
		n = max(n, 0)
		value, err := url.PathUnescape(strings.Join(segments[:n], "/"))
		segments = segments[n:]
		switch name, isParam := strings.CutPrefix(w, "{"); {
		case err != nil:
			return nil, false
		case isParam:
			params[strings.TrimSuffix(name, "}")] = value
		case value != w:
			return nil, false
		}
	}
	return params, len(segments) == 0
}

// isRoute reports whether the stand-in has a route, given as "METHOD template", of the API or
// of git.
func isRoute(name string) bool {
	return slices.ContainsFunc(slices.Concat(gitRoutes, graphqlRoutes, routes), func(rt *route) bool { return sameRoute(rt.name(), name) })
}

// sameRoute compares route names, whatever the names of their parameters.
func sameRoute(a, b string) bool {
	return shape(a) == shape(b)
}

func shape(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// trimBase removes the prefix of GitHub Enterprise Server from a path.
func trimBase(r *http.Request) (path, prefix string) {
	const enterprise = "/api/v3"
	path = r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, enterprise+"/"); ok {
		return "/" + rest, enterprise
	}
	if path == "/api/graphql" {
		return "/graphql", "/api"
	}
	return path, ""
}
