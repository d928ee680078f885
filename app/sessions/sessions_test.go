package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// fake is a store with one request, and the receiver of requests.
type fake struct {
	ports.Sessions
	ports.Targets
	request  ports.SessionRequest
	ended    string // how the request ended
	answered []ports.RequestAnswer
	sent     []string // bodies
	reply    func() (Response, error)
	head     string // that the reviewers were asked about; empty if the pull request is unknown
}

func (f *fake) Request(_ context.Context, id string) (ports.SessionRequest, error) {
	if id != f.request.ID {
		return ports.SessionRequest{}, ports.ErrNotFound
	}
	return f.request, nil
}

func (f *fake) EndRequest(_ context.Context, _ string, done bool, note string) error {
	f.ended = fmt.Sprint(done, " ", note)
	return nil
}

func (f *fake) Answer(_ context.Context, a ports.RequestAnswer) (ports.AnswerOutcome, error) {
	f.answered = append(f.answered, a)
	return ports.AnswerStored, nil
}

func (f *fake) Target(context.Context, string) (ports.TargetState, error) {
	if f.head == "" {
		return ports.TargetState{}, ports.ErrNotFound
	}
	return ports.TargetState{Target: ports.Target{HeadSHA: "of a late delivery"}}, nil
}

func (f *fake) Session(context.Context, string) (ports.SessionRow, error) {
	return ports.SessionRow{Key: "pull/1/7", HeadSHA: f.head, Cycle: pipeline.SessionCycle{Number: 1}}, nil
}

// keeper is a Keeper on the fake.
func (f *fake) keeper() *Keeper {
	return &Keeper{
		Sessions: f, Targets: f, Key: []byte("key"), Log: zerolog.Nop(), Now: func() time.Time { return now },
		PublicURL: "https://reviewgate.example.com", WebURL: "https://github.example",
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
		Receiver: func(agent string) (to config.Receiver, secret []byte, ok bool) {
			return config.Receiver{URL: "https://" + agent + ".example"}, []byte("secret"), agent == "codex" || agent == ""
		},
		Send: func(_ context.Context, _ config.Receiver, _ []byte, _ string, body []byte) (Response, error) {
			f.sent = append(f.sent, string(body))
			return f.reply()
		},
	}
}

func open(kind ports.RequestKind) ports.SessionRequest {
	return ports.SessionRequest{
		ID: "r-1", Kind: kind, Agent: "codex", Session: true, State: ports.RequestOpen, Deadline: now.Add(10 * time.Minute),
		Body: encode(reviewRequest{Type: string(kind), ID: "r-1", Reviewer: "codex", MaxWords: 3}),
	}
}

// unreachable is a failure to send.
type unreachable struct {
	temporary bool
	after     time.Duration
}

func (unreachable) Error() string               { return "answered 503, hunter2" }
func (e unreachable) Temporary() bool           { return e.temporary }
func (e unreachable) RetryAfter() time.Duration { return e.after }
func answerOf(reviewer, verdict string) string {
	return fmt.Sprintf(`{"type": "review_result", "reviewer": %q, "timestamp": "2026-01-31T12:00:00Z", "payload": {"verdict": %q, "summary": "one two three hunter2 five", "issues": [{"severity": "high", "description": "hunter2 is logged", "file": "a.go", "line": 3}]}}`, reviewer, verdict)
}

func TestSend(t *testing.T) {
	reply := func(body string, err error) func() (Response, error) {
		return func() (Response, error) { return Response{200, []byte(body)}, err }
	}
	for name, tt := range map[string]struct {
		kind    ports.RequestKind
		change  func(*ports.SessionRequest)
		attempt int
		reply   func() (Response, error)
		sent    int
		ended   string
		again   time.Duration // the wait before the next attempt
		answers int
	}{
		"answered at once":        {ports.RequestReview, nil, 1, reply(answerOf("codex", "approved"), nil), 1, "", 0, 1},
		"answers later":           {ports.RequestReview, nil, 1, reply(" \n", nil), 1, "", 0, 0},
		"a clarification":         {ports.RequestClarification, nil, 1, reply("ok", nil), 1, "true ", 0, 0},
		"garbage":                 {ports.RequestReview, nil, 1, reply("<html>", nil), 1, "", 2 * time.Second, 0},
		"garbage a third time":    {ports.RequestReview, nil, 3, reply("<html>", nil), 1, "false the answer is not a review result: the answer:1:1: this is not JSON", 0, 0},
		"garbage at the deadline": {ports.RequestReview, func(q *ports.SessionRequest) { q.Deadline = now }, 1, reply("{}", nil), 1, "false the answer is not a review result: ", 0, 0},
		"another reviewer":        {ports.RequestReview, nil, 1, reply(answerOf("gemini", "approved"), nil), 1, "", 2 * time.Second, 0},
		"down":                    {ports.RequestReview, nil, 3, reply("", unreachable{temporary: true}), 1, "", 8 * time.Second, 0},
		"down for long":           {ports.RequestReview, nil, 30, reply("", unreachable{temporary: true}), 1, "", time.Minute, 0},
		"asks to wait":            {ports.RequestReview, nil, 1, reply("", unreachable{true, 90 * time.Second}), 1, "", 90 * time.Second, 0},
		"asks to wait too long":   {ports.RequestReview, nil, 1, reply("", unreachable{true, time.Hour}), 1, "false answered 503, [redacted]", 0, 0},
		"down at the deadline":    {ports.RequestReview, func(q *ports.SessionRequest) { q.Deadline = now.Add(time.Second) }, 1, reply("", unreachable{temporary: true}), 1, "false answered 503, [redacted]", 0, 0},
		"refuses":                 {ports.RequestReview, nil, 1, reply("", unreachable{}), 1, "false answered 503, [redacted]", 0, 0},
		"no such receiver":        {ports.RequestReview, func(q *ports.SessionRequest) { q.Agent = "gone" }, 1, nil, 0, "false the server's config has no such receiver", 0, 0},
		"ended already":           {ports.RequestReview, func(q *ports.SessionRequest) { q.State = ports.RequestAnswered }, 1, nil, 0, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{request: open(tt.kind), reply: tt.reply}
			if tt.change != nil {
				tt.change(&f.request)
			}
			err := f.keeper().Work(t.Context(), ports.RequestJob{ID: "r-1"}, tt.attempt)
			var retry *ports.RetryError
			switch {
			case errors.As(err, &retry) != (tt.again > 0), err != nil && retry == nil:
				t.Fatalf("error %v", err)
			case retry != nil && (retry.After != tt.again || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("again after %s: %v, want %s", retry.After, err, tt.again)
			}
			if len(f.sent) != tt.sent || !strings.HasPrefix(f.ended, tt.ended) || tt.ended == "" && f.ended != "" || len(f.answered) != tt.answers {
				t.Errorf("sent %d, ended %q, answers %d", len(f.sent), f.ended, len(f.answered))
			}
			if tt.sent > 0 {
				var body reviewRequest
				if err := json.Unmarshal([]byte(f.sent[0]), &body); err != nil || (body.ResultsToken == f.keeper().Token("r-1")) != (tt.kind == ports.RequestReview) {
					t.Errorf("sent %s", f.sent[0])
				}
			}
		})
	}
	if err := (&fake{}).keeper().Work(t.Context(), ports.RequestJob{ID: "gone"}, 1); err != nil {
		t.Errorf("a request that was deleted: %v", err)
	}
}

// A request is no longer sent once the pull request has moved on. A receiver that responds with 202
// answers later, whatever the response says.
func TestMootRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		head, ended string
		change      func(*ports.SessionRequest)
		sent        int
	}{
		"current":       {"aaa", "", nil, 1},
		"another head":  {"bbb", "false the request was dropped", nil, 0},
		"another cycle": {"aaa", "false the request was dropped", func(q *ports.SessionRequest) { q.Cycle = 2 }, 0},
		"a message":     {"bbb", "", func(q *ports.SessionRequest) { q.Kind = ports.RequestClarification }, 1},
	} {
		f := &fake{request: open(ports.RequestReview), head: tt.head, reply: func() (Response, error) { return Response{202, []byte(`{"status": "queued"}`)}, nil }}
		f.request.HeadSHA, f.request.Cycle = "aaa", 1
		if tt.change != nil {
			tt.change(&f.request)
		}
		if err := f.keeper().Work(t.Context(), ports.RequestJob{ID: "r-1"}, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(f.sent) != tt.sent || tt.ended != "" && !strings.HasPrefix(f.ended, tt.ended) || len(f.answered) > 0 {
			t.Errorf("%s: sent %d, ended %q", name, len(f.sent), f.ended)
		}
	}
}

// A token belongs to one request and one server.
func TestToken(t *testing.T) {
	k, other := (&fake{}).keeper(), (&fake{}).keeper()
	other.Key = []byte("another key")
	if a, b := k.Token("r-1"), k.Token("r-2"); a == b || a != k.Token("r-1") || a == other.Token("r-1") || len(a) != 43 {
		t.Errorf("%s %s %s", a, b, other.Token("r-1"))
	}
}

func TestAnswer(t *testing.T) {
	f := &fake{request: open(ports.RequestReview)}
	if outcome, err := f.keeper().Answer(t.Context(), "r-1", []byte(answerOf("codex", "concerns")), "s"); err != nil || outcome != ports.AnswerStored {
		t.Fatalf("%s %v", outcome, err)
	}
	want := pipeline.SessionAnswer{Verdict: "concerns", Summary: "one two three … (cut: 3 of 5 words)", At: now, Issues: pipeline.List[pipeline.SessionIssue]{
		{Severity: "major", Description: "[redacted] is logged", File: "a.go", Line: 3},
	}}
	if diff := cmp.Diff(want, f.answered[0].Answer); diff != "" || f.answered[0].Signature != "s" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	many := strings.Replace(answerOf("codex", "concerns"), `"issues": [`, `"issues": [`+strings.Repeat(`{"severity": "low", "description": "d"},`, 200), 1)
	for name, text := range map[string]string{
		"not JSON": "x", "two results": "[" + answerOf("codex", "approved") + "," + answerOf("codex", "approved") + "]", "no result": "[]",
		"another reviewer": answerOf("gemini", "approved"), "unknown verdict": answerOf("codex", "perhaps"), "201 issues": many,
	} {
		var invalid *InvalidError
		if _, err := f.keeper().Answer(t.Context(), "r-1", []byte(text), ""); !errors.As(err, &invalid) || len(invalid.Errors) == 0 || invalid.Errors[0].Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.request.Kind = ports.RequestClarification
	for _, id := range []string{"r-1", "r-2"} {
		if _, err := f.keeper().Answer(t.Context(), id, []byte(answerOf("codex", "approved")), ""); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Whatever a reviewer sends, an answer that counts is the reviewer's own, has a known verdict, and is
// bounded.
func FuzzAnswer(f *testing.F) {
	f.Add(answerOf("codex", "approved"))
	f.Add("[" + answerOf("codex", "blocker") + "]")
	f.Add(`{"type": "review_result", "reviewer": "codex", "timestamp": "x", "payload": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		fake := &fake{request: open(ports.RequestReview)}
		if _, err := fake.keeper().Answer(t.Context(), "r-1", []byte(text), ""); err != nil {
			return
		}
		a := fake.answered[0].Answer
		switch a.Verdict {
		case pipeline.SessionApproved, pipeline.SessionConcerns, pipeline.SessionBlocker:
		default:
			t.Errorf("verdict %q", a.Verdict)
		}
		if len(a.Issues) > maxIssues || strings.Contains(fmt.Sprint(a), "hunter2") {
			t.Errorf("%+v", a)
		}
		for _, x := range a.Issues {
			if x.Severity.Rank() == 0 || x.Line < 0 || len([]rune(x.Description)) > maxDescription || len([]rune(x.File)) > maxPath {
				t.Errorf("%+v", x)
			}
		}
	})
}

// A published review changes its session's state and the fallback's timer, and sends messages once.
func TestOutcome(t *testing.T) {
	settings := &config.Config{}
	settings.Settings.Sessions = config.SessionSettings{Fallback: 15, People: []string{"zoe"}}
	cycle := &pipeline.SessionCycle{Number: 2, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerMilestone}, Targets: pipeline.List[string]{"claude"}}
	fallback := &pipeline.SessionCycle{Number: 2, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerFallback}}
	pause := &pipeline.SessionPause{Cycle: 2, Rule: 2, Reviewers: pipeline.List[string]{"codex"}, Clarification: "Settle it."}
	blocked := &pipeline.SessionPause{Cycle: 2, Rule: 1, Reviewers: pipeline.List[string]{"codex"}}
	asked := pipeline.List[pipeline.AskedReviewer]{{Reviewer: "codex", Session: true, Cycle: 2}, {Reviewer: "gemini", Session: true, Cycle: 1}, {Reviewer: "lint"}}
	reviewers := pipeline.List[pipeline.SessionReviewer]{{Reviewer: "codex", Verdict: "blocker", Summary: "No."}}
	for name, tt := range map[string]struct {
		session  *pipeline.Session
		report   *pipeline.SessionReport
		cycle    int
		state    bool
		fallback time.Duration
		sent     string // kinds
	}{
		"no session":          {nil, nil, 0, false, 0, ""},
		"rule 4":              {&pipeline.Session{Cycle: cycle, Asked: asked}, &pipeline.SessionReport{Decided: true, Rule: 4, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 15 * time.Minute, ""},
		"rule 4, a fallback":  {&pipeline.Session{Cycle: fallback, Asked: asked}, &pipeline.SessionReport{Decided: true, Rule: 4, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 0, ""},
		"rule 3":              {&pipeline.Session{Cycle: cycle, Asked: asked}, &pipeline.SessionReport{Decided: true, Rule: 3, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 0, ""},
		"rule 2":              {&pipeline.Session{Cycle: cycle, Asked: asked}, &pipeline.SessionReport{Decided: true, Rule: 2, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2, Pause: pause}}, 2, true, -1, "clarification_request codex"},
		"rule 2 again":        {&pipeline.Session{Cycle: cycle, Asked: asked, Before: pipeline.SessionState{Pause: pause}}, &pipeline.SessionReport{Decided: true, Rule: 2, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2, Pause: pause}}, 2, true, -1, ""},
		"rule 1":              {&pipeline.Session{Cycle: cycle, Asked: asked}, &pipeline.SessionReport{Decided: true, Rule: 1, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2, Escalation: blocked}}, 2, true, -1, "escalation "},
		"undecided":           {&pipeline.Session{Cycle: cycle, Asked: asked}, &pipeline.SessionReport{Reviewers: reviewers}, 0, false, 0, ""},
		"nobody to ask":       {&pipeline.Session{Cycle: cycle}, &pipeline.SessionReport{}, 2, false, 0, ""},
		"nobody, no report":   {&pipeline.Session{Cycle: cycle}, nil, 2, false, 0, ""},
		"rule 3 after rule 0": {&pipeline.Session{Cycle: cycle, Asked: asked, Before: pipeline.SessionState{Pause: pause}}, &pipeline.SessionReport{Decided: true, Rule: 3, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 15 * time.Minute, ""},
		"late, a fallback":    {&pipeline.Session{Cycle: fallback, Asked: asked, Before: pipeline.SessionState{Cycle: 2, Pause: pause}}, &pipeline.SessionReport{Decided: true, Rule: 3, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 0, ""},
		"resumed, a fallback": {&pipeline.Session{Cycle: fallback, Before: pipeline.SessionState{Pause: pause}, Resumes: 1}, &pipeline.SessionReport{Decided: true, Rule: 2, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2, Resumes: 1}}, 2, true, 15 * time.Minute, ""},
		"rule 4 again":        {&pipeline.Session{Cycle: cycle, Asked: asked, Before: pipeline.SessionState{Cycle: 2}}, &pipeline.SessionReport{Decided: true, Rule: 4, Reviewers: reviewers, State: pipeline.SessionState{Cycle: 2}}, 2, true, 0, ""},
		"resumed":             {&pipeline.Session{Before: pipeline.SessionState{Pause: pause}, Resumes: 1}, &pipeline.SessionReport{State: pipeline.SessionState{Resumes: 1}}, 0, true, 15 * time.Minute, ""},
		"another push":        {&pipeline.Session{Before: pipeline.SessionState{Pause: pause}}, &pipeline.SessionReport{State: pipeline.SessionState{Pause: pause}}, 0, false, 0, ""},
	} {
		r := &pipeline.Review{Session: tt.session}
		r.Report.Session = tt.report
		r.Facts.Repository, r.Facts.Number = pipeline.Repository{Owner: "acme", Name: "shop"}, 7
		out := (&fake{}).keeper().Outcome(r, "pull/1/7", settings)
		var sent []string
		for _, q := range out.Requests {
			sent = append(sent, string(q.Kind)+" "+q.Agent)
			if !json.Valid(q.Body) || q.Cycle != 2 || !strings.Contains(string(q.Body), q.ID) {
				t.Errorf("%s: %+v", name, q)
			}
		}
		if out.Cycle != tt.cycle || (out.State != nil) != tt.state || out.Fallback != tt.fallback || strings.Join(sent, ", ") != tt.sent {
			t.Errorf("%s: %+v, sent %q", name, out, sent)
		}
	}
}
