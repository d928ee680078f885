package pipeline

import "testing"

func TestParseSeverity(t *testing.T) {
	for want, spellings := range map[Severity][]string{
		SeverityCritical: {"critical", "Critical", "P0", " p0 "},
		SeverityMajor:    {"major", "Major", "P1", "Important", "high", "error"},
		SeverityWarning:  {"warning", "P2", "Minor", "medium"},
		SeverityInfo:     {"info", "P3", "low", "note"},
		"":               {"", "none", "P4", "blocker", "pass", "warn", "fail", "1"},
	} {
		for _, s := range spellings {
			if got, known := ParseSeverity(s); got != want || known != (want != "") {
				t.Errorf("%q is %q, %v; want %q", s, got, known, want)
			}
		}
	}
}
