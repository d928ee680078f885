package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/backtest"
)

type analyticsFlags struct {
	mode, repo, since, format string
	database, settings        string
}

func analyticsCommand() *cobra.Command {
	var f analyticsFlags
	c := &cobra.Command{
		Use:   "analytics --mode evaluate",
		Short: "Show what everything in evaluation would have changed",
		Long: `Show what rules, policies and agents in evaluation would have changed if they had been
enforced: which reviews they would have blocked, what people did then, and how often
the lines that they flagged were changed anyway. Show the same of the server's shadow
config. The command reads the server's database, which may be in use, or a copy made by
backup. It changes nothing.

Exit codes: 0 done; 2 the input can't be used; 3 the command could not finish.`,
		Example: "  reviewgate analytics --mode evaluate --since 30d --repo 'acme/*'",
		Args:    noArguments,
		RunE:    f.run,
	}
	c.Flags().StringVar(&f.mode, "mode", "", "what to show: evaluate")
	c.Flags().StringVar(&f.repo, "repo", "", "only repositories whose full name matches this `glob`, such as acme/*")
	c.Flags().StringVar(&f.since, "since", "90d", "the reviews of the last days or hours, such as 90d or 12h")
	c.Flags().StringVar(&f.format, "format", "text", "text, markdown or json")
	addDatabaseFlags(c, &f.database, &f.settings)
	return c
}

func (f *analyticsFlags) run(cmd *cobra.Command, _ []string) error {
	form, known := map[string]func(*backtest.Evaluated) string{"text": backtest.EvaluatedText, "markdown": backtest.EvaluatedMarkdown, "json": nil}[f.format]
	if !known {
		return unusable(fmt.Errorf("--format %q: use text, markdown or json", f.format))
	}
	if f.mode != "evaluate" {
		return unusable(fmt.Errorf("--mode %q: use evaluate", f.mode))
	}
	which, err := reviewsOf(f.repo, f.since, time.Now())
	if err != nil {
		return unusable(err)
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	app.Yield()
	r, err := app.Evaluated(cmd.Context(), url, which)
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case err != nil:
		return unusable(err)
	case r.Reviews+len(r.Failed) == 0:
		return unusable(noReviews(f.since))
	}
	if form != nil {
		_, err = io.WriteString(cmd.OutOrStdout(), form(r))
	} else {
		err = writeJSON(cmd.OutOrStdout(), r)
	}
	if err != nil {
		return unfinished(err)
	}
	return nil
}
