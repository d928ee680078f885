package gh

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
)

// checkWriter implements ports.CheckWriter.
type checkWriter struct{ *api }

const (
	// annotationsPerRequest is GitHub's limit.
	annotationsPerRequest = 50
	// maxCheckPages bounds the pages of our check runs on a head.
	maxCheckPages = 10
)

// CreateCheck creates a check run. Annotations beyond the first 50 follow in
// updates. The last update contains the conclusion. If the check run was created,
// CreateCheck returns its id, even if an update fails.
func (c checkWriter) CreateCheck(ctx context.Context, t ports.Target, w ports.CheckWrite) (int64, error) {
	now, later := batches(w)
	opts := github.CreateCheckRunOptions{
		Name: now.Name, HeadSHA: now.HeadSHA,
		DetailsURL: optional(now.DetailsURL), ExternalID: optional(now.ExternalID),
		Status: status(now), Conclusion: optional(now.Conclusion),
		StartedAt: timestamp(now.StartedAt), CompletedAt: completed(now),
		Output: output(now.Output), Actions: actions(now.Output),
	}
	run := new(checkAnswer)
	_, err := c.do(ctx, t, request{
		op: "create the check run", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/check-runs", args: []any{t.Owner, t.Name}, body: opts,
	}, asJSON(run))
	if err != nil {
		return 0, err
	}
	for _, w := range later {
		if err := c.updateCheck(ctx, t, run.GetID(), w); err != nil {
			return run.GetID(), err
		}
	}
	return run.GetID(), nil
}

// UpdateCheck rewrites a check run, in as many requests as its annotations
// need. The last request contains the conclusion. Annotations can be added but
// never deleted. A repeated write therefore counts the annotations that exist
// already, and continues after them.
func (c checkWriter) UpdateCheck(ctx context.Context, t ports.Target, id int64, w ports.CheckWrite) error {
	if w.Repeat && len(w.Output.Annotations) > 0 {
		there, err := c.annotationCount(ctx, t, id)
		if err != nil {
			return err
		}
		w.Output.Annotations = w.Output.Annotations[min(there, len(w.Output.Annotations)):]
	}
	now, later := batches(w)
	for _, w := range append([]ports.CheckWrite{now}, later...) {
		if err := c.updateCheck(ctx, t, id, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *api) annotationCount(ctx context.Context, t ports.Target, id int64) (int, error) {
	run := new(checkAnswer)
	_, err := c.do(ctx, t, request{
		op: "read the check run", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/check-runs/{check_run_id}", args: []any{t.Owner, t.Name, id},
	}, asJSON(run))
	return run.GetOutput().GetAnnotationsCount(), err
}

func (c *api) updateCheck(ctx context.Context, t ports.Target, id int64, w ports.CheckWrite) error {
	opts := github.UpdateCheckRunOptions{
		Name:       w.Name, // always sent: otherwise the update would clear it
		DetailsURL: optional(w.DetailsURL), ExternalID: optional(w.ExternalID),
		Status: status(w), Conclusion: optional(w.Conclusion), CompletedAt: completed(w),
		Output: output(w.Output), Actions: actions(w.Output),
	}
	_, err := c.do(ctx, t, request{
		op: "update the check run", method: http.MethodPatch,
		path: "/repos/{owner}/{repo}/check-runs/{check_run_id}", args: []any{t.Owner, t.Name, id}, body: opts,
	}, ignored)
	return err
}

// batches splits a write by its annotations. Only the last batch has the
// conclusion, so that the check run is not complete before all annotations are
// written.
func batches(w ports.CheckWrite) (first ports.CheckWrite, later []ports.CheckWrite) {
	var all []ports.CheckWrite
	rest := w.Output.Annotations
	for {
		part := w
		n := min(len(rest), annotationsPerRequest)
		part.Output.Annotations, rest = rest[:n], rest[n:]
		if len(rest) > 0 {
			part.Conclusion = ""
		}
		all = append(all, part)
		if len(rest) == 0 {
			return all[0], all[1:]
		}
	}
}

func status(w ports.CheckWrite) *string {
	if w.Conclusion == "" {
		return github.String("in_progress")
	}
	return github.String("completed")
}

func completed(w ports.CheckWrite) *github.Timestamp {
	if w.Conclusion == "" {
		return nil
	}
	return timestamp(w.CompletedAt)
}

// timestamp returns a time in whole seconds, like GitHub's own times.
func timestamp(t time.Time) *github.Timestamp {
	if t.IsZero() {
		return nil
	}
	return &github.Timestamp{Time: t.UTC().Truncate(time.Second)}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// output returns nil if the output is empty: GitHub then keeps the previous output.
func output(o ports.CheckOutput) *github.CheckRunOutput {
	if o.Title == "" {
		return nil
	}
	out := &github.CheckRunOutput{Title: &o.Title, Summary: &o.Summary, Text: optional(o.Text)}
	for _, a := range o.Annotations {
		out.Annotations = append(out.Annotations, &github.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.StartLine, EndLine: &a.EndLine, AnnotationLevel: &a.Level,
			Title: optional(a.Title), Message: &a.Message, RawDetails: optional(a.RawDetails),
		})
	}
	return out
}

func actions(o ports.CheckOutput) []*github.CheckRunAction {
	var out []*github.CheckRunAction
	for _, a := range o.Actions {
		out = append(out, &github.CheckRunAction{Label: a.Label, Identifier: a.Identifier, Description: a.Description})
	}
	return out
}

// Checks lists our check runs on the head, newest first. More than 1,000 are an
// error.
func (c checkWriter) Checks(ctx context.Context, t ports.Target, headSHA string) ([]ports.CheckRun, error) {
	// A check run that isn't listed would be created again.
	all, err := allPages[checkList](ctx, c.api, t, request{
		op: "list the check runs", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/commits/{ref}/check-runs", args: []any{t.Owner, t.Name, headSHA},
		query: url.Values{
			"app_id": {strconv.FormatInt(c.appID, 10)},
			"filter": {"all"}, // "latest" is per check suite, and hides runs
		},
	}, maxCheckPages)
	if err != nil {
		return nil, err
	}
	var out []ports.CheckRun
	for _, page := range all {
		for _, r := range page.Runs {
			if r.GetApp().GetID() != c.appID {
				continue
			}
			out = append(out, ports.CheckRun{
				ID:         r.GetID(),
				ExternalID: r.GetExternalID(),
				Completed:  r.GetStatus() == "completed",
				Conclusion: r.GetConclusion(),
			})
		}
	}
	slices.SortFunc(out, func(a, b ports.CheckRun) int { return cmp.Compare(b.ID, a.ID) })
	return out, nil
}
