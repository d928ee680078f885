package model

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// What a finding shows of a model's texts, in characters.
const (
	maxTitle    = 200
	maxMessage  = 2000
	maxReason   = 1000
	maxFix      = 4000 // of a longer one nothing
	maxQuote    = 1000
	maxQuotes   = 5
	maxCitation = 300
	maxNumber   = 1_000_000_000
)

// claim is a finding as a model makes it, before anything of it is proved.
type claim struct {
	pipeline.Finding
	quotes []string
}

// claimOf reads a finding: the fields that a model is asked for, and no others.
func (a *Agent) claimOf(n *jsontree.Node) (c claim, ok bool) {
	f := jsontree.FieldsOf(n, "a finding")
	severity, known := pipeline.ParseSeverity(f.Needed("severity"))
	c = claim{Finding: pipeline.Finding{
		Title: a.line(f.Needed("title"), maxTitle), Severity: severity,
		Message: a.text(f.Needed("message"), maxMessage), Confidence: f.Share("confidence"),
		Path: f.Text("path"), Section: f.Text("section"),
		StartLine: f.Count("start_line", maxNumber), EndLine: f.Count("end_line", maxNumber),
		RuleID: f.Text("rule_id"), Category: strings.ToLower(f.Text("category")),
		WhyItMatters: a.text(f.Text("why_it_matters"), maxReason), Recommendation: a.text(f.Text("recommendation"), maxReason),
		AutoClaim: oneOf(f.Text("auto_claim"), "pattern", "incorrect_fact", "missing_control", "incomplete_description"),
		Citation:  a.line(f.Text("citation"), maxCitation), Blocking: f.Bool("blocking"),
		Action:      oneOf(f.Text("action"), pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep, pipeline.ActionChange, pipeline.ActionNone),
		FindingType: oneOf(f.Text("finding_type"), pipeline.FindingError, pipeline.FindingOmission),
	}, quotes: f.Texts("evidence")}
	// A fix that can't be shown unchanged does not count.
	if fix := f.Text("suggested_fix"); strings.TrimSpace(fix) != "" && a.text(fix, maxFix) == fix {
		c.SuggestedFix = fix
	}
	if c.Category != config.CategoryOther && !config.Specific(c.Category) {
		c.Category = ""
	}
	if c.AutoClaim == "" {
		c.Citation = "" // which proves nothing else
	}
	if len(c.quotes) > maxQuotes {
		c.quotes = c.quotes[:maxQuotes]
	}
	return c, known && len(f.Wrong) == 0 && c.Title != "" && strings.TrimSpace(c.Message) != ""
}

// oneOf returns the value if it is in the set, and else the zero value. A finding counts
// even if such a detail of it is unusable.
func oneOf[T ~string](value string, set ...T) T {
	if i := slices.Index(set, T(value)); i >= 0 {
		return set[i]
	}
	return ""
}

// text is what a finding shows of a text: nothing hidden, no secret.
func (a *Agent) text(s string, most int) string { return plaintext.Cut(a.Redact(cleaned(s)), most) }

// line is text on one line.
func (a *Agent) line(s string, most int) string { return a.text(plaintext.Line(s), most) }
