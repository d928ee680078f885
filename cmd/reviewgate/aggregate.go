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
		Long: `Put the review reports of one document together: may work go on to the plan (or
with --phase plan, to the tasks), how good is the document, and what should
change first. A report is markdown with a section "` + reviewreport.Heading + `"
that holds a fenced json block. With - one is read from standard input.

A report that can't be used, because it has no such section or the JSON is
broken, stops no other and always blocks. Exit code 0: go on; 1: blocked; 2: a
file can't be read, or has more than 1 MiB; 3: it could not be finished.

With --review, language models first review a specification (or with --phase plan,
a plan) as the reviewers that pull requests have, side by side. A report that you
name stands before what models say as the same reviewer. With two models, a reviewer
blocks where both do; where one does, standard error says so. The models are those
of review-settings.json in --server; they get the document without its secrets. The
answer is markdown unless --format says otherwise. --write puts the reports into the
directory review beside the document, and overwrites none.

The thresholds are those of review-settings.json in --config, or the defaults.
Each aggregation is recorded on standard error as one line of JSON with the
thresholds and the SHA-256 of each report.`,
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
	c.Flags().StringVar(&f.phase, "phase", pipeline.PhaseSpec, "`phase` that the reports belong to: spec or plan")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with a repository's config files, for their thresholds")
	c.Flags().StringVar(&f.format, "format", "json", "json or markdown")
	c.Flags().StringVar(&f.reviewed, "review", "", "`document` that the configured models review first")
	c.Flags().StringVar(&f.server, "server", "", "`directory` of the server's config, which names the models")
	c.Flags().BoolVar(&f.write, "write", false, "keep the models' reports beside the document")
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
		return unusable(errors.New("--write, --record and --replay are about models' reviews: name a document by --review"))
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

// record writes the audit record, and the problems of reports. If it fails, the
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

// readReports reads the reports of a command line. It lists all files that can't be
// read, so that the user can correct them together.
func readReports(cmd *cobra.Command, names []string) (reports []reviewreport.Report, unread []pipeline.ReviewReportError) {
	seen := map[string]bool{}
	for _, name := range names {
		source, path := name, filepath.ToSlash(name)
		if name == "-" {
			source, path = standardInput, ""
		}
		at := filepath.Clean(name)
		if seen[at] {
			unread = append(unread, pipeline.ReviewReportError{Source: source, Error: "it is named twice", Recovery: "leave one out"})
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
				Recovery: "make it shorter, or name the report that was meant",
			})
		default:
			reports = append(reports, reviewreport.Read(source, path, in.text))
		}
	}
	return reports, unread
}

// unreadable says why a file can't be read, where the system says so without
// its name, which is said already.
func unreadable(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("it can't be read: %v", err)
}
