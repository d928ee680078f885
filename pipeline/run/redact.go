package run

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// What is quoted of the config is no part of what normalize redacts. A secret in
// it would be shown where more people read than where the config is.

// redactProposed takes secrets out of what is quoted of a proposed config.
func (r *Runner) redactProposed(p *pipeline.ProposedConfig) {
	p.Condition = r.Redact(p.Condition)
	p.Problems = r.redactedProblems(p.Problems)
	for i := range p.Changes {
		p.Changes[i].ID = r.Redact(p.Changes[i].ID)
	}
}

// redactedProblems are a config's problems without secrets. The config's own
// stay as they are: it is shared.
func (r *Runner) redactedProblems(of pipeline.List[pipeline.ConfigProblem]) pipeline.List[pipeline.ConfigProblem] {
	problems := slices.Clone(of)
	for i := range problems {
		p := &problems[i]
		for _, text := range []*string{&p.Pointer, &p.Problem, &p.Remedy} {
			*text = r.Redact(*text)
		}
	}
	return problems
}

// redactGaps takes secrets out of the names of concerns, the only text of the
// log that config can choose freely.
func (r *Runner) redactGaps(gaps []pipeline.GapLogEntry) {
	for i := range gaps {
		gaps[i].Name = r.Redact(gaps[i].Name)
	}
}

// redactRules takes secrets out of the findings' texts that come from rules, and
// out of those that aggregate would take from there. The defaults' have none.
func (r *Runner) redactRules(results pipeline.List[pipeline.AgentResult], engine *Engine) {
	known := map[string]string{} // many findings are of one rule
	redacted := func(text string) string {
		clean, ok := known[text]
		if !ok {
			clean = r.Redact(text)
			known[text] = clean
		}
		return clean
	}
	for i := range results {
		findings := results[i].Output.Findings
		for j := range findings {
			f := &findings[j]
			rule := engine.byID[f.RuleID]
			if rule != nil {
				// It may quote the line as it is meant, where a secret is whole that the
				// line itself splits.
				for k := range f.Evidence {
					f.Evidence[k] = redacted(f.Evidence[k])
				}
			}
			if rule == nil || engine.config.LayerOf(config.FileRules, rule.ID) == config.LayerDefaults {
				continue
			}
			for _, text := range []*string{&f.Title, &f.Message, &f.WhyItMatters, &f.Recommendation, &f.Category} {
				*text = redacted(*text)
			}
			if clean := redacted(rule.Description); f.WhyItMatters == "" && clean != rule.Description {
				f.WhyItMatters = clean
			}
			if clean := redacted(rule.Recommendation); f.Recommendation == "" && clean != rule.Recommendation {
				f.Recommendation = clean
			}
		}
	}
}

// Redact replaces the secrets in a text by placeholders.
func (r *Runner) Redact(text string) string {
	quoted := pipeline.PRFacts{Body: text}
	r.detector.Redact(&quoted)
	return quoted.Body
}
