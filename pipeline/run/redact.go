package run

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Normalize does not redact quotes of the config. A secret in them would be shown to more people
// than can read the config.

// redactProposed replaces secrets in quotes of a proposed config.
func (r *Runner) redactProposed(p *pipeline.ProposedConfig) {
	p.Condition = r.Redact(p.Condition)
	p.Problems = r.redactedProblems(p.Problems)
	for i := range p.Changes {
		p.Changes[i].ID = r.Redact(p.Changes[i].ID)
	}
	if t := p.Tests; t != nil {
		t.Problems = r.redactedProblems(t.Problems)
		for i := range t.Failures {
			f := &t.Failures[i]
			f.Name, f.Why = r.Redact(f.Name), plaintext.Cut(r.Redact(f.Why), maxTestWhy)
		}
	}
}

// maxTestWhy bounds what is said about a failed policy test, in characters. It is cut only here,
// because half of a secret can't be recognised.
const maxTestWhy = 300

// redactedProblems are a config's problems without secrets. It copies them, since the config is
// shared.
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

// redactGaps replaces secrets in the names of concerns, the only text of the log that config can
// choose freely.
func (r *Runner) redactGaps(gaps []pipeline.GapLogEntry) {
	for i := range gaps {
		gaps[i].Name = r.Redact(gaps[i].Name)
	}
}

// redactRules replaces secrets in the findings' texts that come from rules, and in those that
// aggregate would take from rules. The defaults have none.
func (r *Runner) redactRules(results pipeline.List[pipeline.AgentResult], engine *Engine) {
	known := map[string]string{} // one rule may have many findings
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
				// It may quote another form of the line, which joins a secret that the line itself
				// splits.
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
