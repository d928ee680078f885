package once_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/reviewgate/reviewgate/app/once"
)

// github is one object on GitHub, with the store's record of it.
type github struct {
	steps    []string
	intended bool
	exists   bool
	recorded bool
	fails    string // the step that fails
}

func (g *github) step(name string) error {
	g.steps = append(g.steps, name)
	if g.fails == name {
		return errors.New(name + " failed")
	}
	return nil
}

func (g *github) ensure(ctx context.Context) (bool, error) {
	return once.Ensure(ctx, func(context.Context) error { return g.step("fence") }, once.Creation{
		Intended: g.intended,
		Look: func(context.Context) (bool, error) {
			err := g.step("look")
			g.recorded = g.recorded || err == nil && g.exists
			return g.exists && err == nil, err
		},
		Intend: func(context.Context) error {
			err := g.step("intend")
			g.intended = g.intended || err == nil
			return err
		},
		Create: func(context.Context) (func(context.Context) error, error) {
			if err := g.step("create"); err != nil {
				return nil, err
			}
			if g.exists {
				return nil, errors.New("there are two")
			}
			g.exists = true
			return func(ctx context.Context) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				err := g.step("record")
				g.recorded = g.recorded || err == nil
				return err
			}, nil
		},
	})
}

// Whichever step fails, a second attempt leaves one object and its record.
func TestOneObjectWhateverFails(t *testing.T) {
	for _, fails := range []string{"", "intend", "fence", "create", "record"} {
		g := &github{fails: fails}
		if _, err := g.ensure(t.Context()); (err != nil) != (fails != "") {
			t.Errorf("%s fails: error %v", fails, err)
		}
		if fails == "" {
			if want := []string{"intend", "fence", "create", "record"}; !slices.Equal(g.steps, want) {
				t.Errorf("steps %v, want %v", g.steps, want)
			}
			continue
		}
		g.fails = ""
		there, err := g.ensure(t.Context())
		if err != nil || there != (fails == "record") || !g.exists || !g.recorded {
			t.Errorf("after %s failed: there %t, exists %t, recorded %t, error %v", fails, there, g.exists, g.recorded, err)
		}
	}
}

// A failed look creates nothing.
func TestFailedLookCreatesNothing(t *testing.T) {
	g := &github{intended: true, exists: true, fails: "look"}
	if _, err := g.ensure(t.Context()); err == nil || slices.Contains(g.steps, "create") {
		t.Errorf("steps %v, error %v", g.steps, err)
	}
}

// A run that is cancelled during the creation still records the object.
func TestCancelledRunRecords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := &github{}
	_, err := once.Ensure(ctx, func(context.Context) error { return nil }, once.Creation{
		Intend: func(context.Context) error { return nil },
		Create: func(context.Context) (func(context.Context) error, error) {
			cancel()
			return func(ctx context.Context) error {
				g.recorded = ctx.Err() == nil
				return nil
			}, context.Canceled
		},
	})
	if !g.recorded || !errors.Is(err, context.Canceled) {
		t.Errorf("recorded %t, error %v", g.recorded, err)
	}
}

// Lists lag behind creations, so LookTwice looks a second time.
func TestLookTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		found, err := once.LookTwice(t.Context(), func() (*int, error) {
			if looks++; looks == 1 {
				return nil, nil
			}
			return &looks, nil
		})
		if err != nil || found == nil || looks != 2 {
			t.Errorf("found %v after %d looks, error %v", found, looks, err)
		}
	})
}
