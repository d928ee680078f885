package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

type backfillFlags struct {
	repos                   []string
	since, format, settings string
	dry                     bool
	rate                    int
}

func backfillCommand() *cobra.Command {
	var f backfillFlags
	c := &cobra.Command{
		Use:   "backfill --repo GLOB...",
		Short: "Request reviews of open pull requests in chosen repositories",
		Long: `Request reviews of open pull requests in chosen repositories that have no answer
yet: after you installed the App, or after you switched on a repository's mode. A
pull request is skipped if its head has a completed check or a review in progress,
so you can run the command again at any time.

The command only requests the reviews; the server does them. Requests are stored in
the database. If no server runs, it does them when it starts. If a server runs on a
SQLite file, run the command as the same user on the same machine.

Exit codes: 0 all reviews are requested; 2 the settings or globs can't be used; 3 the
command could not finish: some pull requests could not be read, or you pressed Ctrl-C.`,
		Example: "  reviewgate backfill --repo acme/shop --dry-run\n" +
			"  reviewgate backfill --repo 'acme/web-*' --repo acme/shop --since 90d",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringArrayVar(&f.repos, "repo", nil, "`glob` that matches OWNER/NAME of repositories; may be repeated")
	c.Flags().StringVar(&f.since, "since", "30d", "skip pull requests not updated within this `time`, in days or hours (30d, 12h), or all")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only list the reviews that would be requested")
	c.Flags().IntVar(&f.rate, "rate", 6, "`reviews` to request per minute, 1 to 60; at 6, an hour uses about 3,000 of the 5,000 calls that GitHub allows an installation")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVar(&f.settings, "settings", "", "YAML or JSON `file` with settings, as for serve")
	return c
}

func (f *backfillFlags) run(cmd *cobra.Command) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if len(f.repos) == 0 {
		return unusable(errors.New("--repo is missing: name the repositories, such as --repo 'acme/*'"))
	}
	for _, g := range f.repos {
		if config.MatchesNoRepository(g) {
			return unusable(fmt.Errorf("--repo %q has no slash, so it matches no repository: write OWNER/NAME, such as 'acme/*'", g))
		}
	}
	if f.rate < 1 || f.rate > 60 {
		return unusable(fmt.Errorf("--rate %d: it must be from 1 to 60", f.rate))
	}
	since, err := ago(f.since, time.Now())
	if err != nil {
		return unusable(fmt.Errorf("--since %q: %w", f.since, err))
	}
	settings, err := app.LoadSettings(os.Getenv, f.settings, sdk.New)
	if err != nil {
		return unusable(err)
	}
	progress := newProgress(cmd.ErrOrStderr())
	summary := backfillSummary{cmd: cmd, text: f.format == "text", dry: f.dry, progress: progress, Events: []app.BackfillEvent{}}
	err = app.RunBackfill(cmd.Context(), settings, app.Backfill{
		Globs: f.repos, Since: since, Dry: f.dry, Pause: time.Minute / time.Duration(f.rate),
		Tell: summary.add, Status: progress.step, Log: zerolog.New(cmd.ErrOrStderr()).Level(zerolog.WarnLevel),
	})
	progress.done()
	if input := (*app.InputError)(nil); errors.As(err, &input) {
		return unusable(err)
	}
	return summary.end(err)
}

// backfillSummary counts and prints the events of a backfill.
type backfillSummary struct {
	cmd       *cobra.Command
	text, dry bool
	progress  *progress
	failed    error // the last error of writing the output

	Asked    int                 `json:"asked"`
	Answered int                 `json:"answered"`
	LeftOut  int                 `json:"left_out"`
	Failed   int                 `json:"failed"`
	Finished bool                `json:"finished"`
	Events   []app.BackfillEvent `json:"events"` // all except answered ones
}

// add counts an event. In text format it prints it as well.
func (t *backfillSummary) add(e app.BackfillEvent) {
	switch e.Outcome {
	case app.BackfillAnswered:
		t.Answered++
		return
	case app.BackfillAsked:
		t.Asked++
	case app.BackfillLeftOut:
		t.LeftOut++
	case app.BackfillFailed:
		t.Failed++
	}
	t.Events = append(t.Events, e)
	if !t.text {
		return
	}
	subject := e.Repository
	if e.Number > 0 {
		subject += "#" + strconv.Itoa(e.Number)
	}
	outcome := e.Outcome
	if outcome == app.BackfillAsked {
		outcome = t.verb()
	}
	if e.Why != "" {
		outcome += ": " + e.Why
	}
	t.progress.done()
	if e.Outcome == app.BackfillFailed {
		fmt.Fprintf(t.cmd.ErrOrStderr(), "%s  %s\n", subject, outcome)
		return
	}
	if err := put(t.cmd, subject+"  "+outcome+"\n"); err != nil {
		t.failed = err
	}
}

func (t *backfillSummary) verb() string {
	if t.dry {
		return "would be requested"
	}
	return "requested"
}

// end prints the totals and returns the command's error.
func (t *backfillSummary) end(err error) error {
	t.Finished = err == nil
	write := t.failed
	if t.text {
		write = errors.Join(write, put(t.cmd, fmt.Sprintf("%d reviews %s, %d pull requests already answered; %d repositories left out, %d failed\n", t.Asked, t.verb(), t.Answered, t.LeftOut, t.Failed)))
	} else {
		write = errors.Join(write, putJSON(t.cmd, t))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitUnfinished, err: errors.New("interrupted: run the command again for the rest"), always: true}
	case err != nil:
		return unfinished(fmt.Errorf("%w; run the command again for the rest", err))
	case write != nil:
		return unfinished(write)
	case t.Failed > 0:
		return &exitError{code: exitUnfinished}
	}
	return nil
}

// ago returns the time that lies the given number of days or hours before now. For "all" it
// returns the zero time.
func ago(s string, now time.Time) (time.Time, error) {
	if s == "all" {
		return time.Time{}, nil
	}
	d, ok := duration(s)
	if !ok {
		return time.Time{}, errors.New("write days or hours, such as 30d or 12h, or all")
	}
	return now.Add(-d), nil
}
