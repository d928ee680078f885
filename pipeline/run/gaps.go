package run

import (
	"context"
	"sync"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// GapModel asks the task's language model what a choice of agents misses in the task's change. The
// pipeline checks every proposal. The note says what the model was not shown.
type GapModel interface {
	Gaps(ctx context.Context, task dispatch.Task, choice GapChoice) (proposals []gapdetect.Proposal, note string, err error)
}

// GapChoice is the agents with their files, and the other agents that could run.
type GapChoice struct {
	Manifest pipeline.AgentManifest
	Agents   []config.Agent
}

// gapAsker asks a model for gaps. Dispatch runs it like an agent, so it has the same limits and
// can't make a review fail.
type gapAsker struct {
	model  GapModel
	choice GapChoice

	mu       sync.Mutex // an abandoned attempt may end at any time
	proposed []gapdetect.Proposal
}

// Review stores the proposals. It returns no findings: a proposal is not a finding.
func (g *gapAsker) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	proposed, note, err := g.model.Gaps(ctx, task, g.choice)
	if err == nil && ctx.Err() == nil {
		g.mu.Lock()
		g.proposed = proposed
		g.mu.Unlock()
	}
	return dispatch.Answer{Note: note}, err
}

func (g *gapAsker) answer() []gapdetect.Proposal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.proposed
}

// gapModelOf names the model that is asked for gaps, or returns "".
func gapModelOf(cfg *config.Config, o Options) string {
	if o.GapModel == nil || o.Only != nil || len(cfg.Settings.ModelEndpoints) == 0 {
		return ""
	}
	return cfg.Settings.Models.GapDetector
}

// gapRun is one gap detection by a model.
type gapRun struct {
	runner *Runner
	engine *Engine
	review *pipeline.Review // without results
	gaps   []pipeline.GapLogEntry
	timer  *timer
	beside func(text string) string // IOAgent.RedactOther
}

// ask amends the manifest by what the model proposes, now or in the last review, and returns the
// whole log and the model's row among the results. If the model does not answer, manifest and log
// stay as they are. The error is that of ctx.
func (g *gapRun) ask(ctx context.Context, last *LastReview, o Options) ([]pipeline.GapLogEntry, *pipeline.AgentResult, error) {
	model := gapModelOf(g.engine.config, o)
	if model == "" {
		return g.gaps, nil, nil
	}
	if row := g.reuse(model, last, o.Carry); row != nil {
		return g.gaps, row, nil
	}
	asker := &gapAsker{choice: GapChoice{Manifest: g.review.Manifest, Agents: g.engine.gaps.Agents()}}
	asker.model = o.GapModel(IOAgent{Agent: config.Agent{ID: pipeline.GapDetector}, Config: g.engine.config, Redact: g.runner.Redact, RedactOther: g.beside, Used: g.timer.used, Answered: g.timer.answered})
	var agent dispatch.Agent // a nil agent counts as not registered, and fails
	if asker.model != nil {
		agent = asker
	}
	row, err := askModel(ctx, pipeline.GapDetector, model, agent, &g.review.Facts, &g.review.Classification, g.timer.dispatchOptions(g.engine.config, &g.review.Facts))
	if err != nil {
		return g.gaps, nil, err
	}
	row.Output = pipeline.AgentOutput{Agent: pipeline.GapDetector, Model: model}
	if row.Status == pipeline.AgentOK {
		proposed := g.propose(model, asker.answer())
		row.Note = joined(proposed.Note(), row.Note)
		g.take(&proposed)
	}
	return g.gaps, &row, nil
}

// propose checks proposals. It searches the words in their shown form for secrets.
func (g *gapRun) propose(model string, proposals []gapdetect.Proposal) gapdetect.Proposed {
	out := g.engine.gaps.Propose(&g.review.Facts, g.review.Manifest, g.gaps, model, proposals)
	for i := len(g.gaps); i < len(out.Log); i++ {
		out.Log[i].Concern, out.Log[i].Missed = g.runner.Redact(out.Log[i].Concern), g.runner.Redact(out.Log[i].Missed)
	}
	return out
}

func (g *gapRun) take(p *gapdetect.Proposed) { g.review.Manifest, g.gaps = p.Manifest, p.Log }

// reuse applies what the model proposed in the last review, if it would be asked the same: the
// choice of agents depends only on the facts and the config. It returns nil if the model has to be
// asked.
func (g *gapRun) reuse(model string, last *LastReview, c Carry) *pipeline.AgentResult {
	if _, ok := g.runner.stillHolds(g.review, last, c); !ok || c.reruns(pipeline.GapDetector) {
		return nil
	}
	previous := last.Review
	results := finished(previous, pipeline.GapDetector, true)
	if len(results) != 1 || results[0].Model != model {
		return nil
	}
	logged := gapdetect.Logged(previous.Report.GapLog, model)
	proposed := g.propose(model, logged)
	if len(proposed.Log)-len(g.gaps) != len(logged) || !pipeline.SameJSON(proposed.Log, previous.Report.GapLog) {
		return nil
	}
	g.take(&proposed)
	row := results[0]
	g.timer.record.Agents = append(g.timer.record.Agents, pipeline.AgentTiming{Agent: row.Agent, Model: row.Model})
	return &row
}

func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}
