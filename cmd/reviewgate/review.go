package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// engines are shared by all reviews of the process.
var engines = run.NewEngines()

type reviewFlags struct {
	repo, base, head, config, format string
	below                            layerFlags // the repository's
}

func reviewCommand() *cobra.Command {
	var f reviewFlags
	c := &cobra.Command{
		Use:   "review",
		Short: "Review a local git range, without GitHub",
		Long: `Review a local git range: the same pipeline as on GitHub, the same words, and
the gate as exit code: 0 it passes, 1 it is blocked (needs_fixes or fail; never
where the config's mode is advisory or off).

Config is read from .github/reviewgate at the base, so that a change can't
alter the rules it is judged by; --config reads it from a directory instead.
--server and --organisation name directories with the layers below it, as the
App would lay them: what the organisation's loosens does not count unless the
server's lets it. Where the server's names language models, agents that ask them
send them the change.
Config mistakes are part of the review, and for json and sarif stand on standard
error too. If the base's config is broken, the review is incomplete and doesn't
pass, unless the change repairs it. A line of JSON for each aggregation of review
reports, with their digests, stands on standard error in every format. If nothing
changed, it says so and exits with 0.`,
		Example: "  reviewgate review --base main\n" +
			"  reviewgate review --repo ~/src/project --base v1.2.0 --head v1.3.0 --format sarif",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", ".", "`directory` of the repository")
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change left the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with config files, instead of the base's .github/reviewgate")
	c.Flags().StringVar(&f.below.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.below.organisation, "organisation", "", organisationUsage)
	c.Flags().StringVar(&f.format, "format", "text", "text, markdown, json or sarif")
	return c
}

func (f *reviewFlags) run(cmd *cobra.Command) error {
	write, err := writerOf(f.format)
	if err != nil {
		return unusable(err)
	}
	if err := notEmpty(cmd, "repo", "base", "head", "config", "server", "organisation"); err != nil {
		return err
	}
	ctx := cmd.Context()
	below, err := f.below.layers()
	if err != nil {
		return unusable(err)
	}
	src, err := localgit.Open(ctx, localgit.Options{Dir: f.repo, Base: f.base, Head: f.head, ConfigDir: f.config, Layers: below})
	if err != nil {
		return unusable(err)
	}
	runner, err := run.NewRunner(run.Config{Version: app.Version(), Now: time.Now, Engines: engines})
	if err != nil {
		return unfinished(err)
	}
	models, err := modelsOf(below)
	if err != nil {
		return unusable(err)
	}
	progress := newProgress(cmd.ErrOrStderr())
	var audits audits
	maker := agents.New(agents.Options{Models: models, Files: src, Unanswered: progress.unanswered, Audited: audits.add})
	options := run.Options{
		Trigger: "reviewgate review", Progress: progress.step, File: src.Lookup,
		IOAgents: maker.Agent, GapModel: maker.GapModel, Comparer: maker.Comparer, Verifier: maker.Verifier,
	}
	if f.config == "" { // else no config of the repository counts
		options.Proposed = func(ctx context.Context, _ *pipeline.PRFacts) (*config.Config, error) { return src.Proposed(ctx) }
	}
	outcome, err := runner.Run(ctx, src, options)
	progress.done()
	if aerr := audits.write(cmd.ErrOrStderr()); aerr != nil {
		return unfinished(aerr)
	}
	if err != nil {
		return unfinished(err)
	}
	nothing := ""
	if len(outcome.Review.Facts.Commits) == 0 {
		if nothing, err = src.Nothing(ctx); err != nil {
			return unfinished(err)
		}
	}
	return reportReview(cmd, f.format, &outcome, render.Links{}, nothing, write)
}

// reportReview prints a review and makes the gate the exit code. Where there is
// nothing to review, nothing says why: that is no pass, and blocks nobody.
func reportReview(cmd *cobra.Command, format string, o *run.Outcome, links render.Links, nothing string, write writer) error {
	facts := &o.Review.Facts
	notes := io.Discard // the report says it
	if format == "json" || format == "sarif" {
		notes = cmd.ErrOrStderr()
	}
	for _, p := range facts.Config.Problems {
		fmt.Fprintln(notes, config.FormatProblem(p))
	}
	if nothing != "" && notes == io.Discard {
		return put(cmd, render.NothingToReview(nothing)+"\n")
	}
	if nothing != "" {
		fmt.Fprintln(notes, render.NothingToReview(nothing))
	}
	mode := o.Config.Mode(facts.Repository.FullName())
	view := render.View{Review: o.Review, Record: o.Record, Mode: mode, Rules: render.RuleNotes(&o.Review.Report, o.Config), Links: links}
	if err := write(cmd.OutOrStdout(), view); err != nil {
		return unfinished(fmt.Errorf("write the review: %w", err))
	}
	if mode == config.ModeOff {
		fmt.Fprintln(cmd.ErrOrStderr(), "the config's mode is off: on GitHub nothing would be posted")
	}
	if nothing == "" && mode == config.ModeEnforce && o.Review.Report.Decision.Blocks() {
		return &exitError{code: exitBlocked}
	}
	return nil
}

// writer prints a review.
type writer func(io.Writer, render.View) error

// writerOf returns what prints a review in a format.
func writerOf(format string) (writer, error) {
	bytes := func(make func(render.View) ([]byte, error)) writer {
		return func(w io.Writer, v render.View) error {
			b, err := make(v)
			if err != nil {
				return err
			}
			_, err = w.Write(b)
			return err
		}
	}
	switch format {
	case "text":
		return func(w io.Writer, v render.View) error {
			_, err := io.WriteString(w, render.Text(v, textOptions(w)))
			return err
		}, nil
	case "markdown":
		return func(w io.Writer, v render.View) error {
			_, err := io.WriteString(w, render.Markdown(v))
			return err
		}, nil
	case "json":
		return bytes(render.JSON), nil
	case "sarif":
		return bytes(render.SARIF), nil
	}
	return nil, fmt.Errorf("--format %q: use text, markdown, json or sarif", format)
}

func textOptions(w io.Writer) render.TextOptions {
	return render.TextOptions{Color: app.IsTerminal(w) && os.Getenv("NO_COLOR") == "", Width: 100}
}

// progress shows on a terminal what is being done, on one line that is
// overwritten and at last removed.
type progress struct {
	w    io.Writer
	show bool
	mu   sync.Mutex // agents end side by side
	told map[string]bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, show: app.IsTerminal(w), told: map[string]bool{}}
}

const clearLine = "\r\x1b[2K"

func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.show {
		fmt.Fprintf(p.w, "%s%s …", clearLine, what)
	}
}

// unanswered writes above what is shown that a model did not answer. One that is
// down does so to every question, and is told of once.
func (p *progress) unanswered(model string, err error) {
	line := fmt.Sprintf("%s did not answer: %v", model, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[line] {
		return
	}
	p.told[line] = true
	if p.show {
		fmt.Fprint(p.w, clearLine)
	}
	fmt.Fprintln(p.w, line)
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.show {
		fmt.Fprint(p.w, clearLine)
	}
}
