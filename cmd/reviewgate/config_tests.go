package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/app/starter"
	"github.com/reviewgate/reviewgate/config"
)

type testFlags struct {
	checkFlags
	only                            string
	record, out, database, settings string
}

func configTestCommand() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run the policy tests of a directory of config files",
		Long: `Review the changes that the cases in DIR/tests describe, with the config in DIR, and
compare: the decision, the agents, the findings. Neither GitHub nor a model is asked. For
an agent that needs GitHub or a model, the case's outputs are used. Without one it finds
nothing, and the last lines name it. At most 200 cases, 1 MB together, are run, in at most
10 seconds.

DIR and the layers work as in config check.

--record writes a case from a review in the server's database, or in a copy of it. The last
line of a comment names the RUN of its review. With the config that the review used, the case
passes. Standard error lists what the case leaves out, and why.

Exit codes: 0 all cases pass, or the case is written; 1 a case fails; 2 the input can't be
used, or a case was not run within the time; 3 the command could not finish.`,
		Example: "  reviewgate config test .github/reviewgate\n" +
			"  reviewgate config test --layer organisation --server /etc/reviewgate --format json config/\n" +
			"  reviewgate config test --record qk3v5xw2a7n4m6bd --out .github/reviewgate/tests/payments.json",
		Args: atMostOneConfig,
		RunE: f.run,
	}
	f.add(c)
	c.Flags().StringVar(&f.only, "only", "", "run only the cases whose name contains this `text`")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVar(&f.record, "record", "", "write a case from the stored review of this `run`")
	c.Flags().StringVar(&f.out, "out", "", "new `file` for the case, with --record (default: standard output)")
	addDatabaseFlags(c, &f.database, &f.settings)
	return c
}

func (f *testFlags) run(cmd *cobra.Command, args []string) error {
	if err := notEmpty(cmd, "layer", "only", "record", "out"); err != nil {
		return err
	}
	recording := f.record != ""
	switch flags := cmd.Flags(); {
	case recording && len(args) > 0:
		return unusable(errors.New("--record takes the config that the review used: leave out the directory"))
	case recording && (flags.Changed("layer") || f.server != "" || f.organisation != "" || f.only != "" || flags.Changed("format")):
		return unusable(errors.New("--record goes only with --out, --database and --settings"))
	case recording:
		return f.write(cmd)
	case f.out != "" || f.database != "" || f.settings != "":
		return unusable(errors.New("--out, --database and --settings go only with --record"))
	}
	return f.test(cmd, args)
}

// test runs the cases of a directory.
func (f *testFlags) test(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	dir, err := f.directory(cmd, args)
	if err != nil {
		return err
	}
	cfg, _, problems, err := f.load(dir)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	files, err := f.tests(dir)
	if err != nil {
		return err
	}
	cases, wrong, err := policytest.Read(cmd.Context(), files, cfg)
	if err != nil {
		return unfinished(err)
	}
	if len(wrong.List) > 0 {
		return invalid(cmd, wrong.Listed())
	}
	if cases = policytest.Select(cases, f.only); len(cases) == 0 {
		return unusable(f.nothing(dir, len(files)))
	}
	progress := newProgress(cmd.ErrOrStderr())
	report := policytest.Run(cmd.Context(), cases, cfg, policytest.Options{
		Engines: engines, Progress: func(done int) { progress.step(fmt.Sprintf("%d of %d cases", done, len(cases))) },
	})
	progress.done()
	if err := cmd.Context().Err(); err != nil {
		return unfinished(err)
	}
	if f.format == "json" {
		err = putJSON(cmd, report)
	} else {
		err = put(cmd, policytest.Text(report))
	}
	switch {
	case err != nil:
		return err
	case report.NotRun > 0:
		return &exitError{code: exitUnusable}
	case report.Failed > 0:
		return &exitError{code: exitBlocked}
	}
	return nil
}

// nothing is the error for a directory without the chosen cases.
func (f *testFlags) nothing(dir string, files int) error {
	if files == 0 {
		return fmt.Errorf("%s has no policy tests: put a case into %s/%s, or write one from a review with --record", onOneLine(dir), onOneLine(strings.TrimSuffix(dir, "/")), config.TestsDir)
	}
	return fmt.Errorf("no case has %q in its name: leave out --only, or choose another text", f.only)
}

// write writes a case from a stored review.
func (f *testFlags) write(cmd *cobra.Command) error {
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	recorded, err := app.RecordTest(cmd.Context(), url, strings.ToLower(f.record))
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case err != nil:
		return unusable(err)
	}
	for _, what := range recorded.LeftOut {
		fmt.Fprintln(cmd.ErrOrStderr(), "not expected: "+what)
	}
	for _, why := range recorded.Why {
		fmt.Fprintln(cmd.ErrOrStderr(), "not repeated: "+why)
	}
	if f.out == "" {
		return put(cmd, string(recorded.Text))
	}
	switch err := starter.WriteNew(f.out, recorded.Text); {
	case errors.Is(err, os.ErrExist):
		return unusable(fmt.Errorf("%s exists: choose another --out", f.out))
	case err != nil:
		return unusable(fmt.Errorf("write the case: %w", err))
	}
	return nil
}
