package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/render/rendertest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// machineFormats are the formats for other programs, beside SARIF and JSON.
var machineFormats = []struct {
	name    string
	write   func(View) ([]byte, error)
	accepts func([]byte) error
}{
	{"github.log", func(v View) ([]byte, error) { return []byte(Workflow(v)), nil }, acceptsLog},
	{"gitlab.json", GitLab, rendertest.GitLabAccepts},
	{"rdjson.json", RDJSON, rendertest.ReviewdogAccepts},
	{"checkstyle.xml", Checkstyle, rendertest.CheckstyleAccepts},
	{"junit.xml", JUnit, rendertest.JUnitAccepts},
}

func acceptsLog(b []byte) error {
	_, _, err := rendertest.ReadLog(string(b))
	return err
}

func TestMachineFormats(t *testing.T) {
	for name, view := range map[string]func() View{
		"clean": cleanView, "findings": findingsView, "incomplete": incompleteView, "broken-config": brokenConfigView, "hostile": hostileView,
		"overflow": func() View { return overflowView(50) },
	} {
		for _, f := range machineFormats {
			if name == "overflow" && f.name != "github.log" {
				continue
			}
			got, err := f.write(view())
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "formats/"+name+"."+f.name, string(got))
		}
	}
}

// The programs that read the formats accept them, whatever text a review has.
func TestProgramsAcceptTheirFormats(t *testing.T) {
	accepted := func(t interface{ Fatalf(string, ...any) }, what string, v View) {
		for _, f := range machineFormats {
			b, err := f.write(v)
			if err == nil {
				err = f.accepts(b)
			}
			if err == nil {
				if bad := hiddenIn(strings.ReplaceAll(string(b), "\n", ""), false); bad != "" {
					err = fmt.Errorf("hidden: %s", bad)
				}
			}
			if err == nil && f.name != "github.log" {
				_, _, err = rendertest.ReadLog(string(b)) // printed in a job, it must not command its runner
			}
			if err != nil {
				t.Fatalf("%s of %s: %v\n%s", f.name, what, err, b)
			}
		}
	}
	for _, s := range samples {
		accepted(t, s.name, s.view())
	}
	sample.Check(t, func(t *rapid.T) { accepted(t, "a hostile review", hostileViews().Draw(t, "view")) })
}

// Text that means something in a format stays text: each format gives it back.
func TestHostileTextStaysText(t *testing.T) {
	const title = `x]]></failure><testcase name="y">,file=/etc/passwd::100%0A%25, it's "&amp;"`
	const message = "first\n::error file=a::b\n ##[add-mask]c\n::stop-commands::d\n</error>"
	const path = "a,b:c/%0A::d\n::error::e.go"
	v := cleanView()
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", pipeline.Finding{
		Title: title, Severity: pipeline.SeverityMajor, Path: path, StartLine: 3, EndLine: 4, Message: message, Agent: "a::b", RuleID: "::error::r", ID: "1",
	})
	plain := strings.NewReplacer(zeroWidthSpace, "")

	commands, others, err := rendertest.ReadLog(Workflow(v))
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) != 1 || len(others) != 2 {
		t.Fatalf("%d commands, %d other lines", len(commands), len(others))
	}
	c := commands[0]
	for _, pair := range [][2]string{
		{c.Title, title}, {c.File, strings.ReplaceAll(path, "\n", `\n`)}, {plain.Replace(c.Message), "first\n::error file=a::b\n##[add-mask]c\n::stop-commands::d\n</error>"},
		{fmt.Sprint(c.Level, c.Line, c.EndLine), "error3 4"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q, want %q", pair[0], pair[1])
		}
	}
	for _, f := range machineFormats[1:] {
		b, err := f.write(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.accepts(b); err != nil {
			t.Errorf("%s: %v\n%s", f.name, err, b)
		}
		if _, others, err := rendertest.ReadLog(string(b)); err != nil || len(others) == 0 {
			t.Errorf("%s commands a runner: %v\n%s", f.name, err, b)
		}
	}
	b, err := GitLab(v)
	if err != nil {
		t.Fatal(err)
	}
	var issues []gitlabIssue
	if err := json.Unmarshal(b, &issues); err != nil {
		t.Fatal(err)
	}
	if issues[0].Location.Path != path || !strings.Contains(issues[0].Description, title) {
		t.Errorf("%+v", issues[0])
	}
}

// What a format has no place for is named.
func TestUnplaced(t *testing.T) {
	v := incompleteView()
	v.Review.Report.Findings = append(v.Review.Report.Findings, findingsView().Review.Report.Findings[4], findingsView().Review.Report.Findings[4])
	want := []string{
		"Review incomplete: the required agent secrets timed out after 120 s, in 3 attempts",
		"Not reviewed: the list of commits has 250 of 311 commits",
		"2 findings about the change as a whole have no file, so this format leaves them out: Description is empty (warning); Description is empty (warning)",
	}
	if diff := cmp.Diff(want, Unplaced(v)); diff != "" {
		t.Error(diff)
	}
	if got := Unplaced(cleanView()); len(got) > 0 {
		t.Errorf("a clean review leaves out %q", got)
	}
}

// A job's summary is the review in markdown, and fits.
func TestJobSummaryFits(t *testing.T) {
	v := overflowView(5000)
	for _, room := range []int{-5000, 0, 10, 200, 5000, 100_000, MaxJobSummary} {
		s := JobSummary(v, room)
		if len(s) > max(0, room) || room >= 200 && !strings.HasPrefix(s, "## ") {
			t.Errorf("%d bytes in a room of %d: %.80s", len(s), room, s)
		}
		if room >= 100_000 && !strings.Contains(s, "more") {
			t.Errorf("the summary of %d bytes does not count what it leaves out", room)
		}
	}
	if s := JobSummary(findingsView(), MaxJobSummary); !strings.Contains(s, "Money is added in binary floating point") || strings.Contains(s, machineStart) || strings.Contains(s, Marker) {
		t.Error(s)
	}
}
