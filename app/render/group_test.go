package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Findings that differ only in their place are one item. Other findings are items of their
// own.
func TestGroups(t *testing.T) {
	like := func(change func(f *pipeline.Finding)) pipeline.Finding {
		f := pipeline.Finding{RuleID: "a-01", Title: "Title", Message: "Message", Severity: pipeline.SeverityMajor, Path: "a.go", StartLine: 2, ID: "ffff0002"}
		change(&f)
		return f
	}
	for name, tt := range map[string]struct {
		second  pipeline.Finding
		history bool
		items   int
	}{
		"another line":           {like(func(f *pipeline.Finding) { f.StartLine = 9 }), false, 1},
		"another file":           {like(func(f *pipeline.Finding) { f.Path = "b.go" }), false, 1},
		"another rule":           {like(func(f *pipeline.Finding) { f.RuleID = "a-02" }), false, 2},
		"no rule":                {like(func(f *pipeline.Finding) { f.RuleID = "" }), false, 2},
		"another severity":       {like(func(f *pipeline.Finding) { f.Severity = pipeline.SeverityCritical }), false, 2},
		"another title":          {like(func(f *pipeline.Finding) { f.Title = "x" }), false, 2},
		"another message":        {like(func(f *pipeline.Finding) { f.Message = "x" }), false, 2},
		"another recommendation": {like(func(f *pipeline.Finding) { f.Recommendation = "x" }), false, 2},
		"another why":            {like(func(f *pipeline.Finding) { f.WhyItMatters = "x" }), false, 2},
		"another fix":            {like(func(f *pipeline.Finding) { f.SuggestedFix = "x" }), false, 2},
		"not ignored": {like(func(f *pipeline.Finding) {
			f.Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonNotIgnored, Text: "x"}}
		}), false, 2},
		"another evidence":      {like(func(f *pipeline.Finding) { f.Evidence = pipeline.List[string]{"x"} }), false, 1},
		"another agent":         {like(func(f *pipeline.Finding) { f.Agent = "x" }), false, 2},
		"open, without history": {like(func(f *pipeline.Finding) { f.State = pipeline.StateOpen }), false, 1},
		"still open":            {like(func(f *pipeline.Finding) { f.State = pipeline.StateOpen }), true, 2},
		"no file":               {like(func(f *pipeline.Finding) { f.Path = "" }), false, 2},
		"a contradiction":       {like(func(f *pipeline.Finding) { f.Perspectives = pipeline.List[pipeline.Perspective]{{Agent: "x"}} }), false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", like(func(*pipeline.Finding) {}), tt.second)
			if tt.history {
				v.Review.Report.Changes.PreviousReport = prevSHA
			}
			comment := Comment(v).Body
			if got := strings.Count(comment, "**1 · ") + strings.Count(comment, "**2 · "); got != tt.items {
				t.Errorf("%d items, want %d:\n%s", got, tt.items, comment)
			}
			if n := len(newFindings(v, plainPen{}, linker{}).list); n != 2 {
				t.Errorf("%d findings for other programs, want 2", n)
			}
		})
	}
}

// inPlaces returns a review in which one rule has findings in n places.
func inPlaces(n int, s pipeline.Severity) View {
	v := cleanView()
	var fs []pipeline.Finding
	for i := range n {
		fs = append(fs, pipeline.Finding{
			RuleID: "a-01", Title: "T", Severity: s, Path: "src/place.go", StartLine: i + 1, EndLine: i + 1,
			ID: fmt.Sprintf("%08d", i), Evidence: pipeline.List[string]{fmt.Sprintf("call(%d)", i)},
		})
	}
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs...)
	return v
}

// Every format shows all places of a blocking group, each with its id and its evidence.
// A finding with several places is one item and counts once. Each place has an annotation and a
// result of its own. Only the first has a comment on lines and an id.
func TestPlacesOfOneFinding(t *testing.T) {
	v := cleanView()
	f := pipeline.Finding{
		RuleID: "a-01", Title: "Title", Message: "Message", Severity: pipeline.SeverityMajor, GateSeverity: pipeline.SeverityMajor, Agent: "x",
		Path: "a.go", StartLine: 1, ID: "ffff0001", Also: pipeline.List[pipeline.OtherPlace]{{ID: "ffff0003", StartLine: 3, EndLine: 3}},
	}
	v.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "a.go", Status: pipeline.FileAdded, Hunks: pipeline.List[pipeline.Hunk]{{
		NewStart: 1, NewLines: 3, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: "x"}, {Op: pipeline.LineAdded, New: 2, Text: "y"}, {Op: pipeline.LineAdded, New: 3, Text: "x"}},
	}}}}
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", f)
	comment := Comment(v).Body
	for _, want := range []string{"1 major", "and 1 more place", "Also at [`a.go:3`]"} {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment lacks %q:\n%s", want, comment)
		}
	}
	if strings.Contains(comment, "ffff0003") {
		t.Errorf("the comment names the second place by an id:\n%s", comment)
	}
	if text := Text(v, TextOptions{Width: 1000}); !strings.Contains(text, "1 finding in 1 file") || !strings.Contains(text, "a.go:3") {
		t.Errorf("the text does not count one finding with two places:\n%s", text)
	}
	if list, n := annotations(v); n != 2 || list[0].StartLine != 1 || list[1].StartLine != 3 {
		t.Errorf("%d annotations, want one for each place: %+v", n, list)
	}
	if inline := OnLines(v).New(false, func(string) bool { return false }); len(inline) != 1 || inline[0].StartLine != 1 || !strings.Contains(inline[0].Body, "Also at") {
		t.Errorf("comments on lines %+v, want one that names the other place", inline)
	}
	v.Inline = map[string]string{"ffff0001": "https://github.example/1"}
	if list, _ := annotations(v); len(list) != 1 || list[0].StartLine != 3 {
		t.Errorf("annotations beside a comment on lines: %+v, want the other place", list)
	}
	if report := v.Review.Report; !strings.Contains(Headless(&report), "a.go:1, :3") {
		t.Errorf("the lines for programs lack the places:\n%s", Headless(&report))
	}
}

func TestPlacesOfABlockingGroup(t *testing.T) {
	v := inPlaces(40, pipeline.SeverityCritical)
	check := Check(v)
	for name, text := range map[string]string{
		"comment": Comment(v).Body, "check": check.Text, "markdown": Markdown(v), "text": Text(v, TextOptions{Width: 10_000}),
	} {
		plain := strings.ReplaceAll(text, "`", "")
		for i := range 39 {
			place, rest := fmt.Sprintf("src/place.go:%d", i+2), fmt.Sprintf("(id %08d, call(%d))", i+1, i+1)
			if !strings.Contains(plain, place) || !strings.Contains(plain, rest) {
				t.Errorf("%s: %s %s is missing", name, place, rest)
			}
		}
	}
}

// For a group that does not block, the comment names some places and counts the others.
// The terminal names all places.
func TestPlacesOfAMinorGroup(t *testing.T) {
	v := inPlaces(40, pipeline.SeverityWarning)
	if c := Comment(v).Body; !strings.Contains(c, "39 more places") || !strings.Contains(c, "…and 3") || strings.Contains(c, "call(1)") {
		t.Error(c)
	}
	if text := Text(v, TextOptions{Width: 10_000}); !strings.Contains(text, "src/place.go:40 (id 00000039, call(39))") {
		t.Error(text)
	}
}

// A comment about very many places stays within its limit, counts the places that it leaves
// out, and has room for other findings.
func TestPlacesAreBounded(t *testing.T) {
	v := inPlaces(5000, pipeline.SeverityMajor)
	v.Review.Report.Findings = append(v.Review.Report.Findings, findingsView().Review.Report.Findings[3])
	c := Comment(v).Body
	if len(c) > maxBody || !strings.Contains(c, "…and 4,9") || !strings.Contains(c, "A failed close can hide") {
		t.Errorf("%d bytes: %.2000s", len(c), c)
	}
}

// A finding says why a comment in the code that asks to ignore it has no effect.
func TestShowsWhyAnIgnoreHasNoEffect(t *testing.T) {
	for _, s := range []pipeline.Severity{pipeline.SeverityMajor, pipeline.SeverityWarning} {
		v := inPlaces(1, s)
		v.Review.Report.Findings[0].Reasons = pipeline.List[pipeline.Reason]{{Text: "merged"}, {Kind: pipeline.ReasonNotIgnored, Text: "the comment on line 7 gives no reason"}}
		for name, text := range map[string]string{
			"comment": Comment(v).Body, "check": Check(v).Text, "markdown": Markdown(v), "text": Text(v, TextOptions{}),
		} {
			if !strings.Contains(text, "Not ignored: the comment on line 7 gives no reason.") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// A final finding says that it is final, and who may dismiss it.
func TestShowsFinalFindings(t *testing.T) {
	for _, s := range []pipeline.Severity{pipeline.SeverityMajor, pipeline.SeverityWarning} {
		v := inPlaces(1, s)
		v.Review.Report.Findings[0].Final = pipeline.List[pipeline.FinalIn]{
			{Layer: "server", Authority: pipeline.List[string]{"acme/security", "mona"}}, {Layer: "organisation"},
		}
		data, err := JSON(v)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(data)), ""), `"final":[{"layer":"server","authority":["acme/security","mona"]},{"layer":"organisation","authority":[]}]`) {
			t.Errorf("JSON: %v %s", err, data)
		}
		for name, text := range map[string]string{
			"comment": Comment(v).Body, "check": Check(v).Text, "markdown": Markdown(v), "text": Text(v, TextOptions{Width: 200}),
		} {
			for _, line := range []string{
				"Final in the server's layer: only acme/security, mona can dismiss it.",
				"Final in the organisation's layer: it remains until it is fixed or that layer changes.",
			} {
				if !strings.Contains(text, line) {
					t.Errorf("%s lacks %q: %s", name, line, text)
				}
			}
		}
	}
}

// If an ignore comment waits for acceptance, the finding says how to accept it.
func TestShowsHowToAcceptAnIgnore(t *testing.T) {
	for _, waits := range []pipeline.ReasonKind{pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged} {
		v := inPlaces(1, pipeline.SeverityMajor)
		f := &v.Review.Report.Findings[0]
		f.ID, f.Reasons = "3f2a9c1122334455", pipeline.List[pipeline.Reason]{{Kind: waits, Text: "a sandbox"}}
		for name, text := range map[string]string{"comment": Comment(v).Body, "text": Text(v, TextOptions{})} {
			if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " "), "acceptance; its reason: \"a sandbox\". To accept it, comment /review accept 3f2a9c11 on the pull request.") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// The title counts uncertain concerns if there are no findings.
func TestTitleCountsConcerns(t *testing.T) {
	v := cleanView()
	v.Review.Report.ResidualConcerns = pipeline.List[pipeline.SourcedText]{{Text: "The cache may outlive the session", Source: "security-reviewer"}}
	for name, text := range map[string]string{"comment": Comment(v).Body, "check": Check(v).Title, "text": Text(v, TextOptions{})} {
		if !strings.Contains(text, "No findings; 1 uncertain") {
			t.Errorf("%s: %.200s", name, text)
		}
	}
	v = inPlaces(1, pipeline.SeverityMajor)
	v.Review.Report.ResidualConcerns = pipeline.List[pipeline.SourcedText]{{Text: "The cache may outlive the session", Source: "security-reviewer"}}
	if title := Check(v).Title; strings.Contains(title, "uncertain") {
		t.Error(title)
	}
}

// A long list of the condition's metrics shows the first and counts the others.
func TestManyMetrics(t *testing.T) {
	g := &pipeline.Gate{Condition: "critical > 0 && critical < 9 && a > 0 && b > 0 && c > 0 && d > 0 && e > 0 && f > 0 && g > 0", Metrics: map[string]float64{}}
	for _, name := range strings.Fields("critical a b c d e f g") {
		g.Metrics[name] = 1
	}
	got, _ := list(", ", metricsRead(g, plainPen{}))
	if want := safe("critical is 1, a is 1, b is 1, c is 1, d is 1, e is 1, …and 2 more"); got != want {
		t.Errorf("got %s", got)
	}
}

// The label of a link is its host, even if the rule's id is the name of another host.
func TestReferenceLinkNamesItsHost(t *testing.T) {
	v := findingsView()
	id := v.Review.Report.Findings[0].RuleID
	v.Rules = map[string]RuleNote{id: {Reference: "https://evil.example/login", Layer: config.LayerRepository}}
	if c := Comment(v).Body; !strings.Contains(c, "`"+id+"` ([`evil.example`](https://evil.example/login), config of the repository)") {
		t.Error(c)
	}
}

func TestReferences(t *testing.T) {
	for ref, shown := range map[string]bool{
		"https://cwe.mitre.org/data/definitions/295.html":       true,
		"https://owasp.org/Top10/A01_2021-Access/#how?x=1&y=2":  true,
		"https://example.com":                                   true,
		"http://example.com/a":                                  false,
		"https://user:secret@example.com/a":                     false,
		"https://user@example.com":                              false,
		"https:///path":                                         false,
		"javascript:alert(1)":                                   false,
		"https://example.com/a b":                               false,
		"https://example.com/)[x](https://evil.example":         false,
		"https://example.com/*bold*":                            false,
		"https://github.com/acme/shop/issues/5":                 false,
		"https://github.com/acme/shop/pull/5":                   false,
		"https://github.com/acme/shop/commit/a1b2c3d":           false,
		"https://github.com/acme/shop/Issues/5":                 false,
		"https://github.com/acme/shop/PULL/5":                   false,
		"https://github.com/acme/shop/%69ssues/5":               false,
		"https://github.com/acme/shop%2Fissues%2F5":             false,
		"https://github.com/acme/shop/%zz":                      false,
		"https://wiki.example.com/Don%27t_Do_This":              true,
		"https://github.com/acme/shop/blob/main/docs/errors.md": true,
		"https://example.com/" + strings.Repeat("a", 300):       false,
		"": false,
	} {
		v := findingsView()
		v.Rules = map[string]RuleNote{"sec-tls-verify-01": {Reference: ref}}
		if got := strings.Contains(Comment(v).Body, "]("+ref+")"); got != shown {
			t.Errorf("%q linked: %v, want %v", ref, got, shown)
		}
		if got := strings.Contains(Text(v, TextOptions{Width: 1000}), " · "+ref+"\n"); got != shown {
			t.Errorf("%q in the text: %v, want %v", ref, got, shown)
		}
	}
}

// A rule's note names its layer, except for a rule of the defaults, even if another layer
// changed that rule.
func TestRuleNotes(t *testing.T) {
	cfg, problems := config.Load(config.Layer{Name: config.LayerOrganisation, Source: "acme/.github", Files: []config.File{{
		Path: config.FileRules, Text: []byte(`[
			{"id": "test-focused-01", "reference": "https://example.com/changed", "match": {"on": "added", "pattern": "\\bfdescribe\\(", "fix": ""}},
			{"id": "own-01", "name": "n", "severity": "info", "agent": "build-reviewer", "category": "c", "description": "d",
			 "detection": "d", "recommendation": "r", "reference": "https://example.com/why", "match": {"literal": "x+y"}}
		]`),
	}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var r pipeline.Report
	for _, id := range []string{"test-focused-01", "own-01", "unknown-01", ""} {
		r.Findings = append(r.Findings, pipeline.Finding{RuleID: id})
	}
	notes := RuleNotes(&r, cfg)
	want := map[string]RuleNote{
		"own-01": {
			Reference: "https://example.com/why", Layer: config.LayerOrganisation,
			Name: "n", Description: "d", Recommendation: "r", Severity: pipeline.SeverityInfo, Pattern: `x\+y`,
		},
		"test-focused-01": {
			Reference: "https://example.com/changed", Name: "Only this test runs; all others are skipped",
			Description:    "The suite is green because the rest of it did not run.",
			Recommendation: "Remove the focus.", Severity: pipeline.SeverityMajor, Pattern: `\bfdescribe\(`,
		},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

// A proposed mode that lets everything pass is shown as a change.
func TestShowsProposedMode(t *testing.T) {
	v := cleanView()
	for mode, want := range map[string]string{
		"off":      "With the proposed one reviewgate would review nothing in this repository, and block nothing.",
		"advisory": "With the proposed one no finding would block a merge. With it the decision would be the same.",
		"enforce":  "With the proposed one findings would block merges. With it the decision would be the same.",
		"":         "With the proposed one the decision would be the same, with the same agents and the same findings.",
	} {
		v.Review.Report.ProposedConfig = pipeline.ProposedConfig{Files: pipeline.List[string]{".github/reviewgate/review-settings.json"}, Decision: pipeline.DecisionPass, Mode: mode}
		for name, text := range map[string]string{"comment": Comment(v).Body, "text": Text(v, TextOptions{})} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s with the mode %q lacks %q", name, mode, want)
			}
		}
	}
}

// A severity that a domain raised is explained, and one that no domain raised is not.
func TestRaisedSeverityIsExplained(t *testing.T) {
	for severity, raised := range map[pipeline.Severity]bool{pipeline.SeverityCritical: true, pipeline.SeverityMajor: false} {
		v := findingsView()
		f := v.Review.Report.Findings[1] // of pricing/total.ts, which is in finance
		f.Severity, f.GateSeverity = severity, severity
		setFindings(&v, pipeline.DecisionFail, "critical > 0", f)
		v.Rules = map[string]RuleNote{f.RuleID: {Severity: pipeline.SeverityMajor, SeverityIn: map[string]pipeline.Severity{"finance": pipeline.SeverityCritical, "api": pipeline.SeverityCritical}}}
		for format, text := range map[string]string{"comment": Comment(v).Body, "text": Text(v, TextOptions{Width: 1000})} {
			if strings.Contains(text, "raised in finance") != raised || strings.Contains(text, "raised in finance, api") {
				t.Errorf("%s, %s:\n%s", severity, format, text)
			}
		}
	}
}
