package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// verifierFunc returns a verdict on a finding.
type verifierFunc func(d aggregate.Doubt) (pipeline.OpinionVerdict, error)

func (f verifierFunc) Verify(_ context.Context, task dispatch.Task, d aggregate.Doubt) (pipeline.Opinion, string, error) {
	verdict, err := f(d)
	return pipeline.Opinion{Model: task.Model, Verdict: verdict, Quote: "return total", Why: "It is there."}, "", err
}

// A finding of one model blocks once the verifying model confirms it, in either stage. A refutation
// or no answer changes nothing.
func TestFindingsAreVerified(t *testing.T) {
	const verify = `{"models": {"verify": "small"}}`
	big := func() map[string]dispatch.Agent {
		return map[string]dispatch.Agent{"big": titled("Total is rounded twice", pipeline.SeverityMajor)}
	}
	earlier := func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
		return &pipeline.PreviousReport{}, nil
	}
	for name, test := range map[string]struct {
		settings      string
		spec, quality map[string]dispatch.Agent
		previous      func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error)
		verdict       pipeline.OpinionVerdict
		err           error
		asked         int
		decision      pipeline.Decision
		status        pipeline.AgentStatus // the status of the verifier; empty if it has no row
		qualityRan    bool
	}{
		"confirmed":                              {settings: verify, quality: big(), verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK, qualityRan: true},
		"refuted":                                {settings: verify, quality: big(), verdict: pipeline.OpinionRefuted, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
		"unclear":                                {settings: verify, quality: big(), asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
		"no answer":                              {settings: verify, quality: big(), err: errors.New("broken"), asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentFailed, qualityRan: true},
		"no verifier is named":                   {settings: "{}", quality: big(), verdict: pipeline.OpinionConfirmed, decision: pipeline.DecisionPassWithWarnings, qualityRan: true},
		"nothing to verify":                      {settings: verify, verdict: pipeline.OpinionConfirmed, decision: pipeline.DecisionPass, qualityRan: true},
		"in the spec stage, on the first review": {settings: verify, spec: big(), verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK, qualityRan: true},
		"in the spec stage, on a later review":   {settings: verify, spec: big(), quality: big(), previous: earlier, verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK},
		"refuted in both stages, on a later review": {settings: verify, spec: big(), quality: big(), previous: earlier, verdict: pipeline.OpinionRefuted, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			src := change(t)
			src.cfg = modelled(t, test.settings)
			r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(test.spec), "quality-model": a.agent(test.quality)})
			var mu sync.Mutex
			n := 0
			out, err := r.Run(t.Context(), src, Options{Previous: test.previous, Verifier: func(of IOAgent) Verifier {
				if of.Agent.ID != pipeline.Verifier || of.Redact == nil {
					t.Errorf("the verifier was made for %+v", of)
				}
				return verifierFunc(func(aggregate.Doubt) (pipeline.OpinionVerdict, error) {
					mu.Lock()
					defer mu.Unlock()
					n++
					return test.verdict, test.err
				})
			}})
			if err != nil {
				t.Fatal(err)
			}
			var status pipeline.AgentStatus
			for _, c := range out.Review.Report.Coverage {
				if c.Agent == pipeline.Verifier {
					status = c.Status
				}
			}
			ran := slices.ContainsFunc(out.Review.Results, func(r pipeline.AgentResult) bool { return r.Agent == "quality-model" && r.Status == pipeline.AgentOK })
			if n != test.asked || out.Review.Report.Decision != test.decision || status != test.status || ran != test.qualityRan {
				t.Errorf("asked %d times, %s, verifier %q, quality stage %t\n%+v", n, out.Review.Report.Decision, status, ran, out.Review.Report.Findings)
			}
		})
	}
}

// If one of several questions fails, the others keep their answers, and only the failed one is
// asked again.
func TestVerifierKeepsAnswers(t *testing.T) {
	doubts := []aggregate.Doubt{{Key: "a"}, {Key: "b"}, {Key: "c"}}
	var mu sync.Mutex
	asked := map[string]int{}
	a := &verificationAsker{doubts: doubts, opinions: map[string]pipeline.Opinion{}, verifier: verifierFunc(func(d aggregate.Doubt) (pipeline.OpinionVerdict, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[d.Key]++
		if d.Key == "b" && asked["b"] == 1 {
			return "", errors.New("busy")
		}
		return pipeline.OpinionConfirmed, nil
	})}
	if _, err := a.Review(t.Context(), dispatch.Task{}); err == nil {
		t.Error("the failure is not reported")
	}
	var row pipeline.AgentResult
	a.put(&row)
	if len(row.Verifications) != 2 {
		t.Errorf("answers in the row: %+v", row.Verifications)
	}
	answer, err := a.Review(t.Context(), dispatch.Task{})
	if err != nil || asked["a"] != 1 || asked["b"] != 2 || !strings.Contains(answer.Note, "confirmed 3 of 3, refuted 0") {
		t.Error(err, asked, answer.Note)
	}
}

// The answer about a finding is reused as long as the model is the same and was shown the same.
func TestVerificationsAreReused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(c *carrying, was *Outcome, carry *Carry)
		asked  int
	}{
		"nothing changed":  {func(*carrying, *Outcome, *Carry) {}, 1},
		"its file changed": {func(_ *carrying, was *Outcome, _ *Carry) { was.Review.Facts.Files[0].Additions++ }, 2},
		"another version":  {func(c *carrying, _ *Outcome, _ *Carry) { c.runner.Version += "-next" }, 2},
		"another config":   {func(_ *carrying, was *Outcome, _ *Carry) { was.Review.Facts.Config.Version = "other" }, 2},
		"another model": {func(_ *carrying, was *Outcome, _ *Carry) {
			eachVerifier(was, func(r *pipeline.AgentResult) { r.Model = "big" })
		}, 2},
		"somebody asked for a rerun":  {func(_ *carrying, _ *Outcome, carry *Carry) { carry.Rerun = []string{pipeline.Verifier} }, 2},
		"somebody asked for a review": {func(_ *carrying, _ *Outcome, carry *Carry) { carry.SameHead = false }, 2},
		"it was about another finding": {func(_ *carrying, was *Outcome, _ *Carry) {
			eachVerifier(was, func(r *pipeline.AgentResult) { r.Verifications[0].Finding = "x" })
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCarrying(t)
			var a asked
			c.runner.Agents["spec-model"] = a.agent(nil)
			c.runner.Agents["quality-model"] = a.agent(map[string]dispatch.Agent{"big": titled("Total is rounded twice", pipeline.SeverityMajor)})
			src := c.first()
			src.cfg = modelled(t, `{"models": {"verify": "small"}}`)
			n := 0
			options := Options{Verifier: func(IOAgent) Verifier {
				return verifierFunc(func(aggregate.Doubt) (pipeline.OpinionVerdict, error) { n++; return pipeline.OpinionConfirmed, nil })
			}}
			was, err := c.runner.Run(t.Context(), src, options)
			if err != nil || n != 1 {
				t.Fatal(n, err)
			}
			carry := Carry{SameHead: true}
			tt.change(c, &was, &carry)
			options.Carry = c.after(was, carry)
			again, err := c.runner.Run(t.Context(), src, options)
			if err != nil || n != tt.asked || again.Review.Report.Decision != pipeline.DecisionNeedsFixes {
				t.Errorf("asked %d times, want %d; %s, %v", n, tt.asked, again.Review.Report.Decision, err)
			}
		})
	}
}

func eachVerifier(was *Outcome, change func(*pipeline.AgentResult)) {
	for i := range was.Review.Results {
		if r := &was.Review.Results[i]; r.Agent == pipeline.Verifier {
			change(r)
		}
	}
}

// A panic during a verification ends only that question, not the review or the server.
func TestVerifierThatPanics(t *testing.T) {
	var a asked
	src := change(t)
	src.cfg = modelled(t, `{"models": {"verify": "small"}}`)
	r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(nil), "quality-model": a.agent(map[string]dispatch.Agent{"big": titled("Total is rounded twice", pipeline.SeverityMajor)})})
	out, err := r.Run(t.Context(), src, Options{Verifier: func(IOAgent) Verifier {
		return verifierFunc(func(aggregate.Doubt) (pipeline.OpinionVerdict, error) { panic("hostile") })
	}})
	if err != nil || out.Review.Report.Decision != pipeline.DecisionPassWithWarnings {
		t.Error(out.Review.Report.Decision, err)
	}
	if !slices.ContainsFunc(out.Review.Results, func(r pipeline.AgentResult) bool {
		return r.Agent == pipeline.Verifier && r.Status == pipeline.AgentFailed
	}) {
		t.Errorf("no row says that the verifier failed: %+v", out.Review.Results)
	}
}

// busyError is a temporary error.
type busyError struct{ error }

func (busyError) Temporary() bool { return true }

// If several questions fail, an error that allows a retry is reported.
func TestVerifierReportsTemporaryErrors(t *testing.T) {
	a := &verificationAsker{doubts: []aggregate.Doubt{{Key: "a"}, {Key: "b"}, {Key: "c"}}, opinions: map[string]pipeline.Opinion{}, verifier: verifierFunc(func(d aggregate.Doubt) (pipeline.OpinionVerdict, error) {
		if d.Key == "b" {
			return "", busyError{errors.New("busy")}
		}
		return "", errors.New("broken")
	})}
	if _, err := a.Review(t.Context(), dispatch.Task{}); !dispatch.Temporary(err) {
		t.Errorf("the error is %v", err)
	}
}

// If there are many findings, only the worst are asked about, and the row says how many are left.
func TestVerifierIsAskedAboutALimitedNumber(t *testing.T) {
	many := agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		var out pipeline.AgentOutput
		for i := range maxDoubts + 5 {
			f := pipeline.Finding{Title: fmt.Sprintf("Defect %c is here", 'A'+i), Severity: pipeline.SeverityMajor, Message: "m", Confidence: 0.9, Path: "src/pricing/total.ts", StartLine: 1}
			if i == maxDoubts+4 {
				f.Severity = pipeline.SeverityCritical
			}
			out.Findings = append(out.Findings, f)
		}
		return out, nil
	})
	var a asked
	src := change(t)
	src.cfg = modelled(t, `{"models": {"verify": "small"}}`)
	r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(nil), "quality-model": a.agent(map[string]dispatch.Agent{"big": many})})
	var mu sync.Mutex
	n, critical := 0, false
	out, err := r.Run(t.Context(), src, Options{Verifier: func(IOAgent) Verifier {
		return verifierFunc(func(d aggregate.Doubt) (pipeline.OpinionVerdict, error) {
			mu.Lock()
			defer mu.Unlock()
			n++
			critical = critical || d.Finding.Severity == pipeline.SeverityCritical
			return pipeline.OpinionRefuted, nil
		})
	}})
	if err != nil || n != maxDoubts || !critical {
		t.Errorf("asked about %d findings, among them the critical one: %t, %v", n, critical, err)
	}
	i := slices.IndexFunc(out.Review.Report.Coverage, func(c pipeline.Coverage) bool { return c.Agent == pipeline.Verifier })
	if i < 0 || !strings.Contains(out.Review.Report.Coverage[i].Note, "5 more were not asked about") {
		t.Errorf("%+v", out.Review.Report.Coverage)
	}
}
