package aggregate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// ruled is a finding of rule r1 on a line of c.go.
func ruled(line int, s pipeline.Severity) pipeline.Finding {
	f := finding("c.go", line, "t", s)
	f.RuleID = "r1"
	return f
}

// commented is an input with a file c.go that has these lines. The base has all of them.
func commented(f pipeline.Finding, lines ...string) Input {
	in := one(f)
	in.Facts.Files = append(in.Facts.Files, unchangedFile(file("c.go", lines...)))
	return in
}

// unchangedFile is a file that the change shows but does not change.
func unchangedFile(f pipeline.File) pipeline.File {
	f.Status = pipeline.FileModified
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			f.Hunks[i].Lines[j].Op = pipeline.LineContext
		}
	}
	return f
}

// accepting is the input after a person accepted each ignore comment that waits for acceptance.
func accepting(in Input) Input {
	for _, f := range Aggregate(in).Findings {
		if waits, ok := f.Reason(pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged); ok {
			for _, id := range f.Fingerprints {
				in.Memory.Accepted = append(in.Memory.Accepted, pipeline.Acceptance{Fingerprint: id, By: "carol", Ignore: waits.Text})
			}
		}
	}
	return in
}

func TestIgnoreForms(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string // the finding is on the second line, or on a third line that is x()
		reason string   // empty if the finding is not ignored
	}{
		{"at the end", []string{"", "x() // reviewgate:ignore r1 known to be safe"}, "known to be safe"},
		{"above", []string{"// reviewgate:ignore r1 known", "x()"}, "known"},
		{"hash", []string{"", "x  # reviewgate:ignore r1 known"}, "known"},
		{"SQL", []string{"-- reviewgate:ignore r1 known", "drop table x;"}, "known"},
		{"block", []string{"", "x() /* reviewgate:ignore r1 known */ + y()"}, "known"},
		{"JSX", []string{"  {/* reviewgate:ignore r1 known */}", "<img>"}, "known"},
		{"HTML", []string{"<!-- reviewgate:ignore r1 known -->", "<img>"}, "known"},
		{"Lisp", []string{";; reviewgate:ignore r1 known", "(x)"}, "known"},
		{"TeX", []string{"% reviewgate:ignore r1 known", "x"}, "known"},
		{"line of a block", []string{" * reviewgate:ignore r1 known", "x()"}, "known"},
		{"documentation block", []string{"/** reviewgate:ignore r1 known */", "x()"}, "known"},
		{"no space", []string{"", "x() //reviewgate:ignore r1 known"}, "known"},
		{"several rules", []string{"", "x() // reviewgate:ignore r0,r1 both"}, "both"},
		{"spaces between rules", []string{"", "x() // reviewgate:ignore r0 , r1,  r2 all"}, "all"},
		{"colon", []string{"", "x() // reviewgate:ignore: r1 known"}, "known"},
		{"colon behind the rule", []string{"", "x() // reviewgate:ignore r1: known"}, "known"},
		{"colon behind the last rule", []string{"", "x() // reviewgate:ignore r0,r1: known"}, "known"},
		{"upper case", []string{"", "x() // reviewgate:ignore R1 known"}, "known"},
		{"many slashes", []string{"", "x() /// reviewgate:ignore r1 known"}, "known"},
		{"the second word counts", []string{"", "x(reviewgate:ignore) // reviewgate:ignore r1 known"}, "known"},
		{"apostrophe in the reason", []string{"", "x() // reviewgate:ignore r1 it's fine"}, "it's fine"},
		{"closed quotes before", []string{"", `x("a \" b", 'c') // reviewgate:ignore r1 known`}, "known"},
		{"white space and invisible characters", []string{"", "x() // reviewgate:ignore r1 a\t\u202e b\x00"}, "a b"},
		{"on the line and above", []string{"// reviewgate:ignore r1 above", "x() // reviewgate:ignore r1 its own"}, "its own"},
		{"a reason of the greatest length", []string{"", "x() // reviewgate:ignore r1 " + strings.Repeat("ä", 200)}, strings.Repeat("ä", 200)},
		{"a reason one character too long", []string{"", "x() // reviewgate:ignore r1 " + strings.Repeat("ä", 201)}, strings.Repeat("ä", 199) + "…"},
		{"long reason", []string{"", "x() // reviewgate:ignore r1 " + strings.Repeat("ä", 300)}, strings.Repeat("ä", 199) + "…"},

		{"another rule", []string{"", "x() // reviewgate:ignore r2 known"}, ""},
		{"rule in the reason", []string{"", "x() // reviewgate:ignore r2 not r1"}, ""},
		{"all rules", []string{"", "x() // reviewgate:ignore * known"}, ""},
		{"beginning of a rule", []string{"", "x() // reviewgate:ignore r known"}, ""},
		{"no rule", []string{"", "x() // reviewgate:ignore"}, ""},
		{"no reason", []string{"", "x() // reviewgate:ignore r1"}, ""},
		{"no reason in a block", []string{"", "x() /* reviewgate:ignore r1 */ + y()"}, ""},
		{"not a comment", []string{"", "reviewgate:ignore r1 known"}, ""},
		{"in a string literal", []string{"", `x("// reviewgate:ignore r1 known")`}, ""},
		{"word in a longer word", []string{"", "x() // reviewgate:ignored r1 known"}, ""},
		{"word in a longer word before a comma", []string{"", "x() // reviewgate:ignored,r1 known"}, ""},
		{"product", []string{"", "x = y * reviewgate:ignore r1 known"}, ""},
		{"words before it", []string{"", "x() // please reviewgate:ignore r1 known"}, ""},
		{"below", []string{"", "x()", "// reviewgate:ignore r1 known"}, ""},
		{"two lines above", []string{"// reviewgate:ignore r1 known", "", "x()"}, ""},
		{"at the end of the line above", []string{"y() // reviewgate:ignore r1 known", "x()"}, ""},
		{"too many rules", []string{"", "x() // reviewgate:ignore " + strings.Repeat("r0,", 20) + "r1 known"}, ""},
	}
	for _, tt := range tests {
		line := 2
		if len(tt.lines) == 3 && tt.lines[2] == "x()" {
			line = 3
		}
		r := Aggregate(commented(ruled(line, pipeline.SeverityMajor), tt.lines...))
		if tt.reason == "" {
			if len(r.Findings) != 1 || len(r.Suppressed) != 0 || r.Decision != pipeline.DecisionNeedsFixes {
				t.Errorf("%s: ignored: %+v", tt.name, r.Suppressed)
			}
			continue
		}
		if len(r.Suppressed) != 1 || len(r.Findings) != 0 || r.Decision != pipeline.DecisionPass {
			t.Errorf("%s: not ignored: %+v", tt.name, r.Findings)
			continue
		}
		if s := r.Suppressed[0]; s.Reason != "inline: "+tt.reason || s.Finding.State != pipeline.StateSuppressed || s.Finding.ID == "" {
			t.Errorf("%s: %q, state %s, id %q, want the reason %q", tt.name, s.Reason, s.Finding.State, s.Finding.ID, tt.reason)
		}
	}
}

func TestFindingsThatCommentsMayNotIgnore(t *testing.T) {
	const code = "x() // reviewgate:ignore r1 known"
	tests := []struct {
		name   string
		agent  string
		change func(*Input, *pipeline.Finding)
		why    string // empty if the finding is ignored
	}{
		{"major", "x", func(*Input, *pipeline.Finding) {}, ""},
		{"critical", "x", func(_ *Input, f *pipeline.Finding) { f.Severity = pipeline.SeverityCritical }, "not ignored: an inline comment can't ignore a critical finding"},
		{"critical, and the settings allow ignoring all severities", "x", func(in *Input, f *pipeline.Finding) {
			f.Severity = pipeline.SeverityCritical
			in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreAll
		}, ""},
		{"the settings allow ignoring none", "x", func(in *Input, _ *pipeline.Finding) {
			in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreNone
		}, "not ignored: the config allows no inline comments"},
		{"final rule", "x", func(in *Input, _ *pipeline.Finding) {
			in.Config.Rules[0].Final = true
			in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreAll
		}, "not ignored: an inline comment can't ignore what a final rule finds"},
		{"secret", "secrets", func(in *Input, _ *pipeline.Finding) {
			in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreAll
		}, "not ignored: an inline comment can't ignore a secret"},
		{"no reason", "x", func(in *Input, _ *pipeline.Finding) {
			in.Facts.Files[3].Hunks[0].Lines[0].Text = "x() // reviewgate:ignore r1"
		}, "not ignored: the comment on line 1 gives no reason"},
		{"in quotes", "x", func(in *Input, _ *pipeline.Finding) {
			in.Facts.Files[3].Hunks[0].Lines[0].Text = "x('# reviewgate:ignore r1 known')"
		}, "not ignored: the comment on line 1 stands inside quotes"},
	}
	for _, tt := range tests {
		f := ruled(1, pipeline.SeverityMajor)
		in := world(map[string][]pipeline.Finding{tt.agent: {f}})
		in.Facts.Files = append(in.Facts.Files, unchangedFile(file("c.go", code)))
		tt.change(&in, &in.Results[0].Output.Findings[0])
		r := Aggregate(in)
		if tt.why == "" {
			if len(r.Suppressed) != 1 {
				t.Errorf("%s: not ignored: %v", tt.name, r.Findings[0].Reasons)
			}
			continue
		}
		if len(r.Findings) != 1 || len(r.Suppressed) != 0 {
			t.Errorf("%s: ignored", tt.name)
		} else if diff := cmp.Diff([]string{tt.why}, inWords(r.Findings[0].Reasons)); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A finding says what is wrong with a misspelt ignore comment on its line. It says nothing about a
// comment for another rule.
func TestMisspelledIgnores(t *testing.T) {
	const form = "not ignored: the comment on line 1 must read reviewgate:ignore sec-tls-01, and then a reason"
	for code, why := range map[string]string{
		"x() // reviewgate:ignore sec-tsl-1 known":  "not ignored: the comment on line 1 misspells the rule, which is sec-tls-01",
		"x() // reviewgate:ignore sec-tls known":    "", // the id differs too much
		"x() // reviewgate:ignore sec-tls-02 known": "", // this rule exists
		"x() // reviewgate:ignore fin-round known":  "",
		"x() // reviewgate:ignore * known":          form,
		"x() // reviewgate:ignore the script":       form,
		"x() // reviewgate:ignore":                  form,
		"x() // reviewgate: ignore sec-tls-01 a":    form,
		"x() // reviewgate :ignore sec-tls-01 a":    form,
		"x() // ReviewGate:Ignore sec-tls-01 a":     form,
		"x() # reviewgate:ignore-next-line a":       form,
		"x() // reviewgate ignore sec-tls-01 a":     form,
		`x("reviewgate: ignore sec-tls-01 a")`:      "", // not a comment
	} {
		f := ruled(1, pipeline.SeverityMajor)
		f.RuleID = "sec-tls-01"
		in := commented(f, code)
		in.Rules = map[string]*config.Rule{"sec-tls-01": {ID: "sec-tls-01"}, "sec-tls-02": {ID: "sec-tls-02"}}
		r := Aggregate(in)
		if len(r.Findings) != 1 || strings.Join(inWords(r.Findings[0].Reasons), "; ") != why {
			t.Errorf("%s: findings %+v, want one with the reason %q", code, r.Findings, why)
		}
	}
}

func TestIgnoreNeedsALine(t *testing.T) {
	whole, section := ruled(0, pipeline.SeverityMajor), ruled(0, pipeline.SeverityMajor)
	section.Path, section.Section = "", "description"
	several := ruled(2, pipeline.SeverityMajor)
	several.EndLine = 3
	for name, tt := range map[string]struct {
		f       pipeline.Finding
		ignored bool
	}{
		"the whole file": {whole, false}, "a section": {section, false}, "several lines, by their first": {several, true},
	} {
		r := Aggregate(commented(tt.f, "// reviewgate:ignore r1 known", "x(", ")"))
		if (len(r.Suppressed) == 1) != tt.ignored {
			t.Errorf("%s: ignored = %v, want %v", name, !tt.ignored, tt.ignored)
		}
	}
}

// A comment counts if the base has it at the same code. A comment that the change adds, moves,
// widens or brings to other code waits until a person accepts it.
func TestIgnoresOfTheChangeWait(t *testing.T) {
	const code = "x()"
	const comment = "// reviewgate:ignore r1 known"
	line := func(op pipeline.LineOp, text string) pipeline.Line { return pipeline.Line{Op: op, Text: text} }
	const added, removed, context = pipeline.LineAdded, pipeline.LineRemoved, pipeline.LineContext
	for name, tt := range map[string]struct {
		lines  []pipeline.Line
		start  int // the first line of the finding
		end    int
		status pipeline.FileStatus
		stood  bool
		old    bool // the base has the comment, but at another line
		lang   string
	}{
		"the base has it above the code":                         {[]pipeline.Line{line(context, comment), line(context, code)}, 2, 2, pipeline.FileModified, true, false, ""},
		"the base has it on the line":                            {[]pipeline.Line{line(context, code+comment)}, 1, 1, pipeline.FileModified, true, false, ""},
		"the base has it in a file with another name":            {[]pipeline.Line{line(context, code+comment)}, 1, 1, pipeline.FileRenamed, true, false, ""},
		"a line before it is removed":                            {[]pipeline.Line{line(removed, "y()"), line(context, comment), line(context, code)}, 2, 2, pipeline.FileModified, true, false, ""},
		"it is added on the line":                                {[]pipeline.Line{line(removed, code), line(added, code+comment)}, 1, 1, pipeline.FileModified, false, false, ""},
		"it is added above old code":                             {[]pipeline.Line{line(added, comment), line(context, code)}, 2, 2, pipeline.FileModified, false, false, ""},
		"it is added in a new file":                              {[]pipeline.Line{line(added, comment), line(added, code)}, 2, 2, pipeline.FileAdded, false, false, ""},
		"it is moved down":                                       {[]pipeline.Line{line(removed, comment), line(context, "y()"), line(added, comment), line(context, code)}, 3, 3, pipeline.FileModified, false, false, ""},
		"the rule is added to it":                                {[]pipeline.Line{line(removed, "// reviewgate:ignore r2 known"), line(added, "// reviewgate:ignore r2,r1 known"), line(context, code)}, 2, 2, pipeline.FileModified, false, false, ""},
		"the code below it changes":                              {[]pipeline.Line{line(context, comment), line(removed, "y()"), line(added, code)}, 2, 2, pipeline.FileModified, false, true, ""},
		"code is added below it":                                 {[]pipeline.Line{line(context, comment), line(added, code), line(context, "y()")}, 2, 2, pipeline.FileModified, false, true, ""},
		"the lines between the comment and the code are removed": {[]pipeline.Line{line(context, comment), line(removed, "y()"), line(context, code)}, 2, 2, pipeline.FileModified, false, true, ""},
		"the second of the finding's lines is new":               {[]pipeline.Line{line(context, comment), line(context, "x("), line(added, "y)")}, 2, 3, pipeline.FileModified, false, true, ""},
		"a line within the finding is removed":                   {[]pipeline.Line{line(context, comment), line(context, "x("), line(removed, "y,"), line(context, "z)")}, 2, 3, pipeline.FileModified, false, true, ""},
		"not all of the finding's lines are shown":               {[]pipeline.Line{line(context, comment), line(context, code)}, 2, 9, pipeline.FileModified, false, true, ""},
		"a later line of the statement changes":                  {[]pipeline.Line{line(context, "x("+comment), line(removed, "y)"), line(added, "z)")}, 1, 1, pipeline.FileModified, false, true, "Go"},
		"the start of the statement is removed":                  {[]pipeline.Line{line(removed, "y &&"), line(context, code+comment)}, 1, 1, pipeline.FileModified, false, true, "Go"},
		"another statement follows":                              {[]pipeline.Line{line(context, code+comment), line(removed, "y()"), line(added, "z()")}, 1, 1, pipeline.FileModified, true, false, "Go"},
		"the file is a copy of another":                          {[]pipeline.Line{line(context, code+comment)}, 1, 1, pipeline.FileCopied, false, true, ""},
		"the code is indented, and so is not equal":              {[]pipeline.Line{line(context, comment), line(removed, code), line(added, "\t"+code)}, 2, 2, pipeline.FileModified, false, true, ""},
		"the code next to the comment changes":                   {[]pipeline.Line{line(removed, "y()"+comment), line(added, code+comment)}, 1, 1, pipeline.FileModified, false, true, ""},
		"the code is indented in Go":                             {[]pipeline.Line{line(context, comment), line(removed, code), line(added, "\t"+code)}, 2, 2, pipeline.FileModified, true, false, "Go"},
		"both are indented in Go":                                {[]pipeline.Line{line(removed, comment), line(removed, code), line(added, "\t"+comment), line(added, "  "+code)}, 2, 2, pipeline.FileModified, true, false, "Go"},
		"the comment is indented with its line":                  {[]pipeline.Line{line(removed, code+comment), line(added, "\t"+code+comment)}, 1, 1, pipeline.FileModified, true, false, "Go"},
		"the code is indented in Python":                         {[]pipeline.Line{line(context, comment), line(removed, code), line(added, "\t"+code)}, 2, 2, pipeline.FileModified, false, true, "Python"},
		"a line within the code is indented":                     {[]pipeline.Line{line(context, comment), line(removed, "x(`"), line(removed, "a b`)"), line(added, "x(`"), line(added, "a  b`)")}, 2, 3, pipeline.FileModified, false, true, "Go"},
		"the code is indented under another line":                {[]pipeline.Line{line(context, comment), line(removed, code), line(added, "if y {"), line(added, "\t"+code)}, 2, 2, pipeline.FileModified, false, true, "Go"},
		"a line is removed before indented code":                 {[]pipeline.Line{line(context, comment), line(removed, "y()"), line(removed, code), line(added, "\t"+code)}, 2, 2, pipeline.FileModified, false, true, "Go"},
	} {
		f := ruled(tt.start, pipeline.SeverityMajor)
		f.EndLine = tt.end
		in := commented(f)
		c := &in.Facts.Files[3]
		c.Status, c.Language, c.Hunks[0].Lines = tt.status, tt.lang, nil
		n := 0
		for _, l := range tt.lines {
			if l.Op != removed {
				n++
				l.New = n
			}
			c.Hunks[0].Lines = append(c.Hunks[0].Lines, l)
		}
		c.Hunks[0].NewLines, c.Additions = n, n
		r := Aggregate(in)
		if tt.stood {
			if len(r.Suppressed) != 1 || r.Suppressed[0].Finding.Reasons[0].String() != fmt.Sprintf("ignored by the comment on line %d", 1) {
				t.Errorf("%s: not ignored: %+v", name, r.Findings)
			}
			continue
		}
		waits, baseOnly := pipeline.ReasonIgnoreWaits, "not ignored: the config allows no inline comments that a change adds"
		if tt.old {
			waits, baseOnly = pipeline.ReasonIgnoreChanged, "not ignored: the line that this ignore comment is about has changed, and the config allows only what stood in the base"
		}
		if len(r.Findings) != 1 || !r.Decision.Blocks() || r.Findings[0].Reasons[0] != (pipeline.Reason{Kind: waits, Text: "known"}) {
			t.Errorf("%s: %s, findings %+v, suppressed %+v, want one finding whose comment waits", name, r.Decision, r.Findings, r.Suppressed)
			continue
		}
		agreed := accepting(in)
		if r := Aggregate(agreed); len(r.Suppressed) != 1 || !strings.HasSuffix(r.Suppressed[0].Finding.Reasons[0].Text, ", which carol accepted") {
			t.Errorf("%s, accepted: findings %+v", name, r.Findings)
		}
		agreed.Config.Settings.Synthesis.InlineIgnore = config.IgnoreBaseOnly
		if r := Aggregate(agreed); len(r.Suppressed) != 0 || !r.Decision.Blocks() || r.Findings[0].Reasons[0].String() != baseOnly {
			t.Errorf("%s, accepted under base_only: %+v, %+v", name, r.Suppressed, r.Findings)
		}
	}
}

// A person accepts one comment for one finding. A comment with another reason or at other code
// needs its own acceptance, and accepting the finding itself accepts no comment.
func TestAcceptedIgnoreIsForOneComment(t *testing.T) {
	in := one(ruled(1, pipeline.SeverityMajor))
	in.Facts.Files = append(in.Facts.Files, file("c.go", "x() // reviewgate:ignore r1 known"))
	in = accepting(in)
	if r := Aggregate(in); len(r.Suppressed) != 1 {
		t.Fatalf("not ignored: %+v", r.Findings)
	}
	given := in.Memory.Accepted[0]
	for name, tt := range map[string]struct {
		code     string
		accepted pipeline.Acceptance
	}{
		"another reason":                  {"x() // reviewgate:ignore r1 whatever", given},
		"a longer reason":                 {"x() // reviewgate:ignore r1 known to all", given},
		"other code":                      {"y() // reviewgate:ignore r1 known", given},
		"another finding":                 {"x() // reviewgate:ignore r1 known", pipeline.Acceptance{Fingerprint: "another", By: "carol", Ignore: "known"}},
		"the finding itself was accepted": {"x() // reviewgate:ignore r1 known", pipeline.Acceptance{Fingerprint: given.Fingerprint, By: "carol"}},
	} {
		in.Facts.Files[3].Hunks[0].Lines[0].Text = tt.code
		in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{tt.accepted}
		if r := Aggregate(in); len(r.Suppressed) != 0 || !r.Decision.Blocks() {
			t.Errorf("%s: ignored", name)
		}
	}
}

// A comment that the change removes suppresses nothing.
func TestRemovedIgnoreSuppressesNothing(t *testing.T) {
	in := commented(ruled(1, pipeline.SeverityMajor), "x() // reviewgate:ignore r1 known")
	in.Facts.Files[3].Hunks[0].Lines[0].Op = pipeline.LineRemoved
	if s := Aggregate(in).Suppressed; len(s) != 0 {
		t.Errorf("a comment that the change removes counts: %+v", s)
	}
}

// Writing an ignore comment changes no fingerprint, neither of the ignored finding nor of other
// findings on its line or of equal findings elsewhere. No finding counts as resolved.
func TestIgnoringKeepsFingerprints(t *testing.T) {
	other := finding("c.go", 1, "another", pipeline.SeverityWarning)
	other.RuleID = "r2"
	input := func(first string) Input {
		in := commented(ruled(1, pipeline.SeverityMajor), first, "y()", "x()", "y()", "x()")
		in.Results[0].Output.Findings = append(in.Results[0].Output.Findings, other, ruled(3, pipeline.SeverityMajor), ruled(5, pipeline.SeverityMajor))
		return in
	}
	before := Aggregate(input("x()"))
	in := input("x() // reviewgate:ignore r1 known")
	in.Previous = &pipeline.PreviousReport{HeadSHA: "old", Findings: before.Findings, Iteration: 1}
	after := Aggregate(in)
	ids := map[string]bool{}
	for _, f := range before.Findings {
		ids[f.ID] = true
	}
	if len(before.Findings) != 4 || len(after.Findings) != 3 || len(after.Suppressed) != 1 || !ids[after.Suppressed[0].Finding.ID] {
		t.Fatalf("before %d, after %d, suppressed %+v", len(before.Findings), len(after.Findings), after.Suppressed)
	}
	if c := after.Changes; c.New != 0 || c.Open != 3 || len(c.Resolved) != 0 {
		t.Errorf("changes: %d new, %d open, %d resolved, want 3 open", c.New, c.Open, len(c.Resolved))
	}
}

// Authors of the change write its comments. With any comment, each finding is either in the report
// or suppressed, and a second run gives the same result.
func TestIgnoreCommentsAreReadReliably(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("r1,x \t\"'`\\*/#<!->;%é\u202e"))).Draw(t, "before") +
			rapid.SampledFrom([]string{"// ", "#", "/*", ""}).Draw(t, "opener") + "reviewgate:ignore" +
			rapid.StringOf(rapid.SampledFrom([]rune("r1,x \t\"'*/->\x00é"))).Draw(t, "after")
		in := commented(ruled(1, pipeline.SeverityMajor), text)
		r := Aggregate(in)
		if len(r.Findings)+len(r.Suppressed) != 1 {
			t.Fatalf("%q: %d findings, %d suppressed", text, len(r.Findings), len(r.Suppressed))
		}
		if again := Aggregate(in); encoded(t, again) != encoded(t, r) {
			t.Fatalf("%q: a second run gives a different report", text)
		}
		if len(r.Suppressed) == 1 && len([]rune(r.Suppressed[0].Reason)) > maxIgnoreReason+len("inline: ") {
			t.Fatalf("reason of %d characters", len(r.Suppressed[0].Reason))
		}
	})
}

func BenchmarkIgnore(b *testing.B) {
	var lines []string
	var findings []pipeline.Finding
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("call(%d) // reviewgate:ignore r1 known", i))
		findings = append(findings, ruled(i+1, pipeline.SeverityMajor))
	}
	in := world(map[string][]pipeline.Finding{"x": findings})
	in.Facts.Files = append(in.Facts.Files, file("c.go", lines...))
	for b.Loop() {
		Aggregate(in)
	}
}

// A comment is found even after a megabyte of text that nearly matches.
func TestIgnoreAfterNearMisses(t *testing.T) {
	half := 1 << 19
	for name, before := range map[string]string{"blanks": " ", "stars": "*", "words": ignoreWord} {
		text := strings.Repeat(before, half/len(before)) + strings.Repeat(ignoreWord, half/len(ignoreWord)) + " // reviewgate:ignore r1 known"
		if m := parseMarker(pipeline.Line{Text: text}); m == nil || m.reason != "known" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// BenchmarkIgnoreNearMisses measures a line of a megabyte of text that nearly matches.
func BenchmarkIgnoreNearMisses(b *testing.B) {
	half := 1 << 19
	for name, before := range map[string]string{"blanks": " ", "stars": "*", "slashes": "/", "words": ignoreWord} {
		text := strings.Repeat(before, half/len(before)) + strings.Repeat(ignoreWord, half/len(ignoreWord))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				parseMarker(pipeline.Line{Text: text})
			}
		})
	}
}

// A comment suppresses its finding before other findings change its confidence and severity, and
// after its own severity is final.
func TestIgnoreAmongTheOtherSteps(t *testing.T) {
	const code = "x() // reviewgate:ignore r1 known"
	unsure := ruled(1, pipeline.SeverityMajor)
	unsure.Confidence = 0.1
	r := Aggregate(commented(unsure, code))
	if len(r.Suppressed) != 1 || len(r.ResidualConcerns) != 0 {
		t.Errorf("a finding below the confidence gate: %d suppressed, concerns %v, want it to be suppressed", len(r.Suppressed), r.ResidualConcerns)
	}

	other := ruled(1, pipeline.SeverityWarning)
	other.RuleID = "r2"
	in := world(map[string][]pipeline.Finding{"x": {ruled(1, pipeline.SeverityMajor)}, "y": {other}})
	in.Facts.Files = append(in.Facts.Files, unchangedFile(file("c.go", code)))
	r = Aggregate(in)
	if len(r.Suppressed) != 1 || len(r.Findings) != 1 || r.Findings[0].RuleID != "r2" || r.Findings[0].Severity != pipeline.SeverityWarning {
		t.Errorf("a finding of another rule on the line: suppressed %+v, findings %+v, want r2 to stay as it is", r.Suppressed, r.Findings)
	}

	var failed []pipeline.Finding
	for i, category := range []string{"color", "type", "space"} {
		f := ruled(i+1, "fail")
		f.Category = category
		failed = append(failed, f)
	}
	in = world(map[string][]pipeline.Finding{"grader": failed})
	in.Facts.Files = append(in.Facts.Files, file("c.go", code, "y()", "z()"))
	r = Aggregate(in)
	if len(r.Suppressed) != 0 || r.Findings[0].Severity != pipeline.SeverityCritical || r.Decision != pipeline.DecisionFail {
		t.Errorf("a finding that grading raises to critical: suppressed %+v, decision %s, want it to stay", r.Suppressed, r.Decision)
	}
}
