package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// These are the confidences of findings. The code around a line can make a match on the line wrong.
// A pattern on a path, title or message has read the whole text.
const (
	lineConfidence  = 0.9
	wholeConfidence = 1
)

// maxNamedPath bounds a path in a note, in characters.
const maxNamedPath = 50

// agent is one agent's share of a scan.
type agent struct {
	scan *Scan
	id   string
}

var _ dispatch.Agent = (*agent)(nil)

// Review returns the agent's findings in the task's scope, in the order of the
// change: files, then title, description and commits, then the change as a whole.
// A finding outside files belongs to every scope.
func (a *agent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	all, err := a.scan.results(ctx)
	if err != nil {
		return dispatch.Answer{}, err
	}
	out := pipeline.AgentOutput{Agent: a.id}
	scope := task.Entry.Scope
	for i := range all {
		f := &all[i]
		inScope := f.path == "" || scope.Has(f.path)
		if f.rule.Agent == a.id && (inScope || f.rule.Match == nil) && (f.from == "" || !scope.Has(f.from)) {
			found := f.finding()
			if !inScope { // an expression is about the whole change, wherever it is shown
				found.Path, found.Section, found.StartLine, found.EndLine = "", pipeline.SectionChange, 0, 0
			}
			found.Severity = f.rule.SeverityOf(a.scan.domainsOf(f))
			switch {
			case f.unlisted > 0: // in any domain
				found.Severity = f.rule.Highest()
			case f.isHouseStyle():
				found.Severity = pipeline.SeverityInfo
			}
			out.Findings = append(out.Findings, found)
		}
	}
	answer := dispatch.Answer{Output: out, WithoutRule: a.withoutRule(&scope)}
	answer.Unlisted, answer.Note = a.beyond(&scope)
	return answer, nil
}

// withoutRule counts the files in the scope whose text no rule of the agent reads. Files without new
// lines, and those that the coverage lists because they are not read like others, don't count.
func (a *agent) withoutRule(scope *pipeline.AgentScope) (n int) {
	if a.scan.engine.looksAtChange(a.id) {
		return 0
	}
	for i := range a.scan.facts.Files {
		f := &a.scan.facts.Files[i]
		apart := f.Status == pipeline.FileRemoved || f.Binary || f.GeneratedByPath || f.Vendored || f.ByBase
		if scope.Has(f.Path) && !apart && !a.scan.lookers[i][a.id] {
			n++
		}
	}
	return n
}

// beyond counts the matches in the scope that limits of the agent's rules leave out, and names the
// rules and files.
func (a *agent) beyond(scope *pipeline.AgentScope) (n int, note string) {
	const maxNamed = 3
	var named []string
	unnamed := 0
	for _, b := range a.scan.beyond {
		if b.rule.Agent != a.id || !scope.Has(b.path) {
			continue
		}
		n += b.n
		if len(named) == maxNamed {
			unnamed += b.n
			continue
		}
		named = append(named, fmt.Sprintf("%d more of %s in %s", b.n, b.rule.ID, plaintext.Cut(b.path, maxNamedPath)))
	}
	if n == 0 {
		return 0, ""
	}
	if unnamed > 0 {
		named = append(named, fmt.Sprintf("%d others", unnamed))
	}
	return n, "max_per_file leaves out " + strings.Join(named, ", ")
}

// domainsOf lists the domains of a match's file, if the severity of its rule depends on
// them.
func (s *Scan) domainsOf(f *match) (domains []string) {
	if len(f.rule.SeverityIn) == 0 || f.path == "" {
		return nil
	}
	for i := range s.classification.Domains {
		d := &s.classification.Domains[i]
		if _, found := slices.BinarySearchFunc(d.Files, f.path, func(f pipeline.DomainFile, path string) int { return strings.Compare(f.Path, path) }); found {
			domains = append(domains, d.ID)
		}
	}
	return domains
}

// finding turns a match into a finding, but for its severity.
func (f *match) finding() pipeline.Finding {
	r := f.rule
	out := pipeline.Finding{
		RuleID:         r.ID,
		Title:          r.Name,
		Message:        r.Description,
		Category:       r.Category,
		Recommendation: r.Recommendation,
		Confidence:     wholeConfidence,
		Path:           f.path,
		Section:        f.section,
		StartLine:      f.line,
		EndLine:        f.line,
		Action:         pipeline.ActionNone,
		AutofixClass:   pipeline.AutofixPresent,
		FindingType:    pipeline.FindingError,
	}
	if f.isHouseStyle() {
		out.Message += f.houseStyleNote()
	}
	switch {
	case f.unlisted > 0:
		out.Message = fmt.Sprintf("The change has more than %d such places. This finding stands for %d that no list shows. Mend the listed ones first, or split the change.", maxMatchesPerRule, f.unlisted)
	case f.more == 1:
		out.Message += " There is 1 more like it, which is not listed."
	case f.more > 1:
		out.Message += fmt.Sprintf(" There are %d more like it, which are not listed.", f.more)
	}
	if r.Match == nil {
		if f.evalErr != nil {
			out.Message = unevaluated(f.evalErr)
		}
		if quote := window("", strings.TrimSpace(bounded(f.text, maxLine)), ""); quote != "" {
			out.Evidence = pipeline.List[string]{quote}
		}
		return out
	}
	if quote := r.evidence(cmp.Or(f.code, f.text)); quote != "" {
		out.Evidence = pipeline.List[string]{quote}
	}
	if f.path != "" && (r.on == config.OnAdded || r.on == config.OnRemoved) {
		out.Confidence = lineConfidence
	}
	if r.on == config.OnAdded && f.code == "" && len(f.text) <= maxFix {
		if fix, ok := r.fixed(bounded(f.text, maxFix)); ok {
			out.SuggestedFix = fix
			out.AutofixClass = pipeline.AutofixAuto
			out.Action = pipeline.ActionChange
		}
	}
	return out
}
