package review

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// outside makes the agents of one review that reach out of the process.
type outside struct {
	service *Service
	target  ports.Target
	src     ports.PullSource
	trail   *trail.Trail // of the job, for the log
	dry     bool         // nothing is kept, and no model asked
	round   model.Round  // of questions to models

	mu      sync.Mutex
	trouble map[string]error // by agent, that may pass
	seen    map[string]codescanning.Seen
	refused map[string]bool // by agent that was tried, whether GitHub refused what it was to read
	begun   bool            // news of what others found are kept from here on
}

func (o *outside) agent(of run.IOAgent) dispatch.Agent {
	switch of.Agent.Kind {
	case config.KindReport:
	case config.KindCodeScanning:
		return o.scanning(of)
	case config.KindLLM:
		return o.asking(of)
	default:
		return nil
	}
	return &watched{o, of.Agent.ID, report.New(report.Options{
		Sources: of.Agent.Reports, Thresholds: of.Config.ThresholdsOf(of.Agent.ID),
		Files: o.src, Talk: talk{o.src}, Redact: of.Redact,
		Audit: func(a reviewreport.Audit) {
			o.service.Log.Info().Str("target", o.target.Key()).Interface("audit", a).Msg("review reports aggregated")
		},
	})}
}

// mayPass is trouble with GitHub that kept an agent from ending well and that
// waiting may mend: the review is put off for it, as it is where the change can't
// be read.
func (o *outside) mayPass() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Join(slices.Collect(maps.Values(o.trouble))...)
}

// watched is an agent of which is noted how its last attempt ended.
type watched struct {
	by *outside
	id string
	*report.Agent
}

var _ dispatch.ReportReader = (*watched)(nil)

func (w *watched) ReviewReports(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, []pipeline.ReviewReportOutcome, error) {
	out, outcomes, err := w.Agent.ReviewReports(ctx, task)
	w.by.note(ctx, w.id, err)
	return out, outcomes, err
}

// note takes how an agent's attempt ended.
func (o *outside) note(ctx context.Context, id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var host *ports.HostError
	if errors.As(err, &host) && host.Temporary() && ctx.Err() == nil {
		o.trouble[id] = err
	} else {
		delete(o.trouble, id)
	}
}

// talk is what people say on a pull request.
type talk struct{ src ports.Discussion }

var _ report.Talk = talk{}

func (t talk) Comments(ctx context.Context, words string) ([]report.Comment, error) {
	remarks, err := t.src.Remarks(ctx, words)
	if err != nil {
		return nil, err
	}
	comments := make([]report.Comment, len(remarks))
	for i, r := range remarks {
		comments[i] = report.Comment(r)
	}
	return comments, nil
}

func (t talk) CanWrite(ctx context.Context, login string) (bool, error) {
	p, err := t.src.Permission(ctx, login)
	return p.CanWrite(), err
}

// readFile reads a file for a run. One that is not there is no error.
func readFile(src ports.Change) func(ctx context.Context, commit, path string, most int64) ([]byte, bool, error) {
	return func(ctx context.Context, commit, path string, most int64) ([]byte, bool, error) {
		text, err := src.File(ctx, commit, path, most)
		var host *ports.HostError
		if errors.As(err, &host) && host.Kind == ports.HostNotFound {
			return nil, false, nil
		}
		return text, err == nil, err
	}
}
