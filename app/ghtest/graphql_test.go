package ghtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A review has comments on lines of its diff only, and needs no text beside them.
func TestReviewWithComments(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	long := strings.Repeat("line\n", 30)
	repo.Commit("main", ghtest.Files{"long.txt": long}, "long")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n", "long.txt": "first\n" + long + "last\n"}})
	const reviews = "/repos/acme/shop/pulls/1/reviews"
	post := func(comments ...fields) reply {
		return c.do("POST", reviews, fields{"event": "COMMENT", "commit_id": pr.HeadSHA(), "comments": comments})
	}
	on := func(path string, more fields) fields {
		f := fields{"path": path, "body": "Hm.", "side": "RIGHT"}
		for k, v := range more {
			f[k] = v
		}
		return f
	}
	for reason, comments := range map[string][]fields{
		"Body can't be blank":          {},
		"Path could not be resolved":   {on("other.go", fields{"line": 1})},
		"Line could not be resolved":   {on("long.txt", fields{"line": 1}), on("long.txt", fields{"line": 15})},
		"must precede":                 {on("long.txt", fields{"line": 2, "start_line": 2, "start_side": "RIGHT"})},
		"must be part of the same":     {on("long.txt", fields{"line": 32, "start_line": 1, "start_side": "RIGHT"})},
		`"line" wasn't supplied`:       {{"path": "long.txt", "body": "Hm."}},
		"Body is too long":             {{"path": "long.txt", "line": 1, "body": strings.Repeat("x", 65537)}},
		`"position" is not a permitte`: {on("long.txt", fields{"line": 1, "position": 1})},
	} {
		c.refused(post(comments...), http.StatusUnprocessableEntity, strings.ReplaceAll(reason, `"`, `\"`))
	}
	if n := len(pr.Reviews.Comments()); n != 0 {
		t.Errorf("%d comments of refused reviews", n)
	}
	// Lines around those that were changed are in the diff, and so is a removed line.
	c.want(post(on("long.txt", fields{"line": 4, "start_line": 1, "start_side": "RIGHT"}), on("src/cart.go", fields{"line": 3, "side": "LEFT"})), http.StatusOK)
	if all := pr.Reviews.AppComments(); len(all) != 2 || all[0].StartLine != 1 || all[0].Line != 4 {
		t.Errorf("comments %+v", all)
	}
	if r := c.get("/repos/acme/shop/pulls/1"); r.field("review_comments") != 2. {
		t.Errorf("%v comments are counted", r.field("review_comments"))
	}
}

// Documents that GitHub's schema does not allow are refused.
func TestGraphQLFollowsTheSchema(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	threads := `query($n:Int!){repository(owner:"acme",name:"shop"){pullRequest(number:$n){reviewThreads(last:2){totalCount nodes{id}}}}}`
	ask := func(query string, variables fields) reply {
		r := c.do("POST", "/graphql", fields{"query": query, "variables": variables})
		c.want(r, http.StatusOK)
		return r
	}
	if r := ask(threads, fields{"n": 1}); r.field("data", "repository", "pullRequest", "reviewThreads", "totalCount") != 0. || r.field("errors") != nil {
		t.Errorf("threads: %s", r.raw)
	}
	for what, r := range map[string]reply{
		"unknown field":    ask(strings.Replace(threads, "totalCount", "count", 1), fields{"n": 1}),
		"missing variable": ask(threads, fields{}),
		"wrong variable":   ask(threads, fields{"n": "one"}),
		"no input":         ask(`mutation{resolveReviewThread{thread{id}}}`, fields{}),
		"other repository": ask(strings.Replace(threads, "shop", "none", 1), fields{"n": 1}),
		"no such thread":   ask(`mutation{resolveReviewThread(input:{threadId:"x"}){thread{id}}}`, fields{}),
	} {
		if r.field("errors", 0, "message") == nil {
			t.Errorf("%s: %s", what, r.raw)
		}
	}
}
