package codescanning

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Store drops the news of others' checks that were kept for a target. It is a part of
// [ports.Scans].
type Store interface {
	BeginScans(ctx context.Context, key string) error
}

// Reads keeps what the agents of one review read, so that it is known which news of
// others' checks make a difference to the target. The zero value is for a review that is
// not kept.
type Reads struct {
	Store Store  // nil where no news are kept
	Key   string // of the target

	mu      sync.Mutex
	begun   bool            // news are kept from here on
	seen    map[string]seen // by agent
	refused map[string]bool // by agent that was tried: whether GitHub refused the read
}

// seen is what an agent met, whether or not it could finish.
type seen struct {
	waiting   []string        // checks that it waits for
	annotated []ports.ScanRun // those that counted and had annotations
}

// begin drops the news that were kept, before the first agent of the review reads. News
// that come later are kept: an agent that begins later, or tries once more, does not know
// what another has read.
func (r *Reads) begin(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.Store == nil {
		return nil
	}
	if err := r.Store.BeginScans(ctx, r.Key); err != nil {
		return fmt.Errorf("note that others' findings are read: %w", err)
	}
	r.begun = true
	return nil
}

// saw takes what an agent met.
func (r *Reads) saw(agent string, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]seen{}
	}
	r.seen[agent] = s
}

// ended takes how an agent's attempt ended.
func (r *Reads) ended(agent string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[agent] = refused(err)
}

// maxAnnotated bounds the check runs that are remembered for their annotations: as many
// as are read.
const maxAnnotated = 100

// inEvaluation is the prefix of the names under which agents in evaluation note their reads. It can't
// begin an agent's id, which has no space.
const inEvaluation = "evaluation "

// name is the name under which an agent notes its reads.
func (o *Options) name(agent string) string {
	if o.Evaluation {
		return inEvaluation + agent
	}
	return agent
}

// Of returns what the agents of a review have read, those in evaluation included. For an agent that
// did not run again it returns the entry of before.
func (r *Reads) Of(cfg *config.Config, v *pipeline.Review, before ports.ScansRead) (reads ports.ScansRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(&reads, cfg, &v.Manifest, Options{}, before)
	if v.Evaluation != nil && cfg.Evaluation != nil {
		r.add(&reads, cfg.Evaluation, &pipeline.AgentManifest{Entries: v.Evaluation.Entries}, Options{Evaluation: true}, before)
	}
	return reads
}

// add adds the agents of one manifest.
func (r *Reads) add(reads *ports.ScansRead, cfg *config.Config, m *pipeline.AgentManifest, o Options, before ports.ScansRead) {
	for _, a := range cfg.Agents {
		if a.Kind != config.KindCodeScanning || m.Entry(a.ID) == nil {
			continue
		}
		name := o.name(a.ID)
		now := ports.ScanReader{ID: name, Annotations: a.Scanning.TakesAnnotations(), Alerts: a.Scanning.TakesAlerts()}
		if a.Scanning != nil {
			now.Apps = a.Scanning.Apps
		}
		var old ports.ScanReader
		if i := slices.IndexFunc(before.Agents, func(b ports.ScanReader) bool { return b.ID == name }); i >= 0 {
			old = before.Agents[i]
		}
		refused, tried := r.refused[name]
		if now.Refused = refused; !tried {
			now.Refused = old.Refused
		}
		met, ran := r.seen[name]
		now.Waiting = met.waiting
		for _, c := range met.annotated[:min(len(met.annotated), maxAnnotated)] {
			now.Annotated = append(now.Annotated, ports.AnnotatedRun(c.App, c.Name))
		}
		if !ran {
			now.Waiting, now.Annotated = old.Waiting, old.Annotated
		}
		reads.Agents = append(reads.Agents, now)
	}
}
