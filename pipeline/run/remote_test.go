package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

func TestRemoteReviewer(t *testing.T) {
	facts := &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "a.go", Status: pipeline.FileAdded, Additions: 3, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 1, NewLines: 3}}}}}
	agent := config.Agent{ID: "codex", Kind: config.KindWebhook, Session: true, Webhook: &config.RemoteReviewer{}}
	asked := func(state pipeline.AskedState, change func(*pipeline.AskedReviewer)) *pipeline.AskedReviewer {
		a := &pipeline.AskedReviewer{Reviewer: "codex", State: state, Deadline: time.Date(2026, 1, 31, 12, 10, 0, 0, time.UTC)}
		if change != nil {
			change(a)
		}
		return a
	}
	for name, tt := range map[string]struct {
		asked *pipeline.AskedReviewer
		want  string
	}{
		"not asked":     {nil, "it is asked when a coding agent reports, or by /review"},
		"waiting":       {asked(pipeline.AskedWaiting, nil), "it has until 12:10 UTC"},
		"missing":       {asked(pipeline.AskedMissing, nil), "gave no valid answer in time"},
		"missing, why":  {asked(pipeline.AskedMissing, func(a *pipeline.AskedReviewer) { a.Note = "answered 503" }), "gave no valid answer in time: answered 503"},
		"lost answer":   {asked(pipeline.AskedAnswered, nil), "gave no valid answer in time"},
		"unknown state": {asked("asked", nil), "gave no valid answer in time"},
	} {
		_, err := remote{agent, tt.asked, facts}.Review(t.Context(), dispatch.Task{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		var notAsked *dispatch.NotAskedError
		if errors.As(err, &notAsked) != (tt.asked == nil) {
			t.Errorf("%s: %T", name, err)
		}
	}
	long := strings.Repeat("word ", 100)
	a := asked(pipeline.AskedAnswered, func(a *pipeline.AskedReviewer) {
		a.Answer = &pipeline.SessionAnswer{Verdict: pipeline.SessionConcerns, Issues: pipeline.List[pipeline.SessionIssue]{
			{Severity: "major", Description: "No salt.", File: "a.go", Line: 2},
			{Severity: "major", Description: "Behind the end.", File: "a.go", Line: 4},
			{Severity: "warning", Description: "Elsewhere.", File: "b.go"},
			{Severity: "info", Description: long},
		}}
	})
	for _, trusted := range []bool{false, true} {
		agent.Webhook.Trusted = trusted
		got, err := remote{agent, a, facts}.Review(t.Context(), dispatch.Task{})
		if err != nil {
			t.Fatal(err)
		}
		change := func(severity pipeline.Severity, title, message string) pipeline.Finding {
			return pipeline.Finding{Severity: severity, Title: title, Message: message, Section: pipeline.SectionChange, Confidence: 0.7}
		}
		want := pipeline.List[pipeline.Finding]{
			{Severity: "major", Title: "No salt.", Message: "No salt.", Path: "a.go", StartLine: 2, EndLine: 2, Confidence: 0.7},
			change("major", "Behind the end.", "Behind the end. (a.go:4)"),
			change("warning", "Elsewhere.", "Elsewhere. (b.go)"),
			change("info", strings.TrimSpace(long[:119])+"…", long),
		}
		if diff := cmp.Diff(want, got.Output.Findings); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		if needsProof := got.Output.Model == "codex"; needsProof == trusted || !got.Remote {
			t.Errorf("trusted %v: model %q, remote %v", trusted, got.Output.Model, got.Remote)
		}
	}
}

// What reviewers of sessions are told decides whether their answers are carried over.
func TestSameCycle(t *testing.T) {
	engine := &Engine{config: &config.Config{Agents: []config.Agent{{ID: "quality", Kind: config.KindLLM, Session: true}, {ID: "other", Kind: config.KindLLM}}}}
	session := func(number int, summary string, targets ...string) *pipeline.Session {
		return &pipeline.Session{Cycle: &pipeline.SessionCycle{
			Number: number, Targets: targets, Context: pipeline.List[pipeline.SessionSummary]{{Agent: "claude", Text: summary}}, Deadline: time.Unix(int64(number), 0),
		}}
	}
	first := session(1, "one", "claude")
	later := session(1, "one", "claude")
	later.Cycle.Deadline = time.Unix(99, 0)
	for name, tt := range map[string]struct {
		agent       string
		now, before *pipeline.Session
		want        bool
	}{
		"the same":             {"quality", first, later, true},
		"no session":           {"quality", nil, nil, true},
		"a new session":        {"quality", first, nil, false},
		"an ended session":     {"quality", &pipeline.Session{}, first, false},
		"another cycle":        {"quality", session(2, "one", "claude"), first, false},
		"another summary":      {"quality", session(1, "two", "claude"), first, false},
		"its own work":         {"quality", session(1, "one", "quality"), nil, true},
		"no reviewer":          {"other", first, nil, true},
		"an agent not in here": {"gone", first, nil, true},
	} {
		if got := engine.sameCycle(tt.agent, tt.now, tt.before); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
