package config

import "slices"

// ScanSources say which findings of others an agent of kind code-scanning takes in. Nil means the
// defaults.
type ScanSources struct {
	// Annotations says whether the annotations of other Apps' completed check runs are taken in.
	// Default true.
	Annotations *bool `json:"annotations,omitempty"`
	// Alerts says whether the pull request's open code scanning alerts are taken in. The App needs
	// an extra permission for them. Default false.
	Alerts *bool `json:"alerts,omitempty"`
	// Apps lists the slugs of the Apps whose check runs count. An empty list means all Apps.
	Apps []string `json:"apps,omitzero"`
	// WaitFor lists the names of these Apps' check runs that must be complete before the agent is
	// finished.
	WaitFor []string `json:"wait_for,omitzero"`
	// Filter is FilterAdded (default), FilterContext, FilterFile or FilterNone.
	Filter string `json:"filter,omitempty"`
}

// A finding of a tool is shown in these places only.
const (
	FilterAdded   = "added"        // on added lines
	FilterContext = "diff_context" // on lines that the diff shows
	FilterFile    = "file"         // in changed files
	FilterNone    = "none"         // anywhere
)

// TakesAnnotations reports whether other Apps' annotations are taken in.
func (s *ScanSources) TakesAnnotations() bool {
	return s == nil || s.Annotations == nil || *s.Annotations
}

// TakesAlerts reports whether code scanning alerts are taken in.
func (s *ScanSources) TakesAlerts() bool { return s != nil && s.Alerts != nil && *s.Alerts }

// ShownWhere returns the filter in force.
func (s *ScanSources) ShownWhere() string {
	if s == nil || s.Filter == "" {
		return FilterAdded
	}
	return s.Filter
}

// Counts reports whether an App's check runs count.
func (s *ScanSources) Counts(app string) bool {
	return s == nil || len(s.Apps) == 0 || slices.Contains(s.Apps, app)
}

// scanningSection is the section of an agent of kind code-scanning.
var scanningSection = section{
	name: "scanning", otherwise: "takes in nothing that others found",
	stricter: map[string]change{
		"scanning.annotations": mayBecome(true), "scanning.alerts": mayBecome(true), "scanning.wait_for": mayGrow,
		"scanning.filter": {func(below, above any) bool { return widerFilter(above.(string), below.(string)) }, "leave it out, or show more"},
		"scanning.apps": {func(below, above any) bool {
			more := above.([]string)
			return len(more) == 0 || len(below.([]string)) > 0 && holdsAll(more, below.([]string))
		}, "leave it out, or add to the list"},
	},
	defaults: map[string]any{"scanning.annotations": true, "scanning.alerts": false, "scanning.filter": FilterAdded},
}

// widerFilter reports whether a filter shows everything that another one shows.
func widerFilter(filter, than string) bool {
	order := []string{FilterAdded, FilterContext, FilterFile, FilterNone}
	return slices.Index(order, filter) > slices.Index(order, than)
}
