package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

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
