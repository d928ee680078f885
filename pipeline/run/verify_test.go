package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// verifierFunc says what it makes of a finding.
type verifierFunc func(d aggregate.Doubt) (pipeline.OpinionVerdict, error)

func (f verifierFunc) Verify(_ context.Context, task dispatch.Task, d aggregate.Doubt) (pipeline.Opinion, string, error) {
	verdict, err := f(d)
	return pipeline.Opinion{Model: task.Model, Verdict: verdict, Quote: "return total", Why: "It is there."}, "", err
}

// A finding of one model blocks once the model that verifies confirms it, in either stage.
// What it refutes, or can't tell, is as if nobody had been asked.
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
		status        pipeline.AgentStatus // of the verifier; empty where there is none
		qualityRan    bool
	}{
		"confirmed":                 {settings: verify, quality: big(), verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK, qualityRan: true},
		"refuted":                   {settings: verify, quality: big(), verdict: pipeline.OpinionRefuted, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
		"unclear":                   {settings: verify, quality: big(), asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
		"no answer":                 {settings: verify, quality: big(), err: errors.New("broken"), asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentFailed, qualityRan: true},
		"nobody is named":           {settings: "{}", quality: big(), verdict: pipeline.OpinionConfirmed, decision: pipeline.DecisionPassWithWarnings, qualityRan: true},
		"nothing to verify":         {settings: verify, verdict: pipeline.OpinionConfirmed, decision: pipeline.DecisionPass, qualityRan: true},
		"in the spec stage, first":  {settings: verify, spec: big(), verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK, qualityRan: true},
		"in the spec stage, later":  {settings: verify, spec: big(), quality: big(), previous: earlier, verdict: pipeline.OpinionConfirmed, asked: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK},
		"in both, later, and wrong": {settings: verify, spec: big(), quality: big(), previous: earlier, verdict: pipeline.OpinionRefuted, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK, qualityRan: true},
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			src := change(t)
			src.cfg = modelled(t, test.settings)
			r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(test.spec), "quality-model": a.agent(test.quality)})
			var mu sync.Mutex
			n := 0
			out, err := r.Run(t.Context(), src, Options{Previous: test.previous, Verifier: func(of OutsideAgent) Verifier {
				if of.Agent.ID != pipeline.Verifier || of.Redact == nil {
					t.Errorf("made for %+v", of)
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

// Of several questions, one that fails takes nothing from the others, and is asked again
// alone.
func TestVerifierKeepsWhatItWasTold(t *testing.T) {
	doubts := []aggregate.Doubt{{Key: "a"}, {Key: "b"}, {Key: "c"}}
	var mu sync.Mutex
	asked := map[string]int{}
	a := &verificationAsker{doubts: doubts, said: map[string]pipeline.Opinion{}, verifier: verifierFunc(func(d aggregate.Doubt) (pipeline.OpinionVerdict, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[d.Key]++
		if d.Key == "b" && asked["b"] == 1 {
			return "", errors.New("busy")
		}
		return pipeline.OpinionConfirmed, nil
	})}
	if _, _, err := a.ReviewAndNote(t.Context(), dispatch.Task{}); err == nil {
		t.Error("the failure is not told")
	}
	var row pipeline.AgentResult
	a.put(&row)
	if len(row.Verifications) != 2 {
		t.Errorf("kept %+v", row.Verifications)
	}
	_, note, err := a.ReviewAndNote(t.Context(), dispatch.Task{})
	if err != nil || asked["a"] != 1 || asked["b"] != 2 || !strings.Contains(note, "confirmed 3 of 3, refuted 0") {
		t.Error(err, asked, note)
	}
}

// What was said of a finding is taken over as long as its file is as it was.
func TestVerificationsAreRecalled(t *testing.T) {
	c := newCarrying(t)
	var a asked
	c.runner.Agents["spec-model"] = a.agent(nil)
	c.runner.Agents["quality-model"] = a.agent(map[string]dispatch.Agent{"big": titled("Total is rounded twice", pipeline.SeverityMajor)})
	src := c.first()
	src.cfg = modelled(t, `{"models": {"verify": "small"}}`)
	n := 0
	options := Options{Verifier: func(OutsideAgent) Verifier {
		return verifierFunc(func(aggregate.Doubt) (pipeline.OpinionVerdict, error) { n++; return pipeline.OpinionConfirmed, nil })
	}}
	was, err := c.runner.Run(t.Context(), src, options)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	options.Carry = c.after(was, Carry{SameHead: true})
	again, err := c.runner.Run(t.Context(), src, options)
	if err != nil || n != 1 || again.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("asked %d times, %s, %v", n, again.Review.Report.Decision, err)
	}
	for i := range was.Review.Facts.Files {
		was.Review.Facts.Files[i].Additions++
	}
	options.Carry = c.after(was, Carry{SameHead: true})
	if _, err = c.runner.Run(t.Context(), src, options); err != nil || n != 2 {
		t.Errorf("asked %d times after a change of the file, %v", n, err)
	}
}
