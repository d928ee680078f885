// Package replay computes stored reviews again. It needs neither GitHub nor a model, because what
// is stored of a review determines its report.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Replayer replays reviews. Make one with New. Any number of goroutines may use it.
type Replayer struct {
	runner  *run.Runner
	configs *config.Loader
}

// maxConfigs is how many configs a Replayer keeps: most reviews of a repository have the same.
const maxConfigs = 16

// New returns a Replayer that uses a runner's engines. Reviews in which the runner's own agents
// replaced others keep the results of those.
func New(runner *run.Runner) *Replayer {
	return &Replayer{runner, config.NewLoader(maxConfigs)}
}

// Result is what the replay of one review showed.
type Result struct {
	RunID   string
	Pull    string // such as acme/shop#104, or empty if the review can't be read
	HeadSHA string
	Version string // of reviewgate that made the review
	// Identical says that the replay has the same report, byte for byte. Otherwise Differs
	// lists the differences, or Err says why there was no replay.
	Identical bool
	Differs   []Difference
	More      int // differences that are not in Differs
	Err       error
	Lacks     string // as in ports.StoredReview
}

// All replays the reviews of an archive, in its order. It replays as many at once as there are
// processors. The error ends it.
func (r *Replayer) All(ctx context.Context, from ports.Archive, which ports.ReviewFilter) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		caller := ctx
		ctx, cancel := context.WithCancel(ctx)
		running := make(chan chan replayed, runtime.GOMAXPROCS(0))
		var read sync.WaitGroup
		read.Go(func() {
			defer close(running)
			for review, err := range from.Archived(ctx, which) {
				one := make(chan replayed, 1)
				running <- one // there is room once an earlier one was taken
				go func() { one <- r.replayed(ctx, review, err) }()
				if ctx.Err() != nil {
					return
				}
			}
		})
		defer read.Wait()
		defer func() {
			cancel()
			for one := range running { // an early end leaves some behind
				<-one
			}
		}()
		for one := range running {
			if done := <-one; !yield(done.Result, done.err) || done.err != nil {
				return
			}
		}
		if err := context.Cause(caller); err != nil {
			yield(Result{}, err)
		}
	}
}

// readAhead is how many reviews are read before they are needed.
const readAhead = 4

// Ahead gives the reviews of an archive, and reads the next ones meanwhile.
func Ahead(ctx context.Context, from ports.Archive, which ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		type read struct {
			review *ports.StoredReview
			err    error
		}
		caller := ctx
		ctx, cancel := context.WithCancel(ctx)
		all := make(chan read, readAhead)
		var reader sync.WaitGroup
		defer reader.Wait()
		defer cancel()
		reader.Go(func() {
			defer close(all)
			for review, err := range from.Archived(ctx, which) {
				select {
				case all <- read{review, err}:
				case <-ctx.Done():
					return
				}
			}
		})
		for next := range all {
			if !yield(next.review, next.err) || next.err != nil && context.Cause(caller) != nil {
				return
			}
		}
		if err := context.Cause(caller); err != nil {
			yield(nil, err)
		}
	}
}

// replayed is a result, or an error that ends the replay of an archive.
type replayed struct {
	Result
	err error
}

// replayed replays what an archive gave.
func (r *Replayer) replayed(ctx context.Context, review *ports.StoredReview, err error) replayed {
	var altered *ports.AlteredError
	switch {
	case errors.As(err, &altered):
		return replayed{Result: Result{RunID: altered.RunID, Err: altered}}
	case err != nil:
		return replayed{err: err}
	}
	return replayed{r.One(ctx, review), context.Cause(ctx)}
}

// One replays a review. A panic, such as by a review that another version made, is an error of
// that review alone.
func (r *Replayer) One(ctx context.Context, s *ports.StoredReview) (result Result) {
	defer func() {
		if v := recover(); v != nil {
			result.Err = &pipeline.PanicError{Value: v}
		}
	}()
	result = Result{
		RunID: s.RunID, Pull: s.Review.Facts.PullName(),
		HeadSHA: s.HeadSHA, Version: s.Record.Version, Lacks: s.Lacks,
	}
	cfg, err := r.ConfigOf(s)
	if err != nil {
		result.Err = err
		return result
	}
	report, err := r.runner.Replay(ctx, &s.Review, cfg)
	if err != nil {
		result.Err = err
		return result
	}
	result.Differs, result.More, result.Err = compare(&s.Review.Report, &report)
	result.Identical = result.Err == nil && len(result.Differs) == 0
	return result
}

// ConfigOf returns the config that a review used, over the defaults of the version that made it.
func (r *Replayer) ConfigOf(s *ports.StoredReview) (*config.Config, error) {
	cfg, err := r.Load(inforce.LayersOf(s))
	if err != nil {
		return nil, fmt.Errorf("this version can't read the config that the review used: %w", err)
	}
	return cfg, nil
}

// Load loads layers over defaults. The error names the first problem.
func (r *Replayer) Load(defaults config.Layer, layers []config.Layer) (*config.Config, error) {
	cfg, problems := r.configs.LoadOver(defaults, layers...)
	if len(problems) > 0 {
		return nil, errors.New(config.FormatProblem(problems[0]))
	}
	return cfg, nil
}

// compare lists what differs between a stored report and its replay, and counts what it does not
// list. Equal bytes have no difference.
func compare(was, now *pipeline.Report) ([]Difference, int, error) {
	before, err := json.Marshal(was)
	if err != nil {
		return nil, 0, fmt.Errorf("encode the stored report: %w", err)
	}
	after, err := json.Marshal(now)
	if err != nil {
		return nil, 0, fmt.Errorf("encode the report: %w", err)
	}
	if bytes.Equal(before, after) {
		return nil, 0, nil
	}
	var d differences
	d.values("", tree(before), tree(after))
	if len(d.list) == 0 {
		d.list = []Difference{{Path: "the form of the JSON", Was: shown(string(before)), Now: shown(string(after))}}
	}
	return d.list, d.more, nil
}
