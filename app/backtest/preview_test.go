package backtest

import (
	"context"
	"errors"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// targets calls a function when a target is asked for, and has none.
type targets struct {
	ports.Targets
	asked func()
}

func (s targets) Target(context.Context, string) (ports.TargetState, error) {
	s.asked()
	return ports.TargetState{}, ports.ErrNotFound
}

// A second job is put off while one runs, and does not hold a worker of the queue.
func TestOnePreviewAtATime(t *testing.T) {
	var p Previewer
	var second error
	p.Targets = targets{asked: func() { second = p.Work(t.Context(), ports.BacktestJob{Key: "second"}, 1) }}
	if err := p.Work(t.Context(), ports.BacktestJob{Key: "first"}, 1); err != nil || !errors.Is(second, errBusy) {
		t.Errorf("the first ended with %v, the second with %v; want that it is put off", err, second)
	}
	p.Targets = targets{asked: func() {}}
	if err := p.Work(t.Context(), ports.BacktestJob{Key: "third"}, 1); err != nil {
		t.Errorf("a later one ended with %v", err)
	}
}
