package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// outputFlags say how a review is printed, and when it makes the command fail.
type outputFlags struct {
	format, output, failOn string
	verbose, quiet         bool
}

func (f *outputFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "text", "text, markdown, json or sarif")
	c.Flags().StringVar(&f.output, "output", "", "`file` to write the review to, instead of standard output")
	c.Flags().StringVar(&f.failOn, "fail-on", "", "exit with 1 from this `severity` on: critical, major or warning; or never (default: the gate decides)")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "with the format text, print coverage, gaps and what was set aside, too")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "print nothing if the exit code is 0")
}

// check refuses values that mean nothing.
func (f *outputFlags) check() error {
	if err := oneOf(f.format, "text", "markdown", "json", "sarif"); err != nil {
		return err
	}
	if f.failOn != "" && !slices.Contains([]string{"critical", "major", "warning", "never"}, f.failOn) {
		return unusable(fmt.Errorf("--fail-on %q: use critical, major, warning or never", f.failOn))
	}
	return nil
}

// report prints a review and returns the exit code as an error. If there is nothing to review, nothing
// says why, and the exit code is 0.
func (f *outputFlags) report(cmd *cobra.Command, o *run.Outcome, links render.Links, nothing string) error {
	facts := &o.Review.Facts
	machine := f.format == "json" || f.format == "sarif"
	if machine { // text and markdown show the problems themselves
		for _, p := range facts.Config.Problems {
			fmt.Fprintln(cmd.ErrOrStderr(), config.FormatProblem(p))
		}
	}
	mode := o.Config.Mode(facts.Repository.FullName())
	view := render.View{Review: o.Review, Record: o.Record, Mode: mode, Rules: render.RuleNotes(&o.Review.Report, o.Config), Links: links}
	fails := nothing == "" && f.fails(&o.Review.Report, mode)
	if nothing != "" && machine {
		fmt.Fprintln(cmd.ErrOrStderr(), render.NothingToReview(nothing))
	}
	if !f.quiet || fails {
		if err := f.write(cmd.OutOrStdout(), view, nothing); err != nil {
			return unfinished(fmt.Errorf("write the review: %w", err))
		}
	}
	if mode == config.ModeOff {
		fmt.Fprintln(cmd.ErrOrStderr(), "the config's mode is off: the App would post nothing on GitHub")
	}
	if fails {
		return &exitError{code: exitBlocked}
	}
	return nil
}

// fails reports whether a review makes the exit code 1. With --fail-on, a severity decides, or the review
// is incomplete. Otherwise the gate does, if it is enforced.
func (f *outputFlags) fails(r *pipeline.Report, mode string) bool {
	switch f.failOn {
	case "never":
		return false
	case "":
		return mode == config.ModeEnforce && r.Decision.Blocks()
	}
	least := pipeline.Severity(f.failOn).Rank()
	for i := range r.Findings {
		if r.Findings[i].GateSeverity.Rank() >= least {
			return true
		}
	}
	for i := range r.Incomplete {
		if r.Incomplete[i].Gating {
			return true
		}
	}
	return false
}

// write writes a review to the file of --output, or to w.
func (f *outputFlags) write(w io.Writer, v render.View, nothing string) error {
	opts := render.TextOptions{Width: defaultWidth}
	if f.output == "" {
		opts = textOptions(w)
	}
	text, err := f.text(v, nothing, opts)
	if err != nil {
		return err
	}
	if f.output != "" {
		return os.WriteFile(f.output, text, 0o644) //nolint:gosec // others may read it, as they may a redirected output
	}
	_, err = w.Write(text)
	return err
}

// text returns a review in its format.
func (f *outputFlags) text(v render.View, nothing string, opts render.TextOptions) ([]byte, error) {
	switch f.format {
	case "json":
		return render.JSON(v)
	case "sarif":
		return render.SARIF(v)
	}
	if nothing != "" {
		return []byte(render.NothingToReview(nothing) + "\n"), nil
	}
	if f.format == "markdown" {
		return []byte(render.Markdown(v)), nil
	}
	opts.Brief = !f.verbose
	return []byte(render.Text(v, opts)), nil
}

// textOptions are those of a text on w. A terminal's width counts, or else COLUMNS.
func textOptions(w io.Writer) render.TextOptions {
	opts := render.TextOptions{Color: colored(w, os.Getenv), Width: defaultWidth}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		opts.Width = columns
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			opts.Width = columns
		}
	}
	opts.Width = max(minWidth, min(opts.Width, maxWidth))
	return opts
}

// The width of a text in columns. Longer lines are hard to read.
const (
	minWidth     = 40
	maxWidth     = 120
	defaultWidth = 100
)

// colored reports whether a text on w has colours: on a terminal, unless the environment says
// otherwise. NO_COLOR counts before FORCE_COLOR and CLICOLOR_FORCE.
func colored(w io.Writer, env func(string) string) bool {
	forced := func(name string) bool { return env(name) != "" && env(name) != "0" }
	switch {
	case env("NO_COLOR") != "":
		return false
	case forced("FORCE_COLOR"), forced("CLICOLOR_FORCE"):
		return true
	}
	return app.IsTerminal(w) && env("TERM") != "dumb" && env("CLICOLOR") != "0"
}
