package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// engines are shared by all reviews of the process.
var engines = run.NewEngines()

type reviewFlags struct {
	repo, base, head, config string
	staged, untracked        bool
	only                     []string
	below                    layerFlags // the layers below the repository's
	outputFlags
}

func reviewCommand() *cobra.Command {
	var f reviewFlags
	c := &cobra.Command{
		Use:   "review",
		Short: "Review a local git range, without GitHub",
		Long: `Review a local git range with the same pipeline as on GitHub, and print the review
in the same words. Exit codes: 0 the gate passes; 1 the gate blocks (needs_fixes or
fail, and only in mode enforce); 2 the range or a flag can't be used; 3 the command
could not finish.

Without --head the command reviews the work tree. --staged reviews what the next commit
would have, and does not look at the work tree. If GIT_INDEX_FILE names another index of
the repository, as in the hooks of git commit -a, --staged reads that one.

--only runs some agents and rules. The exit code is then about their findings alone, and
the output says that others did not run.

The config comes from .github/reviewgate at the base, so a change can't alter the
rules that judge it. --config reads a directory instead. --server and --organisation
name directories with the lower layers, which work as in the App: where the
organisation's config loosens the server's, it counts only if the server's config
allows that. If the server's config names language models, agents that use models
send them the change.

Mistakes in the config are part of the review. In formats for programs they also go to
standard error. If the base's config is broken, the review is incomplete and does not
pass, unless the change repairs the config. Each aggregation of review reports writes
one line of JSON with their digests to standard error, in every format. If nothing
changed, the command says so and exits with 0.`,
		Example: "  reviewgate review --base main\n" +
			"  reviewgate review --staged --quiet\n" +
			"  reviewgate review --repo ~/src/project --base v1.2.0 --head v1.3.0 --format sarif",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", ".", "`directory` of the repository")
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change branched off the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().BoolVar(&f.staged, "staged", false, stagedUsage)
	c.Flags().BoolVar(&f.untracked, "untracked", false, "also review the untracked files of the work tree")
	c.Flags().StringSliceVar(&f.only, "only", nil, "run only these agents and `rules`, separated by commas")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with config files, instead of the base's .github/reviewgate")
	c.Flags().StringVar(&f.below.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.below.organisation, "organisation", "", organisationUsage)
	f.add(c)
	return c
}

func (f *reviewFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := notEmpty(cmd, "repo", "base", "head", "config", "server", "organisation", "output", "format", "fail-on"); err != nil {
		return err
	}
	if cmd.Flags().Changed("only") && len(f.only) == 0 {
		return unusable(errors.New("--only is empty: name agents or rules, or leave it out"))
	}
	if err := f.checkRange(); err != nil {
		return unusable(err)
	}
	ctx := cmd.Context()
	below, err := f.below.layers()
	if err != nil {
		return unusable(err)
	}
	src, err := localgit.Open(ctx, localgit.Options{
		Dir: f.repo, Base: f.base, Head: f.head, Staged: f.staged, Untracked: f.untracked, ConfigDir: f.config, Layers: below,
	})
	if err != nil {
		return unusable(partialOr(err))
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
	if len(f.only) > 0 {
		base, err := src.Config(ctx)
		if err != nil {
			return unfinished(err)
		}
		if options.Only, err = run.NewOnly(base.Config, f.only); err != nil {
			return unusable(fmt.Errorf("--only: %w", err))
		}
	}
	if f.config == "" { // with --config the repository's own config does not count
		options.Proposed = func(ctx context.Context, _ *pipeline.PRFacts) (*config.Config, error) { return src.Proposed(ctx) }
		options.Tests = func(ctx context.Context, _ *pipeline.PRFacts, proposed *run.Engine) *pipeline.PolicyTests {
			files, err := src.ProposedTests(ctx)
			return policytest.Proposed(ctx, proposed, files, err)
		}
	}
	outcome, err := runner.Run(ctx, src, options)
	progress.done()
	if aerr := audits.write(cmd.ErrOrStderr()); aerr != nil {
		return unfinished(aerr)
	}
	if err != nil {
		return stopped(err)
	}
	nothing := ""
	if len(outcome.Review.Facts.Commits) == 0 {
		if nothing, err = src.Nothing(ctx); err != nil {
			return unfinished(err)
		}
	}
	if err := f.noteLeftOut(cmd, src, nothing); err != nil {
		return unfinished(err)
	}
	return f.report(cmd, &outcome, render.Links{}, nothing)
}

// noteLeftOut says with --verbose how many untracked files were left out. If there is nothing to review,
// the output says so anyway.
func (f *reviewFlags) noteLeftOut(cmd *cobra.Command, src *localgit.Source, nothing string) error {
	if !f.verbose || nothing != "" {
		return nil
	}
	n, err := src.LeftOut(cmd.Context())
	if err == nil && n > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), localgit.LeftOutNote(n))
	}
	return err
}

// partialOr returns the remedy for a partial clone, or else the error itself.
func partialOr(err error) error {
	if localgit.IsPartial(err) {
		return localgit.ErrPartial
	}
	return err
}

// stopped says in a user's words why a review did not finish.
func stopped(err error) error {
	if localgit.IsPartial(err) {
		return unusable(localgit.ErrPartial)
	}
	stage, isStage := errors.AsType[*pipeline.StageError](err)
	switch {
	case !isStage:
		return unfinished(err)
	case stage.Stage == pipeline.StageNormalize:
		return unfinished(fmt.Errorf("the change can't be read: %w", stage.Err))
	}
	return unfinished(fmt.Errorf("the review stopped at the stage %s: %w", stage.Stage, stage.Err))
}

const stagedUsage = "review what is staged, against HEAD or the --base that is named"

var errStagedHead = errors.New("--staged reviews the index, and --head a commit: leave one of them out")

// checkRange refuses flags that name two things to review.
func (f *reviewFlags) checkRange() error {
	switch {
	case f.staged && f.head != "":
		return errStagedHead
	case f.staged && f.untracked:
		return errors.New("--staged reviews the index, which has no untracked files: leave out --untracked, or stage the files with git add")
	case f.untracked && f.head != "":
		return errors.New("--head reviews a commit, which has no untracked files: leave out --untracked, or --head to review the work tree")
	}
	return nil
}

// progress shows on a terminal what the command is doing. It overwrites one line, and
// removes the line at the end.
type progress struct {
	w     io.Writer
	show  bool
	mu    sync.Mutex // agents end in parallel
	shown map[string]bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, show: app.IsTerminal(w), shown: map[string]bool{}}
}

const clearLine = "\r\x1b[2K"

func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.show {
		fmt.Fprintf(p.w, "%s%s …", clearLine, what)
	}
}

// unanswered writes that a model did not answer, above the line of progress. A model that
// is down fails every question, so each message is written once.
func (p *progress) unanswered(model string, err error) {
	line := fmt.Sprintf("%s did not answer: %v", model, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown[line] {
		return
	}
	p.shown[line] = true
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
