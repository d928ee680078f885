package ghtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// checkBody is a check run as a client writes it. The schema has accepted it. Nil and empty
// mean that a field was not given.
type checkBody struct {
	Name        *string    `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      string     `json:"status"`
	Conclusion  string     `json:"conclusion"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title       *string      `json:"title"`
		Summary     string       `json:"summary"`
		Text        *string      `json:"text"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
	Actions []Action `json:"actions"`
}

// problem returns a fault of the body that its schema doesn't cover, or nil.
func (b *checkBody) problem(l Limits) *Response {
	bad := func(field, message string) *Response { return invalid("CheckRun", field, "invalid", message) }
	if b.Conclusion == "" && b.Status == "completed" {
		return bad("conclusion", "conclusion must be set when status is completed")
	}
	if b.Conclusion == "" && b.CompletedAt != nil {
		return bad("conclusion", "conclusion must be set when completed_at is")
	}
	if b.DetailsURL != nil && *b.DetailsURL != "" {
		if u, err := url.Parse(*b.DetailsURL); err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return bad("details_url", "details_url must use http or https scheme")
		}
	}
	if b.Output == nil {
		return nil
	}
	if over(len(b.Output.Summary), l.CheckBytes) {
		return bad("summary", fmt.Sprintf("summary exceeds a maximum bytesize of %d", l.CheckBytes))
	}
	if b.Output.Text != nil && over(len(*b.Output.Text), l.CheckBytes) {
		return bad("text", fmt.Sprintf("text exceeds a maximum bytesize of %d", l.CheckBytes))
	}
	for i, a := range b.Output.Annotations {
		if message := a.problem(l); message != "" {
			return bad("annotations", fmt.Sprintf("annotation %d: %s", i, message))
		}
	}
	return nil
}

// problem returns a fault of an annotation, or "".
func (a *Annotation) problem(l Limits) string {
	switch {
	case a.Path == "":
		return "path can't be blank"
	case a.Message == "":
		return "message can't be blank"
	case a.StartLine < 1 || a.EndLine < a.StartLine:
		return "start_line must be at least 1, and end_line not less than it"
	case (a.StartColumn != 0 || a.EndColumn != 0) && a.StartLine != a.EndLine:
		return "columns are only for annotations on one line"
	case a.EndColumn != 0 && a.EndColumn < a.StartColumn:
		return "end_column must not be less than start_column"
	case over(len(a.Message), l.AnnotationBytes):
		return fmt.Sprintf("message exceeds %d bytes", l.AnnotationBytes)
	case over(len(a.RawDetails), l.AnnotationBytes):
		return fmt.Sprintf("raw_details exceeds %d bytes", l.AnnotationBytes)
	}
	return ""
}

// apply writes the body's fields into a run. Annotations are added to the existing ones. A
// conclusion completes the run, and a status other than completed opens it again.
func (b *checkBody) apply(c *CheckRun, now time.Time) {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&c.Name, b.Name)
	set(&c.DetailsURL, b.DetailsURL)
	set(&c.ExternalID, b.ExternalID)
	if b.StartedAt != nil {
		c.StartedAt = *b.StartedAt
	}
	switch {
	case b.Conclusion != "":
		c.Status, c.Conclusion, c.CompletedAt = "completed", b.Conclusion, now
		if b.CompletedAt != nil {
			c.CompletedAt = *b.CompletedAt
		}
	case b.Status != "":
		c.Status, c.Conclusion, c.CompletedAt = b.Status, "", time.Time{}
	}
	if b.Output != nil {
		c.Summary = b.Output.Summary
		set(&c.Title, b.Output.Title)
		set(&c.Text, b.Output.Text)
		c.Annotations = append(c.Annotations, b.Output.Annotations...)
	}
	if b.Actions != nil {
		c.Actions = b.Actions
	}
}

func createCheck(c *call) *Response {
	var b checkBody
	if err := c.into(&b); err != nil {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error())
	}
	if bad := b.problem(c.s.limits); bad != nil {
		return bad
	}
	if *b.Name == "" {
		return invalid("CheckRun", "name", "missing_field", "name can't be blank")
	}
	if _, err := c.repo.git.history.commit(b.HeadSHA); err != nil {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+b.HeadSHA)
	}
	return c.locked(func() *Response {
		now := c.s.now()
		run := CheckRun{HeadSHA: b.HeadSHA, Status: "queued", StartedAt: now}
		b.apply(&run, now)
		made := c.repo.Checks.add(run, "")
		c.s.announce(made, "created")
		if made.Completed() {
			c.s.announce(made, "completed")
		}
		return answer(http.StatusCreated, c.s.render.check(made))
	})
}

func updateCheck(c *call) *Response {
	var b checkBody
	if err := c.into(&b); err != nil {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error())
	}
	if bad := b.problem(c.s.limits); bad != nil {
		return bad
	}
	return c.locked(func() *Response {
		run := c.repo.Checks.run(c.number("check_run_id"))
		switch {
		case run == nil:
			return notFound()
		case run.others():
			return refuse(http.StatusForbidden, "Invalid app_id `"+strconv.FormatInt(c.s.state.app.id, 10)+"` - check run can only be modified by the GitHub App that created it.")
		}
		b.apply(&run.CheckRun, c.s.now())
		run.Updates++
		if b.Conclusion != "" {
			c.s.announce(run, "completed")
		}
		return ok(c.s.render.check(run))
	})
}

// announce sends the App the event of its own check run, if it subscribed to it. The lock
// must be held.
func (s *Server) announce(run *checkRun, action string) {
	s.Webhook.enqueue(queued{event: run.event(action, s.state.app.bot, nil)})
	s.notify()
}

func getCheck(c *call) *Response {
	return c.locked(func() *Response {
		run := c.repo.Checks.run(c.number("check_run_id"))
		if run == nil {
			return notFound()
		}
		return ok(c.s.render.check(run))
	})
}

func listCheckRuns(c *call) *Response {
	filter, refused := c.oneOf("filter", "latest", "all")
	if refused != nil {
		return refused
	}
	sha, found := c.resolve(c.params["ref"])
	if !found {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.params["ref"])
	}
	q := c.req.URL.Query()
	return c.locked(func() *Response {
		own := strconv.FormatInt(c.s.state.app.id, 10)
		runs := slices.DeleteFunc(c.repo.Checks.newest(sha, filter == "latest"), func(run *checkRun) bool {
			return q.Get("check_name") != "" && run.Name != q.Get("check_name") ||
				q.Get("status") != "" && run.Status != q.Get("status") ||
				q.Get("app_id") != "" && (q.Get("app_id") == own) == run.others()
		})
		return c.linked(ok(object{"total_count": len(runs), "check_runs": slicePage(c.page(), runs, c.s.render.check)}), len(runs))
	})
}

func listAnnotations(c *call) *Response {
	return c.locked(func() *Response {
		run := c.repo.Checks.run(c.number("check_run_id"))
		if run == nil {
			return notFound()
		}
		column := func(n int) any {
			if n == 0 {
				return nil
			}
			return n
		}
		return listed(c, run.Annotations, func(a Annotation) object {
			return object{
				"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": column(a.StartColumn), "end_column": column(a.EndColumn),
				"annotation_level": cmp.Or(a.Level, "notice"), "title": orNil(a.Title), "message": a.Message, "raw_details": orNil(a.RawDetails),
				"blob_href": c.s.render.repoURL(c.repo) + "/git/blobs/" + run.HeadSHA,
			}
		})
	})
}
