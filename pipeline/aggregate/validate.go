package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// validate drops invalid findings and counts them for their agent. It fills in defaults and maps
// all spellings of severities to reviewgate's.
func (w *work) validate() {
	protected, err := glob.Compile(w.in.Config.Settings.Synthesis.ProtectedArtifacts)
	if err != nil {
		protected = &glob.Set{} // can't happen: the config was validated
	}
	w.keep(func(f *item) bool {
		// Agents can't set the fields that only reviewgate fills in.
		f.ID, f.State, f.GateSeverity, f.OriginalPath = "", "", "", ""
		f.Fingerprints, f.Surroundings, f.Reasons, f.Perspectives, f.FoundBy, f.Opinions, f.Flagged = nil, nil, nil, nil, nil, nil, nil
		f.Cited = ""
		f.Reviewers = pipeline.List[string]{f.Agent}
		known, valid := w.in.severity(f)
		if known && f.Severity == "" {
			return false // a dimension that passed needs no finding
		}
		if !known || !valid || !complete(&f.Finding) || !w.in.FilesUnknown && misplaced(w.in.files, &f.Finding) != "" {
			w.coverage[f.source()].Dropped++
			return false
		}
		withoutPlaceholder(f)
		return true
	})
	w.identify()
	w.keep(func(f *item) bool {
		if f.Severity != pipeline.SeverityCritical && !w.in.secrets[f.Agent] && !w.in.final(f) && isAbout(&f.Finding, protected) && deletes(&f.Finding) {
			f.suppress(&w.report, pipeline.StateSuppressed, "it recommends deleting a protected artifact")
			return false
		}
		return true
	})
}

// severity maps the agent's spelling to reviewgate's. On the scale pass/warn/fail, fail is major,
// warn is a warning, and pass leaves the severity empty.
func (in *input) severity(f *item) (known, valid bool) {
	if in.graded[f.Agent] {
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

// complete reports whether the required fields are set and all enums and numbers are in range. It
// fills in defaults.
func complete(f *pipeline.Finding) bool {
	if f.EndLine == 0 {
		f.EndLine = f.StartLine
	}
	if f.StartLine == 0 {
		f.EndLine = min(f.EndLine, 0) // without a start, an end is not a range: the finding is about the file
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

// Misplaced returns a function that says why a finding is not about the change, or "". Such a
// finding is dropped.
func Misplaced(facts *pipeline.PRFacts) func(*pipeline.Finding) string {
	files := filesByPath(facts)
	return func(f *pipeline.Finding) string { return misplaced(files, f) }
}

// misplaced says why a finding is not about the change: its file is not in the change, or its lines
// are not in the file, as far as the diff shows the file's length.
func misplaced(files map[string]*pipeline.File, f *pipeline.Finding) string {
	if f.Path == "" {
		return ""
	}
	file := files[f.Path]
	if file == nil {
		return "its path is not in the change"
	}
	if last := max(f.StartLine, f.EndLine); file.Status == pipeline.FileAdded && len(file.Hunks) > 0 && f.StartLine > 0 && last > file.Additions {
		return fmt.Sprintf("the file has no line %d", last)
	}
	return ""
}

// maxPathWords bounds the words of a finding that are checked for paths.
const maxPathWords = 200

// isAbout reports whether a finding is about one of the files. It checks the finding's path, or
// without a path, its section and the paths that its title and recommendation name.
func isAbout(f *pipeline.Finding, files *glob.Set) bool {
	if f.Path != "" {
		return files.Any(f.Path)
	}
	words := strings.Fields(f.Section + " " + f.Title + " " + f.Recommendation)
	return slices.ContainsFunc(words[:min(len(words), maxPathWords)], func(word string) bool {
		return files.Any(strings.TrimPrefix(strings.TrimLeft(strings.TrimRight(word, ".,;:!?\"'`()[]"), "\"'`(["), "./"))
	})
}

// deletes reports whether the finding recommends deleting the file itself, by action or verb, and
// not lines in it.
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
