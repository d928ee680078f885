package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// answered is a case with its agents' answers and times.
func answered(c Case, decision pipeline.Decision, results []pipeline.AgentResult, record pipeline.RunRecord, took map[reviewer]time.Duration) reviewedCase {
	o := run.Outcome{Record: record}
	o.Review.Results = results
	o.Review.Report.Decision = decision
	for _, r := range results {
		o.Review.Report.Findings = append(o.Review.Report.Findings, r.Output.Findings...)
	}
	return reviewedCase{&c, o, &stopwatch{took: took}}
}

func says(agent, model string, status pipeline.AgentStatus, findings ...pipeline.Finding) pipeline.AgentResult {
	return pipeline.AgentResult{Agent: agent, Model: model, Status: status, Output: pipeline.AgentOutput{Findings: findings}}
}

// two cases, one of them clean, reviewed by a rules agent and by two models.
func twoCases() []reviewedCase {
	race := pipeline.Finding{Path: "rates.go", StartLine: 51, Title: "race"}
	style := pipeline.Finding{Path: "rates.go", StartLine: 3, Title: "too long", RuleID: "style-1"}
	atlas, zephyr := reviewer{"quality", "atlas"}, reviewer{"quality", "zephyr"}
	return []reviewedCase{
		answered(Case{Name: "a", Language: "Go", Defects: []Defect{aRace()}}, pipeline.DecisionFail, []pipeline.AgentResult{
			says("rules", "", pipeline.AgentOK, style),
			says("quality", "atlas", pipeline.AgentOK, race, race, style),
			says("quality", "zephyr", pipeline.AgentTimedOut),
			says("reports", "", pipeline.AgentOK, style),
		}, pipeline.RunRecord{
			Agents: []pipeline.AgentTiming{{Agent: "rules", DurationMS: 2}, {Agent: "quality", DurationMS: 900}},
			ModelUse: []pipeline.ModelUse{
				{Agent: "quality", Model: "atlas", Asked: 1, Input: 1000, Cached: 400, Output: 50, CostUSD: 0.25},
				{Agent: "quality", Model: "zephyr", Asked: 2, Input: 10},
			},
		}, map[reviewer]time.Duration{atlas: 900 * time.Millisecond, zephyr: 3 * time.Second}),
		answered(Case{Name: "b", Language: "SQL"}, pipeline.DecisionNeedsFixes, []pipeline.AgentResult{
			says("rules", "", pipeline.AgentOK),
			says("quality", "atlas", pipeline.AgentOK, style),
			says("quality", "zephyr", pipeline.AgentDiscarded), // not asked
		}, pipeline.RunRecord{
			Agents:   []pipeline.AgentTiming{{Agent: "rules", DurationMS: 1}},
			ModelUse: []pipeline.ModelUse{{Agent: "quality", Model: "atlas", Asked: 1, Input: 500, Output: 5, CostUSD: 0.125}},
		}, map[reviewer]time.Duration{atlas: 1100 * time.Millisecond}),
	}
}

func at(v float64) *float64 { return &v }

func TestCount(t *testing.T) {
	got := count(twoCases(), map[string]dispatch.Agent{"reports": silent{}})
	want := Result{
		Cases: 2, Clean: 1,
		Agents: []Row{
			{
				Agent: "quality", Model: "atlas", Cases: 2,
				Score: Score{Findings: 4, Hits: 2, Precision: at(0.5), Found: 1, Recall: at(1), CleanFindings: 1},
				Asked: 2, Input: 1500, Cached: 400, Output: 55, CostUSD: 0.375, P50MS: 900, MaxMS: 1100,
			},
			{
				Agent: "quality", Model: "zephyr", Cases: 1, Failed: 1,
				Score: Score{Recall: at(0)}, Asked: 2, Input: 10, P50MS: 3000, MaxMS: 3000,
			},
			{
				Agent: "rules", Cases: 2,
				Score: Score{Findings: 1, Precision: at(0), Recall: at(0)}, P50MS: 1, MaxMS: 2,
			},
		},
		Report: Report{
			Score:              Score{Findings: 6, Hits: 2, Precision: at(2.0 / 6), Found: 1, Recall: at(1), CleanFindings: 1},
			DefectCasesBlocked: 1, CleanBlocked: 1,
		},
		Parts:   []Part{{"Go", 1, 1}},
		Defects: []Outcome{{Case: "a", Path: "rates.go", Line: 51, Category: "concurrency", FoundBy: []string{"quality/atlas"}}},
		Others: []Other{
			{"a", "rules", "", "rates.go", 3, "style-1", "too long"},
			{"a", "quality", "atlas", "rates.go", 3, "style-1", "too long"},
			{"b", "quality", "atlas", "rates.go", 3, "style-1", "too long"},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// Without anything to divide by there is no share, and never a NaN.
func TestCountOfNothing(t *testing.T) {
	got := count([]reviewedCase{answered(Case{Name: "b"}, pipeline.DecisionPass, []pipeline.AgentResult{says("rules", "", pipeline.AgentOK)}, pipeline.RunRecord{}, nil)}, nil)
	if r := got.Agents[0]; r.Precision != nil || r.Recall != nil || r.P50MS != 0 || r.MaxMS != 0 {
		t.Errorf("row %+v, want no shares", r)
	}
	if !strings.Contains(Text(got), "–") {
		t.Errorf("the text does not say that there is no share:\n%s", Text(got))
	}
}

func TestText(t *testing.T) {
	const want = `2 cases, 1 of them clean; defects in the others: 1

  agent    model   cases  failed  findings  hits  precision  found   recall  on clean  tokens in  out     cost       p50     max
  quality  atlas       2       0         4     2     50.0 %      1  100.0 %         1       1500   55  $0.3750  900.0 ms   1.1 s
  quality  zephyr      1       1         0     0          –      0    0.0 %         0         10    0  $0.0000     3.0 s   3.0 s
  rules    –           2       0         1     0      0.0 %      0    0.0 %         0          –    –        –    1.0 ms  2.0 ms
  report   –           2       –         6     2     33.3 %      1  100.0 %         1          –    –        –         –       –

blocked: 1 of 1 cases with defects, 1 of 1 clean ones
the report finds, by language: Go 1 of 1
`
	if diff := cmp.Diff(want, Text(count(twoCases(), map[string]dispatch.Agent{"reports": silent{}}))); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestSpread(t *testing.T) {
	ms := func(n ...int) (out []time.Duration) {
		for _, n := range n {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	for _, tt := range []struct {
		times    []time.Duration
		p50, max float64
	}{
		{nil, 0, 0}, {ms(5), 5, 5}, {ms(9, 1), 1, 9}, {ms(3, 9, 1), 3, 9}, {ms(4, 3, 2, 1), 2, 4},
	} {
		if p50, longest := spread(tt.times); p50 != tt.p50 || longest != tt.max {
			t.Errorf("spread(%v) = %v, %v, want %v, %v", tt.times, p50, longest, tt.p50, tt.max)
		}
	}
}
