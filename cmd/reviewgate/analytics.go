package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/backtest"
)

type analyticsFlags struct {
	archiveFlags
	mode string
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
	f.add(c)
	return c
}

func (f *analyticsFlags) run(cmd *cobra.Command, _ []string) error {
	if f.mode != "evaluate" {
		return unusable(fmt.Errorf("--mode %q: use evaluate", f.mode))
	}
	return archiveReport[*backtest.Evaluated]{
		compute: app.Evaluated,
		usable: func(r *backtest.Evaluated) error {
			if r.Reviews+len(r.Failed) == 0 {
				return f.none()
			}
			return nil
		},
		text: backtest.EvaluatedText, markdown: backtest.EvaluatedMarkdown,
	}.run(cmd, &f.archiveFlags)
}
