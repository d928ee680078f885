package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Nobody can take a review by some agents for a whole one, in any format.
func TestReviewBySomeAgents(t *testing.T) {
	v := cleanView()
	v.Review.Report.Incomplete = append(v.Review.Report.Incomplete, pipeline.Incompleteness{
		What: pipeline.IncompleteOnly, Why: "only secrets: 4 other agents did not run",
	})
	sarif, err := SARIF(v)
	if err != nil {
		t.Fatal(err)
	}
	report, err := JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	brief := Text(v, TextOptions{Width: 100, Brief: true})
	for format, text := range map[string]string{
		"text": Text(v, TextOptions{Width: 100}), "brief": brief, "markdown": Markdown(v), "SARIF": string(sarif), "JSON": string(report),
	} {
		if n := strings.Count(strings.Join(strings.Fields(text), " "), "only secrets: 4 other agents did not run"); n != 1 {
			t.Errorf("%s says it %d times:\n%s", format, n, text)
		}
	}
	if !strings.HasPrefix(brief, "✅ No findings · only secrets: 4 other agents did not run · ") {
		t.Errorf("brief: %s", brief)
	}
}

func TestReviewOfTheIndex(t *testing.T) {
	v := cleanView()
	v.Links = Links{}
	v.Review.Facts.Head.WorkTree, v.Review.Facts.Head.Staged = true, true
	v.Review.Facts.Base.Ref = "HEAD"
	if text := Text(v, TextOptions{Width: 100, Brief: true}); !strings.Contains(text, " · the index on a1b2c3d against HEAD · ") {
		t.Errorf("text: %s", text)
	}
	if text := Markdown(v); !strings.Contains(text, "Reviewed the index on `a1b2c3d` against `HEAD`") {
		t.Errorf("markdown: %s", text)
	}
}
