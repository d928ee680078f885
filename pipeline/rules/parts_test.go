package rules

import (
	"runtime"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
)

func partsOf(t *testing.T, r config.Rule) *parts {
	t.Helper()
	compiled, err := compileRule(&r)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.parts
}

// Rules share their equal parts, even if they differ otherwise.
func TestRulesShareParts(t *testing.T) {
	match := func(m config.Match) config.Rule { return config.Rule{Match: &m} }
	first := match(config.Match{Pattern: "shared[0-9]", Fix: "x"})
	same := match(config.Match{Pattern: "shared[0-9]", On: config.OnRemoved, Paths: []string{"**"}})
	same.ID = "another"
	if partsOf(t, first) != partsOf(t, same) {
		t.Error("equal patterns are compiled twice")
	}
	for name, other := range map[string]config.Rule{
		"not_pattern": match(config.Match{Pattern: "shared[0-9]", NotPattern: "x"}),
		"literal":     match(config.Match{Literal: "shared[0-9]"}),
		"whole files": match(config.Match{Pattern: "shared[0-9]", On: config.OnFile}),
		"expression":  {Match: first.Match, When: "true"},
	} {
		if partsOf(t, first) == partsOf(t, other) {
			t.Errorf("rules that differ in %s share parts", name)
		}
	}
}

// Parts that no engine uses are freed, so that old configs take no memory.
func TestUnusedPartsAreFreed(t *testing.T) {
	k := partsKey{pattern: "used once", lines: true}
	p, err := compiled.get(k)
	if err != nil || compiled.find(k) != p {
		t.Fatalf("%v, found %p, want %p", err, compiled.find(k), p)
	}
	runtime.KeepAlive(p)
	left := func() bool {
		compiled.mu.Lock()
		defer compiled.mu.Unlock()
		_, ok := compiled.m[k]
		return ok
	}
	for deadline := time.Now().Add(10 * time.Second); left(); {
		if time.Now().After(deadline) {
			t.Fatal("the parts are still in memory")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
