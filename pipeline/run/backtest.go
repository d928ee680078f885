package run

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// Under is another config for a stored review.
type Under struct {
	// Own is the config that the review used, and Config the other one.
	Own, Config *config.Config
	// Same reports whether an agent that reads more than the facts, or asks a model, would be asked
	// the same under both configs, apart from the files that it looks at.
	Same func(agent string) bool
	// SameRules says that both configs have the same rules, so that agents of the kind rules find
	// the same in the same files.
	SameRules bool
	// Before returns the report of an earlier head under the other config. If it returns nil, the
	// stored report counts.
	Before func(head string) *pipeline.PreviousReport
}

// Backtest is what a stored review would have been under another config.
type Backtest struct {
	// Report has the decision of the gate, without that of a person. If something is unknown, it was
	// made without that.
	Report pipeline.Report
	// Unknown says what can't be known, sorted. A decision that does not block may then be wrong.
	// One that blocks holds, unless Either is set: more findings only add to it.
	Unknown pipeline.List[string]
	// Either says that what is unknown may also make the decision milder, such as what a model would
	// say about another one's findings.
	Either bool
	// Agents are those whose findings are unknown.
	Agents pipeline.List[string]
}

// Backtest computes a stored review under another config. It asks nobody: an agent that neither
// reads the facts alone nor has a stored result is unknown. A review in which a stage failed can't
// be computed.
func (r *Runner) Backtest(ctx context.Context, was *pipeline.Review, u Under) (Backtest, error) {
	if was.Failed != "" {
		return Backtest{}, fmt.Errorf("the stage %s failed", was.Failed)
	}
	engine, err := r.Engines.get(u.Config)
	if err != nil {
		return Backtest{}, err
	}
	facts := was.Facts
	if u.Config.Key != u.Own.Key {
		facts.Config = u.Config.InForce
	}
	in := aggregate.Input{
		Facts: &facts, Previous: u.before(was.Previous), SameHead: u.before(was.SameHead), Memory: was.Memory, Session: was.Session, Config: u.Config, Rules: engine.byID,
	}
	in.Memory.ByHand = nil // the question is what the config would decide
	if err := engine.choose(ctx, &in); err != nil {
		return Backtest{}, err
	}
	r.redactGaps(in.Gaps)
	b := backtest{runner: r, engine: engine, was: was, under: &u, in: &in}
	if err := b.results(ctx); err != nil {
		return Backtest{}, err
	}
	b.consultations()
	notAsked := func(row pipeline.AgentResult) bool { return row.Status == pipeline.AgentDiscarded }
	if slices.ContainsFunc(in.Results, notAsked) && !aggregate.SpecFails(in) {
		b.unknown = append(b.unknown, "what the quality stage would find, since the spec stage failed")
	}
	if !reflect.DeepEqual(u.Own.Settings.Secrets.Allow, u.Config.Settings.Secrets.Allow) && len(facts.Redactions) > 0 {
		b.unknown = append(b.unknown, "which secrets the other config allows, since they are not stored")
	}
	slices.Sort(b.unknown)
	return Backtest{Report: aggregate.Aggregate(reconciled(in)), Unknown: b.unknown, Agents: b.agents, Either: b.either}, nil
}

func (u *Under) before(stored *pipeline.PreviousReport) *pipeline.PreviousReport {
	if stored == nil || u.Before == nil {
		return stored
	}
	return cmp.Or(u.Before(stored.HeadSHA), stored)
}

// consultations says what models would be asked about findings that they were not asked. Their
// answers may also refute a finding.
func (b *backtest) consultations() {
	own, other := &b.under.Own.Settings.Models, &b.under.Config.Settings.Models
	byModel := func(row pipeline.AgentResult) bool { return row.Model != "" && len(row.Output.Findings) > 0 }
	if !slices.ContainsFunc(b.in.Results, byModel) || own.Verify == other.Verify && own.Agreement == other.Agreement && slices.Equal(own.Reviewers, other.Reviewers) {
		return
	}
	b.either = true
	b.unknown = append(b.unknown, "what models would say about one another's findings")
}

// backtest collects the results of one review under another config.
type backtest struct {
	runner  *Runner
	engine  *Engine
	was     *pipeline.Review
	under   *Under
	in      *aggregate.Input // with everything but results
	unknown pipeline.List[string]
	agents  pipeline.List[string] // whose findings are unknown
	either  bool
}

// results fills in the results of the manifest's agents, and of those that were asked about others.
func (b *backtest) results(ctx context.Context) error {
	gapRow := b.proposals()
	again, err := b.runner.rerun(ctx, b.engine, b.in, b.readsFacts)
	if err != nil {
		return err
	}
	for i := range b.in.Manifest.Entries {
		e := &b.in.Manifest.Entries[i]
		if fresh, ok := again[e.Agent]; ok {
			b.in.Results = append(b.in.Results, b.carried(fresh))
			continue
		}
		b.in.Results = append(b.in.Results, b.stored(e)...)
	}
	for _, row := range b.was.Results {
		if row.Agent == pipeline.Matcher || row.Agent == pipeline.Verifier {
			b.in.Results = append(b.in.Results, row)
		}
	}
	b.in.Results = append(b.in.Results, gapRow...)
	return nil
}

// readsFacts reports whether an agent can run again. It can't if it failed in the review, because
// nothing that is stored would make it fail again.
func (b *backtest) readsFacts(agent string) bool {
	kind := b.runner.kindOf(b.engine, agent)
	if kind == config.KindLLM && b.engine.absent(agent) {
		return true // and fails
	}
	if kind != config.KindRules && kind != config.KindSecrets {
		return false
	}
	status := ended(b.was.Results, agent)
	return (status == "" || status == pipeline.AgentOK) && !b.rulesHold(agent)
}

// rulesHold reports whether an agent of the kind rules would find what it found in the review.
func (b *backtest) rulesHold(agent string) bool {
	return b.runner.kindOf(b.engine, agent) == config.KindRules && b.under.SameRules && ended(b.was.Results, agent) == pipeline.AgentOK &&
		pipeline.SameJSON(b.was.Classification, b.in.Classification) && b.sameScope(b.in.Manifest.Entry(agent))
}

// sameScope reports whether an agent looked at the same files.
func (b *backtest) sameScope(e *pipeline.ManifestEntry) bool {
	before := b.was.Manifest.Entry(e.Agent)
	return before != nil && pipeline.SameJSON(before.Scope, e.Scope)
}

// carried is the stored result of an agent, if it has one, with the output of its second run.
func (b *backtest) carried(fresh pipeline.AgentResult) pipeline.AgentResult {
	for _, row := range b.was.Results {
		if row.Agent == fresh.Agent {
			row.Status, row.Output, row.Note = fresh.Status, fresh.Output, fresh.Note
			return row
		}
	}
	return fresh
}

// stored returns the stored results of an agent, if it would be asked the same. Otherwise they are
// unknown, and count as if the agent had found nothing.
func (b *backtest) stored(e *pipeline.ManifestEntry) (results pipeline.List[pipeline.AgentResult]) {
	same := b.sameScope(e) && (b.rulesHold(e.Agent) || b.under.Same(e.Agent))
	for _, q := range e.Questions() {
		row, known := b.answer(e.Agent, q)
		if !known || !same {
			what := e.Agent
			if q.Model != "" {
				what += " with " + q.Model
			}
			b.unknown = append(b.unknown, "what "+what+" would find")
			b.agents = append(b.agents, e.Agent)
			row = pipeline.AgentResult{Agent: e.Agent, Model: q.Model, Run: q.Run, Stage: e.Stage, Status: pipeline.AgentOK}
		}
		results = append(results, row)
	}
	return results
}

// answer returns the stored result of an agent for one question. An agent without a model may
// name one in its result.
func (b *backtest) answer(agent string, q pipeline.Question) (row pipeline.AgentResult, ok bool) {
	for _, row := range b.was.Results {
		if row.Agent == agent && row.Run == q.Run && (row.Model == q.Model || q.Model == "") {
			return row, true
		}
	}
	return row, false
}

// proposals applies the gaps that a model proposed in the review, if the other config asks the same
// model, and returns its row.
func (b *backtest) proposals() pipeline.List[pipeline.AgentResult] {
	settings := &b.under.Config.Settings
	model := settings.Models.GapDetector
	if model == "" || len(settings.ModelEndpoints) == 0 {
		return nil
	}
	for _, row := range b.was.Results {
		if row.Agent == pipeline.GapDetector && row.Model == model {
			if row.Status == pipeline.AgentOK {
				b.runner.proposeAgain(b.engine, b.was, b.in, model)
			}
			if !b.under.Same(pipeline.GapDetector) {
				b.unknown = append(b.unknown, "which gaps "+model+" would propose")
			}
			return pipeline.List[pipeline.AgentResult]{row}
		}
	}
	b.unknown = append(b.unknown, "which gaps "+model+" would propose")
	return nil
}
