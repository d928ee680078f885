package fixloop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var twoAttempts = Settings{Attempts: 2, Turns: 5, Always: true}

// step is a review with the state that it leads to.
type step struct {
	report Report
	name   string
	note   Note
	opens  int // the attempt in the row
}

func fails(head string) Report {
	return Report{HeadSHA: head, Decision: pipeline.DecisionNeedsFixes}
}

func paused(head string) Report {
	r := fails(head)
	r.Paused = true
	return r
}

func passes(head string) Report {
	return Report{HeadSHA: head, Decision: pipeline.DecisionPassWithWarnings}
}

func incomplete(head string) Report {
	r := fails(head)
	r.Incomplete = true
	return r
}

func byHand(head string) Report {
	r := passes(head)
	r.ByHand = true
	return r
}

func resumed(r Report, times int) Report {
	r.Resumes = times
	return r
}

func commits(r Report, messages ...string) Report {
	for _, m := range messages {
		r.Commits = append(r.Commits, pipeline.Commit{Author: "mira", Message: m})
	}
	return r
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("fix: part %d", i)
	}
	return out
}

func TestTransitions(t *testing.T) {
	escalates := []step{
		{fails("a"), "review-fix-1", "", 1}, {fails("b"), "review-fix-2", "", 2}, {fails("c"), "escalated", NoteEscalated, 0},
	}
	for name, steps := range map[string][]step{
		"passes at once":                         {{passes("a"), "complete", "", 0}},
		"fails, then passes":                     {{fails("a"), "review-fix-1", "", 1}, {passes("b"), "complete", "", 0}},
		"the last attempt passes":                append(slices.Clone(escalates[:2]), step{passes("c"), "complete", "", 0}),
		"the last attempt fails":                 escalates,
		"stays escalated":                        append(slices.Clone(escalates), step{fails("d"), "escalated", NoteEscalated, 0}),
		"escalated, then passes":                 append(slices.Clone(escalates), step{passes("d"), "complete", "", 0}, step{fails("e"), "review-fix-1", "", 1}),
		"escalated, then an old head":            append(slices.Clone(escalates), step{fails("a"), "escalated", NoteAgain, 1}),
		"escalated and incomplete":               append(slices.Clone(escalates), step{incomplete("d"), "escalated", NoteIncomplete, 0}),
		"escalated, passed by hand, fails again": append(slices.Clone(escalates), step{byHand("c"), "complete", NoteByHand, 0}, step{fails("d"), "escalated", NoteEscalated, 0}),
		"resumed":                                append(slices.Clone(escalates), step{resumed(fails("c"), 1), "review-fix-1", NoteResumed, 1}, step{resumed(fails("d"), 1), "review-fix-2", "", 2}),
		"resumed, and reviewed again":            append(slices.Clone(escalates), step{resumed(fails("c"), 1), "review-fix-1", NoteResumed, 1}, step{resumed(fails("c"), 1), "review-fix-1", NoteResumed, 1}),
		"resumed, and incomplete":                append(slices.Clone(escalates), step{resumed(incomplete("c"), 1), "pending", NoteIncomplete, 0}),
		"resumed where nothing is paused":        {{fails("a"), "review-fix-1", "", 1}, {resumed(fails("b"), 1), "review-fix-2", "", 2}, {resumed(fails("c"), 1), "escalated", NoteEscalated, 0}},
		"the same head again":                    {{fails("a"), "review-fix-1", "", 1}, {fails("a"), "review-fix-1", "", 1}, {fails("a"), "review-fix-1", "", 1}},
		"a paused session does not count":        {{paused("a"), "pending", NotePaused, 0}, {fails("a"), "review-fix-1", "", 1}, {paused("b"), "review-fix-1", NotePaused, 0}},
		"incomplete does not count":              {{incomplete("a"), "pending", NoteIncomplete, 0}, {fails("a"), "review-fix-1", "", 1}, {incomplete("b"), "review-fix-1", NoteIncomplete, 0}, {fails("b"), "review-fix-2", "", 2}},
		"back to an old head":                    {{fails("a"), "review-fix-1", "", 1}, {fails("b"), "review-fix-2", "", 2}, {fails("a"), "review-fix-2", NoteAgain, 1}, {fails("b"), "review-fix-2", NoteAgain, 2}},
		"dismissed and restored":                 {{fails("a"), "review-fix-1", "", 1}, {passes("a"), "complete", "", 1}, {fails("a"), "review-fix-1", "", 1}},
		"passed, then failed by hand":            {{passes("a"), "complete", "", 0}, {fails("a"), "review-fix-1", "", 1}},
		"passed by hand":                         {{fails("a"), "review-fix-1", "", 1}, {byHand("a"), "complete", NoteByHand, 1}, {fails("b"), "review-fix-2", "", 2}},
		"passed by hand, then by the gate":       {{fails("a"), "review-fix-1", "", 1}, {byHand("a"), "complete", NoteByHand, 1}, {passes("b"), "complete", "", 0}, {fails("c"), "review-fix-1", "", 1}},
		"an unknown decision fails":              {{Report{HeadSHA: "a", Decision: "approve!"}, "review-fix-1", "", 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			for i, st := range steps {
				s = Next(s, st.report, twoAttempts)
				last := s.Last()
				if s.Name() != st.name || last.Note != st.note || last.Attempt != st.opens {
					t.Errorf("step %d: %s, row %+v; want %s, note %q, attempt %d", i, s.Name(), *last, st.name, st.note, st.opens)
				}
			}
		})
	}
}

func TestEscalation(t *testing.T) {
	var s State
	for i, head := range []string{"a", "b", "c", "c", "d"} {
		s = Next(s, fails(head), twoAttempts)
		if want := i == 2; s.JustEscalated != want {
			t.Errorf("review %d escalated the pull request: %t", i, s.JustEscalated)
		}
	}
	if s.Since != "c" || s.Cause != CauseAttempts || s.Attempt != 2 || !s.Paused(0) || s.Paused(1) {
		t.Errorf("%+v", s)
	}
}

// Only a person ends the halt after an escalation. Resuming starts a new count, unless a pass has
// done so before.
func TestHaltedUntilResumed(t *testing.T) {
	escalated := State{}
	for _, head := range []string{"a", "b", "c"} {
		escalated = Next(escalated, fails(head), twoAttempts)
	}
	passed := Next(escalated, passes("d"), twoAttempts)
	failed := Next(passed, fails("e"), twoAttempts)
	for name, c := range map[string]struct {
		s    State
		next Report
		name string
		note Note
	}{
		"escalated":            {escalated, fails("d"), "review-fix-1", NoteResumed},
		"passed":               {passed, passes("d"), "complete", NoteResumed},
		"passed, then fails":   {passed, fails("e"), "review-fix-1", NoteResumed},
		"passed, failed since": {failed, fails("e"), "review-fix-1", ""},
		"passed by hand":       {Next(escalated, byHand("c"), twoAttempts), fails("d"), "review-fix-1", NoteResumed},
	} {
		if !c.s.Halted || !c.s.Paused(0) {
			t.Errorf("%s: the loop continues without a person: %+v", name, c.s)
		}
		s := Next(c.s, resumed(c.next, 1), twoAttempts)
		if s.Halted || s.Paused(1) || s.Name() != c.name || s.Last().Note != c.note {
			t.Errorf("%s, then resumed: %s, note %q, want %s, note %q", name, s.Name(), s.Last().Note, c.name, c.note)
		}
	}
}

// More commits than allowed in one attempt escalate only with a failing report.
func TestTurns(t *testing.T) {
	first := commits(fails("a"), "feat: prices")
	many := append([]string{"feat: prices"}, numbered(6)...)
	s := Next(Next(State{}, first, twoAttempts), commits(fails("b"), many...), twoAttempts)
	if s.Name() != "escalated" || s.Cause != CauseTurns || s.Turns != 6 {
		t.Errorf("6 commits of 5: %s, %+v", s.Name(), s)
	}
	if s := Next(Next(State{}, first, twoAttempts), commits(fails("b"), many[:6]...), twoAttempts); s.Name() != "review-fix-2" || s.Turns != 0 {
		t.Errorf("5 commits of 5: %s, %+v", s.Name(), s)
	}
	if s := Next(Next(State{}, first, twoAttempts), commits(passes("b"), many...), twoAttempts); s.Name() != "complete" {
		t.Errorf("6 commits and a passing report: %s", s.Name())
	}
	s = Next(Next(State{}, first, twoAttempts), commits(incomplete("b"), many[:4]...), twoAttempts)
	if s.Name() != "review-fix-1" || s.Turns != 3 {
		t.Errorf("3 commits of an incomplete review: %s, %d turns", s.Name(), s.Turns)
	}
	if s = Next(s, commits(fails("c"), many...), twoAttempts); s.Name() != "escalated" {
		t.Errorf("3 more commits: %s, %d turns", s.Name(), s.Turns)
	}
}

// After a rebase, a merge of the base or a push back to an old head, there are no new turns.
// Commits with equal messages count as often as they are in the pull request.
func TestCommitsThatAreTurns(t *testing.T) {
	base := []string{"feat: prices", "wip"}
	for name, c := range map[string]struct {
		then []string
		want int
	}{
		"rebase":           {base, 0},
		"reordered":        {[]string{"wip", "feat: prices"}, 0},
		"merge of main":    {append(slices.Clone(base), "Merge branch 'main' into prices", "Merge remote-tracking branch 'origin/main'", "Merge pull request #7 from x/y"), 0},
		"dropped":          {base[:1], 0},
		"equal messages":   {append(slices.Clone(base), "wip", "wip"), 2},
		"squashed":         {[]string{"feat: prices, whole"}, 1},
		"trailing newline": {[]string{"feat: prices\n", "wip\n\n"}, 0},
		"says merge":       {append(slices.Clone(base), "Merge what Sam did"), 1},
	} {
		s := Next(State{}, commits(fails("a"), base...), twoAttempts)
		s = Next(s, commits(incomplete("b"), c.then...), twoAttempts)
		s = Next(s, commits(incomplete("c"), base...), twoAttempts)
		if s.Turns != c.want {
			t.Errorf("%s: %d turns, want %d", name, s.Turns, c.want)
		}
	}
}

// By default, only reports count in which models took part.
func TestWhen(t *testing.T) {
	byModels := Settings{Attempts: 2, Turns: 5}
	s := Next(State{}, fails("a"), byModels)
	if !reflect.DeepEqual(s, State{}) {
		t.Errorf("without models: %+v", s)
	}
	r := fails("b")
	r.Models = true
	if s = Next(s, r, byModels); s.Name() != "review-fix-1" {
		t.Errorf("with models: %s", s.Name())
	}
	if s = Next(s, fails("c"), byModels); s.Name() != "review-fix-1" || s.Last().Note != NoteNoModels {
		t.Errorf("then without models: %s, %+v", s.Name(), s.Last())
	}
	if s = Next(s, passes("d"), byModels); s.Name() != "complete" {
		t.Errorf("passed without models: %s", s.Name())
	}
	never := Settings{Attempts: 2, Turns: 5, Never: true}
	if s = Next(s, resumed(r, 3), never); !reflect.DeepEqual(s, State{Resumes: 3}) {
		t.Errorf("loop switched off: %+v", s)
	}
}

// A lowered limit takes effect with the next report.
func TestLimitsThatChange(t *testing.T) {
	five := Settings{Attempts: 5, Turns: 5, Always: true}
	var s State
	for _, head := range []string{"a", "b", "c"} {
		s = Next(s, fails(head), five)
	}
	if s.Name() != "review-fix-3" {
		t.Fatal(s.Name())
	}
	if s = Next(s, fails("d"), twoAttempts); s.Name() != "escalated" {
		t.Errorf("limit lowered: %s", s.Name())
	}
	if s = Next(s, fails("e"), five); s.Name() != "escalated" {
		t.Errorf("limit raised again: %s; only a pass or a person ends the escalation", s.Name())
	}
}

func TestReportOf(t *testing.T) {
	r := &pipeline.Review{}
	r.Facts.Head.SHA, r.Report.Decision = "a", pipeline.DecisionFail
	r.Facts.Commits = pipeline.List[pipeline.Commit]{{Message: "m"}}
	if got := ReportOf(r, 2); got.Models || got.ByHand || got.Incomplete || got.HeadSHA != "a" || got.Resumes != 2 || len(got.Commits) != 1 {
		t.Errorf("%+v", got)
	}
	r.Report.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch"}}
	if ReportOf(r, 0).Incomplete {
		t.Error("something that the gate does not need makes the report incomplete")
	}
	r.Report.Incomplete[0].Gating = true
	r.Report.ByHand = &pipeline.ByHand{Action: pipeline.HandReject}
	r.Report.Models = &pipeline.ModelsReport{Verdicts: pipeline.List[pipeline.ModelVerdict]{
		{Spec: pipeline.VerdictPass, Quality: pipeline.VerdictUnknown}, {Spec: pipeline.VerdictPass, Quality: pipeline.VerdictFail},
	}}
	got := ReportOf(r, 0)
	if !got.Incomplete || got.ByHand || !got.Models || got.Spec != pipeline.VerdictPass || got.Quality != pipeline.VerdictFail {
		t.Errorf("%+v", got)
	}
	r.Report.ByHand.Action = pipeline.HandOverride
	if !ReportOf(r, 0).ByHand {
		t.Error("an override does not count as a decision by hand")
	}
}

// For any reviews in any order, counts stay within their limits, a head counts once, only a pass or
// a person ends an escalation, and Next does not change its input.
func TestAnyReviews(t *testing.T) {
	for seed := range uint64(sample.Size(60, 300)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		set := Settings{Attempts: 1 + rng.IntN(5), Turns: 5, Always: rng.IntN(2) == 0}
		var s State
		resumes := 0
		for i := range 60 {
			r := Report{
				HeadSHA: fmt.Sprintf("h%d", rng.IntN(20)), Models: rng.IntN(3) > 0, Incomplete: rng.IntN(6) == 0,
				Decision: []pipeline.Decision{pipeline.DecisionFail, pipeline.DecisionNeedsFixes, pipeline.DecisionNeedsFixes, pipeline.DecisionPass, ""}[rng.IntN(5)],
			}
			r.ByHand = !r.Decision.Blocks() && rng.IntN(2) == 0
			if rng.IntN(8) == 0 {
				resumes++
			}
			r.Resumes = resumes
			r = commits(r, numbered(rng.IntN(i+2))...)
			before := jsonOf(s)
			next := Next(s, r, set)
			if jsonOf(s) != before {
				t.Fatalf("seed %d: Next changed its input", seed)
			}
			checkStep(t, s, next, r, set)
			if t.Failed() {
				t.Fatalf("seed %d, review %d: %+v led from %s to %s", seed, i, r, before, jsonOf(next))
			}
			s = next
		}
	}
}

func checkStep(t *testing.T, was, now State, r Report, set Settings) {
	t.Helper()
	if now.Attempt > 5 || len(now.Failed) > 6 || len(now.History) > MaxHistory {
		t.Error("a count is out of bounds")
	}
	failed := slices.Clone(now.Failed)
	slices.Sort(failed)
	if len(slices.Compact(failed)) != len(now.Failed) {
		t.Error("a head counts twice")
	}
	resumed := was.Halted && r.Resumes > was.Resumes
	if was.Halted && !now.Halted && !resumed || now.Status == Escalated && !now.Halted {
		t.Error("the halt ended although nobody resumed the loop")
	}
	if was.Status == Escalated && now.Status != Escalated && r.Decision.Blocks() && !resumed {
		t.Error("an escalation ended without a pass or a person")
	}
	if now.JustEscalated != (now.Status == Escalated && now.Since == r.HeadSHA && !slices.Contains(was.Failed, r.HeadSHA)) {
		t.Error("the state does not say which review escalated it")
	}
	if r.Decision.Blocks() && r.Incomplete && !resumed && (now.Status != was.Status || now.Attempt != was.Attempt) {
		t.Error("an incomplete review counted")
	}
	if r.Decision.Blocks() && !r.Incomplete && (set.Always || r.Models) && now.Status != Fixing && now.Status != Escalated {
		t.Error("a failing report is not in the loop")
	}
	if now.Status == Escalated && r.Decision.Blocks() && !r.Incomplete && now.Since == "" {
		t.Error("the state is escalated without a head")
	}
	if len(now.History) > 0 && !r.Decision.Blocks() && now.Status != Complete {
		t.Error("the report passed, but the state is not complete")
	}
	if again := Next(now, r, set); again.Name() != now.Name() {
		t.Error("the same review again changes the state")
	}
}

// A pull request may have ten thousand commits over time, but its state stays small.
func TestSeenIsBounded(t *testing.T) {
	var s State
	for i := range 40 {
		r := fails(fmt.Sprintf("h%d", i%3))
		for n := range 100 {
			r = commits(r, fmt.Sprintf("commit %d of %d", n, i))
		}
		s = Next(s, r, twoAttempts)
		if len(s.Seen) > maxSeen {
			t.Fatalf("the state has %d commits", len(s.Seen))
		}
	}
	if n := len(jsonOf(s)); n > 40_000 {
		t.Errorf("the state takes %d bytes", n)
	}
	if strings.Contains(jsonOf(s), "commit 1 of") {
		t.Error("the state contains commit messages")
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
