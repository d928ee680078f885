package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/analytics"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/learning"
)

type analyticsFlags struct {
	archiveFlags
	mode, by string
	seed3    bool
}

func analyticsCommand() *cobra.Command {
	var f analyticsFlags
	c := &cobra.Command{
		Use:   "analytics",
		Short: "Show what became of findings, and how often rules, agents and models were right",
		Long: `Show how reviews ended, what became of their findings, how often rules, agents and models
were right, and what stands out. A finding was right if it was fixed or a person accepted it,
and wrong if a person dismissed it as a false positive. With --by, show one table in full.

With --mode evaluate, show instead what rules, policies and agents in evaluation would have
changed if they had been enforced: which reviews they would have blocked, what people did
then, and how often the lines that they flagged were changed anyway. It shows the same of
the server's shadow config.

The command reads the server's database, which may be in use, or a copy made by backup. It
changes nothing.

Exit codes: 0 done; 2 the input can't be used; 3 the command could not finish.`,
		Example: "  reviewgate analytics --since 30d --repo 'acme/*'\n" +
			"  reviewgate analytics --by rule --format csv > rules.csv\n" +
			"  reviewgate analytics --mode evaluate --since 30d --repo 'acme/*'",
		Args: noArguments,
		RunE: f.run,
	}
	f.add(c)
	c.Flags().Lookup("format").Usage = "text, markdown, json, csv (of one table, with --by), or jsonl (the entries of the log)"
	c.Flags().StringVar(&f.by, "by", "", "one `table`: by "+tables())
	c.Flags().BoolVar(&f.seed3, "seed3", false, "print what agentic review workflows keep in review-analytics.json, instead of a format")
	c.Flags().StringVar(&f.mode, "mode", "", "evaluate: show what everything in evaluation would have changed")
	return c
}

// tables names what a table can be by.
func tables() string {
	var names []string
	for _, by := range analytics.Tables() {
		names = append(names, string(by))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (f *analyticsFlags) run(cmd *cobra.Command, _ []string) error {
	if err := f.check(cmd.Flags().Changed("format")); err != nil {
		return unusable(err)
	}
	if f.mode == "" {
		return f.summarise(cmd)
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

// check refuses flags that do not go together.
func (f *analyticsFlags) check(format bool) error {
	switch {
	case f.mode == "evaluate" && (f.by != "" || f.seed3):
		return errors.New("--mode evaluate can't be combined with --by or --seed3")
	case f.mode == "evaluate":
		return nil
	case f.mode != "":
		return fmt.Errorf("--mode %q: use evaluate, or leave it out", f.mode)
	case f.by != "" && !slices.Contains(analytics.Tables(), analytics.By(f.by)):
		return fmt.Errorf("--by %q: use %s", f.by, tables())
	case f.seed3 && (f.by != "" || format):
		return errors.New("--seed3 sets the format itself: leave out --by and --format")
	}
	switch f.format {
	case "text", "markdown", "json":
	case "csv":
		if f.by == "" {
			return errors.New("--format csv writes one table: name it with --by")
		}
	case "jsonl":
		if f.by != "" {
			return errors.New("--format jsonl writes the log and no table: leave out --by")
		}
	default:
		return fmt.Errorf("--format %q: use text, markdown, json, csv or jsonl", f.format)
	}
	return nil
}

// summarise writes what the logs say.
func (f *analyticsFlags) summarise(cmd *cobra.Command) error {
	which, err := f.filter(time.Now())
	if err != nil {
		return unusable(err)
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	app.Yield()
	out := &checkedWriter{w: cmd.OutOrStdout()}
	chosen := ports.LogFilter{Since: which.Since, Concerns: which.Concerns}
	err = app.ReadLogs(cmd.Context(), url, chosen, func(logs iter.Seq2[[]learning.Entry, error], found []ports.RepositoryProbation, describe analytics.Describe) error {
		return f.write(cmd, out, logs, analytics.Options{Since: which.Since, By: analytics.By(f.by), Probation: found}, describe)
	})
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case out.err != nil:
		return unfinished(out.err)
	case err != nil:
		return unusable(err)
	}
	return nil
}

// write writes the logs in the form that the flags name.
func (f *analyticsFlags) write(cmd *cobra.Command, out io.Writer, logs iter.Seq2[[]learning.Entry, error], o analytics.Options, describe analytics.Describe) error {
	if f.format == "jsonl" {
		n, err := analytics.Log(cmd.Context(), out, logs, o.Since)
		if err == nil && n == 0 {
			return f.none()
		}
		return err
	}
	s, err := analytics.Summarise(cmd.Context(), logs, o)
	switch {
	case err != nil:
		return err
	case s.Totals.Reviews == 0:
		return f.none()
	case f.seed3:
		return analytics.Seed3(cmd.Context(), out, logs, s, describe)
	}
	switch f.format {
	case "json":
		return writeJSON(out, s)
	case "csv":
		return analytics.CSV(out, s)
	case "markdown":
		_, err = io.WriteString(out, analytics.Markdown(s))
	default:
		_, err = io.WriteString(out, analytics.Text(s))
	}
	return err
}

// checkedWriter remembers that writing failed: then the input was not the reason.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		c.err = err
	}
	return n, err
}
