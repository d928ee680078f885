package review

import (
	"context"
	"errors"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// source is a PullSource together with its config. normalize reads from it.
type source struct {
	ports.PullSource
	layers func(ctx context.Context) (inforce.InForce, error)
	ticket *admission.Ticket // nil if the change is not weighed
	inforce.InForce
}

var _ normalize.Source = (*source)(nil)

// PullRequest weighs the change by its totals, while its files are still being read.
func (s *source) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.PullSource.PullRequest(ctx)
	if err == nil && s.ticket != nil {
		err = s.ticket.Weigh(admission.WeightOfTotals(&p))
	}
	return p, err
}

// Files weighs the change by its diffs, before their lines use memory.
func (s *source) Files(ctx context.Context) (raw.Files, error) {
	f, err := s.PullSource.Files(ctx)
	if err == nil && s.ticket != nil {
		err = s.ticket.Weigh(admission.WeightOfFiles(f.Files))
	}
	return f, err
}

// Config loads the config in force and remembers its text, which is stored with the review.
func (s *source) Config(ctx context.Context) (normalize.ConfigRead, error) {
	var err error
	s.InForce, err = s.layers(ctx)
	return normalize.ConfigRead{Config: s.InForce.Config, RootFiles: s.RootFiles, Attributes: s.Attributes.Text, Exceptions: s.Exceptions.Text}, err
}

// readFile returns a function that reads files for a run. A missing file is not an error.
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

// reportOfHead returns the last report on the head, or nil if the newest review was of
// another head.
func reportOfHead(ctx context.Context, h ports.History, key, headSHA string) (*pipeline.PreviousReport, error) {
	last, err := h.LatestReview(ctx, key)
	if err != nil || last == nil || last.Review.Facts.Head.SHA != headSHA {
		return nil, err
	}
	return last.Review.Report.AsPrevious(), nil
}

// carry returns which results of the last review may be reused.
func carry(h ports.History, key string, r ports.Rerun) run.Carry {
	if r.Full {
		return run.Carry{}
	}
	return run.Carry{
		SameHead: r.Decide || len(r.Agents) > 0, Rerun: r.Agents,
		Last: func(ctx context.Context) (*run.LastReview, error) {
			last, err := h.LatestReview(ctx, key)
			if err != nil || last == nil {
				return nil, err
			}
			return &run.LastReview{Review: &last.Review, Version: last.Record.Version}, nil
		},
	}
}
