package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/eval"
)

type evalFlags struct {
	config, cases, format, agent string
	tape                         tapeFlags
}

func evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure agents on changes with known defects",
		Long: `Measure agents on changes with known defects. The whole pipeline reviews each case.
The command prints precision, recall, findings on clean changes, cost and time for
each agent and model. docs/eval.md says when a defect counts as found, and
docs/reference/eval-files.md how to add a case.

Without --config the command measures the shipped rules, and sends nothing out.
--record saves the models' answers in a file. --replay reads them from it: no model is
asked, no key is needed, and the figures are the same. Exit codes: 0 the figures are
printed; 2 the cases or the config can't be used; 3 the command could not finish. The
table counts agents that fail.

The subcommands review the diffs of any benchmark, score the findings of any tool, and
write the cases as diffs for other tools.`,
		Example: "  reviewgate eval\n" +
			"  reviewgate eval --config /etc/reviewgate --agent security-reviewer --format json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.cases, "cases", "testdata/eval", "`directory` of the cases")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	f.add(c)
	c.AddCommand(evalDiffsCommand(), evalScoreCommand(), evalExportCommand())
	return c
}

// add adds the flags that choose the agents and their models.
func (f *evalFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "`directory` of the server's config, which may name models")
	c.Flags().StringVar(&f.agent, "agent", "", "`id` of the only agent to run (default: all)")
	f.tape.add(c)
}

func (f *evalFlags) run(cmd *cobra.Command) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "config", "cases", "agent", "record", "replay"); err != nil {
		return err
	}
	cases, err := eval.Load(f.cases)
	if err != nil {
		return unusable(err)
	}
	o, done, err := f.options(cmd)
	if err != nil {
		return err
	}
	o.Cases = cases
	result, err := eval.Run(cmd.Context(), o)
	if err := errors.Join(evalError(err), done()); err != nil {
		return err
	}
	if f.format == "json" {
		return putJSON(cmd, result)
	}
	return put(cmd, eval.Text(result))
}

// evalError gives the error of a run its exit code.
func evalError(err error) error {
	var bad *eval.UnusableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return unusable(err)
	}
	return unfinished(err)
}

// options returns the options of a run without its cases. done ends the recording and the
// display of progress.
func (f *evalFlags) options(cmd *cobra.Command) (o eval.Options, done func() error, err error) {
	layers, err := (&layerFlags{server: f.config}).layers()
	if err != nil {
		return o, nil, unusable(err)
	}
	models, ended, err := f.tape.models(layers)
	if err != nil {
		return o, nil, unusable(err)
	}
	progress := newProgress(cmd.ErrOrStderr())
	maker := agents.New(agents.Options{Models: models, Unanswered: progress.unanswered})
	o = eval.Options{
		Layers: layers, Agent: f.agent, Version: app.Version(), Now: time.Now, Progress: progress.step,
		IOAgents: maker.Agent, Comparer: maker.Comparer, Verifier: maker.Verifier,
	}
	return o, func() error {
		progress.done()
		if err := ended(); err != nil {
			return unfinished(fmt.Errorf("write %s: %w", f.tape.record, err))
		}
		return nil
	}, nil
}
