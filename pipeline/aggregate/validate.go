package aggregate

import (
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
	w.keep(func(f *item) bool {
		// What only reviewgate fills in is no agent's to claim.
		f.ID, f.State, f.GateSeverity, f.OriginalPath = "", "", "", ""
		f.Fingerprints, f.Reasons, f.Perspectives = nil, nil, nil
		f.Reviewers = pipeline.List[string]{f.Agent}
		known, valid := w.severity(f)
		if known && f.Severity == "" {
			return false // a dimension that passed is nothing to report
		}
		if !known || !valid || !complete(&f.Finding) || !w.inPlace(f) {
			w.coverage[f.source()].Dropped++
			return false
		}
		return true
	})
	w.identify()
	w.keep(func(f *item) bool {
		if f.Severity != pipeline.SeverityCritical && w.kind(f.Agent) != config.KindSecrets && protected.Any(f.Path) && deletes(&f.Finding) {
			w.setAside(f, pipeline.StateSuppressed, "it recommends deleting a protected artifact")
			return false
		}
		return true
	})
}

// severity maps the agent's spelling. On the scale pass/warn/fail a fail is
// major, a warn a warning, and a pass leaves the severity empty.
func (w *work) severity(f *item) (known, valid bool) {
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
	if f.StartLine == 0 {
		f.EndLine = min(f.EndLine, 0) // an end without a beginning is no range: it is about the file
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
func (w *work) inPlace(f *item) bool {
	if f.Path == "" || w.in.FilesUnknown {
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
