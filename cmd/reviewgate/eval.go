package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/eval"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

type evalFlags struct {
	config, cases, format, agent string
	tape                         tapeFlags
}

func evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure agents on changes whose defects are known",
		Long: `Measure agents on changes whose defects are known: the cases are reviewed by the
whole pipeline, and per agent and model precision, recall, findings on clean
changes, cost and time are printed. docs/eval.md says what counts as found, and
how to add a case.

Without --config the shipped rules are measured, and nothing leaves the machine.
With --record the models' answers are kept in a file, and with --replay they are taken
from it: no model is asked, no key is needed, and the figures are the same.
Exit code: 0 the figures are printed, 2 the cases or the config can't be used, 3 it
could not be finished. An agent that fails is counted in the table.`,
		Example: "  reviewgate eval\n" +
			"  reviewgate eval --config /etc/reviewgate --agent security-reviewer --format json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.config, "config", "", "`directory` of the server's config, which may name models")
	c.Flags().StringVar(&f.cases, "cases", "testdata/eval", "`directory` of the cases")
	c.Flags().StringVar(&f.agent, "agent", "", "`id` of the only agent to run (default: all)")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	f.tape.add(c)
	return c
}

func (f *evalFlags) run(cmd *cobra.Command) (err error) {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "config", "cases", "agent", "record", "replay"); err != nil {
		return err
	}
	layers, err := (&layerFlags{server: f.config}).layers()
	if err != nil {
		return unusable(err)
	}
	cases, err := eval.Load(f.cases)
	if err != nil {
		return unusable(err)
	}
	models, done, err := f.tape.models(layers)
	if err != nil {
		return unusable(err)
	}
	defer func() {
		if closed := done(); err == nil && closed != nil {
			err = unfinished(fmt.Errorf("write %s: %w", f.tape.record, closed))
		}
	}()
	out := &outside{models: models}
	progress := newProgress(cmd.ErrOrStderr())
	out.failed = progress.unanswered
	result, err := eval.Run(cmd.Context(), eval.Options{
		Cases: cases, Layers: layers, Agent: f.agent, Version: app.Version(), Now: time.Now, Progress: progress.step,
		Outside: func(of run.OutsideAgent) dispatch.Agent {
			return out.asking(of)
		},
		Comparer: out.comparer, Verifier: out.verifier,
	})
	progress.done()
	var bad *eval.UnusableError
	switch {
	case errors.As(err, &bad):
		return unusable(err)
	case err != nil:
		return unfinished(err)
	}
	if f.format == "json" {
		return putJSON(cmd, result)
	}
	return put(cmd, eval.Text(result))
}
