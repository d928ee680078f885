package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// The use of a question is counted and logged as soon as it is known, because the review may
// still fail.
func TestUseIsReportedAtOnce(t *testing.T) {
	var log bytes.Buffer
	var counted, recorded []pipeline.ModelUse
	r := New(Options{Log: zerolog.New(&log).With().Str("target", "pull/7/3").Logger(), Used: func(u pipeline.ModelUse) { counted = append(counted, u) }})
	needs := r.needs(run.IOAgent{
		Agent: config.Agent{ID: "sme"}, Config: &config.Config{}, Used: func(u pipeline.ModelUse) { recorded = append(recorded, u) },
	})
	use := pipeline.ModelUse{Agent: "sme", Model: "big", Asked: 1, Input: 100, Cached: 40, Output: 7, CostUSD: 0.25}
	needs.Used(use)
	if diff := cmp.Diff([][]pipeline.ModelUse{{use}, {use}}, [][]pipeline.ModelUse{counted, recorded}); diff != "" {
		t.Error(diff)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"level": "info", "message": "model asked", "target": "pull/7/3", "agent": "sme", "model": "big",
		"asked": 1.0, "input": 100.0, "cached": 40.0, "output": 7.0, "cost_usd": 0.25,
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Error(diff)
	}
}

// The agent reports when models may not be asked, or when the model can't be created.
func TestAgentsWithoutModel(t *testing.T) {
	spec := run.IOAgent{Agent: config.Agent{ID: "sme", Kind: config.KindLLM}, Config: &config.Config{}}
	_, err := New(Options{NoModels: true}).Agent(spec).Review(t.Context(), dispatch.Task{})
	var skipped *dispatch.SkippedError
	if !errors.As(err, &skipped) || skipped.Why != "a dry run asks no models" {
		t.Errorf("dry run: %v", err)
	}
	if _, err := New(Options{}).Agent(spec).Review(t.Context(), dispatch.Task{}); err == nil || errors.As(err, &skipped) {
		t.Errorf("no redactor: %v", err)
	}
}
