package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// outside makes the agents of a local review that reach out of the process, and
// keeps what they put on record until it can be written: meanwhile the terminal
// may show progress.
type outside struct {
	src    *localgit.Source
	models *model.Server
	failed func(model string, err error)
	round  model.Round

	mu     sync.Mutex
	audits []reviewreport.Audit
}

// agent makes one. Nobody comments on a local range, and no other App checks it.
func (o *outside) agent(of run.IOAgent) dispatch.Agent {
	switch of.Agent.Kind {
	case config.KindReport:
	case config.KindCodeScanning:
		return unscanned{}
	case config.KindLLM:
		return o.asking(of)
	default:
		return nil
	}
	return report.New(report.Options{
		Sources: of.Agent.Reports, Thresholds: of.Config.ThresholdsOf(of.Agent.ID),
		Files: o.src, Redact: of.Redact, Audit: o.audit,
	})
}

// asking makes an agent that asks language models. No budget but its own holds:
// whoever runs the command spends.
func (o *outside) asking(of run.IOAgent) dispatch.Agent {
	agent, err := o.models.Agent(of.Agent, of.Config, o.review(of))
	if err != nil {
		return nil
	}
	return agent
}

// gapModel makes what asks a model for gaps.
func (o *outside) gapModel(of run.IOAgent) run.GapModel {
	gaps, err := o.models.Gaps(of.Config, o.review(of))
	if err != nil {
		return nil
	}
	return gaps
}

// comparer makes what asks a model which findings are about one thing.
func (o *outside) comparer(of run.IOAgent) run.Comparer {
	comparer, err := o.models.Comparer(of.Config, o.review(of))
	if err != nil {
		return nil
	}
	return comparer
}

// verifier makes what asks a model whether findings are right.
func (o *outside) verifier(of run.IOAgent) run.Verifier {
	verifier, err := o.models.Verifier(of.Config, o.review(of))
	if err != nil {
		return nil
	}
	return verifier
}

// review is what those who ask models need of this review.
func (o *outside) review(of run.IOAgent) model.Review {
	r := model.Review{
		Redact: of.Redact, RedactBeside: of.RedactOther, Used: of.Used, Answered: of.Answered, Failed: o.failed,
		Round: &o.round, Shares: of.Shares, Manifest: of.Manifest,
	}
	if o.src != nil {
		r.Files = o.src
	}
	return r
}

// modelsOf makes the models of the layers' config ready, with keys from the
// environment.
func modelsOf(layers []config.Layer) (*model.Server, error) {
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return &model.Server{}, nil // the review says what is wrong, and goes on without them
	}
	return model.Open(cfg.Settings.ModelEndpoints, sdk.New, os.Getenv)
}

// unscanned stands for the agents that take in what other Apps found.
type unscanned struct{}

var _ dispatch.Noter = unscanned{}

func (unscanned) Review(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
	return pipeline.AgentOutput{}, nil
}

func (unscanned) ReviewAndNote(context.Context, dispatch.Task) (pipeline.AgentOutput, string, error) {
	return pipeline.AgentOutput{}, "what other Apps found is on GitHub, and was not looked at", nil
}

func (o *outside) audit(a reviewreport.Audit) {
	a.Time = time.Now().UTC().Format(time.RFC3339)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audits = append(o.audits, a)
}

// writeAudits writes each aggregation of review reports as one line of JSON.
func (o *outside) writeAudits(w io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.audits {
		line, err := render.AuditLine(&a)
		if err == nil {
			_, err = w.Write(line)
		}
		if err != nil {
			return fmt.Errorf("write the audit record: %w", err)
		}
	}
	return nil
}
