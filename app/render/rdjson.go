package render

var rdLevels = levels{"ERROR", "ERROR", "WARNING", "INFO"}

// The types of the Reviewdog Diagnostic Format. Lines count from 1. A range without columns has all of
// its lines.
type rdResult struct {
	Source      rdSource       `json:"source"`
	Diagnostics []rdDiagnostic `json:"diagnostics"`
}

type rdSource struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type rdDiagnostic struct {
	Message     string         `json:"message"`
	Location    rdLocation     `json:"location"`
	Severity    string         `json:"severity"` // ERROR, WARNING or INFO
	Code        rdCode         `json:"code"`
	Suggestions []rdSuggestion `json:"suggestions,omitempty"`
}

type rdLocation struct {
	Path  string   `json:"path"`
	Range *rdRange `json:"range,omitempty"`
}

type rdRange struct {
	Start rdPosition `json:"start"`
	End   rdPosition `json:"end"`
}

type rdPosition struct {
	Line int `json:"line"`
}

type rdCode struct {
	Value string `json:"value"`
	URL   string `json:"url,omitempty"`
}

type rdSuggestion struct {
	Range rdRange `json:"range"`
	Text  string  `json:"text"`
}

// RDJSON renders the review in the Reviewdog Diagnostic Format, with suggested fixes. The format has no
// place for what [Unplaced] names.
func RDJSON(v View) ([]byte, error) {
	plain := newFindings(v, plainPen{}, linker{})
	out := rdResult{Source: rdSource{toolName, toolURL}, Diagnostics: []rdDiagnostic{}}
	for _, r := range remarks(v) {
		if r.path == "" {
			continue
		}
		d := rdDiagnostic{
			Message: breakMentions(string(r.whole())), Location: rdLocation{Path: r.path}, Severity: rdLevels.of(r.severity), Code: rdCode{Value: r.rule},
		}
		if r.start > 0 {
			lines := rdRange{rdPosition{r.start}, rdPosition{r.end}}
			d.Location.Range = &lines
			if r.finding != nil && r.finding.SuggestedFix != "" {
				d.Suggestions = []rdSuggestion{{lines, replacement(r.finding)}}
			}
		}
		if r.finding != nil {
			d.Code.URL = plain.reference(r.finding)
		}
		out.Diagnostics = append(out.Diagnostics, d)
	}
	return Indented(out)
}
