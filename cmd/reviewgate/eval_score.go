package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/eval"
)

type evalScoreFlags struct{ findings, expected, format string }

func evalScoreCommand() *cobra.Command {
	var f evalScoreFlags
	c := &cobra.Command{
		Use:   "score",
		Short: "Score a tool's findings against known defects",
		Long: `Score a tool's findings against known defects. The command prints precision, recall
and F1 with 95 % confidence intervals, by severity and in total, findings on clean
cases, and cost. The findings come from reviewgate eval diffs or any other tool:

  [{"case": "NAME", "path": "a.go", "line": 12, "title": "...", "body": "..."}]

The file of expected findings lists every case. A case without defects is clean:

  {"cases": [{"case": "NAME", "defects": [
     {"path": "a.go", "start_line": 10, "end_line": 12, "severity": "major",
      "title": "...", "words": ["race", "lock"]}]}]}

A finding is right if it is within three lines of a defect and, if the defect has
words, uses one of them. A finding matches at most one defect, and a defect at most
one finding. docs/reference/eval-files.md describes all fields, their names in other
tools, and the figures. The file name - means standard input. Exit codes: 0 the figures
are printed; 2 a file can't be used; 3 the command could not finish.`,
		Example: "  reviewgate eval score --findings findings.json --expected expected.json\n" +
			"  other-tool | reviewgate eval score --findings - --expected expected.json --format json",
		Args: noArguments,
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	c.Flags().StringVar(&f.findings, "findings", "findings.json", "`file` with the tool's findings")
	c.Flags().StringVar(&f.expected, "expected", eval.ExpectedFile, "`file` with the known defects")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	return c
}

func (f *evalScoreFlags) run(cmd *cobra.Command) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "findings", "expected"); err != nil {
		return err
	}
	texts, err := readInputs(cmd, []string{f.findings, f.expected}, 2*eval.MaxScoredBytes)
	if err != nil {
		return unusable(err)
	}
	found, leftOutFound, wrongFound := eval.ReadFindings(texts[0].name, texts[0].text)
	expected, leftOutExpected, wrongExpected := eval.ReadExpected(texts[1].name, texts[1].text)
	if wrong := slices.Concat(wrongFound, wrongExpected); len(wrong) > 0 {
		tell(cmd, problemsOf(wrong[:min(len(wrong), maxTold)]), len(wrong))
		return &exitError{code: exitUnusable, err: errors.New("the files can't be used: correct the mistakes listed above")}
	}
	for _, l := range []eval.LeftOut{leftOutFound, leftOutExpected} {
		if l.Count > 0 {
			leftOut(cmd, l.First, l.Count)
		}
	}
	scored, err := eval.ScoreFindings(expected, found)
	if err != nil {
		return unusable(err)
	}
	if n := len(scored.Unknown); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d cases with findings are not in the expected file, such as %.100q. They are not scored. List a clean case there without defects.\n", n, scored.Unknown[0])
	}
	if f.format == "json" {
		return putJSON(cmd, scored)
	}
	return put(cmd, eval.ScoredText(scored))
}
