package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestSARIF(t *testing.T) {
	for name, view := range map[string]func() View{
		"resolved": resolvedView, "incomplete": incompleteView, "aside": asideView, "broken-config": brokenConfigView, "repeated": repeatedView,
		"disagree": disagreeView,
	} {
		got, err := SARIF(view())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "sarif/"+name+".sarif", string(got))
	}
}

// The SARIF of every review obeys the schema of SARIF 2.1.0, and describes the rules of its
// results.
func TestSARIFObeysTheSchema(t *testing.T) {
	for _, s := range samples {
		validSARIF(t, s.view())
	}
	sample.Check(t, func(t *rapid.T) { validSARIF(t, hostileViews().Draw(t, "view")) })
}

func validSARIF(t interface{ Fatalf(string, ...any) }, v View) {
	b, err := SARIF(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	report, err := sarif.FromBytes(b, sarif.WithStrictValidation())
	if err != nil {
		t.Fatalf("read back: %v", err)
	}
	if err := report.Validate(); err != nil {
		t.Fatalf("not valid: %v", err)
	}
	run := report.Runs[0]
	if got, want := len(run.Results), len(v.Review.Report.Findings)+len(v.Review.Report.Suppressed); got != want {
		t.Fatalf("%d results for %d findings", got, want)
	}
	for _, r := range run.Results {
		if id := run.Tool.Driver.Rules[r.RuleIndex].ID; *id != *r.RuleID {
			t.Fatalf("a result of rule %q points to rule %q", *r.RuleID, *id)
		}
	}
}

func TestSARIFHasPlacesAndFixes(t *testing.T) {
	v := findingsView()
	v.Review.Report.Findings[1].Path = "a b/tötal.ts"
	report := sarifReport(v)
	r := report.Runs[0].Results[1]
	at := r.Locations[0].PhysicalLocation
	if got, want := *at.ArtifactLocation.URI, "a%20b/t%C3%B6tal.ts"; got != want {
		t.Errorf("URI %q, want %q", got, want)
	}
	if *at.ArtifactLocation.URIBaseID != sarifRoot || *at.Region.StartLine != 42 || at.Region.StartColumn != nil {
		t.Errorf("location %+v", at)
	}
	if diff := cmp.Diff(map[string]string{sarifFingerprint: "fedcba9876543210"}, r.PartialFingerprints); diff != "" {
		t.Error(diff)
	}
	var levels []string
	for _, r := range report.Runs[0].Results {
		levels = append(levels, r.Level)
	}
	if diff := cmp.Diff([]string{"error", "error", "error", "warning", "warning", "note"}, levels); diff != "" {
		t.Error(diff)
	}
}

// The JSON is the report, and reads back to the same JSON.
func TestJSON(t *testing.T) {
	v := resolvedView()
	b, err := JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	var back pipeline.Report
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&back); err != nil {
		t.Fatal(err)
	}
	again, err := JSON(View{Review: pipeline.Review{Report: back}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, again) {
		t.Error("the JSON changes when it is read and written")
	}
	// The report has neither models nor a decision by hand, and leaves both out.
	if strings.Contains(strings.NewReplacer(`"models": null`, "", `"by_hand": null`, "").Replace(string(b)), "null") {
		t.Error("the JSON has a null in it")
	}
}

func TestTextIsColored(t *testing.T) {
	plain, colored := Text(findingsView(), TextOptions{Width: 100}), Text(findingsView(), TextOptions{Color: true, Width: 100})
	if !strings.Contains(colored, styleRed+"critical") {
		t.Error("a critical finding is not red")
	}
	if got := sgr.ReplaceAllString(colored, ""); got != plain {
		t.Error("colour changes the text")
	}
}

func TestTextIsWrapped(t *testing.T) {
	v := findingsView()
	v.Review.Report.Findings[1].SuggestedFix = "" // code is not wrapped
	for _, line := range strings.Split(Text(v, TextOptions{Width: 60}), "\n") {
		if n := len([]rune(line)); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestLocalMarkdownHasNoLinks(t *testing.T) {
	md := Markdown(localView())
	for _, s := range []string{Marker, "](", "https:", "/review`"} {
		if strings.Contains(md, s) {
			t.Errorf("has %q", s)
		}
	}
}

// Local formats leave nothing out.
func TestLocalFormatsAreWhole(t *testing.T) {
	findings := sample.Size(1000, 3000)
	v := overflowView(findings)
	markdown, _, _ := strings.Cut(Markdown(v), machineStart)
	for name, text := range map[string]string{"markdown": markdown, "text": Text(v, TextOptions{})} {
		if n := strings.Count(text, "Money is added in binary floating point"); n != findings {
			t.Errorf("%s shows %d of %d findings", name, n, findings)
		}
	}
}
