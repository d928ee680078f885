package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// citing is an agent whose findings claim an automatic fix with citations.
func citing(citations ...string) agentFunc {
	return func(context.Context, Task) (pipeline.AgentOutput, error) {
		var out pipeline.AgentOutput
		for _, c := range citations {
			out.Findings = append(out.Findings, pipeline.Finding{Title: c, AutoClaim: "the pattern is there", Citation: c})
		}
		return out, nil
	}
}

// Dispatch looks up the citations that the facts don't show, once each, and does not trust the
// agent.
func TestCitationsAreLookedUp(t *testing.T) {
	facts := &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{
		{Path: "store/a.go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 10, NewLines: 5}}},
		{Path: "store/gone.go", Status: pipeline.FileRemoved},
	}}
	head := func(_ context.Context, path string, line int) (bool, error) {
		switch path {
		case "store/a.go", "docs/style.md":
			return line <= 40, nil
		case "store/unread.go":
			return true, errors.New("no such host")
		}
		return false, nil
	}
	tests := map[string]struct {
		citation      string
		asked, exists bool
	}{
		"a file elsewhere":               {"docs/style.md", true, true},
		"a line of it":                   {"docs/style.md:40", true, true},
		"a line after its end":           {"docs/style.md:41", true, false},
		"a missing file":                 {"docs/none.md", true, false},
		"a file that can't be read":      {"store/unread.go", true, false},
		"a changed file":                 {"store/a.go", false, false},
		"a line in the diff":             {"store/a.go:14", false, false},
		"a line outside the diff":        {"store/a.go:15", true, true},
		"a file that the change removes": {"store/gone.go:1", false, false},
		"words":                          {"best practice", false, false},
		"a symbol":                       {"ParseFoo", false, false},
		"a path out of the repository":   {"../../etc/passwd", false, false},
		"an absolute path":               {"/etc/passwd", false, false},
		"an address":                     {"https://example.com/a.md", false, false},
		"line 0":                         {"docs/style.md:0", false, false},
		"nothing":                        {"", false, false},
		"a path that is too long":        {"a/" + string(make([]byte, 400)), false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked := 0
			o := options(time.Second, 0)
			o.Exists = func(ctx context.Context, path string, line int) (bool, error) {
				asked++
				return head(ctx, path, line)
			}
			agents := map[string]Agent{"a": citing(tt.citation, tt.citation)}
			results, err := Dispatch(t.Context(), manifest("a"), facts, &pipeline.Classification{}, agents, o)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if tt.asked {
				want = 1
			}
			if asked != want {
				t.Errorf("looked up %d times, want %d", asked, want)
			}
			if got := slices.Contains(results[0].Citations, tt.citation); got != tt.exists || len(results[0].Citations) > 1 {
				t.Errorf("citations %q, want it there: %t", results[0].Citations, tt.exists)
			}
		})
	}
}

// Look-ups are bounded and happen only for findings that claim something. A failed agent has none.
func TestCitationsAreBounded(t *testing.T) {
	var many []string
	for i := range 3 * maxCitations {
		many = append(many, fmt.Sprintf("docs/%d.md", i))
	}
	asked := 0
	o := options(time.Second, 0)
	o.Exists = func(context.Context, string, int) (bool, error) { asked++; return true, nil }
	unclaimed := agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{Citation: "docs/a.md"}}}, nil
	})
	failed := agentFunc(func(ctx context.Context, task Task) (pipeline.AgentOutput, error) {
		out, _ := citing("docs/a.md")(ctx, task)
		return out, errors.New("broken")
	})
	for name, tt := range map[string]struct {
		agent Agent
		want  int
	}{
		"many": {citing(many...), maxCitations}, "no claim": {unclaimed, 0}, "failed": {failed, 0},
	} {
		asked = 0
		r := run(t, manifest("a"), map[string]Agent{"a": tt.agent}, o)[0]
		if asked != tt.want || len(r.Citations) != tt.want {
			t.Errorf("%s: %d looked up and %d found, want %d", name, asked, len(r.Citations), tt.want)
		}
	}
}

// reader is an agent that reads review reports.
type reader struct {
	agentFunc
	err error
}

func (r reader) Review(ctx context.Context, t Task) (Answer, error) {
	out, _ := r.agentFunc(ctx, t)
	return Answer{Output: out, Reports: []pipeline.ReviewReportOutcome{{Phase: pipeline.PhaseSpec, Place: "docs"}}}, r.err
}

// The outcomes of review reports come with the findings of an agent that finished.
func TestReportsAreReturned(t *testing.T) {
	agents := map[string]Agent{"good": reader{found("a"), nil}, "failed": reader{found("b"), errors.New("unread")}, "plain": found("c")}
	results := run(t, manifest("good", "failed", "plain"), agents, options(time.Second, 0))
	if r := results[0]; len(r.Reports) != 1 || r.Reports[0].Place != "docs" || len(r.Output.Findings) != 1 {
		t.Errorf("the reader's result is %+v", r)
	}
	for _, r := range results[1:] {
		if len(r.Reports) != 0 {
			t.Errorf("%s has reports", r.Agent)
		}
	}
}
