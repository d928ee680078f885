package review

import (
	"context"
	"errors"

	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// outside makes the agents of a review that reach out of the process.
func (s *Service) outside(t Target, src PullSource) func(run.OutsideAgent) dispatch.Agent {
	return func(o run.OutsideAgent) dispatch.Agent {
		if o.Agent.Kind != config.KindReport {
			return nil
		}
		return report.New(report.Options{
			Sources: o.Agent.Reports, Thresholds: o.Config.Settings.Thresholds,
			Files: src, Talk: talk{src}, Redact: o.Redact,
			Audit: func(a reviewreport.Audit) {
				s.Log.Info().Str("target", t.Key()).Interface("audit", a).Msg("review reports aggregated")
			},
		})
	}
}

// talk is what people say on a pull request.
type talk struct{ src PullSource }

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
func readFile(src PullSource) func(ctx context.Context, commit, path string, most int64) ([]byte, bool, error) {
	return func(ctx context.Context, commit, path string, most int64) ([]byte, bool, error) {
		text, err := src.File(ctx, commit, path, most)
		var host *HostError
		if errors.As(err, &host) && host.Kind == HostNotFound {
			return nil, false, nil
		}
		return text, err == nil, err
	}
}
