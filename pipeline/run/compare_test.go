package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// titled is an agent with one finding of the title.
func titled(title string, severity pipeline.Severity) dispatch.Agent {
	return agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
			Title: title, Severity: severity, Message: "Cents get lost.", Confidence: 0.9, Path: "src/pricing/total.ts", StartLine: 1,
		}}}, nil
	})
}

// comparerFunc says whether pairs are the same.
type comparerFunc func(pairs []aggregate.Pair) (same bool, err error)

func (f comparerFunc) Compare(_ context.Context, task dispatch.Task, pairs []aggregate.Pair) ([]pipeline.Comparison, string, error) {
	same, err := f(pairs)
	if err != nil {
		return nil, "", err
	}
	var out []pipeline.Comparison
	for _, p := range pairs {
		out = append(out, pipeline.Comparison{One: p.OneKey, Other: p.OtherKey, Same: same})
	}
	return out, "by " + task.Model, nil
}

// If a model says so, two models with different words agree on a finding, in each stage. If the
// model does not answer, the words decide.
func TestModelsAreAskedWhetherTheyAgree(t *testing.T) {
	apart := map[string]dispatch.Agent{"small": titled("Total is rounded twice", pipeline.SeverityMajor), "big": titled("Sums drift by a cent", pipeline.SeverityMajor)}
	alike := map[string]dispatch.Agent{"small": titled("Total is rounded twice", pipeline.SeverityMajor), "big": titled("The total is rounded twice", pipeline.SeverityMajor)}
	earlier := func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
		return &pipeline.PreviousReport{}, nil
	}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		settings      string
		spec, quality map[string]dispatch.Agent
		previous      func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error)
		same          bool
		err           error
		asked         int // the number of pairs that the model is asked about
		agreed        int
		decision      pipeline.Decision
		status        pipeline.AgentStatus // the status of the matcher; empty if it has no row
	}{
		"the same":                                    {quality: apart, same: true, asked: 1, agreed: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK},
		"different":                                   {quality: apart, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK},
		"different, similar words":                    {quality: alike, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK},
		"the model fails":                             {quality: apart, err: broken, asked: 1, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentFailed},
		"the model fails, similar words":              {quality: alike, err: broken, asked: 1, agreed: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentFailed},
		"by the words only":                           {settings: `{"models": {"agreement": "words"}}`, quality: apart, same: true, decision: pipeline.DecisionPassWithWarnings},
		"nothing to compare":                          {quality: map[string]dispatch.Agent{"big": says(pipeline.SeverityMajor)}, same: true, decision: pipeline.DecisionPassWithWarnings},
		"in the spec stage, on the first review":      {spec: apart, quality: apart, same: true, asked: 4, agreed: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK},
		"in the spec stage, on a later review":        {spec: apart, quality: apart, previous: earlier, same: true, asked: 1, agreed: 1, decision: pipeline.DecisionNeedsFixes, status: pipeline.AgentOK},
		"different in both stages, on a later review": {spec: apart, quality: apart, previous: earlier, asked: 4, decision: pipeline.DecisionPassWithWarnings, status: pipeline.AgentOK},
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			src := change(t)
			if test.settings == "" {
				test.settings = "{}"
			}
			src.cfg = modelled(t, test.settings)
			r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(test.spec), "quality-model": a.agent(test.quality)})
			pairs := 0
			out, err := r.Run(t.Context(), src, Options{Previous: test.previous, Comparer: func(IOAgent) Comparer {
				return comparerFunc(func(p []aggregate.Pair) (bool, error) {
					pairs += len(p)
					return test.same, test.err
				})
			}})
			if err != nil {
				t.Fatal(err)
			}
			report := &out.Review.Report
			var status pipeline.AgentStatus
			for _, c := range report.Coverage {
				if c.Agent == pipeline.Matcher {
					status = c.Status
					if c.Model != "small" || c.Status == pipeline.AgentOK && c.Note == "" {
						t.Errorf("coverage %+v", c)
					}
				}
			}
			if pairs != test.asked || report.Models.Merge.Agreed != test.agreed || report.Decision != test.decision || status != test.status {
				t.Errorf("%d pairs, %d agreed, %s, matcher %q; want %d, %d, %s, %q\n%+v", pairs, report.Models.Merge.Agreed, report.Decision, status, test.asked, test.agreed, test.decision, test.status, report.Findings)
			}
		})
	}
}

// If models' findings are carried, so are the answers about them.
func TestComparisonsAreCarried(t *testing.T) {
	c := newCarrying(t)
	var a asked
	c.runner.Agents["spec-model"] = a.agent(nil)
	c.runner.Agents["quality-model"] = a.agent(map[string]dispatch.Agent{"small": titled("Total is rounded twice", pipeline.SeverityMajor), "big": titled("Sums drift by a cent", pipeline.SeverityMajor)})
	src := c.first()
	src.cfg = modelled(t, "{}")
	asked := 0
	options := Options{Comparer: func(IOAgent) Comparer {
		return comparerFunc(func([]aggregate.Pair) (bool, error) { asked++; return true, nil })
	}}
	was, err := c.runner.Run(t.Context(), src, options)
	if err != nil || asked != 1 {
		t.Fatal(asked, err)
	}
	options.Carry = c.after(was, Carry{SameHead: true})
	again, err := c.runner.Run(t.Context(), src, options)
	if err != nil {
		t.Fatal(err)
	}
	answers := func(o Outcome) string {
		i := slices.IndexFunc(o.Review.Results, func(r pipeline.AgentResult) bool { return r.Agent == pipeline.Matcher })
		return fmt.Sprint(o.Review.Results[i].Comparisons)
	}
	if asked != 1 || answers(again) != answers(was) || again.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("asked %d times, %s and %s", asked, answers(again), answers(was))
	}
}
