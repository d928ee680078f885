package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// ScanNews says that another App's check, or code scanning, has come to an end or
// to something new.
type ScanNews struct {
	RepoID  int64  `json:"repo_id"`
	HeadSHA string `json:"head_sha,omitempty"` // of a check; all targets on it are meant
	Number  int    `json:"number,omitempty"`   // of the pull request whose alerts changed, without HeadSHA
	App     string `json:"app,omitempty"`      // slug
	Check   string `json:"check,omitempty"`    // name; empty for a whole suite
	// Annotated says that the check run has annotations.
	Annotated bool `json:"annotated,omitempty"`
}

// ScansRead is what a target's last review took in of what others found, by
// agent. Without any, no news of it matters.
type ScansRead struct {
	Agents []ScanReader `json:"agents"`
}

// ScanReader is one agent that takes in what others found.
type ScanReader struct {
	ID          string   `json:"id"`
	Annotations bool     `json:"annotations,omitempty"`
	Alerts      bool     `json:"alerts,omitempty"`
	Apps        []string `json:"apps,omitempty"` // none stands for all
	// Waiting are the checks that had not ended when it looked last.
	Waiting []string `json:"waiting,omitempty"`
	// Annotated are the check runs that had annotations then, as AnnotatedRun
	// names them.
	Annotated []string `json:"annotated,omitempty"`
	// Refused says that GitHub refused what it was to read.
	Refused bool `json:"refused,omitempty"`
}

// AnnotatedRun names a check run in ScanReader.Annotated.
func AnnotatedRun(app, check string) string { return app + "/" + check }

// Concerns reports whether news can make a difference to an agent.
func (r ScansRead) Concerns(n ScanNews) bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return a.concerns(n) })
}

func (a ScanReader) concerns(n ScanNews) bool {
	switch {
	case n.HeadSHA == "":
		return a.Alerts
	case n.Check == "": // a suite ends after its runs, of which news may have been lost
		return len(a.Waiting) > 0
	case slices.Contains(a.Waiting, n.Check):
		return true
	case !a.Annotations || len(a.Apps) > 0 && !slices.Contains(a.Apps, n.App):
		return false
	}
	return n.Annotated || slices.Contains(a.Annotated, AnnotatedRun(n.App, n.Check))
}

// Waiting reports whether an agent waited for a check when it looked last.
func (r ScansRead) Waiting() bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return len(a.Waiting) > 0 })
}

// Refused are the ids of the agents that were refused what they were to read.
func (r ScansRead) Refused() (ids []string) {
	for _, a := range r.Agents {
		if a.Refused {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// IDs are those of the agents.
func (r ScansRead) IDs() []string {
	ids := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		ids[i] = a.ID
	}
	return ids
}

// workScans asks for the review that news of others' checks asked for.
func (s *Service) workScans(ctx context.Context, job Job) error {
	wait, err := s.Store.AskScans(ctx, job.ScansOf, s.ScanInterval)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return s.retryJob(job.Attempt, fmt.Errorf("ask for a review of what others found: %w", err))
	case wait > 0:
		return &RetryError{After: wait, Err: errors.New("others' findings were taken in a moment ago")}
	}
	return nil
}

// scanning makes an agent that takes in what others found.
func (o *outside) scanning(of run.OutsideAgent) dispatch.Agent {
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
	var host *HostError
	o.refused[id] = errors.As(err, &host) && host.Kind == HostForbidden
}

// scanHost reads from the code host, and says what is to be done about what it
// refuses.
type scanHost struct{ src PullSource }

var _ codescanning.Host = scanHost{}

func (h scanHost) Runs(ctx context.Context, commit string) ([]codescanning.ScanRun, error) {
	runs, err := h.src.OtherRuns(ctx, commit)
	return runs, lacking("checks: read", err)
}

func (h scanHost) Annotations(ctx context.Context, run int64, most int) ([]codescanning.ScanAnnotation, error) {
	list, err := h.src.Annotations(ctx, run, most)
	return list, lacking("checks: read", err)
}

func (h scanHost) Alerts(ctx context.Context) ([]codescanning.ScanAlert, string, error) {
	alerts, none, err := h.src.Alerts(ctx)
	return alerts, none, lacking("security_events: read", err)
}

// lacking names the permission that a refusal is for.
func lacking(permission string, err error) error {
	var host *HostError
	if errors.As(err, &host) && host.Kind == HostForbidden {
		return fmt.Errorf("the App lacks the permission %q: %w", permission, err)
	}
	return err
}

// noteScans records what the review took in of what others found, so that their
// news are known for what matters. What an agent met that did not run anew is
// known from before.
func (s *Service) noteScans(ctx context.Context, state TargetState, out *outside, outcome *run.Outcome) error {
	var reads ScansRead
	for _, a := range outcome.Config.Agents {
		if a.Kind != config.KindCodeScanning || outcome.Review.Manifest.Entry(a.ID) == nil {
			continue
		}
		r := ScanReader{ID: a.ID, Annotations: a.Scanning.TakesAnnotations(), Alerts: a.Scanning.TakesAlerts()}
		if a.Scanning != nil {
			r.Apps = a.Scanning.Apps
		}
		out.mu.Lock()
		seen, ran := out.seen[a.ID]
		refused, tried := out.refused[a.ID]
		out.mu.Unlock()
		old := slices.IndexFunc(state.Scans.Agents, func(old ScanReader) bool { return old.ID == a.ID })
		if r.Refused = refused; !tried && old >= 0 {
			r.Refused = state.Scans.Agents[old].Refused
		}
		if ran {
			r.Waiting = seen.Waiting
			for _, c := range seen.Annotated[:min(len(seen.Annotated), maxAnnotated)] {
				r.Annotated = append(r.Annotated, AnnotatedRun(c.App, c.Name))
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
