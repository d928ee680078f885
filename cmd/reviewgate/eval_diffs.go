package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/eval"
)

type evalDiffsFlags struct {
	evalFlags
	out string
}

func evalDiffsCommand() *cobra.Command {
	var f evalDiffsFlags
	c := &cobra.Command{
		Use:   "diffs DIR",
		Short: "Review a directory of diffs and write the findings as JSON",
		Long: `Review a directory of diffs and write the findings as JSON, in the form that code
review benchmarks use. Each file that ends in .diff or .patch is a case. Its name is
the path without that ending. It holds the output of git diff, git format-patch or
diff -u. The whole pipeline reviews it without the repository, so it knows only the
lines of the diff. The subject and the text of a format-patch mail become title and
description.

The findings file has the path, lines, title, body, severity and confidence of each
finding, by case. It also has how each review ended, and the models' usage.
docs/reference/eval-files.md describes the file. The same diffs, config and answers
give the same file. The time that the run took goes to standard output. --record and
--replay work as in reviewgate eval.

A diff that can't be read does not stop the others. Exit codes: 0 all diffs are
reviewed; 2 a diff, the directory or the config can't be used; 3 an agent failed or
the command could not finish. The findings of the other diffs are still written.`,
		Example: "  reviewgate eval diffs diffs\n" +
			"  reviewgate eval diffs diffs --config /etc/reviewgate --record answers.jsonl --out findings.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one directory of diffs; see reviewgate eval diffs --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c.Flags().StringVar(&f.out, "out", "findings.json", "`file` to write the findings to, or - for standard output")
	f.add(c)
	return c
}

func (f *evalDiffsFlags) run(cmd *cobra.Command, dir string) error {
	if err := notEmpty(cmd, "config", "agent", "record", "replay", "out"); err != nil {
		return err
	}
	diffs, err := eval.FindDiffs(dir)
	if err != nil {
		return unusable(err)
	}
	if err := f.writable(); err != nil {
		return unfinished(fmt.Errorf("write the findings: %w", err))
	}
	o, done, err := f.options(cmd)
	if err != nil {
		return err
	}
	start := time.Now()
	found, err := eval.RunDiffs(cmd.Context(), diffs, o)
	if err := errors.Join(evalError(err), done()); err != nil {
		return err
	}
	text, err := eval.JSON(found)
	if err == nil {
		err = f.write(cmd, text)
	}
	if err != nil {
		return unfinished(fmt.Errorf("write the findings: %w", err))
	}
	return f.report(cmd, &found, time.Since(start))
}

// writable returns an error if the findings can't be written. It runs before any model
// costs money.
func (f *evalDiffsFlags) writable() error {
	if f.out == "-" {
		return nil
	}
	file, err := os.OpenFile(f.out, os.O_WRONLY, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		_, err = os.Stat(filepath.Dir(f.out))
		return err
	case err != nil:
		return err
	}
	return file.Close()
}

func (f *evalDiffsFlags) write(cmd *cobra.Command, text []byte) error {
	if f.out == "-" {
		return put(cmd, string(text))
	}
	return os.WriteFile(f.out, text, 0o644)
}

// report prints a summary and names the cases with problems. The worst problem gives the
// exit code.
func (f *evalDiffsFlags) report(cmd *cobra.Command, found *eval.Findings, took time.Duration) error {
	count, n := map[eval.CaseStatus]int{}, 0
	for i := range found.Cases {
		c := &found.Cases[i]
		count[c.Status]++
		n += len(c.Findings)
		for j, why := range c.Reasons {
			if j == 3 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%q: and %d more\n", c.Case, len(c.Reasons)-j)
				break
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%q is %s: %s\n", c.Case, c.Status, onOneLine(why))
		}
	}
	if f.out != "-" {
		u := found.Usage
		summary := fmt.Sprintf("%d diffs: %d reviewed, %d incomplete, %d unfinished, %d unusable; %d findings in %s\n",
			len(found.Cases), count[eval.CaseOK], count[eval.CaseIncomplete], count[eval.CaseUnfinished], count[eval.CaseUnusable], n, f.out)
		summary += fmt.Sprintf("models: %d questions, %d tokens in, %d out, $%.4f; the run took %.1f s\n", u.Questions, u.Input, u.Output, u.CostUSD, took.Seconds())
		if err := put(cmd, summary); err != nil {
			return err
		}
	}
	switch {
	case count[eval.CaseUnusable] > 0:
		return &exitError{code: exitUnusable}
	case count[eval.CaseUnfinished] > 0:
		return &exitError{code: exitUnfinished}
	}
	return nil
}

func evalExportCommand() *cobra.Command {
	var cases string
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the cases as diffs with their known defects, for other tools",
		Long: `Write the cases of reviewgate eval to a directory as diffs, and their known defects to
expected.json. Any tool that reviews diffs can then be measured with reviewgate eval
score. Exit codes: 0 the files are written; 2 the cases can't be used; 3 the command
could not finish.`,
		Example: "  reviewgate eval export cases && reviewgate eval diffs cases",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one directory to write to; see reviewgate eval export --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notEmpty(cmd, "cases"); err != nil {
				return err
			}
			loaded, err := eval.Load(cases)
			if err != nil {
				return unusable(err)
			}
			if err := eval.Export(cmd.Context(), loaded, args[0]); err != nil {
				return unfinished(err)
			}
			return put(cmd, fmt.Sprintf("%d cases are in %s, and their known defects in %s\n", len(loaded), args[0], filepath.Join(args[0], eval.ExpectedFile)))
		},
	}
	c.Flags().StringVar(&cases, "cases", "testdata/eval", "`directory` of the cases")
	return c
}
