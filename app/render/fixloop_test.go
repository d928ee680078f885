package render

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

func attemptView() View {
	v := findingsView()
	v.FixLoop = fixloop.State{
		Status: fixloop.Fixing, Attempt: 2, Max: 3, Failed: []string{prevSHA, headSHA},
		History: []fixloop.Row{
			{HeadSHA: baseSHA, Spec: pipeline.VerdictUnknown, Decision: pipeline.DecisionNeedsFixes, Note: fixloop.NoteIncomplete},
			{Attempt: 1, HeadSHA: prevSHA, Spec: pipeline.VerdictFail, Decision: pipeline.DecisionFail},
			{Attempt: 2, HeadSHA: headSHA, Spec: pipeline.VerdictPass, Quality: pipeline.VerdictFail, Decision: pipeline.DecisionFail},
		},
	}
	return v
}

// uncountedView is a review of a head that opens no attempt.
func uncountedView() View {
	v := incompleteView()
	v.FixLoop = attemptView().FixLoop
	v.FixLoop.History = append(v.FixLoop.History, fixloop.Row{HeadSHA: headSHA, Decision: pipeline.DecisionNeedsFixes, Note: fixloop.NoteIncomplete})
	return v
}

func escalatedView() View {
	v := findingsView()
	v.FixLoop = fixloop.State{
		Status: fixloop.Escalated, Attempt: 1, Max: 1, Failed: []string{prevSHA, headSHA}, Since: headSHA, Cause: fixloop.CauseAttempts, JustEscalated: true,
		History: []fixloop.Row{
			{Attempt: 1, HeadSHA: prevSHA, Decision: pipeline.DecisionFail},
			{HeadSHA: headSHA, Decision: pipeline.DecisionFail, Note: fixloop.NoteEscalated},
		},
	}
	return v
}

// escalatedBeforeView is a review of a head after the escalated one. Some of its findings
// are new.
func escalatedBeforeView() View {
	v := findingsView()
	v.Review.Report.Changes.PreviousReport = prevSHA
	for i := range v.Review.Report.Findings {
		f := &v.Review.Report.Findings[i]
		f.State = pipeline.StateOpen
		if f.Severity == pipeline.SeverityInfo {
			f.State = pipeline.StateNew
		}
	}
	v.FixLoop = fixloop.State{
		Status: fixloop.Escalated, Attempt: 2, Max: 2, Failed: []string{"1111111111", "2222222222", prevSHA}, Since: prevSHA, Cause: fixloop.CauseTurns, Turns: 12,
		History: []fixloop.Row{
			{Attempt: 1, HeadSHA: "1111111111", Decision: pipeline.DecisionFail, Note: fixloop.NoteResumed},
			{Attempt: 2, HeadSHA: "2222222222", Decision: pipeline.DecisionFail},
			{HeadSHA: prevSHA, Decision: pipeline.DecisionFail, Note: fixloop.NoteEscalated},
			{HeadSHA: headSHA, Decision: pipeline.DecisionFail, Note: fixloop.NoteEscalated},
		}, Earlier: 3,
	}
	return v
}

// The comment of an escalated pull request hides findings that are neither new nor
// critical, and counts them. The check shows all findings.
func TestEscalatedCommentHidesOldFindings(t *testing.T) {
	v := escalatedBeforeView()
	body, check := Comment(v).Body, Check(v)
	for i := range v.Review.Report.Findings {
		f := &v.Review.Report.Findings[i]
		shown := strings.Contains(body, "**"+f.Title) || strings.Contains(body, "· "+f.Title)
		if want := f.State == pipeline.StateNew || f.Severity == pipeline.SeverityCritical; shown != want {
			t.Errorf("%s, %s: shown in the comment: %t", f.Severity, f.Title, shown)
		}
		if !strings.Contains(check.Text, f.Title) {
			t.Errorf("%s is not in the check", f.Title)
		}
	}
	whole := v
	whole.FixLoop = fixloop.State{}
	if Conclusion(v) != Conclusion(whole) {
		t.Error("hiding findings changes the conclusion")
	}
	if !strings.HasPrefix(check.Title, "Escalated after 12 commits in fix attempt 2") {
		t.Errorf("title %q", check.Title)
	}
	if title := Check(escalatedView()).Title; !strings.HasPrefix(title, "Escalated after 1 fix attempt:") {
		t.Errorf("title %q", title)
	}
}

// A long fix history leaves room for the findings.
func TestFixLoopIsBounded(t *testing.T) {
	v := attemptView()
	plain := len(Comment(v).Body)
	for i := range fixloop.MaxHistory {
		v.FixLoop.History = append(v.FixLoop.History, fixloop.Row{Attempt: 1, HeadSHA: fmt.Sprintf("%040d", i), Decision: pipeline.DecisionFail, Note: fixloop.NoteNoModels})
	}
	if n := len(Comment(v).Body) - plain; n > roomLoop+500 {
		t.Errorf("the history takes %d bytes", n)
	}
	many := overflowView(4000)
	many.FixLoop = v.FixLoop
	if n := len(Comment(many).Body); n > maxBody {
		t.Errorf("the comment has %d bytes", n)
	}
}

// hostileLoop draws a fix loop with hostile texts.
func hostileLoop() *rapid.Generator[fixloop.State] {
	return rapid.Custom(func(t *rapid.T) fixloop.State {
		text := func(what string) string { return hostileText().Draw(t, what) }
		return fixloop.State{
			Status:  rapid.SampledFrom([]fixloop.Status{fixloop.Pending, fixloop.Fixing, fixloop.Escalated, fixloop.Complete, fixloop.Status(text("status"))}).Draw(t, "known status"),
			Attempt: rapid.IntRange(-1, 6).Draw(t, "attempt"), Max: 2, Since: text("since"), Cause: fixloop.Cause(text("cause")),
			History: []fixloop.Row{{
				Attempt: 1, HeadSHA: text("head"), Spec: pipeline.Verdict(text("spec")), Quality: pipeline.Verdict(text("quality")),
				Decision: pipeline.Decision(text("decision")), Note: fixloop.Note(text("note")),
			}},
		}
	})
}
