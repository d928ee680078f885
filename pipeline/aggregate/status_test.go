package aggregate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// statuses are all statuses in the glossary, and two unknown ones.
func statuses(t *testing.T) []pipeline.AgentStatus {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../finding.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := []pipeline.AgentStatus{"", "fine"}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "AgentStatus" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, pipeline.AgentStatus(text))
		}
		return true
	})
	if !slices.Contains(all, pipeline.AgentOK) || len(all) < 8 {
		t.Fatalf("statuses %q", all)
	}
	return all
}

// Only ok and discarded let a required agent through the gate, and not_asked before a session. An agent
// that is missing from the manifest counts as required, and so does an agent without a result.
func TestEveryStatusAtTheGate(t *testing.T) {
	for _, status := range statuses(t) {
		finished := status == pipeline.AgentOK || status == pipeline.AgentDiscarded || status == pipeline.AgentNotAsked
		for _, entry := range []struct {
			name   string
			change func(*Input)
			needed bool
		}{
			{"required", func(*Input) {}, true},
			{"required, block", func(in *Input) { in.Manifest.Entries[0].OnFailure = pipeline.OnFailureBlock }, true},
			{"required, unknown word", func(in *Input) { in.Manifest.Entries[0].OnFailure = "ignore" }, true},
			{"required, warn", func(in *Input) { in.Manifest.Entries[0].OnFailure = pipeline.OnFailureWarn }, false},
			{"optional", func(in *Input) { in.Manifest.Entries[0].Required = false }, false},
			{"optional, block", func(in *Input) {
				in.Manifest.Entries[0].Required, in.Manifest.Entries[0].OnFailure = false, pipeline.OnFailureBlock
			}, false},
			{"not in the manifest", func(in *Input) { in.Manifest.Entries = nil }, true},
		} {
			t.Run(fmt.Sprintf("%q %s", status, entry.name), func(t *testing.T) {
				in := world(map[string][]pipeline.Finding{"x": nil})
				in.Results[0].Status = status
				in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "findings >= 0", Decision: pipeline.DecisionPass}}
				entry.change(&in)
				r := Aggregate(in)
				if want := entry.needed && !finished; r.Decision.Blocks() != want {
					t.Errorf("decision %s, want a decision that blocks: %v", r.Decision, want)
				}
				if named := len(r.Incomplete) == 1; named == finished {
					t.Errorf("incomplete %+v although finished = %v", r.Incomplete, finished)
				}
				if n := r.Gate.Metrics[policies.MetricAgentsFailed]; (n == 1) == (finished || status == pipeline.AgentWaiting) {
					t.Errorf("%v agents failed although finished = %v", n, finished)
				}
			})
		}
	}
}

// A person can accept that files could not be read. The acceptance counts for the head that they
// looked at. A list of files that is cut short can't be accepted: it names no files to look at and
// may hide final findings.
func TestPeopleAcceptUnreadFiles(t *testing.T) {
	file := pipeline.Incompleteness{What: "patch", Path: "a.sh", Why: "no line is shown", Gating: true}
	for name, tt := range map[string]struct {
		change func(*Input)
		blocks bool
	}{
		"accepted on this head":       {func(*Input) {}, false},
		"accepted on another head":    {func(in *Input) { in.Facts.Head.SHA = strings.Repeat("9", 40) }, true},
		"accepted on an unknown head": {func(in *Input) { in.Facts.Head.SHA, in.Memory.Accepted[0].Surroundings = "", "" }, true},
		"accepted for another base":   {func(in *Input) { in.Facts.Base.Ref = "release" }, true},
		"the acceptance of a finding": {func(in *Input) { in.Memory.Accepted[0].Fingerprint = "0123456789abcdef" }, true},
		"a list of files that is cut short": {func(in *Input) {
			in.Facts.Incomplete = append(in.Facts.Incomplete, pipeline.Incompleteness{What: "files", Why: "there are more", Gating: true})
		}, true},
		"another kind of incompleteness in a file": {func(in *Input) {
			in.Facts.Incomplete = append(in.Facts.Incomplete, pipeline.Incompleteness{What: "agent", Path: "a.sh", Why: "it failed", Gating: true})
		}, true},
	} {
		in := world(map[string][]pipeline.Finding{"x": nil})
		in.Facts.Head.SHA = strings.Repeat("1", 40)
		in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{file}
		in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: pipeline.AcceptedUnread, By: "wes", Surroundings: pipeline.UnreadOn(in.Facts)}}
		tt.change(&in)
		r := Aggregate(in)
		if r.Decision.Blocks() != tt.blocks {
			t.Errorf("%s: %s: %+v", name, r.Decision, r.Incomplete)
		}
		if !tt.blocks && r.Incomplete[0].Why != "no line is shown; accepted unread by wes" {
			t.Errorf("%s: %+v", name, r.Incomplete)
		}
	}
}
