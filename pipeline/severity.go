package pipeline

import "strings"

// Severity says how bad a finding is. The order is
// critical > major > warning > info.
type Severity string

// The four severities.
const (
	SeverityCritical Severity = "critical"
	SeverityMajor    Severity = "major"
	SeverityWarning  Severity = "warning"
	SeverityInfo     Severity = "info"
)

// Severities lists the severities, worst first.
func Severities() []Severity {
	return []Severity{SeverityCritical, SeverityMajor, SeverityWarning, SeverityInfo}
}

// Rank is 4 for critical down to 1 for info, and 0 for anything else. A greater rank is worse.
func (s Severity) Rank() int {
	switch s {
	case SeverityCritical:
		return 4
	case SeverityMajor:
		return 3
	case SeverityWarning:
		return 2
	case SeverityInfo:
		return 1
	}
	return 0
}

// Valid reports whether s is one of the four severities.
func (s Severity) Valid() bool { return s.Rank() > 0 }

// ParseSeverity maps the spellings that agents use to reviewgate's four: P0 to P3, "Critical Major
// Minor", "Important", "high medium low", and SARIF's "error warning note". It returns false for an
// unknown spelling, and for SARIF's "none", which is not a finding.
func ParseSeverity(s string) (Severity, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "critical", "p0":
		return SeverityCritical, true
	case "major", "p1", "important", "high", "error":
		return SeverityMajor, true
	case "warning", "p2", "minor", "medium":
		return SeverityWarning, true
	case "info", "p3", "low", "note":
		return SeverityInfo, true
	}
	return "", false
}
