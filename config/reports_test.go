package config

import (
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The places of reports are merged field by field. A field that no layer sets has its default, and
// an empty list means no files.
func TestReportSources(t *testing.T) {
	const mine = `"id": "mine", "name": "A", "kind": "report", "description": "d"`
	specs, plans := DefaultReports(pipeline.PhaseSpec), DefaultReports(pipeline.PhasePlan)
	tests := map[string]struct {
		id, entry   string
		spec, plan  []string
		notComments bool
	}{
		"shipped":            {"review-reports", `"id": "review-reports"`, specs, plans, false},
		"no comments":        {"review-reports", `"id": "review-reports", "reports": {"comments": false}`, specs, plans, true},
		"plans of its own":   {"review-reports", `"id": "review-reports", "reports": {"plan": ["plans/*.md"]}`, specs, []string{"plans/*.md"}, false},
		"no section":         {"mine", mine, specs, plans, false},
		"no specifications":  {"mine", mine + `, "reports": {"spec": []}`, []string{}, plans, false},
		"comments are named": {"mine", mine + `, "reports": {"comments": true}`, specs, plans, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, layer(FileAgents, "[{"+tt.entry+"}]"))
			i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == tt.id })
			r := c.Agents[i].Reports
			if got := r.Globs(pipeline.PhaseSpec); !slices.Equal(got, tt.spec) {
				t.Errorf("specifications in %q, want %q", got, tt.spec)
			}
			if got := r.Globs(pipeline.PhasePlan); !slices.Equal(got, tt.plan) {
				t.Errorf("plans in %q, want %q", got, tt.plan)
			}
			if r.InComments() == tt.notComments {
				t.Errorf("comments are read: %t", r.InComments())
			}
		})
	}
}

// The shipped policy dispatches the shipped agent for every file that the agent reads by default.
func TestReportsAreDispatched(t *testing.T) {
	c := mustLoad(t)
	i := slices.IndexFunc(c.Policies, func(p Policy) bool { return slices.Contains(p.Dispatch.Agents, "review-reports") })
	p := c.Policies[i]
	want := slices.Concat(DefaultReports(pipeline.PhaseSpec), DefaultReports(pipeline.PhasePlan))
	if !p.Dispatch.Required || p.Dispatch.OnFailure == pipeline.OnFailureWarn || !slices.Equal(p.Trigger.Globs, want) {
		t.Errorf("the policy is %+v", p)
	}
}
