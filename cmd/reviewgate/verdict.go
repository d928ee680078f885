package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

func verdictCommand() *cobra.Command {
	format := "json"
	var asked []string
	c := &cobra.Command{
		Use:   "verdict RESULT.json...",
		Short: "Apply the four rules to reviewers' verdicts",
		Long: `Apply the four rules to the verdicts of one cycle of reviews, and say whether
work continues:

  1  any blocker           stop and escalate  PAUSED
  2  two or more concerns  pause and clarify  PAUSED
  3  exactly one concern   log and continue   RUNNING, flagged
  4  all approved          continue           RUNNING
  0  a missing answer      pause and clarify  PAUSED

The first rule that applies decides; rule 0 comes before rule 3. --asked names the
reviewers who were asked: all of them must have answered. Without it, the reviewers in
the files count as asked.

Each file (- is standard input) holds one review result, or a list of results:

  {"type": "review_result", "reviewer": "codex", "timestamp": "2026-01-31T12:00:00Z",
   "payload": {"verdict": "approved, concerns or blocker", "summary": "...",
     "issues": [{"severity": "high", "description": "...", "file": "auth.py", "line": 12}]}}

If a reviewer answers more than once, the answer with the latest timestamp counts;
if timestamps are equal, the worst verdict. A summary of more than 200 words is cut and
marked. If rule 2 or 0 decides, the field clarification has a prompt for the agents.
All files together may have 4 MiB.

Exit codes: 0 RUNNING; 1 PAUSED; 2 a file has no valid review result (then there is
no decision, and standard error lists the mistakes with their places); 3 the command
could not finish.`,
		Example: "  reviewgate verdict codex.json gemini.json\n" +
			"  reviewgate verdict --asked codex,gemini codex.json\n" +
			"  reviewgate verdict --format text reviews/*.json\n" +
			"  curl -s https://ci.example/results | reviewgate verdict -",
		Args: atLeastOne("review results"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return applyRules(cmd, args, format, strings.Join(asked, ","))
		}),
	}
	c.Flags().StringVar(&format, "format", format, "json or text")
	c.Flags().StringArrayVar(&asked, "asked", nil, "the `reviewers` who were asked, separated by commas")
	return c
}

func applyRules(cmd *cobra.Command, args []string, format, asked string) error {
	if err := oneOf(format, "json", "text"); err != nil {
		return err
	}
	reviewers, err := reviewersOf(cmd, asked)
	if err != nil {
		return err
	}
	results, err := readResults(cmd, args)
	if err != nil {
		return err
	}
	for i := range results {
		p := &results[i].Payload
		p.Summary = fourrules.Cut(p.Summary, fourrules.MaxWords)
		if name := results[i].Reviewer; reviewers != nil && !slices.Contains(reviewers, name) {
			return unusable(fmt.Errorf("--asked does not name %s, which has a result: add it, or leave its file out", plaintext.CutLine(name, 100)))
		}
	}
	d := fourrules.Decide(results, reviewers)
	if format == "text" {
		err = put(cmd, render.Verdict(&d, textOptions(cmd.OutOrStdout())))
	} else {
		err = putIndented(cmd, d)
	}
	if err == nil && d.Status != fourrules.Running {
		return &exitError{code: exitBlocked}
	}
	return err
}

// reviewersOf reads the flag --asked. It returns nil if the flag is not given.
func reviewersOf(cmd *cobra.Command, asked string) ([]string, error) {
	if !cmd.Flags().Changed("asked") {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(asked, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, unusable(fmt.Errorf("--asked %q: name the reviewers, separated by commas, such as --asked codex,gemini", asked))
		}
		names = append(names, name)
	}
	return names, nil
}

// readResults reads all files, and prints the problems of all of them together.
func readResults(cmd *cobra.Command, args []string) ([]fourrules.Result, error) {
	inputs, err := readInputs(cmd, args, jsontree.MaxBytes)
	if err != nil {
		return nil, unusable(err)
	}
	var results []fourrules.Result
	var wrong []jsontree.Error
	for _, in := range inputs {
		d, errs := fourrules.Decode(in.name, in.text)
		results, wrong = append(results, d.Results...), append(wrong, errs...)
		if len(d.Unknown) > 0 {
			leftOut(cmd, d.Unknown[0], len(d.Unknown))
		}
	}
	if len(wrong) > 0 {
		tell(cmd, problemsOf(wrong), len(wrong))
		return nil, &exitError{code: exitUnusable}
	}
	if older := len(results) - len(fourrules.Latest(results)); older > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "some reviewers answered more than once, and only the latest answer counts: %d of %d results left out\n", older, len(results))
	}
	return results, nil
}

// putIndented writes an answer for programs. It escapes control characters, which could
// change the terminal.
func putIndented(cmd *cobra.Command, v any) error {
	b, err := render.Indented(v)
	if err != nil {
		return unfinished(err)
	}
	if _, err := cmd.OutOrStdout().Write(b); err != nil {
		return unfinished(fmt.Errorf("write the answer: %w", err))
	}
	return nil
}
