package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// scanning makes an agent that takes in what others found.
func (o *outside) scanning(of run.IOAgent) dispatch.Agent {
	id := of.Agent.ID
	return &scanning{o, id, codescanning.New(codescanning.Options{
		Sources: of.Agent.Scanning, Host: scanHost{o.src}, Redact: of.Redact,
		Begin: o.beginScans,
		Saw: func(seen codescanning.Seen) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.seen[id] = seen
		},
	})}
}

// beginScans drops the news that were kept, before the first agent of the review
// reads. Those that come then stay for its end: an agent that begins later, or
// once more, knows nothing of what another has read.
func (o *outside) beginScans(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		return nil
	}
	if err := o.service.Store.BeginScans(ctx, o.target.Key()); err != nil {
		return fmt.Errorf("note that others' findings are read: %w", err)
	}
	o.begun = true
	return nil
}

// scanning is an agent of which is noted how its last attempt ended.
type scanning struct {
	by *outside
	id string
	*codescanning.Agent
}

var _ dispatch.Noter = (*scanning)(nil)

func (s *scanning) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	out, note, err := s.Agent.ReviewAndNote(ctx, task)
	s.by.note(ctx, s.id, err)
	s.by.noteRefusal(s.id, err)
	return out, note, err
}

// noteRefusal takes whether an agent's attempt was refused by GitHub.
func (o *outside) noteRefusal(id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var host *ports.HostError
	o.refused[id] = errors.As(err, &host) && host.Kind == ports.HostForbidden
}

// scanHost reads from the code host, and says what is to be done about what it
// refuses.
type scanHost struct{ src ports.Scanners }

var _ codescanning.Host = scanHost{}

func (h scanHost) Runs(ctx context.Context, commit string) ([]ports.ScanRun, error) {
	runs, err := h.src.OtherRuns(ctx, commit)
	return runs, lacking("checks: read", err)
}

func (h scanHost) Annotations(ctx context.Context, run int64, most int) ([]ports.ScanAnnotation, error) {
	list, err := h.src.Annotations(ctx, run, most)
	return list, lacking("checks: read", err)
}

func (h scanHost) Alerts(ctx context.Context) ([]ports.ScanAlert, string, error) {
	alerts, none, err := h.src.Alerts(ctx)
	return alerts, none, lacking("security_events: read", err)
}

// lacking names the permission that a refusal is for.
func lacking(permission string, err error) error {
	var host *ports.HostError
	if errors.As(err, &host) && host.Kind == ports.HostForbidden {
		return fmt.Errorf("the App lacks the permission %q: %w", permission, err)
	}
	return err
}

// noteScans records what the review took in of what others found, so that their
// news are known for what matters. What an agent met that did not run anew is
// known from before.
func (s *Service) noteScans(ctx context.Context, state ports.TargetState, out *outside, outcome *run.Outcome) error {
	var reads ports.ScansRead
	for _, a := range outcome.Config.Agents {
		if a.Kind != config.KindCodeScanning || outcome.Review.Manifest.Entry(a.ID) == nil {
			continue
		}
		r := ports.ScanReader{ID: a.ID, Annotations: a.Scanning.TakesAnnotations(), Alerts: a.Scanning.TakesAlerts()}
		if a.Scanning != nil {
			r.Apps = a.Scanning.Apps
		}
		out.mu.Lock()
		seen, ran := out.seen[a.ID]
		refused, tried := out.refused[a.ID]
		out.mu.Unlock()
		old := slices.IndexFunc(state.Scans.Agents, func(old ports.ScanReader) bool { return old.ID == a.ID })
		if r.Refused = refused; !tried && old >= 0 {
			r.Refused = state.Scans.Agents[old].Refused
		}
		if ran {
			r.Waiting = seen.Waiting
			for _, c := range seen.Annotated[:min(len(seen.Annotated), maxAnnotated)] {
				r.Annotated = append(r.Annotated, ports.AnnotatedRun(c.App, c.Name))
			}
		} else if old >= 0 {
			r.Waiting, r.Annotated = state.Scans.Agents[old].Waiting, state.Scans.Agents[old].Annotated
		}
		reads.Agents = append(reads.Agents, r)
	}
	if len(reads.Agents) == 0 && len(state.Scans.Agents) == 0 {
		return nil // as nearly everywhere: no news of a check ever matters
	}
	if err := s.Store.SetScans(ctx, state.Key(), reads); err != nil {
		return fmt.Errorf("note what was read of others' findings: %w", err)
	}
	return nil
}

// maxAnnotated bounds the check runs that are remembered for their annotations:
// as many as are read.
const maxAnnotated = 100
