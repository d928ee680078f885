package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// An answer counts the files whose text no rule of the agent reads.
func TestFilesWithoutARule(t *testing.T) {
	code := with(file("a.go", "+x"), func(f *pipeline.File) { f.Language = "Go" })
	style := with(file("b.css", "+x"), func(f *pipeline.File) { f.Language, f.Status = "CSS", pipeline.FileAdded })
	gone := with(code, func(f *pipeline.File) { f.Path, f.Status = "c.go", pipeline.FileRemoved })
	goOnly := rule(config.Match{Literal: "x", Languages: []string{"Go"}})
	of := func(agent string, r config.Rule) config.Rule {
		r.ID, r.Agent = "other", agent
		return r
	}
	for name, test := range map[string]struct {
		rules []config.Rule
		scope pipeline.AgentScope
		want  int
	}{
		"the whole change":               {[]config.Rule{goOnly}, pipeline.AgentScope{All: true}, 1},
		"one file":                       {[]config.Rule{goOnly}, pipeline.AgentScope{Files: []string{"b.css"}}, 1},
		"a file with a rule":             {[]config.Rule{goOnly}, pipeline.AgentScope{Files: []string{"a.go"}}, 0},
		"a rule of another agent":        {[]config.Rule{goOnly, of("another", rule(config.Match{Literal: "x"}))}, pipeline.AgentScope{All: true}, 1},
		"a rule for all files":           {[]config.Rule{goOnly, of("agent", rule(config.Match{Literal: "x"}))}, pipeline.AgentScope{All: true}, 0},
		"a rule for removed lines":       {[]config.Rule{rule(config.Match{Literal: "x", On: config.OnRemoved})}, pipeline.AgentScope{All: true}, 1},
		"a rule for paths":               {[]config.Rule{goOnly, of("agent", rule(config.Match{Literal: "x", On: config.OnFile}))}, pipeline.AgentScope{All: true}, 1},
		"a rule for new paths":           {[]config.Rule{goOnly, of("agent", rule(config.Match{Literal: "x", On: config.OnPath}))}, pipeline.AgentScope{All: true}, 1},
		"a rule for titles":              {[]config.Rule{rule(config.Match{Literal: "x", On: config.OnTitle})}, pipeline.AgentScope{All: true}, 2},
		"a rule for the change":          {[]config.Rule{goOnly, of("agent", whole("size(facts.files) > 9"))}, pipeline.AgentScope{All: true}, 0},
		"another agent's for the change": {[]config.Rule{goOnly, of("another", whole("size(facts.files) > 9"))}, pipeline.AgentScope{All: true}, 1},
	} {
		facts := &pipeline.PRFacts{Files: []pipeline.File{code, style, gone}}
		got := answer(t, test.rules, facts, dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "agent", Scope: test.scope}})
		if got.WithoutRule != test.want {
			t.Errorf("%s: %d files without a rule, want %d", name, got.WithoutRule, test.want)
		}
	}
}

// An answer counts and names what max_per_file leaves out.
func TestMatchesBeyondALimit(t *testing.T) {
	no := false
	three := []string{"+x", "+x", "+x"}
	limited := rule(config.Match{Literal: "x", MaxPerFile: 1})
	for name, test := range map[string]struct {
		rule  config.Rule
		files []pipeline.File
		scope pipeline.AgentScope
		lines int
		n     int
		note  string
	}{
		"none":              {limited, []pipeline.File{file("a.go", "+x")}, pipeline.AgentScope{All: true}, 1, 0, ""},
		"some of one file":  {limited, []pipeline.File{file("a.go", three...)}, pipeline.AgentScope{All: true}, 1, 2, "max_per_file leaves out 2 more of rule in a.go"},
		"outside the scope": {limited, []pipeline.File{file("a.go", three...), file("b.go", "+x")}, pipeline.AgentScope{Files: []string{"b.go"}}, 1, 0, ""},
		"of many files": {
			limited, []pipeline.File{file("a.go", three...), file("b.go", three...), file("c.go", "+x", "+x"), file("d.go", three...), file("e.go", three...)}, pipeline.AgentScope{All: true},
			5, 9, "max_per_file leaves out 2 more of rule in a.go, 2 more of rule in b.go, 1 more of rule in c.go, 4 others",
		},
		"of a rule that the file refutes": {
			rule(config.Match{Literal: "x", MaxPerFile: 1, NotInFile: "y"}), []pipeline.File{file("a.go", append(three, "+y")...)}, pipeline.AgentScope{All: true}, 0, 0, "",
		},
		"after lines that moved": {
			rule(config.Match{Pattern: "^x", MaxPerFile: 1, On: config.OnRemoved, Moved: &no}),
			[]pipeline.File{file("a.go", "-x1", "-x2", "-x3", "-x4"), file("b.go", "+x1", "+x3")}, pipeline.AgentScope{All: true}, 1, 1, "max_per_file leaves out 1 more of rule in a.go",
		},
	} {
		got := answer(t, []config.Rule{test.rule}, &pipeline.PRFacts{Files: test.files}, dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "agent", Scope: test.scope}})
		if len(got.Output.Findings) != test.lines || got.Unlisted != test.n || got.Note != test.note {
			t.Errorf("%s: %d findings, %d not listed (%s), want %d, %d (%s)", name, len(got.Output.Findings), got.Unlisted, got.Note, test.lines, test.n, test.note)
		}
	}
}

// Evidence shows code as it is written, even if a rule matches another form of it.
func TestEvidenceIsTheCodeAsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		pattern string
		lines   []string
		want    string
	}{
		"a name in brackets":   {`a\.run\(`, []string{`+a["run"](b)`}, `a["run"](b)`},
		"a split string":       {`"evil\.example"`, []string{`+get("evil" + ".example")`}, `get("evil" + ".example")`},
		"a list":               {`load\(\[ "\.ts", "\.tsx"`, []string{"+load([", `+	".ts",`, `+	".tsx",`, "+])"}, "load([\n\t\".ts\",\n\t\".tsx\",\n])"},
		"only the right lines": {`(?s)b\(.*c`, []string{" a(", "-	old(", "+	b(", "+		c,", " 	))"}, "b(\n\t\tc,"},
	} {
		facts := &pipeline.PRFacts{Files: []pipeline.File{with(file("a.js", test.lines...), func(f *pipeline.File) { f.Language = "JavaScript" })}}
		got := findings(t, []config.Rule{rule(config.Match{Pattern: test.pattern})}, facts, "agent")
		if len(got) != 1 {
			t.Errorf("%s: findings %+v, want one", name, got)
			continue
		}
		if diff := cmp.Diff(pipeline.List[string]{test.want}, got[0].Evidence); diff != "" {
			t.Errorf("%s: evidence (-want +got):\n%s", name, diff)
		}
	}
}
