package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// reviewFormat is a format of a review.
type reviewFormat struct {
	name   string
	readBy string // who reads it, as docs/commands.md says
	write  func(render.View, render.TextOptions) ([]byte, error)
	prose  bool // a person reads it as it is
	data   bool // a program reads it, which also needs it if there is nothing to review
	files  bool // it has a place only for findings in files, so the rest goes to standard error
}

// reviewFormats are the formats of a review, in the order of the help.
var reviewFormats = []reviewFormat{
	{name: "text", readBy: "people in a terminal", prose: true, write: func(v render.View, o render.TextOptions) ([]byte, error) {
		return []byte(render.Text(v, o)), nil
	}},
	{name: "markdown", readBy: "people, as the comment on a pull request", prose: true, write: func(v render.View, _ render.TextOptions) ([]byte, error) {
		return []byte(render.Markdown(v)), nil
	}},
	{name: "json", readBy: "your own programs: it is the whole report", data: true, write: plain(render.JSON)},
	{name: "sarif", readBy: "GitHub's code scanning and editors", data: true, write: plain(render.SARIF)},
	{name: formatGitHub, readBy: "GitHub Actions, which shows annotations in the change", write: func(v render.View, _ render.TextOptions) ([]byte, error) {
		return []byte(render.Workflow(v)), nil
	}},
	{name: "gitlab", readBy: "GitLab, as a Code Quality report", data: true, files: true, write: plain(render.GitLab)},
	{name: "rdjson", readBy: "reviewdog, which comments on many code hosts", data: true, files: true, write: plain(render.RDJSON)},
	{name: "checkstyle", readBy: "Jenkins and other CI servers, as warnings", data: true, files: true, write: plain(render.Checkstyle)},
	{name: "junit", readBy: "most CI servers, as test results", data: true, write: plain(render.JUnit)},
}

// The format that is chosen in GitHub Actions, and the one that is chosen elsewhere.
const (
	formatGitHub = "github"
	formatText   = "text"
)

// plain is for a format without options.
func plain(write func(render.View) ([]byte, error)) func(render.View, render.TextOptions) ([]byte, error) {
	return func(v render.View, _ render.TextOptions) ([]byte, error) { return write(v) }
}

func formatNames() []string {
	var names []string
	for _, f := range reviewFormats {
		names = append(names, f.name)
	}
	return names
}

// onActions reports whether a job of GitHub Actions runs the command.
func onActions() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// outputFlags say how a review is printed, and when it makes the command fail.
type outputFlags struct {
	format, output, failOn string
	verbose, quiet         bool
}

func (f *outputFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "", join(formatNames())+" (default: github in a job of GitHub Actions without --output, otherwise text)")
	c.Flags().StringVar(&f.output, "output", "", "`file` to write the review to, instead of standard output")
	c.Flags().StringVar(&f.failOn, "fail-on", "", "exit with 1 for a finding of this `severity` or above (critical, major or warning) and for an incomplete review, or never exit with 1 (never) (default: the gate decides)")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "with the format text, print coverage, gaps and what was set aside, too")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "print nothing if the exit code is 0; --output is written all the same")
}

// check refuses values that mean nothing.
func (f *outputFlags) check() error {
	if f.format == "" {
		f.format = formatText
		if onActions() && f.output == "" {
			f.format = formatGitHub
		}
	}
	if err := oneOf(f.format, formatNames()...); err != nil {
		return err
	}
	if f.failOn != "" && !slices.Contains([]string{"critical", "major", "warning", "never"}, f.failOn) {
		return unusable(fmt.Errorf("--fail-on %q: use critical, major, warning or never", f.failOn))
	}
	return f.checkFile()
}

// checkFile refuses a file that can't be written, before the review runs. It does not create the file.
func (f *outputFlags) checkFile() error {
	switch f.output {
	case "":
		return nil
	case "-":
		return unusable(errors.New("--output - would name a file: leave it out to print the review"))
	}
	info, err := os.Stat(f.output)
	switch {
	case err == nil && info.IsDir():
		return unusable(fmt.Errorf("--output %s: it is a directory; name a file", f.output))
	case err == nil && info.Mode().IsRegular():
		var file *os.File
		if file, err = os.OpenFile(f.output, os.O_WRONLY, 0); err == nil {
			err = file.Close()
		}
	case errors.Is(err, fs.ErrNotExist):
		if _, err = os.Stat(filepath.Dir(f.output)); err != nil {
			return unusable(fmt.Errorf("--output %s: its directory does not exist; create it, or name another file", f.output))
		}
	}
	if err != nil {
		return unusable(fmt.Errorf("--output: %w", err))
	}
	return nil
}

// chosen returns the format that check has found.
func (f *outputFlags) chosen() *reviewFormat {
	return &reviewFormats[slices.Index(formatNames(), f.format)]
}

// report prints a review and returns the exit code as an error. If there is nothing to review, nothing
// says why, and the exit code is 0.
func (f *outputFlags) report(cmd *cobra.Command, o *run.Outcome, links render.Links, nothing string) error {
	facts := &o.Review.Facts
	format := f.chosen()
	mode := o.Config.Mode(facts.Repository.FullName())
	view := render.View{Review: o.Review, Record: o.Record, Mode: mode, Rules: render.RuleNotes(&o.Review.Report, o.Config), Links: links}
	fails := nothing == "" && f.fails(&o.Review.Report, mode)
	proposed := o.Review.Report.ProposedConfig.Problems
	speaks := !f.quiet || fails || len(proposed) > 0
	notes := io.Discard
	if speaks {
		notes = cmd.ErrOrStderr()
	}
	if format.data { // the others show the problems themselves
		for _, p := range facts.Config.Problems {
			fmt.Fprintln(notes, render.LogText(config.FormatProblem(p)))
		}
		for _, p := range proposed {
			fmt.Fprintln(notes, "warning: proposed config: "+render.LogText(config.FormatProblem(p)))
		}
		if nothing != "" {
			fmt.Fprintln(notes, render.NothingToReview(nothing))
		}
	}
	if speaks || f.output != "" {
		if err := f.write(cmd.OutOrStdout(), view, nothing); err != nil {
			return unfinished(fmt.Errorf("write the review: %w", err))
		}
	}
	if speaks {
		if err := f.summarise(view, nothing); err != nil {
			fmt.Fprintf(notes, "warning: the job's summary can't be written: %v\n", err)
		}
		if format.files {
			for _, line := range render.Unplaced(view) {
				fmt.Fprintln(notes, render.LogText(line))
			}
		}
	}
	if mode == config.ModeOff {
		fmt.Fprintln(notes, "the config's mode is off: the App would post nothing on GitHub")
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
	if f.chosen().prose && onActions() {
		text = []byte(render.LogText(string(text)))
	}
	_, err = w.Write(text)
	return err
}

// text returns a review in its format.
func (f *outputFlags) text(v render.View, nothing string, opts render.TextOptions) ([]byte, error) {
	format := f.chosen()
	if nothing != "" && !format.data {
		return []byte(render.NothingToReview(nothing) + "\n"), nil
	}
	opts.Brief = !f.verbose
	return format.write(v, opts)
}

// summarise appends the review to the summary of the job of GitHub Actions, if there is one and the format
// is github.
func (f *outputFlags) summarise(v render.View, nothing string) error {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" || f.format != formatGitHub {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the runner reads it
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		text := render.NothingToReview(nothing) + "\n"
		if nothing == "" {
			text = render.JobSummary(v, render.MaxJobSummary-int(info.Size()))
		}
		_, err = file.WriteString(text)
	}
	return errors.Join(err, file.Close())
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
