package render

var gitlabLevels = levels{"critical", "major", "minor", "info"}

// gitlabIssue is an entry of GitLab's Code Quality report.
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"` // info, minor, major, critical or blocker
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// GitLab renders the review as a Code Quality report of GitLab. What is about a whole file is at its
// first line. The report has no place for what [Unplaced] names.
func GitLab(v View) ([]byte, error) {
	out := []gitlabIssue{}
	for _, r := range remarks(v) {
		if r.path == "" {
			continue
		}
		out = append(out, gitlabIssue{
			Description: oneLine(string(r.whole()), maxMessage), CheckName: r.rule, Fingerprint: r.id,
			Severity: gitlabLevels.of(r.severity), Location: gitlabLocation{r.path, gitlabLines{max(1, r.start), r.end}},
		})
	}
	return Indented(out)
}
