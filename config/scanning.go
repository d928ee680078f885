package config

import (
	"fmt"
	"slices"
)

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

// checkScanning validates what an agent takes in of what others found.
func (t *trial) checkScanning(e *entry) {
	t.checkOwnSection(e, "scanning", KindCodeScanning, "takes in nothing that others found")
}

// checkOwnSection refuses a section that agents of another kind have.
func (t *trial) checkOwnSection(e *entry, name, of, why string) {
	section, kind := e.node.Get(name), e.node.Get("kind")
	if section == nil || !given(kind) || kind.Text == of {
		return
	}
	at := section
	if !t.owns(at) {
		at = kind // which the layer changed
	}
	t.of(at, fmt.Sprintf("an agent of kind %s %s", kind.Text, why), fmt.Sprintf("remove %q, or set \"kind\" to %s", name, of))
}
