package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// maxReports bounds the files of one command line. A document has only a few reports.
const maxReports = 100

type aggregateFlags struct {
	phase, config, server, format string
	reviewed                      string // the document that models review
	write                         bool
	tape                          tapeFlags
}

func aggregateCommand() *cobra.Command {
	var f aggregateFlags
	c := &cobra.Command{
		Use:   "aggregate {FILE... | --review DOCUMENT [FILE...]}",
		Short: "Decide from review reports whether work may go on to the next phase",
		Long: `Combine the review reports of one document. The answer says whether work may go on
to the plan (with --phase plan: to the tasks), how good the document is, and what
to change first. A report is markdown with a section "` + reviewreport.Heading + `"
that holds a fenced json block. The file name - means standard input.

A report without this section, or with broken JSON, always blocks. The other reports
still count. Exit codes: 0 go on; 1 blocked; 2 a file can't be read or is larger
than 1 MiB; 3 the command could not finish.

With --review, language models review a specification first (with --phase plan: a
plan). They act as the same reviewers as on pull requests, and run in parallel. If
you name a report of a reviewer, the models are not asked for that one. With two
models, a reviewer blocks only if both models block; if only one does, standard
error says so. The models come from review-settings.json in --server. They get the
document without its secrets. The answer is markdown unless you set --format.
--write saves the reports in the directory review beside the document, and never
overwrites a file.

The thresholds come from review-settings.json in --config, or are the defaults.
Each aggregation writes one line of JSON to standard error, with the thresholds and
the SHA-256 of each report.`,
		Example: "  reviewgate aggregate docs/01-planning/specifications/007/review/*-report.md\n" +
			"  reviewgate aggregate --phase plan --format markdown technical-review-report.md 2>>audit.jsonl\n" +
			"  reviewgate aggregate --server /etc/reviewgate --review docs/01-planning/specifications/007/SPEC.md",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && f.reviewed == "":
				return errors.New("name at least one review report, such as reviewgate aggregate spec-review-report.md, or - for standard input")
			case len(args) > maxReports:
				return fmt.Errorf("there are %d review reports, more than the limit of %d: aggregate one document at a time", len(args), maxReports)
			}
			return nil
		},
		RunE: interruptible(f.run),
	}
	c.Flags().StringVar(&f.phase, "phase", pipeline.PhaseSpec, "`phase` of the reports: spec or plan")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with a repository's config files, which set the thresholds")
	c.Flags().StringVar(&f.format, "format", "json", "json or markdown")
	c.Flags().StringVar(&f.reviewed, "review", "", "`document` that the configured models review first")
	c.Flags().StringVar(&f.server, "server", "", "`directory` of the server's config, which names the models")
	c.Flags().BoolVar(&f.write, "write", false, "save the models' reports beside the document")
	f.tape.add(c)
	return c
}

func (f *aggregateFlags) run(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "json", "markdown"); err != nil {
		return err
	}
	if f.phase != pipeline.PhaseSpec && f.phase != pipeline.PhasePlan {
		return unusable(fmt.Errorf("--phase %q: use %s or %s", f.phase, pipeline.PhaseSpec, pipeline.PhasePlan))
	}
	if err := notEmpty(cmd, "config", "server", "review", "record", "replay"); err != nil {
		return err
	}
	if f.reviewed == "" && (f.write || f.tape != tapeFlags{}) {
		return unusable(errors.New("--write, --record and --replay need --review: name the document that models are to review"))
	}
	if f.reviewed != "" && !cmd.Flags().Changed("format") {
		f.format = "markdown"
	}
	layers, err := (&layerFlags{server: f.server, repository: f.config}).layers()
	if err != nil {
		return unusable(err)
	}
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	thresholds := thresholdsOf(cfg)
	reports, unread := readReports(cmd, args)
	if len(unread) > 0 {
		tellReports(cmd.ErrOrStderr(), unread)
		return &exitError{code: exitUnusable}
	}
	inputs := reports
	if f.reviewed != "" {
		if reports, inputs, err = f.review(cmd, cfg, layers, reports); err != nil {
			return err
		}
	}
	outcome := reviewreport.Aggregate(f.phase, reports, thresholds)
	if err := record(cmd.ErrOrStderr(), &outcome, inputs, thresholds); err != nil {
		return unfinished(err)
	}
	if err := f.print(cmd, &outcome); err != nil {
		return err
	}
	if !outcome.Proceed {
		return &exitError{code: exitBlocked}
	}
	return nil
}

// thresholdsOf returns the thresholds for reports in a pull request: those of the first
// enabled agent that reads reports there.
func thresholdsOf(cfg *config.Config) reviewreport.Thresholds {
	for _, a := range cfg.Agents {
		if a.Kind == config.KindReport && a.Enabled {
			return reviewreport.Thresholds(cfg.ThresholdsOf(a.ID))
		}
	}
	return reviewreport.Thresholds(cfg.Settings.Thresholds)
}

// record writes the problems of the reports, then the audit record. If it fails, the
// aggregation does not count.
func record(w io.Writer, o *pipeline.ReviewReportOutcome, reports []reviewreport.Report, t reviewreport.Thresholds) error {
	tellReports(w, o.Errors)
	audit := reviewreport.AuditOf(o, reports, t)
	audit.Time = time.Now().UTC().Format(time.RFC3339)
	line, err := render.AuditLine(&audit)
	if err == nil {
		_, err = w.Write(line)
	}
	if err != nil {
		return fmt.Errorf("write the audit record: %w", err)
	}
	return nil
}

// tellReports writes the problems of reports, one on each line.
func tellReports(w io.Writer, problems []pipeline.ReviewReportError) {
	for i := range problems {
		fmt.Fprintln(w, "reviewgate:", render.ReportProblem(&problems[i]))
	}
}

func (f *aggregateFlags) print(cmd *cobra.Command, o *pipeline.ReviewReportOutcome) error {
	if f.format == "markdown" {
		return put(cmd, render.Aggregate(o))
	}
	answer, err := render.AggregateJSON(o)
	if err != nil {
		return unfinished(err)
	}
	return put(cmd, string(answer))
}

// readReports reads the reports that the command line names. It lists all files that
// can't be read, so that the user can correct them in one go.
func readReports(cmd *cobra.Command, names []string) (reports []reviewreport.Report, unread []pipeline.ReviewReportError) {
	seen := map[string]bool{}
	for _, name := range names {
		source, path := name, filepath.ToSlash(name)
		if name == "-" {
			source, path = standardInput, ""
		}
		at := filepath.Clean(name)
		if seen[at] {
			unread = append(unread, pipeline.ReviewReportError{Source: source, Error: "it is named twice", Recovery: "name it once"})
			continue
		}
		seen[at] = true
		in, err := readInput(cmd, name, reviewreport.MaxBytes)
		switch {
		case err != nil && isDir(name):
			unread = append(unread, pipeline.ReviewReportError{Source: source, Error: "it is a directory", Recovery: "name the files in it"})
		case err != nil:
			unread = append(unread, pipeline.ReviewReportError{Source: source, Error: unreadable(err), Recovery: "name files that hold review reports"})
		case len(in.text) > reviewreport.MaxBytes:
			unread = append(unread, pipeline.ReviewReportError{
				Source: source, Error: fmt.Sprintf("it has more than %d bytes, the limit of a review report", reviewreport.MaxBytes),
				Recovery: "make it shorter, or name another file",
			})
		default:
			reports = append(reports, reviewreport.Read(source, path, in.text))
		}
	}
	return reports, unread
}

// unreadable says why a file can't be read. It leaves out the file's name, which stands
// before it.
func unreadable(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("it can't be read: %v", err)
}
