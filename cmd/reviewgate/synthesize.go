package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/synthesis"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/agentoutput"
)

type synthesizeFlags struct {
	facts, config, models, format string
}

func synthesizeCommand() *cobra.Command {
	var f synthesizeFlags
	c := &cobra.Command{
		Use:   "synthesize FINDINGS.json...",
		Short: "Combine agents' findings into one report and a decision",
		Long: `Combine agents' findings into one report and a decision, as the last stage of a
review does. It merges duplicates, turns contradictions into trade-offs, and sets
uncertain findings aside. Then the gate's conditions decide.

Each file (- is standard input) holds one agent's output, or a list of outputs:

  {"agent": "security", "model": "optional", "stage": "spec or quality, optional",
   "findings": [{"title": "...", "severity": "major", "message": "...",
     "confidence": 0.9, "path": "auth.go", "start_line": 12}],
   "residual_concerns": ["optional"], "deferred_questions": ["optional"]}

A finding needs a title, severity, message, confidence, and a path or a section.
P0 to P3, high, medium, low and SARIF's levels are severities too. A finding
without one of these fields is dropped: the coverage counts it, and standard error
shows where it is. An output that can't be read is named in the coverage and on
standard error; the others still count. The review is then incomplete, which
blocks unless the config's policies name the agent and none of them requires it.
The same applies if a dropped finding was critical or major, or if its severity
can't be read. All files together may have 64 MiB and 200,000 findings. The order
of files and findings never changes the report.

With --facts, paths and lines of findings are checked against the reviewed change,
and unknown facts count in the decision. Without --facts, paths and lines are not
checked. The config is the defaults, plus a repository's files from --config.

Exit codes: 0 the gate passes; 1 the gate blocks (needs_fixes or fail, and only in
mode enforce); 2 a file can't be opened, or the facts or the config can't be used;
3 the command could not finish.`,
		Example: "  reviewgate synthesize security.json quality.json\n" +
			"  reviewgate synthesize --format headless --models haiku,opus outputs/*.json\n" +
			"  my-agent | reviewgate synthesize --config .github/reviewgate --format markdown -",
		Args: atLeastOne("agents' findings"),
		RunE: interruptible(f.run),
	}
	c.Flags().StringVar(&f.facts, "facts", "", "`file` with the facts of the change (PRFacts)")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with a repository's config files, merged over the defaults")
	c.Flags().StringVar(&f.models, "models", "", "two `models` as A,B, the weaker first (default: those of the config)")
	c.Flags().StringVar(&f.format, "format", "json", "json, markdown, or headless (text that programs read by line)")
	return c
}

func (f *synthesizeFlags) run(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "json", "markdown", "headless"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "facts", "config", "models"); err != nil {
		return err
	}
	in, err := f.input(cmd, args)
	if err != nil {
		return err
	}
	out, problems, err := synthesis.Run(in)
	switch {
	case err != nil:
		return unfinished(err)
	case len(problems) > 0:
		tell(cmd, problems, len(problems))
		return &exitError{code: exitUnusable}
	}
	for i := range out.Malformed {
		out.Malformed[i].Problem = "output not used: " + out.Malformed[i].Problem
	}
	tell(cmd, out.Malformed, len(out.Malformed))
	for _, u := range out.Unknown {
		leftOut(cmd, u.First, u.Count)
	}
	dropped := problemsOf(out.Dropped.Why)
	for i := range dropped {
		dropped[i].Problem = "finding dropped: " + dropped[i].Problem
	}
	tell(cmd, dropped, out.Dropped.Count)
	return f.report(cmd, &out)
}

// input reads the config, the facts and the agents' outputs.
func (f *synthesizeFlags) input(cmd *cobra.Command, args []string) (in synthesis.Input, err error) {
	if in.Models, err = f.pair(); err != nil {
		return in, unusable(err)
	}
	var layers []config.Layer
	if f.config != "" {
		layer, err := readLayer(config.LayerRepository, f.config)
		if err != nil {
			return in, unusable(err)
		}
		layers = append(layers, layer)
	}
	cfg, problems := config.Load(layers...)
	if in.Config = cfg; len(problems) > 0 {
		return in, invalid(cmd, problems)
	}
	if f.facts != "" {
		if f.facts == "-" && slices.Contains(args, "-") {
			return in, unusable(errors.New("- is named twice: standard input can be read only once"))
		}
		facts, err := readInputs(cmd, []string{f.facts}, agentoutput.MaxBytes)
		if err != nil {
			return in, unusable(err)
		}
		in.Facts = &synthesis.Source{Name: facts[0].name, Text: facts[0].text}
	}
	texts, err := readInputs(cmd, args, agentoutput.MaxBytes)
	if err != nil {
		return in, unusable(err)
	}
	for _, t := range texts {
		in.Outputs = append(in.Outputs, synthesis.Source{Name: t.name, Text: t.text})
	}
	return in, nil
}

// pair returns the two models that --models names, or nil without the flag.
func (f *synthesizeFlags) pair() ([]string, error) {
	if f.models == "" {
		return nil, nil
	}
	models := strings.Split(f.models, ",")
	for i := range models {
		models[i] = strings.TrimSpace(models[i])
	}
	if len(models) != 2 || models[0] == "" || models[1] == "" || models[0] == models[1] {
		return nil, fmt.Errorf("--models %q: name two models, the weaker first, such as haiku,opus", f.models)
	}
	return models, nil
}

// report prints the report and makes the gate the exit code.
func (f *synthesizeFlags) report(cmd *cobra.Command, out *synthesis.Outcome) error {
	report := &out.Review.Report
	mode := out.Config.Mode(report.Repository)
	view := render.View{
		Review: out.Review, Record: pipeline.RunRecord{Version: app.Version()}, Mode: mode, Rules: render.RuleNotes(report, out.Config),
	}
	var err error
	switch f.format {
	case "markdown":
		err = put(cmd, render.Markdown(view))
	case "headless":
		err = put(cmd, render.Headless(report))
	default:
		err = putIndented(cmd, report)
	}
	if err == nil && mode == config.ModeEnforce && report.Decision.Blocks() {
		return &exitError{code: exitBlocked}
	}
	return err
}
