package codescanning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// beginnings counts how often stored events are dropped. The first calls fail, as many as
// fails says.
type beginnings struct{ n, fails int }

func (b *beginnings) BeginScans(context.Context, string) error {
	if b.n++; b.n <= b.fails {
		return errors.New("connection reset")
	}
	return nil
}

// An event that comes between the reads of two agents is kept.
func TestEventsAreDroppedOnceForEachReview(t *testing.T) {
	store := &beginnings{fails: 1}
	r := &Reads{Store: store}
	if err := r.begin(t.Context()); err == nil {
		t.Error("an agent read although the store failed")
	}
	for range 3 { // agents, and their attempts
		if err := r.begin(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if store.n != 2 {
		t.Errorf("events were dropped %d times, want one failure and one success", store.n)
	}
}

// A review records what each of its agents read. For an agent that did not run, it keeps the
// earlier review's record. For an agent that was refused, it records the refusal.
func TestReads(t *testing.T) {
	agent := func(id string, s *config.ScanSources) config.Agent {
		return config.Agent{ID: id, Kind: config.KindCodeScanning, Scanning: s}
	}
	yes, no := true, false
	cfg := &config.Config{Agents: []config.Agent{
		agent("ran", &config.ScanSources{Apps: []string{"ci"}}), agent("refused", &config.ScanSources{Alerts: &yes, Annotations: &no}),
		agent("carried", nil), agent("elsewhere", nil), {ID: "rules", Kind: config.KindRules},
	}}
	var m pipeline.AgentManifest
	for _, id := range []string{"ran", "refused", "carried", "rules"} {
		m.Entries = append(m.Entries, pipeline.ManifestEntry{Agent: id})
	}
	r := &Reads{}
	met := seen{waiting: []string{"CodeQL"}}
	for i := range maxAnnotated + 1 {
		met.annotated = append(met.annotated, ports.ScanRun{App: "ci", Name: fmt.Sprint(i)})
	}
	r.saw("ran", met)
	r.ended("ran", nil)
	r.ended("refused", lacking("security_events: read", &ports.HostError{Kind: ports.HostForbidden, Err: errors.New("no")}))
	before := ports.ScansRead{Agents: []ports.ScanReader{
		{ID: "ran", Refused: true, Waiting: []string{"vet"}}, {ID: "carried", Refused: true, Waiting: []string{"vet"}, Annotated: []string{"ci/vet"}},
	}}
	got := r.Of(cfg, &pipeline.Review{Manifest: m}, before)
	if len(got.Agents) == 0 || len(got.Agents[0].Annotated) != maxAnnotated {
		t.Fatalf("%+v", got)
	}
	got.Agents[0].Annotated = got.Agents[0].Annotated[:1]
	want := ports.ScansRead{Agents: []ports.ScanReader{
		{ID: "ran", Annotations: true, Apps: []string{"ci"}, Waiting: []string{"CodeQL"}, Annotated: []string{"ci/0"}},
		{ID: "refused", Alerts: true, Refused: true},
		{ID: "carried", Annotations: true, Refused: true, Waiting: []string{"vet"}, Annotated: []string{"ci/vet"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An agent in evaluation has reads of its own, also beside the same agent's enforced ones.
func TestReadsInEvaluation(t *testing.T) {
	scanner := []config.Agent{{ID: "scan", Kind: config.KindCodeScanning, Enabled: true}}
	cfg := &config.Config{Agents: scanner, Evaluation: &config.Config{Agents: scanner}}
	entries := pipeline.List[pipeline.ManifestEntry]{{Agent: "scan"}}
	r := &Reads{}
	enforced, tried := Options{}, Options{Evaluation: true}
	r.saw(enforced.name("scan"), seen{waiting: []string{"CodeQL"}})
	r.saw(tried.name("scan"), seen{waiting: []string{"vet"}})
	got := r.Of(cfg, &pipeline.Review{Manifest: pipeline.AgentManifest{Entries: entries}, Evaluation: &pipeline.EvaluationRun{Entries: entries}}, ports.ScansRead{})
	var waits []string
	for _, a := range got.Agents {
		waits = append(waits, a.Waiting...)
	}
	if len(got.Agents) != 2 || !slices.Equal(waits, []string{"CodeQL", "vet"}) {
		t.Errorf("%+v", got.Agents)
	}
	again := (&Reads{}).Of(cfg, &pipeline.Review{Evaluation: &pipeline.EvaluationRun{Entries: entries}}, got)
	if len(again.Agents) != 1 || !slices.Equal(again.Agents[0].Waiting, []string{"vet"}) {
		t.Errorf("carried over: %+v", again.Agents)
	}
}
