package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/learning"
)

func debtState(v View, i int) (IssueText, IssueState) {
	f := &v.Review.Report.Findings[i]
	text := IssuesOf(v).Debt(f)
	return text, IssueState{Kind: IssueDebt, Key: f.ID, About: text.About, Seen: 1, Pulls: []int{12}}
}

func gapState(v View) (IssueText, IssueState) {
	text := IssuesOf(v).Gap(&v.Review.Report.GapLog[0])
	return text, IssueState{Kind: IssueGap, Key: "0123", About: text.About, Seen: 1, Pulls: []int{12}}
}

// probationState is about a rule that reviewgate put in evaluation, or about an agent that it did not.
func probationState(agent bool) (IssueText, IssueState) {
	p := ports.Probation{
		Kind: ports.ProbationRule, ID: "br-errors-03", Judged: 25, People: 4, Precision: 0.2, High: 0.3908,
		Samples: []ports.ProbationSample{
			{Number: 31, Path: "store/a.go", Line: 7, Outcome: learning.OutcomeDismissed}, {Number: 30, Outcome: learning.OutcomeAccepted},
			{Number: 29, Path: "store/b.go", Outcome: learning.OutcomeFixed},
		},
	}
	file, form := config.FileRules, config.FormNone
	if agent {
		p.Kind, p.ID, file, form = ports.ProbationAgent, "docs-reviewer", config.FileAgents, config.FormList
	}
	patch := config.AppendPatch(file, form, map[string]any{"id": p.ID, "mode": config.ModeEvaluate})
	text := ProbationText(&p, 0.5, patch, !agent)
	return text, IssueState{Kind: IssueProbation, Key: "0123", About: text.About, Seen: 1}
}

func hostileProbation() (IssueText, IssueState) {
	p := ports.Probation{Kind: ports.ProbationAgent, ID: nasty, Judged: 20, People: 3, Samples: []ports.ProbationSample{{Number: 1, Path: nasty, Line: 3, Outcome: "<b>"}}}
	text := ProbationText(&p, 0.333, config.AppendPatch(nasty, config.FormItems, map[string]any{"id": nasty}), false)
	return text, IssueState{Kind: IssueProbation, Key: "0123", About: text.About, Seen: 1}
}

func TestIssues(t *testing.T) {
	whole := gapsView()
	whole.Review.Report.GapLog[0].Suggestion.Operations[0].Path = ""
	again := func(s IssueState) IssueState {
		s.Seen, s.Pulls = 1203, []int{12, 15, 1234}
		return s
	}
	gone := func(s IssueState) IssueState {
		s.ResolvedIn = 16
		return s
	}
	var b strings.Builder
	show := func(what string, text IssueText, s IssueState) {
		fmt.Fprintf(&b, "=== %s: %s\n%s\n\n", what, text.Title, Issue(s).Body)
	}
	debt, first := debtState(findingsView(), 3)
	show("debt", debt, first)
	show("debt seen again", debt, again(first))
	show("debt that is gone", debt, gone(again(first)))
	gap, firstGap := gapState(gapsView())
	show("gap", gap, firstGap)
	show("gap that is covered", gap, gone(firstGap))
	wholeGap, wholeState := gapState(whole)
	show("gap without a file", wholeGap, wholeState)
	hostile, hostileState := debtState(hostileView(), 0)
	show("hostile", hostile, hostileState)
	for name, agent := range []bool{false, true} {
		probation, state := probationState(agent)
		show([]string{"probation of a rule", "probation of an agent"}[name], probation, state)
		state.ResolvedIn = ports.ResolvedOtherwise
		show("probation that is settled", probation, state)
	}
	hostile, hostileState = hostileProbation()
	show("hostile probation", hostile, hostileState)
	golden(t, "issues.md", b.String())
}

func TestIssueDigests(t *testing.T) {
	_, s := debtState(findingsView(), 3)
	digest := Issue(s).Digest
	if Issue(s).Digest != digest {
		t.Error("one issue has two digests")
	}
	s.Seen++
	if Issue(s).Digest == digest {
		t.Error("the digest does not change with the count")
	}
}

func TestKeepsTextBelowIssues(t *testing.T) {
	_, s := debtState(findingsView(), 3)
	old := Issue(s).Body
	s.Seen++
	body := Issue(s).Body
	for below, want := range map[string]string{
		"": body, "\n \n": body, "\n\n- [ ] mine\n": body + "\n\n- [ ] mine\n",
		strings.Repeat("x", maxBody): body,
	} {
		if got := WithTextBelow(body, old+below); got != want {
			t.Errorf("below %.20q: %.100q", below, got)
		}
	}
}

// pulls matches our own references to pull requests.
var pulls = regexp.MustCompile(`#(12|15)\b`)

// requireInertIssue fails the test if an issue has active text that is not our own
// layout.
func requireInertIssue(t interface{ Fatalf(string, ...any) }, v View) {
	var all []IssueText
	is := IssuesOf(v)
	for i := range v.Review.Report.Findings {
		all = append(all, is.Debt(&v.Review.Report.Findings[i]))
	}
	for i := range v.Review.Report.GapLog {
		all = append(all, is.Gap(&v.Review.Report.GapLog[i]))
	}
	for _, text := range all {
		if bad := hiddenIn(text.Title, false); bad != "" || len(text.Title) > 255 || mention.MatchString(text.Title) || strings.Contains(text.Title, "\n") {
			t.Fatalf("title %q: %s", text.Title, bad)
		}
		if bad := inert(text.About); bad != "" {
			t.Fatalf("%s\n%s", bad, text.About)
		}
		if bad := live(rendered(text.About)); bad != "" {
			t.Fatalf("live: %s\n%s", bad, text.About)
		}
		s := IssueState{Kind: IssueDebt, Key: "0123", About: text.About, Seen: 2, Pulls: []int{12, 15}}
		body := Issue(s).Body
		if len(body) > maxBody || strings.Count(body, markerStart) != 2 || !strings.HasPrefix(body, IssueMarker(IssueDebt, "0123")+"\n") || !strings.HasSuffix(body, "\n"+issueEnd) {
			t.Fatalf("%d bytes, markers %d:\n%s", len(body), strings.Count(body, markerStart), body)
		}
		own := strings.TrimSuffix(strings.TrimPrefix(body, IssueMarker(IssueDebt, "0123")+"\n"), "\n"+issueEnd)
		if bad := inert(pulls.ReplaceAllString(own, "·")); bad != "" {
			t.Fatalf("%s\n%s", bad, own)
		}
	}
}

func TestHostileTextInIssuesIsInert(t *testing.T) {
	for _, a := range attacks {
		requireInertIssue(t, attackedView(a.text))
	}
	sample.Check(t, func(t *rapid.T) { requireInertIssue(t, hostileViews().Draw(t, "view")) })
}

func TestIssueWithAnEndlessPatchFits(t *testing.T) {
	v := gapsView()
	g := &v.Review.Report.GapLog[0]
	for range 5000 {
		g.Suggestion.Operations = append(g.Suggestion.Operations, pipeline.PatchOperation{Op: "add", Path: "/-", Value: "a long value"})
	}
	if _, s := gapState(v); len(Issue(s).Body) > maxBody {
		t.Errorf("the body has %d bytes", len(Issue(s).Body))
	}
}
