package agentoutput

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// agentsFields are the fields that agents fill in, and filledIn those that reviewgate fills in. The
// latter are known, so that findings of a report can be input again, but agents can't set them.
var (
	agentsFields = []string{
		"title", "severity", "message", "confidence", "path", "section", "rule_id", "category", "start_line", "end_line",
		"why_it_matters", "evidence", "recommendation", "action", "suggested_fix", "autofix_class", "auto_claim", "citation",
		"finding_type", "blocking",
	}
	filledIn = []string{
		"id", "also", "fingerprints", "surroundings", "original_path", "agent", "model", "reviewers", "found_by", "opinions", "flagged", "cited", "reasons", "gate_severity", "state", "perspectives", "final",
	}
	knownFields = append(append([]string{}, agentsFields...), filledIn...)
)

// read reads one finding, or drops it.
func (fs *findings) read(n *jsontree.Node) {
	f := jsontree.FieldsOf(n, "a finding")
	if n.Kind != jsontree.Object {
		fs.dropped.add("", "", f.Wrong[0])
		return
	}
	f.Most = 1
	x := pipeline.Finding{
		Title: f.Needed("title"), Message: f.Needed("message"), Confidence: f.Share("confidence"),
		Path: f.Text("path"), Section: f.Text("section"), StartLine: f.Count("start_line", maxLine), EndLine: f.Count("end_line", maxLine),
		RuleID: f.Text("rule_id"), Category: f.Text("category"), WhyItMatters: f.Text("why_it_matters"),
		Evidence: f.Texts("evidence"), Recommendation: f.Text("recommendation"), SuggestedFix: f.Text("suggested_fix"),
		Action:       oneOf(f, "action", pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep, pipeline.ActionChange, pipeline.ActionNone),
		AutofixClass: oneOf(f, "autofix_class", pipeline.AutofixAuto, pipeline.AutofixPresent),
		AutoClaim:    f.OneOf("auto_claim", "pattern", "incorrect_fact", "missing_control", "incomplete_description"),
		Citation:     f.Text("citation"),
		FindingType:  oneOf(f, "finding_type", pipeline.FindingError, pipeline.FindingOmission),
		Blocking:     f.Bool("blocking"),
	}
	severityText := f.Needed("severity")
	if len(f.Wrong) == 0 {
		checkPlace(f, n, &x)
	}
	fs.unknown.add(f.Unknown(knownFields...))
	if len(f.Wrong) > 0 {
		fs.dropped.add(severityText, x.Title, f.Wrong[0])
		return
	}
	severity, known := pipeline.ParseSeverity(severityText)
	if x.Severity = severity; !known {
		x.Severity = pipeline.Severity(severityText)
		fs.unmapped[len(fs.list)] = n.Get("severity").Place()
	}
	fs.list, fs.places = append(fs.list, x), append(fs.places, n.Place())
}

func oneOf[T ~string](f *jsontree.Fields, key string, set ...T) T {
	words := make([]string, len(set))
	for i, s := range set {
		words[i] = string(s)
	}
	return T(f.OneOf(key, words...))
}

// checkPlace checks that a finding has a path or a section, and that its lines are in order.
func checkPlace(f *jsontree.Fields, n *jsontree.Node, x *pipeline.Finding) {
	if strings.TrimSpace(x.Path) == "" && strings.TrimSpace(x.Section) == "" {
		f.Wrong = append(f.Wrong, *n.Error("the finding has no place", `add "path" or "section"`))
	}
	if x.EndLine != 0 && x.EndLine < x.StartLine {
		f.Refuse("end_line", fmt.Sprintf("end_line %d comes before start_line %d", x.EndLine, x.StartLine), "leave it out, or write the last of the lines")
	}
}
