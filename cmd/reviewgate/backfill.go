package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
		Short: "Have open pull requests of chosen repositories reviewed",
		Long: `Have the open pull requests of chosen repositories reviewed that have no answer:
after the App was installed, or after a repository's mode was switched on. Left
are those whose head has a completed check, or a review on its way, so that it
may be run again at any time.

It asks, and the server reviews. What was asked for is stored: where no server
runs, it is reviewed once one is started. Beside a running server with a SQLite
file it must be run as the same user, on the same machine.

Exit code: 0 all were asked for, 2 the settings or globs can't be used, 3 it
could not be finished: some could not be looked at, or Ctrl-C came first.`,
		Example: "  reviewgate backfill --repo acme/shop --dry-run\n" +
			"  reviewgate backfill --repo 'acme/web-*' --repo acme/shop --since 90d",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringArrayVar(&f.repos, "repo", nil, "`glob` of repositories, OWNER/NAME; may be given several times")
	c.Flags().StringVar(&f.since, "since", "30d", "skip pull requests not updated within this `time`, in days or hours (30d, 12h), or all")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be asked")
	c.Flags().IntVar(&f.rate, "rate", 6, "`reviews` to ask for a minute, 1 to 60; an hour at 6 takes some 3,000 of the 5,000 calls that GitHub gives an installation")
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
	told := backfillTold{cmd: cmd, text: f.format == "text", dry: f.dry, progress: progress, Events: []app.BackfillEvent{}}
	err = app.RunBackfill(cmd.Context(), settings, app.Backfill{
		Globs: f.repos, Since: since, Dry: f.dry, Pause: time.Minute / time.Duration(f.rate),
		Tell: told.tell, Status: progress.step, Log: zerolog.New(cmd.ErrOrStderr()).Level(zerolog.WarnLevel),
	})
	progress.done()
	if input := (*app.InputError)(nil); errors.As(err, &input) {
		return unusable(err)
	}
	return told.end(err)
}

// backfillTold is what was told of a backfill.
type backfillTold struct {
	cmd       *cobra.Command
	text, dry bool
	progress  *progress
	failed    error // to write

	Asked    int                 `json:"asked"`
	Answered int                 `json:"answered"`
	LeftOut  int                 `json:"left_out"`
	Failed   int                 `json:"failed"`
	Finished bool                `json:"finished"`
	Events   []app.BackfillEvent `json:"events"` // but those that were answered
}

func (t *backfillTold) tell(e app.BackfillEvent) {
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
	what := e.Repository
	if e.Number > 0 {
		what += "#" + strconv.Itoa(e.Number)
	}
	outcome := e.Outcome
	if t.dry && outcome == app.BackfillAsked {
		outcome = "would be asked"
	}
	if e.Why != "" {
		outcome += ": " + e.Why
	}
	t.progress.done()
	if e.Outcome == app.BackfillFailed {
		fmt.Fprintf(t.cmd.ErrOrStderr(), "%s  %s\n", what, outcome)
		return
	}
	if err := put(t.cmd, what+"  "+outcome+"\n"); err != nil {
		t.failed = err
	}
}

// end says what it came to, and returns how the command ends.
func (t *backfillTold) end(err error) error {
	t.Finished = err == nil
	verb := "asked for"
	if t.dry {
		verb = "would be asked for"
	}
	write := t.failed
	if t.text {
		write = errors.Join(write, put(t.cmd, fmt.Sprintf("%d reviews %s, %d pull requests answered already; %d repositories left out, %d failed\n", t.Asked, verb, t.Answered, t.LeftOut, t.Failed)))
	} else {
		write = errors.Join(write, putJSON(t.cmd, t))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitUnfinished, err: errors.New("interrupted: run it again for the rest"), kept: true}
	case err != nil:
		return unfinished(fmt.Errorf("%w; run it again for the rest", err))
	case write != nil:
		return unfinished(write)
	case t.Failed > 0:
		return &exitError{code: exitUnfinished}
	}
	return nil
}

// ago reads how long ago, in days or hours. The zero time is ever so long.
func ago(s string, now time.Time) (time.Time, error) {
	if s == "all" {
		return time.Time{}, nil
	}
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour}
	for unit, d := range units {
		digits, ok := strings.CutSuffix(s, unit)
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && n <= 100_000 {
			return now.Add(-time.Duration(n) * d), nil
		}
	}
	return time.Time{}, errors.New("write days or hours, such as 30d or 12h, or all")
}
