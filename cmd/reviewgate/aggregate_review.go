package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// documentText is a document outside any repository.
type documentText []byte

// File returns the document for every path, since there is no other file.
func (t documentText) File(context.Context, string, string, int64) ([]byte, error) { return t, nil }

// reviewer is a reviewer whose part language models take.
type reviewer struct {
	agent  config.Agent
	by     reviewreport.Reviewer
	models []string
}

// review asks models to review the document as each reviewer of the phase that has no
// report in given. All run in parallel. reports has one report for each reviewer, all also
// has the reports of the single models.
func (f *aggregateFlags) review(cmd *cobra.Command, cfg *config.Config, layers []config.Layer, given []reviewreport.Report) (reports, all []reviewreport.Report, err error) {
	text, err := f.document(cmd)
	if err != nil {
		return nil, nil, unusable(err)
	}
	reviewers, err := f.reviewers(cfg, given)
	if err != nil {
		return nil, nil, unusable(err)
	}
	models, done, err := f.tape.models(layers)
	if err != nil {
		return nil, nil, unusable(err)
	}
	defer func() {
		if closed := done(); err == nil && closed != nil {
			err = unfinished(fmt.Errorf("write %s: %w", f.tape.record, closed))
		}
	}()
	opinions, err := f.ask(cmd, cfg, models, text, reviewers)
	if err != nil {
		return nil, nil, unfinished(err)
	}
	reports, all = given, given
	for _, r := range reviewers {
		report, note := reviewreport.Combine(&r.by, opinions[r.agent.ID], reviewreport.Thresholds(cfg.ThresholdsOf(r.agent.ID)))
		if note != "" {
			tellReports(cmd.ErrOrStderr(), []pipeline.ReviewReportError{{Source: r.by.Agent, Error: strings.TrimPrefix(note, r.by.Agent+" "), Recovery: "the other report counts"}})
		}
		reports = append(reports[:len(reports):len(reports)], report)
		for _, o := range opinions[r.agent.ID] {
			all = append(all[:len(all):len(all)], o.Report)
		}
		if f.write && !report.Record.Broken() {
			if err := f.writeReport(&r.by, &report.Record); err != nil {
				return nil, nil, unfinished(err)
			}
		}
	}
	return reports, all, nil
}

// document reads the document to review.
func (f *aggregateFlags) document(cmd *cobra.Command) ([]byte, error) {
	in, err := readInput(cmd, f.reviewed, model.MaxDocument)
	switch {
	case err != nil:
		return nil, err
	case len(in.text) > model.MaxDocument:
		return nil, fmt.Errorf("%s has more than %d MiB: split it", in.name, model.MaxDocument>>20)
	case len(strings.TrimSpace(string(in.text))) == 0 || !utf8.Valid(in.text):
		return nil, fmt.Errorf("%s has no text: name a specification or a plan in UTF-8", in.name)
	}
	return in.text, nil
}

// reviewers returns the reviewers of the phase that have no report in given.
func (f *aggregateFlags) reviewers(cfg *config.Config, given []reviewreport.Report) (list []reviewer, err error) {
	if len(cfg.Settings.ModelEndpoints) == 0 {
		return nil, errors.New("--review: no language model is configured: let --server name a server's config directory whose review-settings.json has model_endpoints")
	}
	known := false
	for _, a := range cfg.Agents {
		by, ok := a.Reviewer()
		if !ok || !a.Enabled || by.Phase != f.phase {
			continue
		}
		known = true
		if slices.ContainsFunc(given, func(r reviewreport.Report) bool { return r.Record.Agent == by.Agent }) {
			continue
		}
		if f.write {
			if at := f.reportFile(&by); exists(at) {
				return nil, fmt.Errorf("--write: %s already exists: remove it, or also name it on the command line to use it", at)
			}
		}
		list = append(list, reviewer{a, by, slices.Compact(cfg.ModelsOf(&a, nil))})
	}
	if !known {
		return nil, fmt.Errorf("--review: the config has no enabled agent that reviews a %s", map[string]string{pipeline.PhaseSpec: "specification", pipeline.PhasePlan: "plan"}[f.phase])
	}
	return list, nil
}

// ask asks all models of all reviewers in parallel. If a model gives no opinion, its report
// says so.
func (f *aggregateFlags) ask(cmd *cobra.Command, cfg *config.Config, models *model.Server, text []byte, reviewers []reviewer) (map[string][]reviewreport.Opinion, error) {
	runner, err := run.NewRunner(run.Config{Version: app.Version(), Now: time.Now})
	if err != nil {
		return nil, err
	}
	name := shownPath(f.reviewed)
	facts := &pipeline.PRFacts{ObservedAt: time.Now(), Files: pipeline.List[pipeline.File]{{Path: name, Status: pipeline.FileModified}}}
	progress := newProgress(cmd.ErrOrStderr())
	var round model.Round
	var mu sync.Mutex
	reported := map[[2]string]reviewreport.Report{}
	agents := map[string]dispatch.Agent{}
	var manifest pipeline.AgentManifest
	by := map[string]reviewreport.Reviewer{}
	for _, r := range reviewers {
		needs := model.Needs{
			Redact: runner.Redact, Files: documentText(text), Failed: progress.unanswered, Round: &round,
			Reported: func(model string, report reviewreport.Report) {
				mu.Lock()
				defer mu.Unlock()
				reported[[2]string{r.agent.ID, model}] = report
			},
		}
		if agents[r.agent.ID], err = models.Agent(r.agent, cfg, needs); err != nil {
			return nil, err
		}
		by[r.agent.ID] = r.by
		manifest.Entries = append(manifest.Entries, pipeline.ManifestEntry{
			Agent: r.agent.ID, Stage: pipeline.ReviewStageQuality, Models: r.models, Scope: pipeline.AgentScope{Files: pipeline.List[string]{name}},
		})
	}
	results, err := dispatch.Dispatch(cmd.Context(), manifest, facts, nil, agents, dispatch.Options{
		Concurrency: cfg.Settings.Limits.AgentConcurrency, Limits: run.LimitsOf(cfg),
		Observe: func(o dispatch.Observation) { progress.step(o.Agent + " (" + o.Model + ") is done") },
	})
	progress.done()
	if err != nil {
		return nil, err
	}
	opinions := map[string][]reviewreport.Opinion{}
	mu.Lock() // an agent that timed out may still report
	defer mu.Unlock()
	for _, r := range results {
		report, ok := reported[[2]string{r.Agent, r.Model}]
		agent := by[r.Agent].Agent
		source := fmt.Sprintf("%s by %s", agent, r.Model)
		switch {
		case ok && r.Status == pipeline.AgentOK && r.Note != "":
			tellReports(cmd.ErrOrStderr(), []pipeline.ReviewReportError{{Source: source, Error: r.Note}})
		case !ok || r.Status != pipeline.AgentOK:
			report = reviewreport.Report{
				Source: source, Path: name,
				Record: reviewreport.Failed(agent, strings.ReplaceAll(string(r.Status), "_", " ")+": "+r.Note, "Review again, or by hand"),
			}
		}
		opinions[r.Agent] = append(opinions[r.Agent], reviewreport.Opinion{Model: r.Model, Report: report})
	}
	return opinions, nil
}

// shownPath returns the path of a file as models see it: relative to the working directory.
// For a file outside that directory it is the name alone, since the path may hold a user's
// name.
func shownPath(file string) string {
	if dir, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if rel, err := filepath.Rel(dir, file); err == nil {
			file = rel
		}
	}
	if file = filepath.Clean(file); !filepath.IsLocal(file) {
		file = filepath.Base(file)
	}
	return filepath.ToSlash(file)
}

// reportFile returns the file for a reviewer's report on the document.
func (f *aggregateFlags) reportFile(by *reviewreport.Reviewer) string {
	return filepath.Join(filepath.Dir(f.reviewed), "review", by.File)
}

// writeReport writes a report beside the document. It never overwrites a file.
func (f *aggregateFlags) writeReport(by *reviewreport.Reviewer, r *reviewreport.Record) error {
	at := f.reportFile(by)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	file, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = file.WriteString("# Review by language models\n\n" + reviewreport.Write(r) + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, fs.ErrNotExist)
}
