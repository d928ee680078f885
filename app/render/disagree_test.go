package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

const (
	blocksWords = "Your call: it blocks the merge until it is settled."
	passesWords = "Your call: it does not block."
)

// disagreement returns a finding with two sides.
func disagreement(s pipeline.Severity) pipeline.Finding {
	return pipeline.Finding{
		Title: "Trade-off: the cache", Severity: s, Path: "api/orders.go", StartLine: 76, Agent: "coherence", ID: "abcdabcd00000000",
		Message: "Reviewers disagree.", WhyItMatters: "They want opposite things.", Recommendation: "A person decides.",
		Perspectives: pipeline.List[pipeline.Perspective]{
			{Agent: "coherence", Action: pipeline.ActionKeep, Severity: pipeline.SeverityInfo, Message: "The other stores have one."},
			{Agent: "scope-guardian", Model: "claude-opus", Action: pipeline.ActionRemove, Severity: s, Message: "One caller.", Recommendation: "Drop it."},
		},
	}
}

// A disagreement appears once, among the blocking findings or in its own section. It says
// what it means for the merge.
func TestDisagreementAppearsOnce(t *testing.T) {
	plain := findingsView().Review.Report.Findings
	major, warning := plain[2], plain[3]
	tests := map[string]struct {
		severity  pipeline.Severity
		beside    pipeline.Finding
		decision  pipeline.Decision
		condition string
		apart     bool
		bearing   string
	}{
		"it blocks":                     {pipeline.SeverityMajor, warning, pipeline.DecisionNeedsFixes, "major > 0", false, blocksWords},
		"a major one that passes":       {pipeline.SeverityMajor, warning, pipeline.DecisionPass, "no condition held", false, passesWords},
		"it passes":                     {pipeline.SeverityWarning, warning, pipeline.DecisionPassWithWarnings, "warning > 0", true, passesWords},
		"something else blocks":         {pipeline.SeverityWarning, major, pipeline.DecisionNeedsFixes, "major > 0", true, passesWords},
		"the repository's condition":    {pipeline.SeverityWarning, warning, pipeline.DecisionNeedsFixes, "warning > 1", false, blocksWords},
		"a condition about others":      {pipeline.SeverityInfo, warning, pipeline.DecisionNeedsFixes, "warning > 1", true, passesWords},
		"an info beside a warning":      {pipeline.SeverityInfo, warning, pipeline.DecisionPassWithWarnings, "warning > 0", true, passesWords},
		"something waits for a person":  {pipeline.SeverityWarning, warning, pipeline.DecisionNeedsFixes, "a person must decide", true, passesWords},
		"a critical one by the default": {pipeline.SeverityCritical, warning, pipeline.DecisionFail, "critical > 0", false, blocksWords},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			setFindings(&v, tt.decision, tt.condition, disagreement(tt.severity), tt.beside)
			check, _, _ := strings.Cut(Check(v).Text, machineStart)
			for format, text := range map[string]string{
				"comment": Comment(v).Body, "check": check, "text": Text(v, TextOptions{Width: 1000}),
			} {
				for _, words := range []string{
					"Trade-off: the cache", "coherence would keep it (info): The other stores have one.",
					"scope-guardian (claude-opus) would remove it (" + string(tt.severity) + "): One caller. Drop it.", "- " + tt.bearing + "\n",
				} {
					if n := strings.Count(strings.ReplaceAll(text, "**", ""), words); n != 1 {
						t.Errorf("%s has %d times %q:\n%s", format, n, words, text)
					}
				}
				if strings.Contains(text, "Reviewers disagree.") || strings.Contains(text, "A person decides.") {
					t.Errorf("%s shows more than the sides:\n%s", format, text)
				}
				if apart := strings.Contains(text, "Reviewers disagree"); apart != tt.apart {
					t.Errorf("%s shows it in a separate section: %v:\n%s", format, apart, text)
				}
			}
		})
	}
}

// The next step is to settle disagreements and to fix other findings.
func TestNextWithDisagreements(t *testing.T) {
	major := findingsView().Review.Report.Findings[2]
	for want, fs := range map[string][]pipeline.Finding{
		"**Next**: settle it and push.":             {disagreement(pipeline.SeverityMajor)},
		"**Next**: fix or settle 1 and 2 and push.": {disagreement(pipeline.SeverityMajor), major},
		"**Next**: fix it and push.":                {major, disagreement(pipeline.SeverityWarning)},
	} {
		v := cleanView()
		setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs...)
		if c := Comment(v).Body; !strings.Contains(c, want) {
			t.Errorf("the comment lacks %q:\n%s", want, c)
		}
	}
}

// Annotations and SARIF show both sides, too.
func TestOtherFormatsShowBothSides(t *testing.T) {
	v := disagreeView()
	results := newSARIF(v, maxSARIFResults).Runs[0].Results
	for i, a := range Check(v).Annotations {
		for _, p := range v.Review.Report.Findings[i].Perspectives {
			if !strings.Contains(a.Message, p.Message) || !strings.Contains(results[i].Message.Text, p.Message) {
				t.Errorf("%s's side of %q is missing", p.Agent, a.Title)
			}
		}
	}
}

// A disagreement of many shows the first sides and counts the others.
func TestManySides(t *testing.T) {
	v := cleanView()
	f := disagreement(pipeline.SeverityWarning)
	for range 7 {
		f.Perspectives = append(f.Perspectives, pipeline.Perspective{Agent: "another", Action: pipeline.ActionAdd, Message: "More of it"})
	}
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", f)
	if c := Comment(v).Body; strings.Count(c, "another would add to it: More of it.") != 4 || !strings.Contains(c, "  - …and 3 more\n") {
		t.Error(c)
	}
}
