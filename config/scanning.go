package config

import "slices"

// ScanSources say what an agent of kind code-scanning takes in. Nil stands for
// the defaults.
type ScanSources struct {
	// Annotations are those of other Apps' completed check runs. Default true.
	Annotations *bool `json:"annotations,omitempty"`
	// Alerts are the open code scanning alerts of the pull request, for which the
	// App needs a permission of its own. Default false.
	Alerts *bool `json:"alerts,omitempty"`
	// Apps are the slugs of the Apps whose check runs count; none stands for all.
	Apps []string `json:"apps,omitzero"`
	// WaitFor are the names of these Apps' check runs without which the agent has
	// not finished.
	WaitFor []string `json:"wait_for,omitzero"`
	// Filter is FilterAdded (default), FilterContext, FilterFile or FilterNone.
	Filter string `json:"filter,omitempty"`
}

// Where findings of a tool have to be to be shown.
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

// ShownWhere is the filter in force.
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

// scanningSection is what an agent of kind code-scanning takes in of what others found.
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

// widerFilter reports whether a filter shows all that another one shows.
func widerFilter(filter, than string) bool {
	order := []string{FilterAdded, FilterContext, FilterFile, FilterNone}
	return slices.Index(order, filter) > slices.Index(order, than)
}
