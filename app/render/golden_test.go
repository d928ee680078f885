package render

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it anew:\n%s", file, diff)
	}
}

// wholeComment returns a comment that has all sections.
func wholeComment(v View) string {
	v.Sections = []string{config.SectionCoverage, config.SectionGaps, config.SectionReport}
	return Comment(v).Body
}

// checkText returns the text of a check without the report in JSON.
func checkText(v View) string {
	text, _, _ := strings.Cut(Check(v).Text, "\n\n<details><summary><b>ReviewReport</b>")
	return text
}

// samples are the reviews with golden files in testdata.
var samples = []struct {
	name string
	view func() View
}{
	{"clean", cleanView},
	{"findings", findingsView},
	{"inline", inlineView},
	{"resolved", resolvedView},
	{"incomplete", incompleteView},
	{"broken-config", brokenConfigView},
	{"broken-organisation", brokenOrganisationView},
	{"broken-layers", brokenLayersView},
	{"broken-own-organisation", brokenOwnOrganisationView},
	{"unread-organisation", unreadOrganisationView},
	{"fork", forkView},
	{"gaps", gapsView},
	{"advisory", advisoryView},
	{"shared-head", sharedView},
	{"aside", asideView},
	{"custom-gate", customGateView},
	{"repeated", repeatedView},
	{"evaluation", evaluationView},
	{"proposed", proposedView},
	{"proposed-same", proposedSameView},
	{"proposed-large", proposedLargeView},
	{"proposed-backtested", backtestedView},
	{"proposed-backtested-organisation", backtestedOrganisationView},
	{"proposed-backtested-own", backtestedOwnView},
	{"proposed-backtested-same", backtestedSameView},
	{"proposed-tests", proposedTestsView},
	{"proposed-tests-pass", proposedTestsPassView},
	{"proposed-broken", proposedBrokenView},
	{"proposed-exceptions", proposedExceptionsView},
	{"proposed-uncovered", proposedUncoveredView},
	{"proposed-unknown", proposedUnknownView},
	{"disagree", disagreeView},
	{"reports", reportsView},
	{"models", modelsView},
	{"held", heldView},
	{"back", backView},
	{"memory", memoryView},
	{"overridden", overriddenView},
	{"overridden-incomplete", overriddenIncompleteView},
	{"rejected", rejectedView},
	{"accepted", acceptedView},
	{"attempt", attemptView},
	{"attempt-uncounted", uncountedView},
	{"escalated", escalatedView},
	{"escalated-before", escalatedBeforeView},
	{"hostile", hostileView},
	{"local", localView},
	{"session-blocker", sessionBlockerView},
	{"session-blocker-waiting", sessionBlockerWaitingView},
	{"session-concerns", sessionConcernsView},
	{"session-missing", sessionMissingView},
	{"session-flagged", sessionFlaggedView},
	{"session-approved", sessionApprovedView},
	{"session-waiting", sessionWaitingView},
	{"session-both", sessionBothView},
	{"session-failed", sessionFailedView},
	{"session-resumed", sessionResumedView},
	{"session-settled", sessionSettledView},
	{"session-overridden", sessionOverriddenView},
	{"session-rejected", sessionRejectedView},
	{"session-advisory", sessionAdvisoryView},
	{"session-escalated", sessionEscalatedView},
	{"session-incomplete", sessionIncompleteView},
	{"session-outdated", sessionOutdatedView},
	{"session-models", sessionModelsView},
	{"session-outside", sessionOutsideView},
	{"session-hostile", sessionHostileView},
}

func TestComments(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			golden(t, "comment/"+s.name+".md", Comment(s.view()).Body+"\n")
		})
	}
}

// The golden file of a comment that does not fit has its start and its end.
func TestCommentThatDoesNotFit(t *testing.T) {
	lines := strings.Split(Comment(overflowView(4000)).Body, "\n")
	excerpt := append(append(lines[:24:24], "", "[...]", ""), lines[len(lines)-32:]...)
	golden(t, "comment/overflow.md", strings.Join(excerpt, "\n")+"\n")
}

func TestChecks(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			v := s.view()
			out := Check(v)
			if s.name != "clean" { // the report in JSON is long
				out.Text = checkText(v)
			}
			golden(t, "check/"+s.name+".md", conclusionAndOutput(Conclusion(v), out))
		})
	}
}

func TestTexts(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			golden(t, "text/"+s.name+".txt", Text(s.view(), TextOptions{Width: 100}))
		})
	}
}

// A brief text leaves out what only explains the review.
func TestBriefTexts(t *testing.T) {
	for _, s := range samples {
		switch s.name {
		case "clean", "local", "findings", "gaps", "models", "incomplete", "aside", "overridden", "session-waiting", "proposed":
			t.Run(s.name, func(t *testing.T) {
				golden(t, "brief/"+s.name+".txt", Text(s.view(), TextOptions{Width: 100, Brief: true}))
			})
		}
	}
}

func TestLocalMarkdown(t *testing.T) { golden(t, "local.md", Markdown(localView())) }

func TestChecksWithoutVerdict(t *testing.T) {
	started := time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC)
	var b strings.Builder
	for _, c := range []struct {
		conclusion string
		output     ports.CheckOutput
	}{
		{"in progress", PendingCheck(Pending{HeadSHA: headSHA, StartedAt: started, Reason: "pushed"})},
		{"in progress", PendingCheck(Pending{HeadSHA: headSHA, StartedAt: started})},
		{"in progress", WaitingCheck(Waiting{HeadSHA: headSHA, Since: started, Before: 2})},
		{"in progress", WaitingCheck(Waiting{HeadSHA: headSHA, Since: started, Before: 1})},
		{"in progress", CallsCheck(Calls{HeadSHA: headSHA, Used: 612, Limit: 5000, Reset: started})},
		{ConclusionActionRequired, DraftSkipped()},
		{ConclusionFailure, CouldNotComplete("GitHub answered 502 for 30 minutes while the changed files were read", "Wait until githubstatus.com shows no trouble")},
		{ConclusionCancelled, Superseded(headSHA)},
		{ConclusionCancelled, Superseded("")},
		{ConclusionNeutral, SwitchedOff()},
	} {
		b.WriteString(conclusionAndOutput(c.conclusion, c.output) + "\n")
	}
	golden(t, "check/without-verdict.md", b.String())
}

// The golden file has every kind of notice, as in a comment.
func TestNotices(t *testing.T) {
	v := findingsView()
	at := time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC)
	findings := []Named{{"0f3a91c2d4e5f607", "Money is added in binary floating point"}, {"0f3b000000000000", "A | B"}}
	file := v.Review.Report.Findings[0].Path
	status := Status{
		At: at, Decision: pipeline.DecisionNeedsFixes, HeadSHA: headSHA, Asked: "new commits", Since: at.Add(-time.Minute), Attempts: 2,
		Decisions: []FindingDecision{{findings[0], false, "", "mira", "not ours"}, {findings[0], false, "false_positive", "mira", "not ours"}, {findings[0], false, "wont_fix", "mira", "old"}, {findings[0], false, "duplicate", "mira", "of 0f3b"}, {findings[1], true, "", "sam", ""}}, More: 3,
		ByHand: &pipeline.HandDecision{Action: pipeline.HandOverride, By: "mira", Reason: "hotfix", At: at}, Left: 7, Limit: 20,
	}
	var b strings.Builder
	seen := map[NoticeKind]bool{}
	for _, n := range []Notice{
		{Kind: NoticeText, Text: "as it was kept before there were kinds"},
		{Kind: NoticeNotCompleted, Text: "GitHub did not let reviewgate read the changed files for too long."},
		{Kind: NoticeUnknown, Text: "dimsiss"},
		{Kind: NoticeUsage, Command: commands.Dismiss, Wrong: string(commands.NoReason)},
		{Kind: NoticeUsage, Command: commands.Dismiss, Wrong: string(commands.NoFinding)},
		{Kind: NoticeUsage, Command: commands.Restore, Wrong: string(commands.BadFinding), Text: "a`b"},
		{Kind: NoticeUsage, Command: commands.Agent, Wrong: string(commands.NoAgent)},
		{Kind: NoticeUsage, Command: commands.Full, Wrong: string(commands.TooMuch), Text: "security-reviewer"},
		{Kind: NoticePermission, By: "sam", Command: commands.Review, Wrong: TakesAuthor},
		{Kind: NoticePermission, By: "sam", Command: commands.Agent, Wrong: TakesWrite},
		{Kind: NoticePermission, By: "sam", Command: commands.Override, Wrong: TakesMaintain},
		{Kind: NoticePermission, By: "sam", Command: commands.Dismiss, Wrong: TakesOwn},
		{Kind: NoticePermission, By: "sam", Command: commands.Dismiss, Wrong: TakesCritical},
		{Kind: NoticePermission, By: "sam", Command: commands.Dismiss, Wrong: TakesUnknownPusher},
		{Kind: NoticePermission, By: "sam", Command: commands.Dismiss, Wrong: TakesOther},
		{Kind: NoticePermission, By: "sam", Command: commands.Dismiss, Wrong: TakesFinal},
		{Kind: NoticePermission, By: "sam", Command: commands.Resume, Wrong: TakesWrite},
		{Kind: NoticePermission, By: "sam", Command: commands.Resume, Wrong: TakesOwn},
		{Kind: NoticePermission, By: "sam", Command: commands.Resume, Wrong: TakesOther},
		{Kind: NoticePermission, By: "sam", Command: commands.Resume, Wrong: TakesUnknownPusher},
		{Kind: NoticePermission, By: "sam", Command: commands.Remember, Wrong: TakesApprover},
		{Kind: NoticePermission, By: "sam", Command: commands.Remember, Wrong: TakesOtherApprover},
		{Kind: NoticePermission, By: "sam", Command: commands.Forget, Wrong: TakesOrganisation},
		{Kind: NoticeUsage, Command: commands.Remember, Wrong: string(commands.NoRecord)},
		{Kind: NoticeUsage, Command: commands.Forget, Wrong: string(commands.BadRecord), Text: "a`b"},
		{Kind: NoticeNoRecord, Text: "M-99"},
		{Kind: NoticeMemory},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Outcome: "nothing"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Outcome: "too many", PerDay: 20}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Outcome: "full"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "full"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "proposed", Left: 2}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "proposed", Left: 1}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "untried", Stopped: true, Of: 9, Days: 90}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "untried", Failed: 9, Of: 9, Days: 90}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "active", Service: "store", Reviews: 1, Of: 1, Days: 90}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "active", Organisation: true, Reviews: 1234, Of: 2000, Failed: 1, Stopped: true, Days: 90}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "active"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "known", State: "active"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "known", State: "quarantined"}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{
			Record: "M-12", Outcome: "hides", Reviews: 300, Of: 300, Days: 90, More: 2, Elsewhere: 1,
			Hidden: []HiddenFinding{{findings[0], "#104", "fixed"}, {findings[1], "#7", "accepted"}},
		}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "rule", Rule: "fin-float-money", Service: "store", People: 1, Left: 2}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{
			Record: "M-12", Outcome: "rule", Rule: "fin-float-money", Service: "store", People: 3,
			File: "review-settings.json", Patch: []string{`{`, `  "ignore": []`, `}`},
		}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: "rule", Rule: "a`b", People: 4, Whole: true, File: "review-rules.json", Patch: []string{"```", "<!-- -->"}}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: MemoryForgotten}},
		{Kind: NoticeMemory, Memory: &MemoryAnswer{Record: "M-12", Outcome: MemoryRevoked}},
		{Kind: NoticeRate, Command: commands.Review, Limit: 1},
		{Kind: NoticeRate, Command: commands.Explain, Limit: 20},
		{Kind: NoticeNoAgent, Text: "security", Names: []Named{{ID: "secrets"}, {ID: "security-reviewer"}}},
		{Kind: NoticeNoFinding, Text: "beef", Names: findings, More: 4},
		{Kind: NoticeNoFinding, Text: "beef"},
		{Kind: NoticeAllRead},
		{Kind: NoticeSeveral, Text: "0f3", Names: findings},
		{Kind: NoticeUndecided, Text: "0f3a"},
		{Kind: NoticeUndecided, Text: "0f3a", Names: findings},
		{Kind: NoticeNoReview},
		{Kind: NoticeHeadMoved, Command: commands.Override},
		{Kind: NoticeNotPaused},
		{Kind: NoticeResumed, By: "ann", Loop: true},
		{Kind: NoticeResumed, By: "ann", Escalation: pauseBy(1, "codex")},
		{Kind: NoticeResumed, By: "ann", Pause: pauseBy(0, "gemini")},
		{Kind: NoticeResumed, By: "ann", Loop: true, Escalation: pauseBy(1, "codex"), Pause: pauseBy(2, "codex", "gemini")},
		{Kind: NoticeResumed, By: "ann", Escalation: pauseBy(1, "codex", "gemini"), Pause: pauseBy(0, "a", "b", "c", "d", "e", "f")},
		{Kind: NoticeReviewRefused, Wrong: "approval"},
		{Kind: NoticeReviewRefused, Wrong: "rejection"},
		{Kind: NoticeReviewStuck, Text: "0123456", Wrong: "approval"},
		{Kind: NoticeReviewStuck, Text: "0123456", Wrong: "rejection"},
		{Kind: NoticeHelp},
		{Kind: NoticeStatus, Status: &status},
		{Kind: NoticeStatus, Status: &Status{At: at, GaveUp: true, Limit: 1}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 20, Lately: &Lately{
			Days: 90, Reviews: 1412, PullRequests: 401, Blocked: 212, Overrides: 3, Shown: 980, Fixed: 600, Accepted: 20, Dismissed: 100, Others: 260, FalsePositives: 61,
			Blocking: Judged{Judged: 62, Shown: 180, Enough: true, Right: 87, Low: 77, High: 93}, Other: Judged{Judged: 12, Shown: 210},
		}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Loop: &LoopStatus{Status: fixloop.Fixing, Attempt: 1, Max: 2, Turns: 3}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Loop: &LoopStatus{Status: fixloop.Escalated, Attempt: 2, Max: 2}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Loop: &LoopStatus{Status: fixloop.Complete}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Session: &SessionStatus{Cycle: 1, Running: true}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Session: &SessionStatus{
			Cycle: 4, Running: true, Decided: 3, Rule: 3, Waiting: []string{"codex", "gemini"}, Deadline: at.Add(10 * time.Minute), Concerned: []string{"qwen"}, FallbackAt: at.Add(15 * time.Minute),
		}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Session: &SessionStatus{Cycle: 3, Decided: 3, Rule: 0, Pause: pauseBy(0, "gemini"), Pending: 1}}},
		{Kind: NoticeStatus, Status: &Status{At: at, Limit: 1, Session: &SessionStatus{
			Cycle: 3, Decided: 3, Rule: 2, Escalation: pauseBy(1, "codex"), Pause: pauseBy(2, "codex", "gemini"), Concerned: []string{"codex", "gemini"}, Pending: 2,
		}}},
		{Kind: NoticeExplain},
		{Kind: NoticeExplain, Text: v.Review.Manifest.Entries[0].Agent},
		{Kind: NoticeExplain, Text: v.Review.Manifest.Skipped[0].Agent},
		{Kind: NoticeExplain, Text: file},
		{Kind: NoticeExplain, Text: "no/such/file"},
	} {
		seen[n.Kind] = true
		if back := parseNotice(n.String()); back.String() != n.String() {
			t.Errorf("%s is stored as %s", n, back)
		}
		p := markdownPen{}
		k := newLinker(v.Links, &v.Review.Facts)
		s := sections{&v.Review, p, k, newFindings(v, p, k), nil}
		b.WriteString(string(say("md notice", s.noticeWords().notice(parseNotice(n.String()), roomNotice))) + "\n\n")
	}
	for _, k := range noticeKinds() {
		if !seen[k] {
			t.Errorf("no notice has the kind %s", k)
		}
	}
	b.WriteString(NoticeComment([]string{Notice{Kind: NoticeUnknown, Text: "dimsiss"}.String()}).Body + "\n")
	golden(t, "notices.md", b.String())
}

// A stored text that is not a notice with a kind is shown unchanged. Older versions stored
// such texts.
func TestOldNotices(t *testing.T) {
	for _, stored := range []string{"sam may not", "{", `{"kind":5}`, `{"kind":""}`, "null", ""} {
		if n := parseNotice(stored); n.Kind != NoticeText || n.Text != stored {
			t.Errorf("%q is read as %+v", stored, n)
		}
	}
}

// A notice with a long list leaves room for the review.
func TestNoticeIsBounded(t *testing.T) {
	v := findingsView()
	long := strings.Repeat("a long word ", 2000)
	named := sample.Size(100, 1000)
	for i := range 3000 {
		path := fmt.Sprintf("src/%s/f%d.go", strings.Repeat("d", 100), i)
		v.Review.Manifest.Skipped = append(v.Review.Manifest.Skipped, pipeline.SkippedAgent{Agent: path, Reason: long})
	}
	plain := len(Comment(v).Body)
	for _, n := range []Notice{
		{Kind: NoticeExplain}, {Kind: NoticeText, Text: long}, {Kind: NoticeUnknown, Text: long},
		{Kind: NoticeStatus, Status: &Status{Asked: long, Decisions: slices.Repeat([]FindingDecision{{Named: Named{Title: long}, By: long, Reason: long}}, named)}},
		{Kind: NoticeSeveral, Text: long, Names: slices.Repeat([]Named{{Title: long}}, named)},
	} {
		v.Notices = []string{n.String()}
		body := Comment(v).Body
		if len(body) > 65_536 || len(body)-plain > roomNotice+4000 {
			t.Errorf("%s: the notice takes %d of %d bytes", n.Kind, len(body)-plain, len(body))
		}
		if !strings.Contains(body, "Money is added") {
			t.Errorf("%s: the findings are gone", n.Kind)
		}
	}
}

func conclusionAndOutput(conclusion string, o ports.CheckOutput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "conclusion: %s\ntitle: %s\n\n=== summary\n%s\n", conclusion, o.Title, o.Summary)
	if o.Text != "" {
		fmt.Fprintf(&b, "\n=== text\n%s\n", o.Text)
	}
	for i, a := range o.Annotations {
		if i == 10 {
			fmt.Fprintf(&b, "\n=== %d annotations in all\n", len(o.Annotations))
			break
		}
		fmt.Fprintf(&b, "\n=== annotation %s %s:%d-%d\n%s\n%s\n", a.Level, jsonOf(a.Path), a.StartLine, a.EndLine, a.Title, a.Message)
		if a.RawDetails != "" {
			fmt.Fprintf(&b, "--- raw details\n%s\n", a.RawDetails)
		}
	}
	for _, a := range o.Actions {
		fmt.Fprintf(&b, "\n=== action %s: %s: %s\n", a.Identifier, a.Label, a.Description)
	}
	return b.String()
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
