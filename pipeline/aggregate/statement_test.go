package aggregate

import (
	"context"

	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// changed is a modified file c.go of a language. The lines begin with +, - or a space.
func changed(language string, lines ...string) pipeline.File {
	f := pipeline.File{Path: "c.go", Language: language, Status: pipeline.FileModified}
	h := pipeline.Hunk{OldStart: 1, NewStart: 1}
	for _, text := range lines {
		l := pipeline.Line{Op: pipeline.LineOp(text[:1]), Text: text[1:]}
		if l.Op != pipeline.LineAdded {
			h.OldLines++
			l.Old = h.OldLines
		}
		if l.Op != pipeline.LineRemoved {
			h.NewLines++
			l.New = h.NewLines
		}
		h.Lines = append(h.Lines, l)
	}
	f.Hunks = pipeline.List[pipeline.Hunk]{h}
	return f
}

// ruleFinds is an input with what a rule about run(shell=True), changed by change, finds in the file.
func ruleFinds(t *testing.T, f pipeline.File, change func(*config.Rule)) Input {
	t.Helper()
	r := config.Rule{ID: "r1", Name: "n", Description: "d", Enabled: true, Agent: "x", Severity: pipeline.SeverityMajor, Category: "c",
		Match: &config.Match{Pattern: `run\([^(]*shell=True`}}
	change(&r)
	engine, err := rules.Compile([]config.Rule{r})
	if err != nil {
		t.Fatal(err)
	}
	facts := &pipeline.PRFacts{Files: []pipeline.File{f}}
	answer, err := engine.Scan(facts, &pipeline.Classification{}).Agent("x").Review(context.Background(), dispatch.Task{Entry: pipeline.ManifestEntry{Scope: pipeline.AgentScope{All: true}}})
	if err != nil {
		t.Fatal(err)
	}
	in := world(map[string][]pipeline.Finding{"x": answer.Output.Findings})
	in.Facts.Files = append(in.Facts.Files, f)
	in.Config.Rules[0] = r // the world has another rule of this name
	return in
}

// An old comment answers a finding only if the whole statement that the finding is about is as it was,
// apart from its place in the file and from indentation without meaning.
func TestOldCommentNeedsAnUnchangedStatement(t *testing.T) {
	const note, above = " // reviewgate:ignore r1 known", "// reviewgate:ignore r1 known"
	for name, tt := range map[string]struct {
		language string
		lines    []string
		at       int // the line of the finding
		ignored  bool
	}{
		"it is indented":                            {"Go", []string{"-run(a," + note, "-\tshell=True)", "+\trun(a," + note, "+\t\tshell=True)"}, 1, true},
		"it is indented below its comment":          {"Go", []string{" " + above, "-run(a,", "-\tshell=True)", "+\trun(a,", "+\t\tshell=True)"}, 2, true},
		"it is indented, and other lines are added": {"Go", []string{"+f()", "+g()", " h()", "-run(a," + note, "-\tshell=True)", "+\trun(a," + note, "+\t\tshell=True)", " i()", "+j()"}, 4, true},
		"it is indented, and the next one changes":  {"Go", []string{"-run(a," + note, "-\tshell=True)", "-f()", "+\trun(a," + note, "+\t\tshell=True)", "+\tg()"}, 1, true},
		"its last line changes":                     {"Go", []string{"-run(a," + note, "-\tshell=False)", "+\trun(a," + note, "+\t\tshell=True)"}, 1, false},
		"its last line changes below its comment":   {"Go", []string{" " + above, "-run(a,", "-\tshell=False)", "+\trun(a,", "+\t\tshell=True)"}, 2, false},
		"a line in the middle changes":              {"Go", []string{"-run(a," + note, "-\tb,", "-\tshell=False)", "+\trun(a," + note, "+\t\tshell=True,", "+\t\tshell=False)"}, 1, false},
		"its indented line ends it now":             {"JavaScript", []string{"-run(a, shell=True)" + note, "-  .escaped()", "+  run(a, shell=True)" + note, "+  f()"}, 1, false},
		"a removed line completes it":               {"Go", []string{" run(a,", "-\tsafe(", " \tshell=True)" + note}, 2, false},
		"a removed line and a blank complete it":    {"Python", []string{" run(a,", "-    safe(", "+", "     shell=True)  # reviewgate:ignore r1 known"}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := ruleFinds(t, changed(tt.language, tt.lines...), func(*config.Rule) {})
			r := Aggregate(in)
			if tt.ignored {
				if len(r.Suppressed) != 1 || len(r.Findings) != 0 || r.Suppressed[0].Finding.StartLine != tt.at {
					t.Errorf("findings %+v, suppressed %+v", r.Findings, r.Suppressed)
				}
				return
			}
			if len(r.Suppressed) != 0 || len(r.Findings) != 1 || r.Findings[0].StartLine != tt.at || !r.Decision.Blocks() {
				t.Fatalf("findings %+v, suppressed %+v", r.Findings, r.Suppressed)
			}
			if !r.Findings[0].HasReason(pipeline.ReasonIgnoreChanged) {
				t.Errorf("reasons %q", inWords(r.Findings[0].Reasons))
			}
		})
	}
}

// A comment for a linter answers no finding about a statement of several lines: only rules that can
// block read these.
func TestLintersAnswerNoStatement(t *testing.T) {
	for _, s := range pipeline.Severities() {
		f := changed("Go", "-run(a, //nolint:gosec", "-\tshell=False)", "+\trun(a, //nolint:gosec", "+\t\tshell=True)")
		in := ruleFinds(t, f, func(r *config.Rule) { r.Severity, r.Linters = s, map[string][]string{"gosec": {"G204"}} })
		found := 0
		if s.Rank() >= pipeline.SeverityMajor.Rank() {
			found = 1
		}
		if r := Aggregate(in); len(r.Findings) != found || len(r.Suppressed) != 0 {
			t.Errorf("%s: findings %+v, suppressed %+v", s, r.Findings, r.Suppressed)
		}
	}
}
