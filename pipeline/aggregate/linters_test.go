package aggregate

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// asking is an input with a finding of a rule of gosec and ESLint on a line of c.go. The lines begin
// with +, - or a space.
func asking(s pipeline.Severity, line int, lines ...string) Input {
	f := ruled(line, s)
	in := commented(f)
	c := &in.Facts.Files[3]
	c.Language, c.Hunks[0] = "Go", pipeline.Hunk{NewStart: 1}
	h := &c.Hunks[0]
	for _, text := range lines {
		l := pipeline.Line{Op: pipeline.LineOp(text[:1]), Text: text[1:]}
		if l.Op != pipeline.LineRemoved {
			h.NewLines++
			l.New = h.NewLines
		}
		h.Lines = append(h.Lines, l)
	}
	in.Config.Rules = append(in.Config.Rules, config.Rule{ID: "r1", Enabled: true, Agent: "x", Severity: s, Category: "c", Linters: map[string][]string{"gosec": {"G204"}}})
	return in
}

// What the base asked a linter to ignore is suppressed. A change that adds such a comment takes
// nothing out of the gate, and what may block or is about security always stays.
func TestLintersAsked(t *testing.T) {
	const (
		suppressed = ""
		added      = "which counts only in code that was there before the change"
		blocks     = "which does not count for what can block or is about security"
		silent     = "-"
	)
	const warning, major, critical = pipeline.SeverityWarning, pipeline.SeverityMajor, pipeline.SeverityCritical
	base := []string{" a()", "-x(1) //nolint:gosec", "+x(2) //nolint:gosec"}
	reindented := []string{" a()", "-x(1) //nolint:gosec", "+\tx(1) //nolint:gosec"}
	for name, tt := range map[string]struct {
		severity pipeline.Severity
		lines    []string
		change   func(in *Input)
		want     string // why it is not suppressed, suppressed, or silent
	}{
		"the line changes":                  {warning, base, nil, suppressed},
		"the comment stands above":          {warning, []string{" //nolint:gosec", "-x(1)", "+x(2)"}, nil, suppressed},
		"the line is indented":              {warning, reindented, nil, suppressed},
		"it can block":                      {major, reindented, nil, blocks},
		"the change adds it":                {warning, []string{" a()", "-x(1)", "+x(1) //nolint:gosec"}, nil, added},
		"the change adds it to what blocks": {major, []string{" a()", "-x(1)", "+x(1) //nolint:gosec"}, nil, added},
		"the change adds code below it":     {warning, []string{" //nolint:gosec", "+x(2)", " x(1)"}, nil, added},
		"the file is a copy":                {warning, base, func(in *Input) { in.Facts.Files[3].Status = pipeline.FileCopied }, added},
		"the line changes and can block":    {major, base, nil, blocks},
		"the rule can block in a domain": {warning, base, func(in *Input) {
			in.Config.Rules[len(in.Config.Rules)-1].SeverityIn = map[string]pipeline.Severity{"finance": major}
		}, blocks},
		"the gate blocks under another condition, too": {warning, base, func(in *Input) {
			in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "risk_score > 5 && new_warning > 0", Decision: pipeline.DecisionFail}}
		}, blocks},
		"the gate reads the confidence": {warning, base, func(in *Input) {
			in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "min_confidence < 1.0", Decision: pipeline.DecisionNeedsFixes}}
		}, blocks},
		"the gate only warns of warnings": {warning, base, func(in *Input) {
			in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "warning > 0", Decision: pipeline.DecisionPassWithWarnings}}
		}, suppressed},
		"the gate blocks for many warnings":   {warning, base, func(in *Input) { in.Config.Settings.Gate.Conditions = blocking50() }, blocks},
		"the category is about security":      {warning, base, func(in *Input) { in.Config.Rules[len(in.Config.Rules)-1].Category = "supply-chain" }, blocks},
		"it is critical":                      {critical, reindented, nil, "which does not count for a critical finding"},
		"it is critical, and all may":         {critical, reindented, func(in *Input) { in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreAll }, blocks},
		"the config allows no comments":       {warning, base, func(in *Input) { in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreNone }, "and the config allows no inline comments"},
		"the config allows those of the base": {warning, base, func(in *Input) { in.Config.Settings.Synthesis.InlineIgnore = config.IgnoreBaseOnly }, suppressed},
		"the rule is final":                   {warning, reindented, func(in *Input) { in.Config.Rules[len(in.Config.Rules)-1].Final = true }, "which does not count for what a final rule finds"},
		"the rule is not mapped to the linter": {warning, base, func(in *Input) {
			in.Config.Rules[len(in.Config.Rules)-1].Linters = map[string][]string{"errcheck": {"a"}}
		}, silent},
		"a model found it":            {warning, base, func(in *Input) { in.Results[0].Model = "m"; in.Results[0].Output.Findings[0].Model = "m" }, silent},
		"another agent found it":      {warning, base, func(in *Input) { in.Config.Rules[len(in.Config.Rules)-1].Agent = "y" }, silent},
		"the agent looks for secrets": {warning, base, func(in *Input) { in.Config.Agents[0].Kind = config.KindSecrets }, silent},
		"the line is not shown":       {warning, []string{" //nolint:gosec"}, nil, silent},
		"nothing asks":                {warning, []string{" a()", "-x(1)", "+x(2)"}, nil, silent},
	} {
		in := asking(tt.severity, 2, tt.lines...)
		if tt.change != nil {
			tt.change(&in)
		}
		r := Aggregate(in)
		if tt.want == suppressed {
			if len(r.Suppressed) != 1 || r.Suppressed[0].Finding.State != pipeline.StateSuppressed || !strings.HasPrefix(r.Suppressed[0].Reason, "before the change, the code asked golangci-lint to ignore this on line ") {
				t.Errorf("%s: not suppressed: %+v", name, r.Findings)
			}
			continue
		}
		if len(r.Findings) != 1 || len(r.Suppressed) != 0 || r.Findings[0].Severity != tt.severity {
			t.Errorf("%s: findings %+v, suppressed %+v", name, r.Findings, r.Suppressed)
			continue
		}
		reason, ok := r.Findings[0].Reason(pipeline.ReasonNotIgnored)
		if ok == (tt.want == silent) || ok && !(strings.HasPrefix(reason.Text, "the code asks golangci-lint to ignore this on line ") && strings.HasSuffix(reason.Text, ", "+tt.want)) {
			t.Errorf("%s: the reason is %q, want %q", name, reason.Text, tt.want)
		}
	}
}

// blocking50 are conditions under which 50 warnings block.
func blocking50() []policies.GateCondition {
	return []policies.GateCondition{{When: "warning >= 50", Decision: pipeline.DecisionFail}}
}
