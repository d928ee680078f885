package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// An agent is said to have read the whole change only where it could.
func TestCoverageClaimsNoMoreThanWasRead(t *testing.T) {
	const whole, except = "secrets read the whole change,", "secrets read the change, except for the files listed below,"
	tests := map[string]struct {
		file   pipeline.File
		gaps   pipeline.List[pipeline.Incompleteness]
		agent  string
		listed string
	}{
		"nothing left out":  {file: pipeline.File{Path: "x.go"}, agent: whole},
		"it says generated": {file: pipeline.File{Path: "x.go", Generated: true}, agent: whole},
		"a generated path":  {file: pipeline.File{Path: "x.pb.go", Generated: true, GeneratedByPath: true}, agent: except, listed: "Looked at for serious mistakes only: x.pb.go (generated)."},
		"by attributes":     {file: pipeline.File{Path: "x.go", Generated: true, GeneratedByPath: true}, agent: except, listed: "Looked at for serious mistakes only: x.go (generated, by .gitattributes)."},
		"vendored by them":  {file: pipeline.File{Path: "x.go", Vendored: true}, agent: except, listed: "Looked at for serious mistakes only: x.go (vendored, by .gitattributes)."},
		"vendored":          {file: pipeline.File{Path: "vendor/x.go", Vendored: true}, agent: except, listed: "Looked at for serious mistakes only: vendor/x.go (vendored)."},
		"binary":            {file: pipeline.File{Path: "x.bin", Binary: true}, agent: except, listed: "Not read: x.bin (binary)."},
		"vendored binary":   {file: pipeline.File{Path: "vendor/x.bin", Vendored: true, Binary: true}, agent: except, listed: "Not read: vendor/x.bin (binary)."},
		"a missing patch":   {file: pipeline.File{Path: "x.go"}, gaps: pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "x.go", Why: "a line is too long.", Gating: true}}, agent: except, listed: "Not read: x.go (a line is too long)."},
		"missing files":     {file: pipeline.File{Path: "x.go"}, gaps: pipeline.List[pipeline.Incompleteness]{{What: "files", Why: "GitHub lists 3000 files at most", Gating: true}}, agent: except, listed: "Not read: other files (GitHub lists 3000 files at most)."},
		"no line of it":     {file: pipeline.File{Path: "x.go"}, gaps: pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "x.go"}}, agent: except},
		"missing commits":   {file: pipeline.File{Path: "x.go"}, gaps: pipeline.List[pipeline.Incompleteness]{{What: "commits"}}, agent: whole},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			v.Review.Facts.Files = pipeline.List[pipeline.File]{tt.file}
			v.Review.Report.Incomplete = tt.gaps
			text := Text(v, TextOptions{Width: 1000})
			if !strings.Contains(text, tt.agent) {
				t.Errorf("does not say %q:\n%s", tt.agent, text)
			}
			for _, list := range []string{"Looked at for serious mistakes only:", "Not read:"} {
				if want := strings.HasPrefix(tt.listed, list); strings.Contains(text, list) != want {
					t.Errorf("lists %q: %v, want %v", list, !want, want)
				}
			}
			if !strings.Contains(text, tt.listed) {
				t.Errorf("does not say %q:\n%s", tt.listed, text)
			}
			// An agent of other files has read all that it was given.
			if !strings.Contains(text, "finance-sme read 1 file, no findings") {
				t.Errorf("an agent of other files is said to have left something out:\n%s", text)
			}
		})
	}
}

// What an agent found and another was surer of is not said to be nothing.
func TestCoverageOfMergedFindings(t *testing.T) {
	for _, tt := range []struct {
		own, shared int
		want        string
	}{
		{0, 0, ", no findings ("}, {2, 0, ", 2 findings ("},
		{0, 1, ", 1 finding under others' names ("}, {2, 1, ", 2 findings, and 1 more under others' names ("},
	} {
		v := cleanView()
		v.Review.Report.Coverage[0].Findings, v.Review.Report.Coverage[0].Shared = tt.own, tt.shared
		if text := Text(v, TextOptions{Width: 1000}); !strings.Contains(text, v.Review.Report.Coverage[0].Agent+" read the change, except for the files listed below"+tt.want) {
			t.Errorf("%d and %d:\n%s", tt.own, tt.shared, text)
		}
	}
}
