package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// The design auditor grades dimensions. With the shipped rules, one or two failed dimensions are
// major, and from the third on the worst is critical.
func TestDesignAuditWithTheShippedRules(t *testing.T) {
	const (
		zoom   = `<meta name="viewport" content="width=device-width, user-scalable=no">`
		blur   = `<a href="/cart" onfocus="this.blur()">Cart</a>`
		paste  = `<input type="password" id="again" onpaste="return false">`
		label  = `<label>Street</label>`
		good   = `<label for="street">Street</label>`
		spacer = `<hr>`
	)
	tests := map[string]struct {
		lines []string
		want  pipeline.Counts
		gate  pipeline.Decision
	}{
		"all dimensions pass":                 {[]string{good, spacer}, pipeline.Counts{}, pipeline.DecisionPass},
		"one warns":                           {[]string{label}, pipeline.Counts{Warning: 1}, pipeline.DecisionPassWithWarnings},
		"two fail and one warns":              {[]string{zoom, spacer, blur, spacer, label}, pipeline.Counts{Major: 2, Warning: 1}, pipeline.DecisionNeedsFixes},
		"one fails three times":               {[]string{blur, spacer, spacer, blur, spacer, spacer, blur}, pipeline.Counts{Major: 3}, pipeline.DecisionNeedsFixes},
		"three fail":                          {[]string{zoom, spacer, blur, spacer, paste}, pipeline.Counts{Critical: 1, Major: 2}, pipeline.DecisionFail},
		"three fail, one of them three times": {[]string{zoom, spacer, blur, spacer, spacer, blur, spacer, paste}, pipeline.Counts{Critical: 1, Major: 3}, pipeline.DecisionFail},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			patch := fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", len(tt.lines), strings.Join(tt.lines, "\n+"))
			source := &inMemory{cfg: shipped(t), files: []raw.ChangedFile{
				{Path: "web/account.html", Status: pipeline.FileAdded, Additions: len(tt.lines), Patch: patch},
			}}
			out, err := newRunner(t, nil).Run(t.Context(), source, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got pipeline.Counts
			for _, f := range out.Review.Report.Findings {
				if f.Agent != "design-auditor" {
					continue
				}
				switch f.GateSeverity {
				case pipeline.SeverityCritical:
					got.Critical++
				case pipeline.SeverityMajor:
					got.Major++
				case pipeline.SeverityWarning:
					got.Warning++
				default:
					got.Info++
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("design-auditor's findings (-want +got):\n%s", diff)
			}
			if out.Review.Report.Decision != tt.gate {
				t.Errorf("decision = %s, want %s", out.Review.Report.Decision, tt.gate)
			}
		})
	}
}
