package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linters"
	"github.com/reviewgate/reviewgate/policies"
)

// answer suppresses a finding of a rule that the code asked a linter to be silent about before the
// change. If it asks only since the change, or may not decide about this finding, the finding stays
// and its reasons say why. So nobody takes a finding out of the gate by a comment of their own.
func (s *suppressor) answer(f *item) bool {
	r := s.in.Rules[f.RuleID]
	if r == nil || len(r.Linters) == 0 || f.Agent != r.Agent || f.Model != "" || s.in.secrets[f.Agent] || f.StartLine == 0 {
		return false
	}
	asked, ok := s.askedLinter(f, r)
	if !ok {
		return false
	}
	if why := s.notAnswered(f, r, asked); why != "" {
		f.addReasonOf(pipeline.ReasonNotIgnored, fmt.Sprintf("the code asks %s to ignore this on line %d, %s", asked.By, asked.Line, why))
		return false
	}
	f.addReason(fmt.Sprintf("answered on line %d, before the change", asked.Line))
	f.suppress(s.report, pipeline.StateSuppressed, fmt.Sprintf("before the change, the code asked %s to ignore this on line %d", asked.By, asked.Line))
	return true
}

// askedLinter returns what the code asks a linter of the finding's rule.
func (s *suppressor) askedLinter(f *item, r *config.Rule) (linters.Suppression, bool) {
	l, shown := s.in.lines.of(f.Path)[f.StartLine]
	if !shown {
		return linters.Suppression{}, false
	}
	h := s.linters[l.hunk]
	if h == nil {
		h = linters.Read(s.in.files[f.Path].Language, l.hunk)
		s.linters[l.hunk] = h
	}
	return h.Of(l.at, r.Linters)
}

// notAnswered is why the finding stays although the code asks a linter to ignore it, or "".
func (s *suppressor) notAnswered(f *item, r *config.Rule, asked linters.Suppression) string {
	mode := s.in.Config.Settings.Synthesis.InlineIgnore
	file := s.in.files[f.Path]
	switch {
	case s.in.final(f):
		return "which does not count for what a final rule finds"
	case mode == config.IgnoreNone:
		return "and the config allows no inline comments"
	case f.Severity == pipeline.SeverityCritical && mode != config.IgnoreAll:
		return "which does not count for a critical finding"
	case !asked.Old || file.Status != pipeline.FileModified && file.Status != pipeline.FileRenamed:
		return "which counts only in code that was there before the change"
	case s.mayBlock(f, r):
		return "which does not count for what can block or is about security"
	}
	return ""
}

// mayBlock reports whether the finding is about security, or could block by its severity, by the
// highest one of its rule, or by a condition that reads how many such findings there are.
func (s *suppressor) mayBlock(f *item, r *config.Rule) bool {
	if config.IsSecurity(f.Agent, f.Category) || r.Highest().Rank() >= pipeline.SeverityMajor.Rank() || f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
		return true
	}
	counts := []string{string(f.Severity), "findings", "min_confidence"}
	return slices.ContainsFunc(s.in.Config.Settings.Gate.Conditions, func(c policies.GateCondition) bool {
		return c.Decision.Blocks() && slices.ContainsFunc(counts, func(name string) bool { return strings.Contains(c.When, name) })
	})
}
