package aggregate

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestResolve(t *testing.T) {
	const cites = "not applied by itself: what it cites was not found"
	for _, tt := range []struct {
		name   string
		change func(*Input, *pipeline.Finding)
		auto   bool
		told   string
	}{
		{"a path", nil, true, "applied by itself: q.go settles it (pattern)"},
		{"another claim", func(_ *Input, f *pipeline.Finding) { f.AutoClaim = "missing_control" }, true, "applied by itself: q.go settles it (missing_control)"},
		{"no claim", func(_ *Input, f *pipeline.Finding) { f.AutoClaim = "" }, false, ""},
		{"no fix", func(_ *Input, f *pipeline.Finding) { f.SuggestedFix = "" }, false, ""},
		{"no citation", func(_ *Input, f *pipeline.Finding) { f.Citation = "" }, false, ""},
		{"already auto", func(_ *Input, f *pipeline.Finding) { f.AutofixClass, f.Citation = "auto", "" }, true, ""},

		{"a line", func(_ *Input, f *pipeline.Finding) { f.Citation = "q.go:3" }, true, ""},
		{"a line after the last", func(_ *Input, f *pipeline.Finding) { f.Citation = "q.go:4" }, false, cites},
		{"line 0", func(_ *Input, f *pipeline.Finding) { f.Citation = "q.go:0" }, false, cites},
		{"a file outside the change", func(_ *Input, f *pipeline.Finding) { f.Citation = "z.go" }, false, cites},
		{"a removed file", func(in *Input, _ *pipeline.Finding) { in.Facts.Files[3].Status = pipeline.FileRemoved }, false, cites},
		{"a file without known lines", func(_ *Input, f *pipeline.Finding) { f.Citation = "docs/plans/p.md" }, true, ""},
		{"a line of a file without known lines", func(_ *Input, f *pipeline.Finding) { f.Citation = "docs/plans/p.md:1" }, false, cites},
		{"verified at the head", func(in *Input, f *pipeline.Finding) {
			f.Citation, in.Results[0].Citations = "other/store.go:400", pipeline.List[string]{"other/store.go:400"}
		}, true, ""},
		{"verified for another agent", func(in *Input, f *pipeline.Finding) {
			f.Citation = "other/store.go:400"
			in.Results = append(in.Results, pipeline.AgentResult{Agent: "y", Status: pipeline.AgentOK, Citations: pipeline.List[string]{f.Citation}})
		}, false, cites},
		{"words, although verified", func(in *Input, f *pipeline.Finding) {
			f.Citation, in.Results[0].Citations = "best practice", pipeline.List[string]{"best practice"}
		}, false, cites},

		{"a symbol", func(_ *Input, f *pipeline.Finding) { f.Citation = "openStore" }, true, ""},
		{"a call of a symbol", func(_ *Input, f *pipeline.Finding) { f.Citation = "openStore()" }, true, ""},
		{"a qualified symbol", func(_ *Input, f *pipeline.Finding) { f.Citation = "store.Options.Limit" }, true, ""},
		{"the end of a qualified symbol", func(_ *Input, f *pipeline.Finding) { f.Citation = "Options.Limit" }, true, ""},
		{"a qualified symbol in C++", func(_ *Input, f *pipeline.Finding) { f.Citation = "std::vector" }, true, ""},
		{"a qualified symbol that the change does not contain", func(_ *Input, f *pipeline.Finding) { f.Citation = "store.Limit" }, false, cites},
		{"a part of a word", func(_ *Input, f *pipeline.Finding) { f.Citation = "open" }, false, cites},
		{"a symbol on a removed line", func(_ *Input, f *pipeline.Finding) { f.Citation = "gone" }, false, cites},

		{"about scope", func(_ *Input, f *pipeline.Finding) { f.Category = "Scope" }, false, "not applied by itself: a person weighs what is about Scope"},
		{"about scope, and already auto", func(_ *Input, f *pipeline.Finding) { f.Category, f.AutofixClass = "scope", "auto" }, false, "not applied by itself: a person weighs what is about scope"},
		{"about something else", func(_ *Input, f *pipeline.Finding) { f.Category = "style" }, true, ""},
	} {
		f := finding("q.go", 1, "T", pipeline.SeverityWarning)
		f.AutoClaim, f.SuggestedFix, f.Citation = "pattern", "fix()", "q.go"
		in := one(f)
		in.Config.Settings.Synthesis.JudgementCategories = []string{"scope", "priority"}
		in.Facts.Files = append(in.Facts.Files, file("q.go", "s := openStore(store.Options.Limit, 3)", "", "std::vector<int> v;", "gone()"))
		last := &in.Facts.Files[3].Hunks[0].Lines[3]
		last.Op, last.Old, last.New = pipeline.LineRemoved, 1, 0
		in.Facts.Files[3].Additions = 3
		if tt.change != nil {
			tt.change(&in, &in.Results[0].Output.Findings[0])
		}
		r := Aggregate(in)
		if len(r.Findings) != 1 {
			t.Errorf("%s: %+v", tt.name, r.Coverage)
			continue
		}
		if got := r.Findings[0].AutofixClass == pipeline.AutofixAuto; got != tt.auto || (r.Coverage[0].Auto == 1) != tt.auto {
			t.Errorf("%s: auto %v, want %v: %q", tt.name, got, tt.auto, r.Findings[0].Reasons)
		}
		if reasons := strings.Join(inWords(r.Findings[0].Reasons), "; "); tt.told != "" && reasons != tt.told {
			t.Errorf("%s: reasons %q, want %q", tt.name, reasons, tt.told)
		}
	}
}
