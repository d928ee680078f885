package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// atOnce is how many cases are reviewed concurrently: most of the time they wait for models.
const atOnce = 4

// Options say what to measure.
type Options struct {
	Cases  []Case
	Layers []config.Layer // over the defaults; they must be valid
	// Agent is the only one to run, by id. Default: all that the config dispatches.
	Agent string
	// IOAgents is passed to [run.Options]. Agents that read the findings of others do not
	// run, because a case has no such findings.
	IOAgents func(run.IOAgent) dispatch.Agent
	// Comparer makes a client that asks which findings are about the same problem. May be
	// nil.
	Comparer func(run.IOAgent) run.Comparer
	// Verifier makes a client that asks whether findings are right. May be nil.
	Verifier func(run.IOAgent) run.Verifier
	Version  string // of reviewgate
	Now      func() time.Time
	Progress func(what string) // optional
}

// Run reviews the cases and counts. An error means that there are no figures: the
// options can't be used (an [*UnusableError]), a case could not be reviewed, or
// ctx ended. An agent that fails is counted.
func Run(ctx context.Context, o Options) (Result, error) {
	runner, others, err := o.runner()
	if err != nil {
		return Result{}, err
	}
	dir, err := os.MkdirTemp("", "reviewgate-eval-")
	if err != nil {
		return Result{}, fmt.Errorf("make a directory for the cases: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans up temporary directories too
	if err := importCases(ctx, dir, o.Cases); err != nil {
		return Result{}, cmp.Or(ctx.Err(), err) // if git was killed, its error is misleading
	}
	reviewed := make([]reviewedCase, len(o.Cases))
	err = sideBySide(ctx, len(o.Cases), func(within context.Context, i int) (err error) {
		if reviewed[i], err = reviewCase(within, runner, dir, &o.Cases[i], o); err != nil && within.Err() == nil {
			err = fmt.Errorf("review the case %s: %w", o.Cases[i].Name, err)
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return count(reviewed, others), nil
}

// runner returns the pipeline's runner, and stand-ins for the agents that are not measured.
// The error is an [*UnusableError] if the config or the agent can't be used.
func (o *Options) runner() (*run.Runner, map[string]dispatch.Agent, error) {
	cfg, problems := config.Load(o.Layers...)
	if len(problems) > 0 {
		return nil, nil, &UnusableError{errors.New(config.FormatProblem(problems[0]))}
	}
	others, err := standIns(cfg, o.Agent)
	if err != nil {
		return nil, nil, err
	}
	runner, err := run.NewRunner(run.Config{Version: o.Version, Now: o.Now, Agents: others})
	return runner, others, err
}

// sideBySide calls do for each number below n, with at most atOnce calls at the same time.
// It returns the first error, or the error of ctx if ctx has ended.
func sideBySide(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error { return do(within, i) })
	}
	if err := g.Wait(); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// UnusableError says that the options can't be used. It is not about the run.
type UnusableError struct{ Err error }

func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnusableError) Unwrap() error { return e.Err }

// standIns returns replacements for the agents that are not measured. These are the agents
// that read the findings of others, which a case does not have. If only is set, they are
// also all agents except that one.
func standIns(cfg *config.Config, only string) (map[string]dispatch.Agent, error) {
	out := map[string]dispatch.Agent{}
	var ids []string
	for _, a := range cfg.Agents {
		takesIn := a.KindOf().TakesIn
		if takesIn || only != "" && a.ID != only {
			out[a.ID] = silent{}
		}
		if a.Enabled && !takesIn {
			ids = append(ids, a.ID)
		}
	}
	if only != "" && !slices.Contains(ids, only) {
		return nil, &UnusableError{fmt.Errorf("the config has no agent %q to measure: there are %s", only, strings.Join(ids, ", "))}
	}
	return out, nil
}

// silent is an agent without findings.
type silent struct{}

func (silent) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{}, nil
}

// reviewedCase is a case and its review.
type reviewedCase struct {
	*Case
	run.Outcome
	took *stopwatch
}

func reviewCase(ctx context.Context, runner *run.Runner, dir string, c *Case, o Options) (reviewedCase, error) {
	r := reviewedCase{Case: c, took: &stopwatch{now: o.Now}}
	src, err := open(ctx, dir, c, o.Layers)
	if err != nil {
		return r, err
	}
	options := run.Options{RunID: c.Name, Trigger: "reviewgate eval", File: src.Lookup, Comparer: o.Comparer, Verifier: o.Verifier}
	if o.IOAgents != nil {
		options.IOAgents = func(spec run.IOAgent) dispatch.Agent {
			if a := o.IOAgents(spec); a != nil {
				return timed{a, r.took}
			}
			return nil
		}
	}
	if r.Outcome, err = runner.Run(ctx, src, options); err != nil {
		return r, err
	}
	if o.Progress != nil {
		o.Progress(c.Name + " is reviewed")
	}
	return r, c.inChange(&r.Review.Facts)
}

// inChange checks that the diff shows all defects to a reviewer, and that the change was
// read completely.
func (c *Case) inChange(facts *pipeline.PRFacts) error {
	if len(facts.Files) == 0 {
		return errors.New("base and head are the same: there is nothing to review")
	}
	if len(facts.Incomplete) > 0 {
		i := facts.Incomplete[0]
		return fmt.Errorf("not all of it could be read: %s %s: %s", i.What, i.Path, i.Why)
	}
	for _, d := range c.Defects {
		for i, l := range d.Lines {
			if !shows(facts, d.Path, l.First) {
				return fmt.Errorf("%s: %q is not in the diff of %s: quote an added line, or one within three of a change", caseFile, d.Quotes[i], d.Path)
			}
		}
	}
	return nil
}

// shows reports whether the diff contains a line of the head.
func shows(facts *pipeline.PRFacts, path string, line int) bool {
	for i := range facts.Files {
		f := &facts.Files[i]
		for _, h := range f.Hunks {
			if f.Path == path && line >= h.NewStart && line < h.NewStart+h.NewLines {
				return true
			}
		}
	}
	return false
}
