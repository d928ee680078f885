package aggregate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// sessionWorld returns a review in cycle 1 of a session. answers is a text such as "codex:concerns
// gemini:waiting quality:critical". codex and gemini are remote reviewers. quality is a model agent,
// whose word is the severity of its only finding, "clean" or "failed".
func sessionWorld(answers string) Input {
	in := world(map[string][]pipeline.Finding{"x": nil})
	in.Session = &pipeline.Session{Cycle: &pipeline.SessionCycle{Number: 1, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerMilestone}, Targets: pipeline.List[string]{"claude"}, Deadline: time.Unix(600, 0)}}
	for _, a := range strings.Fields(answers) {
		name, word, _ := strings.Cut(a, ":")
		r := pipeline.AgentResult{Agent: name, Status: pipeline.AgentOK}
		agent := config.Agent{ID: name, Kind: config.KindWebhook, Session: true}
		if name == "quality" {
			agent.Kind, r.Model = config.KindLLM, "m"
			switch word {
			case "failed":
				r.Status, r.Note = pipeline.AgentTimedOut, "no answer within 2m"
			case "clean":
			default:
				r.Output.Findings = []pipeline.Finding{{Title: "Blocking call without timeout", Message: "It is.", Severity: pipeline.Severity(word), Confidence: 0.9, Path: "a.go", StartLine: 2}}
			}
		} else {
			q := pipeline.AskedReviewer{Reviewer: name, Session: true, State: pipeline.AskedAnswered, HeadSHA: "abc", Cycle: 1}
			switch word {
			case "waiting":
				q.State, r.Status = pipeline.AskedWaiting, pipeline.AgentWaiting
			case "missing":
				q.State, r.Status = pipeline.AskedMissing, pipeline.AgentFailed
			default:
				q.Answer = &pipeline.SessionAnswer{Verdict: pipeline.SessionVerdict(word), Summary: name + " says " + word}
			}
			in.Session.Asked = append(in.Session.Asked, q)
		}
		in.Config.Agents = append(in.Config.Agents, agent)
		in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: name, Scope: pipeline.AgentScope{All: true}})
		in.Results = append(in.Results, r)
	}
	return in
}

func TestSessionAtTheGate(t *testing.T) {
	for _, tt := range []struct {
		name, answers string
		change        func(*Input)
		decision      pipeline.Decision
		condition     string
		session       string // status, rule, action
	}{
		{"all approve", "codex:approved quality:clean", nil, "pass", "", "RUNNING 4 continue"},
		{"one concern", "codex:concerns gemini:approved", nil, "pass", "", "RUNNING 3 log_and_continue flagged"},
		{"a model's warning is a concern", "codex:approved quality:warning", nil, "pass_with_warnings", "", "RUNNING 3 log_and_continue flagged"},
		{"a model's remark is not a concern", "codex:approved quality:info", nil, "pass", "", "RUNNING 4 continue"},
		{"two concerns", "codex:concerns gemini:concerns", nil, "needs_fixes", SessionPaused, "PAUSED 2 pause_and_clarify"},
		{"a model's major finding and a concern", "codex:concerns quality:major", nil, "needs_fixes", SessionPaused, "PAUSED 2 pause_and_clarify"},
		{"a blocker", "codex:approved gemini:blocker", nil, "needs_fixes", SessionEscalated, "PAUSED 1 stop_and_escalate"},
		{"an unproven critical finding is a concern", "codex:approved quality:critical", nil, "pass_with_warnings", "", "RUNNING 3 log_and_continue flagged"},
		{"a proven critical finding is a blocker", "codex:approved quality:critical", func(in *Input) {
			in.Results[0].Output.Findings = []pipeline.Finding{{Title: "Blocking call without timeout", Message: "It is.", Severity: "critical", Confidence: 0.9, Path: "a.go", StartLine: 2}}
		}, "fail", "", "PAUSED 1 stop_and_escalate"},
		{"a missing answer", "codex:missing gemini:approved", nil, "needs_fixes", SessionUnheard, "PAUSED 0 pause_and_clarify"},
		{"a concern and a missing answer", "codex:missing gemini:concerns", nil, "needs_fixes", SessionUnheard, "PAUSED 0 pause_and_clarify"},
		{"a model without an answer", "codex:approved quality:failed", nil, "needs_fixes", SessionUnheard, "PAUSED 0 pause_and_clarify"},
		{"answers may come", "codex:waiting gemini:concerns", nil, "needs_fixes", Incomplete, "RUNNING -1 undecided"},
		{"a blocker does not wait", "codex:waiting gemini:blocker", nil, "needs_fixes", Incomplete, "PAUSED 1 stop_and_escalate"},
		{"a target does not review itself", "codex:blocker gemini:approved", func(in *Input) { in.Session.Cycle.Targets = pipeline.List[string]{"codex"} }, "pass", "", "RUNNING 4 continue"},
		{"the gate is worse", "codex:blocker", func(in *Input) {
			in.Results[0].Output.Findings = []pipeline.Finding{{Title: "Blocking call without timeout", Message: "It is.", Severity: "critical", Confidence: 0.9, Path: "a.go", StartLine: 2}}
		}, "fail", "", "PAUSED 1 stop_and_escalate"},
		{"an override resumes nothing", "codex:blocker", func(in *Input) {
			in.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride, By: "ann"}
		}, "needs_fixes", SessionEscalated, "PAUSED 1 stop_and_escalate"},
		{"an override of answers to come", "codex:waiting", func(in *Input) {
			in.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride, By: "ann"}
		}, "pass", Overridden, "RUNNING -1 undecided"},
		{"a pause remains in force on the next head", "", func(in *Input) {
			in.Session.Cycle = nil
			in.Session.Before = pipeline.SessionState{Cycle: 1, HeadSHA: "old", Rule: 2, Pause: &pipeline.SessionPause{Cycle: 1, Rule: 2}}
		}, "needs_fixes", SessionPaused, "PAUSED 2 pause_and_clarify undecided"},
		{"a person resumed it", "", func(in *Input) {
			escalation := &pipeline.SessionPause{Cycle: 1, Rule: 1}
			in.Session.Cycle, in.Session.Resumes, in.Session.Resumed = nil, 1, &pipeline.SessionResume{By: "ann", Escalation: escalation}
			in.Session.Before = pipeline.SessionState{Cycle: 1, HeadSHA: "old", Rule: 1, Escalation: escalation}
		}, "pass", "", "RUNNING 1 continue undecided by ann"},
		{"an older escalation", "codex:approved", func(in *Input) {
			in.Session.Cycle.Number, in.Session.Asked[0].Cycle = 2, 2
			in.Session.Before = pipeline.SessionState{Cycle: 1, HeadSHA: "old", Rule: 1, Escalation: &pipeline.SessionPause{Cycle: 1, Rule: 1}}
		}, "needs_fixes", SessionEscalated, "PAUSED 4 stop_and_escalate"},
		{"an answer of an earlier cycle decides nothing", "codex:blocker gemini:approved", func(in *Input) { in.Session.Asked[0].Cycle = 0 }, "pass", "", "RUNNING 4 continue"},
		{"a model that was not asked since the spec stage failed", "codex:approved quality:clean", func(in *Input) {
			r := &in.Results[len(in.Results)-1]
			r.Status, r.Note = pipeline.AgentDiscarded, "not asked: the spec stage failed"
		}, "needs_fixes", SessionUnheard, "PAUSED 0 pause_and_clarify"},
		{"a model whose findings are withheld", "codex:approved quality:major", func(in *Input) {
			in.Config.Agents = append(in.Config.Agents, config.Agent{ID: "spec", Kind: config.KindRules})
			in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: "spec", Scope: pipeline.AgentScope{All: true}})
			in.Results = append(in.Results, pipeline.AgentResult{Agent: "spec", Status: pipeline.AgentOK, Stage: pipeline.ReviewStageSpec, Output: pipeline.AgentOutput{
				Findings: []pipeline.Finding{{Title: "Not what was asked for", Message: "It is another thing.", Severity: "major", Confidence: 0.9, Path: "a.go", StartLine: 4}},
			}})
		}, "needs_fixes", "", "PAUSED 0 pause_and_clarify"},
		{"a stage failed", "codex:approved", func(in *Input) {
			in.Failed = &pipeline.Incompleteness{What: "stage", Why: "the stage dispatch failed", Gating: true}
			in.Session.Before = pipeline.SessionState{Cycle: 1, HeadSHA: "old", Rule: 1, Escalation: &pipeline.SessionPause{Cycle: 1, Rule: 1}}
		}, "needs_fixes", Incomplete, "PAUSED 4 stop_and_escalate"},
		{"a reviewer of every head does not make a session", "", func(in *Input) {
			in.Session.Cycle = nil
			in.Session.Asked = pipeline.List[pipeline.AskedReviewer]{{Reviewer: "codex", State: pipeline.AskedAnswered, Answer: &pipeline.SessionAnswer{Verdict: "blocker"}}}
		}, "pass", "", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := sessionWorld(tt.answers)
			if tt.change != nil {
				tt.change(&in)
			}
			r := Aggregate(in)
			if r.Decision != tt.decision || tt.condition != "" && r.Gate.Condition != tt.condition {
				t.Errorf("decision %s (%s), want %s (%s)", r.Decision, r.Gate.Condition, tt.decision, tt.condition)
			}
			got := "none"
			if s := r.Session; s != nil {
				got = strings.TrimSpace(fmt.Sprintf("%s %d %s", s.Status, s.Rule, s.Action))
				if s.Flagged {
					got += " flagged"
				}
				if !s.Decided {
					got += " undecided"
				}
				if s.ResumedBy != "" {
					got += " by " + s.ResumedBy
				}
			}
			if got != tt.session {
				t.Errorf("session %q, want %q", got, tt.session)
			}
		})
	}
}

// The decision without memory counts: a record that hides a model's concern changes no verdict.
func TestMemoryChangesNoVerdict(t *testing.T) {
	in := sessionWorld("codex:concerns quality:warning")
	in.Config.Agents[len(in.Config.Agents)-1].Kind = config.KindLLM
	in.Memory.FalsePositives = pipeline.List[pipeline.FalsePositive]{{Record: "M-1", Agent: "quality", Title: "Blocking call without timeout"}}
	in.Results[len(in.Results)-1].Output.Findings[0].Confidence = 0.6
	r := Aggregate(in)
	if len(r.Findings) != 0 || len(r.Memory) != 1 {
		t.Fatalf("memory hid nothing: %+v %+v", r.Findings, r.Memory)
	}
	if r.Session.Rule != 2 || r.Session.Status != pipeline.SessionPaused {
		t.Errorf("rule %d, %s: memory turned concerns into an approval", r.Session.Rule, r.Session.Status)
	}
}

// A remote reviewer's findings need proof like a model's, unless the server trusts the reviewer. The
// models' summary leaves them out.
func TestRemoteFindingsNeedProof(t *testing.T) {
	issue := func(line int) []pipeline.Finding {
		return []pipeline.Finding{{Title: "Salt is missing", Message: "The hash has no salt.", Severity: "major", Confidence: 0.7, Path: "a.go", StartLine: line}}
	}
	for _, tt := range []struct {
		name    string
		trusted bool
		other   bool
		want    pipeline.Severity
	}{
		{"alone", false, false, "warning"},
		{"trusted", true, false, "major"},
		{"with another agent", false, true, "major"},
	} {
		in := world(map[string][]pipeline.Finding{"x": nil})
		r := pipeline.AgentResult{Agent: "codex", Model: "codex", Remote: true, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: issue(2)}}
		if tt.trusted {
			r.Model = ""
		}
		if tt.other {
			in.Results[0].Output.Findings = issue(2)
		}
		in.Results = append(in.Results, r)
		in.Config.Agents = append(in.Config.Agents, config.Agent{ID: "codex", Kind: config.KindWebhook})
		in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: "codex", Scope: pipeline.AgentScope{All: true}})
		report := Aggregate(in)
		if len(report.Findings) != 1 || report.Findings[0].GateSeverity != tt.want {
			t.Errorf("%s: %+v", tt.name, report.Findings)
		}
		if report.Models != nil {
			t.Errorf("%s: a remote reviewer is in the models' summary: %+v", tt.name, report.Models)
		}
	}
}

// A remote reviewer that was not asked about a head does not make the review incomplete, unless it is
// required in a session that has begun, or its earlier findings blocked.
func TestNotAskedAgain(t *testing.T) {
	in := sessionWorld("")
	in.Session.Cycle = nil
	in.Config.Agents = append(in.Config.Agents, config.Agent{ID: "codex", Kind: config.KindWebhook, Session: true})
	in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: "codex", Required: true, Scope: pipeline.AgentScope{All: true}})
	in.Results = append(in.Results, pipeline.AgentResult{Agent: "codex", Status: pipeline.AgentNotAsked, Note: "it is asked when a coding agent reports"})
	if r := Aggregate(in); r.Decision != pipeline.DecisionPass || len(r.Incomplete) != 0 || r.Gate.Metrics["agents_failed"] != 0 {
		t.Errorf("%s %+v", r.Decision, r.Incomplete)
	}
	in.Session.Before.Cycle = 1
	required := pipeline.List[pipeline.Incompleteness]{{What: "agent", Why: "codex was not asked about this head, and it is required: ask for a review again", Gating: true}}
	if r := Aggregate(in); r.Decision != pipeline.DecisionNeedsFixes || !cmp.Equal(required, r.Incomplete) {
		t.Errorf("required after a cycle: %s %+v", r.Decision, r.Incomplete)
	}
	in.Session.Targets = pipeline.List[string]{"codex"}
	if r := Aggregate(in); r.Decision != pipeline.DecisionPass || len(r.Incomplete) != 0 {
		t.Errorf("required, and its own work: %s %+v", r.Decision, r.Incomplete)
	}
	in.Session.Targets = nil
	in.Manifest.Entries[len(in.Manifest.Entries)-1].Required = false
	if r := Aggregate(in); r.Decision != pipeline.DecisionPass {
		t.Errorf("not required after a cycle: %s %+v", r.Decision, r.Incomplete)
	}
	in.Previous = &pipeline.PreviousReport{HeadSHA: "0123456789", Findings: pipeline.List[pipeline.Finding]{{
		ID: "f", Agent: "codex", Title: "Salt is missing", Message: "No salt.", Severity: "critical", GateSeverity: "critical", Path: "a.go", StartLine: 2,
	}}}
	first := Aggregate(in)
	want := pipeline.List[pipeline.Incompleteness]{{What: "agent", Why: "codex was not asked about this head, and its findings on 0123456 block: ask for a review again", Gating: true}}
	if diff := cmp.Diff(want, first.Incomplete); diff != "" || first.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("%s\n%s", first.Decision, diff)
	}
	in.Previous = first.AsPrevious()
	in.Facts.Head.SHA = "next"
	if again := Aggregate(in); again.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("a second push passes: %+v", again.Incomplete)
	}
}
