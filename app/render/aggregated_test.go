package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// aggregated returns the review that stage 6 makes from agents' outputs.
func aggregated(t *testing.T, results ...pipeline.AgentResult) View {
	t.Helper()
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v := cleanView()
	r := &v.Review
	r.Manifest, r.Results = pipeline.AgentManifest{}, results
	for i := range results {
		results[i].Status = pipeline.AgentOK
		results[i].Output.Agent, results[i].Output.Model, results[i].Output.Stage = results[i].Agent, results[i].Model, results[i].Stage
	}
	r.Report = aggregate.Aggregate(aggregate.Input{
		Facts: &r.Facts, Classification: &r.Classification, Manifest: &r.Manifest, Results: results, Config: cfg, FilesUnknown: true,
	})
	return v
}

func by(agent, model string, fs ...pipeline.Finding) pipeline.AgentResult {
	return pipeline.AgentResult{Agent: agent, Model: model, Stage: pipeline.ReviewStageQuality, Output: pipeline.AgentOutput{Findings: fs}}
}

// render recognises the words that stage 6 writes into findings.
func TestWordsForAggregatedFindings(t *testing.T) {
	at := func(title string, s pipeline.Severity, a pipeline.Action) pipeline.Finding {
		return pipeline.Finding{Title: title, Severity: s, Message: "Because of " + title, Confidence: 0.9, Path: "api/orders.go", StartLine: 76, EndLine: 76, Action: a}
	}
	for name, tt := range map[string]struct {
		results []pipeline.AgentResult
		want    []string
	}{
		"one model alone": {
			[]pipeline.AgentResult{by("reader", "claude-opus", at("Orders leak", pipeline.SeverityCritical, "")), by("reader", "claude-haiku")},
			[]string{"## ✋ A person must decide: 1 critical by one model only\n", "🟡 **1 · Orders leak** · ", "<sub>warning (critical, by one model only) · ", "<b>Models</b>:", "reader (claude-opus) handed in 1 finding."},
		},
		"reviewers who disagree": {
			[]pipeline.AgentResult{
				by("coherence", "", at("Cache of orders", pipeline.SeverityWarning, pipeline.ActionKeep)),
				by("scope-guardian", "", at("Cache of orders", pipeline.SeverityWarning, pipeline.ActionRemove)),
			},
			[]string{"<b>Reviewers disagree</b>: 1<", "coherence would keep it (warning): Because of Cache of orders.", "scope-guardian would remove it (warning)", "it does not block."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := aggregated(t, tt.results...)
			comment := wholeComment(v)
			for _, words := range tt.want {
				if !strings.Contains(comment, words) {
					t.Errorf("the comment lacks %q:\n%s", words, comment)
				}
			}
			readBack(t, v, comment)
		})
	}
}
