package codescanning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

const (
	// MaxRead bounds the annotations of one head, which come in pages of 100.
	MaxRead = 5000
	// maxRuns bounds the check runs that have some, each of which takes a call.
	maxRuns = 100
	// readsAtOnce is how many of them are read side by side.
	readsAtOnce = 4
	// maxKept bounds all of their texts together, in bytes.
	maxKept = 16 << 20
	// maxFindings bounds what is reported, the worst first.
	maxFindings = 500
	// maxNamed is how many check runs a note names.
	maxNamed = 5
)

// Options are what an Agent is made from.
type Options struct {
	Sources *config.ScanSources // nil for the defaults
	Host    ports.Scanners
	Reads   *Reads // of the review, which its agents share
	// Evaluation says that the agent runs in evaluation. It then has reads of its own.
	Evaluation bool
	// Redact takes secrets out of what is read.
	Redact func(text string) string
}

// Agent takes in what others found on one change.
type Agent struct{ Options }

// New returns an agent.
func New(o Options) *Agent { return &Agent{o} }

var _ dispatch.Agent = (*Agent)(nil)

// Review returns what others found in the task's scope, the worst first.
// The note says what was not seen and what is not shown.
func (a *Agent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := a.review(ctx, task)
	a.Reads.ended(a.name(task.Entry.Agent), err)
	return answer, err
}

func (a *Agent) review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	if err := a.Reads.begin(ctx); err != nil {
		return dispatch.Answer{}, err
	}
	c := newCollector(task, a.Sources.ShownWhere())
	runs, notes, err := a.runs(ctx, task)
	if err = c.unread(err, task.Entry.Required); err != nil {
		return dispatch.Answer{}, err
	}
	if a.Sources.TakesAlerts() {
		alerts, none, err := a.Host.Alerts(ctx)
		if err != nil {
			return dispatch.Answer{}, lacking("security_events: read", err)
		}
		if none != "" {
			notes = append(notes, none)
		}
		for i := range alerts {
			c.alert(&alerts[i])
		}
	}
	if err := c.unread(a.annotations(ctx, runs, c), task.Entry.Required); err != nil {
		return dispatch.Answer{}, err
	}
	findings, more := c.findings(a.Redact)
	return dispatch.Answer{
		Output: pipeline.AgentOutput{Agent: task.Entry.Agent, Findings: findings},
		Note:   a.Redact(strings.Join(append(notes, c.notes(more)...), "; ")),
	}, nil
}

// runs lists the check runs whose annotations count. It fails while one that is
// waited for has not ended.
func (a *Agent) runs(ctx context.Context, task dispatch.Task) (annotated []ports.ScanRun, notes []string, err error) {
	var waits []string
	if a.Sources != nil {
		waits = a.Sources.WaitFor
	}
	if !a.Sources.TakesAnnotations() && len(waits) == 0 {
		a.Reads.saw(a.name(task.Entry.Agent), seen{})
		return nil, nil, nil
	}
	all, err := a.Host.OtherRuns(ctx, task.Facts.Head.SHA)
	if err != nil {
		return nil, nil, lacking("checks: read", err)
	}
	all = slices.DeleteFunc(all, func(r ports.ScanRun) bool { return !a.Sources.Counts(r.App) })
	var met seen
	for _, name := range waits {
		there := false
		open := slices.ContainsFunc(all, func(r ports.ScanRun) bool {
			there = there || r.Name == name && !r.Cut
			return r.Name == name && !r.Completed
		})
		if open || !there {
			met.waiting = append(met.waiting, name)
		}
	}
	var open []string
	for _, r := range all {
		switch {
		case !a.Sources.TakesAnnotations():
		case !r.Completed:
			open = append(open, r.Name)
		case r.Annotations > 0:
			met.annotated = append(met.annotated, r)
		}
	}
	a.Reads.saw(a.name(task.Entry.Agent), met)
	if len(met.waiting) > 0 {
		return nil, nil, fmt.Errorf("waiting for %s, which must be completed on this head, and not cut short", names(met.waiting))
	}
	if len(open) > 0 {
		notes = append(notes, "not completed yet and not looked at: "+names(open))
	}
	return met.annotated, notes, nil
}

// lacking names the permission that a refusal is for.
func lacking(permission string, err error) error {
	if refused(err) {
		return fmt.Errorf("the App lacks the permission %q: %w", permission, err)
	}
	return err
}

// refused reports whether an error is GitHub's refusal of a read.
func refused(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && host.Kind == ports.HostForbidden
}

// names lists names, each once, if there are not too many.
func names(all []string) string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	list := strings.Join(all[:min(len(all), maxNamed)], ", ")
	if more := len(all) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// annotations reads those of the runs. The error is a *TooMuchError where these
// have too many.
func (a *Agent) annotations(ctx context.Context, runs []ports.ScanRun, c *collector) error {
	total := 0
	for _, r := range runs {
		total += r.Annotations
	}
	if total > MaxRead || len(runs) > maxRuns {
		return &ports.TooMuchError{What: fmt.Sprintf("%d check runs have %d annotations, more than the limit of %d runs and %d annotations: name the Apps that count in scanning.apps",
			len(runs), total, maxRuns, MaxRead)}
	}
	for part := range slices.Chunk(runs, readsAtOnce) {
		lists := make([][]ports.ScanAnnotation, len(part))
		g, ctx := errgroup.WithContext(ctx)
		for i, r := range part {
			g.Go(func() (err error) {
				lists[i], err = a.Host.Annotations(ctx, r.ID, MaxRead)
				return lacking("checks: read", err)
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for i, list := range lists {
			for j := range list {
				c.annotation(part[i], &list[j])
			}
		}
		if c.bytes > maxKept {
			return &ports.TooMuchError{What: "the annotations have more text than is read, 16 MB: name the Apps that count in scanning.apps"}
		}
	}
	return nil
}

// compare puts the worst first, then in the order of the change.
func compare(a, b *pipeline.Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.EndLine, b.EndLine),
		strings.Compare(a.RuleID, b.RuleID), strings.Compare(a.Title, b.Title), strings.Compare(a.Message, b.Message),
	)
}
