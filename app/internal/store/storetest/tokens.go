package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

var tokenTests = map[string]func(*testing.T, *fixture){
	"a budget is taken from until it is used up": func(t *testing.T, f *fixture) {
		one, two := pull(1, "a"), pull(2, "b")
		f.accept(t, push("1", one))
		f.accept(t, push("2", two))
		id := f.take(t, one, 600, "")
		f.take(t, one, 500, ports.BudgetPull)
		if err := f.SettleTokens(f.ctx, id, 100); err != nil {
			t.Fatal(err)
		}
		f.take(t, one, 900, "")
		f.take(t, two, 501, ports.BudgetRepository) // 1,000 of 1,500 are used
		f.take(t, two, 500, "")
		f.clock.pass(ports.TokenDay)
		f.take(t, two, 500, "")
		f.take(t, one, 1, ports.BudgetPull) // this budget does not start again each day
	},
	"agents side by side don't take more than there is": func(t *testing.T, f *fixture) {
		g := pull(1, "a")
		f.accept(t, push("1", g))
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 10 {
			wg.Go(func() {
				_, over, err := f.TakeTokens(f.ctx, ask(g, 300))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if over == "" {
					taken++
				}
			})
		}
		wg.Wait()
		if taken != 3 {
			t.Errorf("%d questions of 300 tokens were let through, want 3 of a budget of 1,000", taken)
		}
	},
	"reviews side by side don't take more than their repository has": func(t *testing.T, f *fixture) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for n := range 12 {
			g := pull(n+1, fmt.Sprint("head-", n))
			f.accept(t, push(fmt.Sprint(n), g))
			wg.Go(func() {
				_, over, err := f.TakeTokens(f.ctx, ask(g, 300))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case over == "":
					taken++
				case over != ports.BudgetRepository:
					t.Errorf("over %q", over)
				}
			})
		}
		wg.Wait()
		if taken != 5 {
			t.Errorf("%d questions of 300 tokens were let through, want 5 of a budget of 1,500", taken)
		}
	},
	"what was asked is forgotten with its target": func(t *testing.T, f *fixture) {
		g := pull(1, "a")
		f.accept(t, push("1", g))
		f.take(t, g, 1000, "")
		if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.TakeTokens(f.ctx, ask(g, 1)); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("TakeTokens for a target that is gone: %v, want ErrNotFound", err)
		}
		f.clock.pass(time.Minute)
		f.accept(t, push("2", g))
		f.take(t, g, 1000, "")
	},
}

func ask(g ports.Target, tokens int) ports.TokenAsk {
	return ports.TokenAsk{Target: g, Agent: "sme", Model: "m", Tokens: tokens, PerPull: 1000, PerRepositoryDay: 1500}
}

func (f *fixture) take(t *testing.T, g ports.Target, tokens int, want ports.TokenBudget) int64 {
	t.Helper()
	id, over, err := f.TakeTokens(f.ctx, ask(g, tokens))
	if err != nil || over != want {
		t.Fatalf("TakeTokens of %d for %s: over %q, %v; want over %q", tokens, g.Key(), over, err, want)
	}
	return id
}
