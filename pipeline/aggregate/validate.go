package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// validate drops what is no finding and counts it under its agent. What an
// agent may leave out gets its default, and severities their one spelling.
func (w *work) validate() {
	protected, err := glob.Compile(w.in.Config.Settings.Synthesis.ProtectedArtifacts)
	if err != nil {
		protected = &glob.Set{} // the config was validated: it has no such glob
	}
	w.keep(func(f *pipeline.Finding) bool {
		// What only reviewgate fills in is no agent's to claim.
		f.ID, f.State, f.GateSeverity, f.Reasons, f.Perspectives = "", "", "", nil, nil
		f.Reviewers = pipeline.List[string]{f.Agent}
		known, valid := w.severity(f)
		if known && f.Severity == "" {
			return false // a dimension that passed is nothing to report
		}
		if !known || !valid || !complete(f) || !w.inPlace(f) {
			w.coverage[sourceOf(f)].Dropped++
			return false
		}
		if f.Severity != pipeline.SeverityCritical && w.kind(f.Agent) != config.KindSecrets && protected.Any(f.Path) && deletes(f) {
			w.suppress(*f, "it recommends deleting a protected artifact")
			return false
		}
		return true
	})
}

func (w *work) kind(agent string) string {
	if a := w.agents[agent]; a != nil {
		return a.Kind
	}
	return ""
}

func (w *work) suppress(f pipeline.Finding, reason string) {
	f.State, f.GateSeverity = pipeline.StateSuppressed, f.Severity
	w.report.Suppressed = append(w.report.Suppressed, pipeline.Suppressed{Finding: f, Reason: reason})
}

// severity maps the agent's spelling. On the scale pass/warn/fail a fail is
// major, a warn a warning, and a pass leaves the severity empty.
func (w *work) severity(f *pipeline.Finding) (known, valid bool) {
	if w.graded(f.Agent) {
		switch strings.ToLower(string(f.Severity)) {
		case "pass":
			f.Severity = ""
			return true, true
		case "warn":
			f.Severity = pipeline.SeverityWarning
			return true, true
		case "fail":
			f.Severity = pipeline.SeverityMajor
			return true, true
		}
	}
	s, ok := pipeline.ParseSeverity(string(f.Severity))
	f.Severity = s
	return ok, ok
}

func (w *work) graded(agent string) bool {
	a := w.agents[agent]
	return a != nil && a.Scale == config.ScalePassWarnFail
}

// complete tells whether the required fields are there and all enums and
// numbers in range, and fills in defaults.
func complete(f *pipeline.Finding) bool {
	if f.EndLine == 0 {
		f.EndLine = f.StartLine
	}
	f.Action = or(f.Action, pipeline.ActionNone)
	f.AutofixClass = or(f.AutofixClass, pipeline.AutofixPresent)
	f.FindingType = or(f.FindingType, pipeline.FindingError)
	return strings.TrimSpace(f.Title) != "" && strings.TrimSpace(f.Message) != "" &&
		(f.Path != "" || f.Section != "") &&
		!math.IsNaN(f.Confidence) && f.Confidence >= 0 && f.Confidence <= 1 &&
		f.StartLine >= 0 && f.EndLine >= f.StartLine &&
		slices.Contains([]pipeline.Action{pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep, pipeline.ActionChange, pipeline.ActionNone}, f.Action) &&
		slices.Contains([]pipeline.AutofixClass{pipeline.AutofixAuto, pipeline.AutofixPresent}, f.AutofixClass) &&
		slices.Contains([]pipeline.FindingType{pipeline.FindingError, pipeline.FindingOmission}, f.FindingType) &&
		slices.Contains([]string{"", "pattern", "incorrect_fact", "missing_control", "incomplete_description"}, f.AutoClaim)
}

func or[T ~string](v, fallback T) T {
	if v == "" {
		return fallback
	}
	return v
}

// inPlace tells whether the finding is about this change: its file is in it,
// and its lines are in the file, as far as the diff shows how long that is.
func (w *work) inPlace(f *pipeline.Finding) bool {
	if f.Path == "" {
		return true
	}
	file := w.files[f.Path]
	if file == nil {
		return false
	}
	if file.Status == pipeline.FileAdded && len(file.Hunks) > 0 {
		return f.EndLine <= file.Additions
	}
	return true
}

// deletes reports whether the finding recommends deleting the file itself: it
// says so by action or verb, and means the file and not lines in it.
func deletes(f *pipeline.Finding) bool {
	words := strings.Fields(strings.ToLower(f.Recommendation + " " + f.Title))
	verb := f.Action == pipeline.ActionRemove
	whole := f.StartLine == 0
	for _, word := range words {
		switch strings.Trim(word, ".,;:!?\"'`()") {
		case "delete", "deleting", "remove", "removing", "drop", "dropping", "discard", "erase":
			verb = true
		case "file", "document", "files", "documents":
			whole = true
		}
	}
	return verb && whole
}

// enrich fills in from the rule what the finding leaves out. On the scale
// pass/warn/fail three failed dimensions or more raise the agent's worst
// finding to critical.
func (w *work) enrich() {
	const failedDimensions = 3
	failed := map[source]map[string]bool{}
	worst := map[source]pipeline.Severity{}
	for _, f := range w.findings {
		if f.Severity.Rank() > worst[sourceOf(f)].Rank() {
			worst[sourceOf(f)] = f.Severity
		}
		if r := w.rules[f.RuleID]; r != nil && f.RuleID != "" {
			f.Category = or(f.Category, r.Category)
			f.WhyItMatters = or(f.WhyItMatters, r.Description)
			f.Recommendation = or(f.Recommendation, r.Recommendation)
		}
		if w.graded(f.Agent) && f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			s := sourceOf(f)
			if failed[s] == nil {
				failed[s] = map[string]bool{}
			}
			failed[s][f.Category] = true
		}
	}
	for _, f := range w.findings { // in the order of content: the first of the worst is raised
		s := sourceOf(f)
		if n := len(failed[s]); n >= failedDimensions && f.Severity == worst[s] {
			if f.Severity != pipeline.SeverityCritical {
				f.Severity = pipeline.SeverityCritical
				because(f, fmt.Sprintf("raised to critical: %d dimensions of %s failed", n, f.Agent))
			}
			delete(failed, s)
		}
	}
}

// confidence turns findings below the gate into residual concerns. Secrets and
// what final rules find stay, however high a repository sets its gate.
func (w *work) confidence() {
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	w.keep(func(f *pipeline.Finding) bool {
		r := w.rules[f.RuleID]
		if f.Confidence >= least || w.kind(f.Agent) == config.KindSecrets || r != nil && r.Final {
			return true
		}
		w.report.ResidualConcerns = append(w.report.ResidualConcerns, pipeline.SourcedText{Text: concern(f), Source: f.Agent})
		return false
	})
}

func concern(f *pipeline.Finding) string {
	place := or(f.Path, f.Section)
	if f.Path != "" && f.StartLine > 0 {
		place = fmt.Sprintf("%s:%d", f.Path, f.StartLine)
	}
	return fmt.Sprintf("%s (%s, confidence %.2f)", f.Title, place, f.Confidence)
}
