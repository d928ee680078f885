package ghtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

type fields = map[string]any

func TestCheckRunLife(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{Events: []string{"check_run"}})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1\n"}})
	annotations := func(n int) []any {
		var list []any
		for i := range n {
			list = append(list, annotation("a", i+1))
		}
		return list
	}
	made := c.do("POST", "/repos/acme/shop/check-runs", fields{"name": "reviewgate", "head_sha": pr.HeadSHA(), "status": "in_progress", "external_id": "x"})
	c.want(made, http.StatusCreated)
	if len(made.field("pull_requests").([]any)) != 1 {
		t.Errorf("the run doesn't name its pull request: %s", made.raw)
	}
	path := fmt.Sprintf("/repos/acme/shop/check-runs/%.0f", made.field("id"))
	for range 2 {
		c.want(c.do("PATCH", path, fields{"output": fields{"title": "t", "summary": "s", "annotations": annotations(50)}}), http.StatusOK)
	}
	c.want(c.do("PATCH", path, fields{"name": "reviewgate", "conclusion": "failure"}), http.StatusOK)

	run := pr.CheckRuns()[0]
	if !run.Completed() || run.Conclusion != "failure" || run.CompletedAt.IsZero() || len(run.Annotations) != 100 || run.Updates != 3 || run.ExternalID != "x" {
		t.Errorf("run: %+v", run)
	}
	if n := c.get(path + "/annotations?per_page=100").len(); n != 100 {
		t.Errorf("%d annotations listed", n)
	}
	settle(t, gh)
	if d := gh.Webhook.LastDelivery("check_run"); d.Action != "completed" {
		t.Errorf("last check_run event is %q", d.Action)
	}
}

func TestCheckRunRefusals(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1\n"}})
	other := repo.Checks.OtherCheck("another-app", "ci", pr.HeadSHA(), "success")
	output := func(more fields) fields {
		o := fields{"title": "t", "summary": "s"}
		for k, v := range more {
			o[k] = v
		}
		return fields{"output": o}
	}
	annotated := func(change fields) fields {
		a := annotation("a", 1)
		for k, v := range change {
			a[k] = v
		}
		return output(fields{"annotations": []any{a}})
	}
	action := func(label, description, identifier string) fields {
		return fields{"actions": []any{fields{"label": label, "description": description, "identifier": identifier}}}
	}
	tests := map[string]struct {
		change fields
		reason string
	}{
		"unknown SHA":         {fields{"head_sha": strings.Repeat("0", 40)}, "No commit found for SHA"},
		"short SHA":           {fields{"head_sha": "abc"}, "No commit found for SHA"},
		"blank name":          {fields{"name": ""}, "name can't be blank"},
		"null name":           {fields{"name": nil}, "nil is not a string"},
		"number as name":      {fields{"name": 1}, "1 is not a string"},
		"unknown key":         {fields{"headsha": "x"}, "headsha"},
		"unknown status":      {fields{"status": "done"}, "is not a member of"},
		"unknown conclusion":  {fields{"conclusion": "passed"}, "is not a member of"},
		"stale":               {fields{"conclusion": "stale"}, "is not a member of"},
		"empty conclusion":    {fields{"conclusion": ""}, "is not a member of"},
		"no conclusion":       {fields{"status": "completed"}, "conclusion must be set"},
		"completed when":      {fields{"completed_at": "2026-01-05T09:00:00Z"}, "conclusion must be set"},
		"strange date":        {fields{"started_at": "yesterday"}, "date-time"},
		"strange URL":         {fields{"details_url": "ftp://x"}, "details_url"},
		"no summary":          {fields{"output": fields{"title": "t"}}, "summary"},
		"no title":            {fields{"output": fields{"summary": "s"}}, "title"},
		"long summary":        {output(fields{"summary": strings.Repeat("x", 65536)}), "65535"},
		"long text in bytes":  {output(fields{"text": strings.Repeat("é", 32768)}), "65535"},
		"many annotations":    {output(fields{"annotations": slices.Repeat([]any{annotation("a", 1)}, 51)}), "no more than 50"},
		"no annotation level": {output(fields{"annotations": []any{fields{"path": "a", "start_line": 1, "end_line": 1, "message": "m"}}}), "annotation_level"},
		"annotation level":    {annotated(fields{"annotation_level": "error"}), "is not a member of"},
		"no path":             {annotated(fields{"path": ""}), "path can't be blank"},
		"line 0":              {annotated(fields{"start_line": 0}), "start_line"},
		"lines backwards":     {annotated(fields{"start_line": 5, "end_line": 4}), "start_line"},
		"half a line":         {annotated(fields{"start_line": 1.5}), "is not an integer"},
		"columns over lines":  {annotated(fields{"end_line": 2, "start_column": 1}), "columns"},
		"long message":        {annotated(fields{"message": strings.Repeat("x", 64<<10+1)}), "message exceeds"},
		"long details":        {annotated(fields{"raw_details": strings.Repeat("x", 64<<10+1)}), "raw_details exceeds"},
		"long title":          {annotated(fields{"title": strings.Repeat("x", 256)}), "255"},
		"long label":          {action(strings.Repeat("x", 21), "d", "i"), "20"},
		"long description":    {action("l", strings.Repeat("x", 41), "i"), "40"},
		"long identifier":     {action("l", "d", strings.Repeat("x", 21)), "20"},
		"four actions":        {fields{"actions": slices.Repeat([]any{fields{"label": "l", "description": "d", "identifier": "i"}}, 4)}, "no more than 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := *c
			c.T = t
			body := fields{"name": "reviewgate", "head_sha": pr.HeadSHA()}
			for k, v := range tt.change {
				body[k] = v
			}
			c.refused(c.do("POST", "/repos/acme/shop/check-runs", body), http.StatusUnprocessableEntity, tt.reason)
		})
	}
	c.refused(c.do("POST", "/repos/acme/shop/check-runs", `{"name": "x"`), http.StatusBadRequest, "Problems parsing JSON")
	c.refused(c.do("POST", "/repos/acme/shop/check-runs", `[]`), http.StatusBadRequest, "JSON object")
	c.refused(c.do("PATCH", fmt.Sprintf("/repos/acme/shop/check-runs/%d", other.ID), fields{"conclusion": "failure"}), http.StatusForbidden, "Invalid app_id")
	c.refused(c.do("PATCH", "/repos/acme/shop/check-runs/1", fields{"conclusion": "failure"}), http.StatusNotFound, "Not Found")
	if n := len(pr.CheckRuns()); n != 0 {
		t.Errorf("refused requests created %d check runs", n)
	}
}

// TestCheckRunList: "latest" returns only the newest run of each name within a suite, and
// each suite belongs to one App.
func TestCheckRunList(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	fork := repo.OpenPR(ghtest.PR{Fork: "mallory", Author: "mallory", Files: ghtest.Files{"a": "1\n"}})
	sha := fork.HeadSHA()
	for range 2 {
		r := c.do("POST", "/repos/acme/shop/check-runs", fields{"name": "reviewgate", "head_sha": sha})
		c.want(r, http.StatusCreated)
		if len(r.field("pull_requests").([]any)) != 0 {
			t.Errorf("the check on a fork's head names a pull request: %s", r.raw)
		}
	}
	repo.Checks.OtherCheck("another-app", "reviewgate", sha, "success")
	for query, want := range map[string]float64{
		"": 2, "?filter=all": 3, "?check_name=other": 0, fmt.Sprintf("?app_id=%d", gh.AppID()): 1,
		fmt.Sprintf("?app_id=%d&filter=all&per_page=1", gh.AppID()): 2, "?status=completed": 1,
	} {
		if got := c.get("/repos/acme/shop/commits/" + sha + "/check-runs" + query).field("total_count"); got != want {
			t.Errorf("%q: %v check runs instead of %v", query, got, want)
		}
	}
	all := c.get("/repos/acme/shop/commits/pull/1/head/check-runs?filter=all")
	if all.field("check_runs", 0, "id").(float64) < all.field("check_runs", 2, "id").(float64) {
		t.Errorf("not newest first: %s", all.raw)
	}
	c.refused(c.do("GET", "/repos/acme/shop/commits/"+sha+"/check-runs?filter=some", nil), http.StatusUnprocessableEntity, "filter")
	if runs := fork.CheckRuns(); len(runs) != 2 {
		t.Errorf("the App has %d runs instead of 2", len(runs))
	}
}
