package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// No format shows a fix that contains a secret's placeholder.
func TestNoOutputOffersAPlaceholder(t *testing.T) {
	for _, fix := range []string{"KEPT := 1", `token := "[redacted:github-pat]" // KEPT`, "KEPT [ Redacted : jwt]"} {
		f := pipeline.Finding{
			Title: "A token in the code", Severity: pipeline.SeverityMajor, Message: "It is one.", Confidence: 0.9,
			Path: "api/orders.go", StartLine: 76, EndLine: 76, SuggestedFix: fix, AutofixClass: pipeline.AutofixAuto,
		}
		v := aggregated(t, by("errors", "", f))
		v.Review.Results = nil // the agents' raw outputs, which are stored for replays
		json, err := JSON(v)
		if err != nil {
			t.Fatal(err)
		}
		sarif, err := SARIF(v)
		if err != nil {
			t.Fatal(err)
		}
		rdjson, err := RDJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		for format, out := range map[string]string{
			"comment": Comment(v).Body, "check": fmt.Sprint(Check(v)), "markdown": Markdown(v), "text": Text(v, TextOptions{}),
			"headless": Headless(&v.Review.Report), "json": string(json), "sarif": string(sarif), "rdjson": string(rdjson),
		} {
			clean := fix == "KEPT := 1"
			if shown := strings.Contains(out, "KEPT"); shown && !clean || !shown && clean && format != "check" {
				t.Errorf("%s of the fix %q: shown is %t", format, fix, shown)
			}
		}
	}
}
