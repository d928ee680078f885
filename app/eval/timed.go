package eval

import (
	"context"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// stopwatch records how long agents took in one review, all their attempts together. The
// run's record does not separate models.
type stopwatch struct {
	now func() time.Time

	mu   sync.Mutex
	took map[reviewer]time.Duration
}

// reviewer is an agent with one of its models, or "".
type reviewer struct{ agent, model string }

func (s *stopwatch) since(t dispatch.Task, start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took == nil {
		s.took = map[reviewer]time.Duration{}
	}
	s.took[reviewer{t.Entry.Agent, t.Model}] += s.now().Sub(start)
}

// timed is an agent with a stopwatch.
type timed struct {
	dispatch.Agent
	watch *stopwatch
}

// Review records how long the agent took.
func (a timed) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	defer a.watch.since(task, a.watch.now())
	return a.Agent.Review(ctx, task)
}
