package aggregate

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies"
)

// previous is the part of a report that the store keeps for the next one.
func previous(r pipeline.Report) *pipeline.PreviousReport {
	return r.AsPrevious()
}

// afterHeads reviews one head after the other, named head-1, head-2 and so on, and returns the last
// report.
func afterHeads(heads ...Input) pipeline.Report {
	var r pipeline.Report
	for i, in := range heads {
		facts := *in.Facts
		facts.Head.SHA = fmt.Sprintf("head-%d", i+1)
		in.Facts = &facts
		if i > 0 {
			in.Previous = previous(r)
		}
		r = Aggregate(in)
	}
	return r
}

// history describes a report's changes in words: new, open, resolved and unconfirmed findings, and
// those that are back.
func history(r pipeline.Report) string {
	var back []string
	for _, f := range r.Findings {
		for _, why := range f.Reasons {
			if why.Kind == pipeline.ReasonBack {
				back = append(back, why.String())
			}
		}
	}
	c := r.Changes
	return fmt.Sprintf("new %d, open %d, resolved %d, unconfirmed %d, back %q", c.New, c.Open, len(c.Resolved), len(c.Unconfirmed), back)
}

func wantHistory(t *testing.T, when string, r pipeline.Report, want string) {
	t.Helper()
	if got := history(r); got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", when, got, want)
	}
}

func TestCompareWithThePreviousReport(t *testing.T) {
	stays, goes := finding("a.go", 1, "stays", pipeline.SeverityMajor), finding("a.go", 4, "goes", pipeline.SeverityMajor)
	y := finding("b.go", 1, "of y", pipeline.SeverityMajor)
	first := Aggregate(world(map[string][]pipeline.Finding{"x": {stays, goes}, "y": {y}}))
	if first.Iteration != 1 || first.Changes.New != 3 {
		t.Errorf("first: %d, %+v", first.Iteration, first.Changes)
	}

	in := world(map[string][]pipeline.Finding{"x": {stays, finding("a.go", 6, "comes", pipeline.SeverityInfo)}, "y": nil})
	in.Previous = &pipeline.PreviousReport{HeadSHA: "old", Findings: first.Findings, Iteration: 1}
	in.Results[1].Status = pipeline.AgentTimedOut
	second := Aggregate(in)
	if second.Iteration != 2 || second.Changes.PreviousReport != "old" || second.Changes.New != 1 || second.Changes.Open != 1 {
		t.Errorf("second: %d, %+v", second.Iteration, second.Changes)
	}
	if len(second.Changes.Resolved) != 1 || second.Changes.Resolved[0].Title != "goes" || second.Changes.Resolved[0].State != pipeline.StateResolved {
		t.Errorf("resolved %+v: a finding is not resolved if its agent did not look again", second.Changes.Resolved)
	}
}

// A finding stays open when another finding is merged with it, and when that ends.
func TestMergingKeepsFindingsOpen(t *testing.T) {
	all := head{"a.go": {"bad 1", "bad 2", "bad 3", "good", "good", "bad 4"}}.input()
	for name, tc := range map[string]struct {
		next head
		want string
	}{
		"nothing changes":     {head{"a.go": {"bad 1", "bad 2", "bad 3", "good", "good", "bad 4"}}, "new 0, open 2, resolved 0, unconfirmed 0, back []"},
		"the first fixed":     {head{"a.go": {"good", "bad 2", "bad 3", "good", "good", "bad 4"}}, "new 0, open 2, resolved 0, unconfirmed 0, back []"},
		"the middle fixed":    {head{"a.go": {"bad 1", "good", "bad 3", "good", "good", "bad 4"}}, "new 0, open 3, resolved 0, unconfirmed 0, back []"},
		"the last fixed":      {head{"a.go": {"bad 1", "bad 2", "good", "good", "good", "bad 4"}}, "new 0, open 2, resolved 0, unconfirmed 0, back []"},
		"all three fixed":     {head{"a.go": {"good", "good", "bad 4"}}, "new 0, open 1, resolved 1, unconfirmed 0, back []"},
		"one more next to it": {head{"a.go": {"bad 0", "bad 1", "bad 2", "bad 3", "good", "good", "bad 4"}}, "new 0, open 2, resolved 0, unconfirmed 0, back []"},
		"one more elsewhere":  {head{"a.go": {"bad 1", "bad 2", "bad 3", "good", "good", "bad 4", "good", "bad 5"}}, "new 1, open 2, resolved 0, unconfirmed 0, back []"},
		"one ignored":         {head{"a.go": {"bad 1", "bad 2 // reviewgate:ignore r1 wanted", "bad 3", "good", "good", "bad 4"}}, "new 0, open 3, resolved 0, unconfirmed 0, back []"},
		"now in one block":    {head{"a.go": {"bad 1", "bad 2", "bad 3", "bad 4"}}, "new 0, open 1, resolved 0, unconfirmed 0, back []"},
	} {
		wantHistory(t, name, afterHeads(all, accepting(tc.next.input())), tc.want)
	}
}

// A finding stays the same if another agent reports it with more confidence and the finding is
// attributed to that agent.
func TestNewAttributionKeepsFindingsOpen(t *testing.T) {
	x, y := finding("a.go", 2, "T", pipeline.SeverityMajor), finding("a.go", 2, "T", pipeline.SeverityMajor)
	x.RuleID, y.RuleID = "r1", "r2"
	first := world(map[string][]pipeline.Finding{"x": {x}, "y": {y}})
	y.Confidence = 0.99
	second := world(map[string][]pipeline.Finding{"x": {x}, "y": {y}})
	r := afterHeads(first, second)
	if r.Findings[0].Agent != "y" {
		t.Fatalf("the finding is %s's", r.Findings[0].Agent)
	}
	wantHistory(t, "the other is surer", r, "new 0, open 1, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "only one is left", afterHeads(first, world(map[string][]pipeline.Finding{"x": {x}, "y": nil})), "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// Equal lines have one finding, which is open until the last of them is gone.
func TestOneOfThreeEqualFindingsIsFixed(t *testing.T) {
	three := head{"a.go": {"bad", "good", "good", "bad", "good", "good", "bad"}}
	for i := range three["a.go"] {
		if i%3 != 0 {
			continue
		}
		two := slices.Clone(three["a.go"])
		two[i] = "good"
		wantHistory(t, fmt.Sprintf("line %d fixed", i+1), afterHeads(three.input(), head{"a.go": two}.input()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
	}
}

// From any head to any other, each finding is new, open or gone. No finding is resolved that the
// report still has.
func TestHistoryAddsUp(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		before := Aggregate(drawnHead(t).input())
		next := drawnHead(t).input()
		next.Previous = previous(before)
		r := Aggregate(next)
		if r.Changes.New+r.Changes.Open != len(r.Findings) || len(r.Changes.Unconfirmed) != 0 {
			t.Errorf("%d findings, %s", len(r.Findings), history(r))
		}
		here := ids(r)
		for _, f := range r.Changes.Resolved {
			for _, id := range f.Fingerprints {
				if slices.Contains(here, id) {
					t.Errorf("%s is resolved and still in the report", id)
				}
			}
		}
		for _, x := range r.Changes.Fixed {
			if slices.Contains(here, x.Fingerprint) {
				t.Errorf("%s is fixed and still in the report", x.Fingerprint)
			}
		}
		for _, id := range ids(before) {
			fixed := slices.ContainsFunc(r.Changes.Fixed, func(x pipeline.FixedFinding) bool { return x.Fingerprint == id && x.HeadSHA == r.HeadSHA })
			if slices.Contains(here, id) == fixed {
				t.Errorf("%s: in the report: %v, fixed: %v", id, !fixed, fixed)
			}
		}
	})
}

// A finding is resolved only if it is certainly gone.
func TestResolvedOnlyAfterAnotherLook(t *testing.T) {
	f := finding("a.go", 4, "T", pipeline.SeverityMajor)
	both := func(findings ...pipeline.Finding) Input {
		return world(map[string][]pipeline.Finding{"x": findings, "y": findings})
	}
	const resolved, unconfirmed = "new 0, open 0, resolved 1, unconfirmed 0, back []", "new 0, open 0, resolved 0, unconfirmed 1, back []"
	for name, tc := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"both agents looked":    {func(*Input) {}, resolved},
		"one agent failed":      {func(in *Input) { in.Results[1].Status = pipeline.AgentFailed }, unconfirmed},
		"one agent did not run": {func(in *Input) { in.Results, in.Manifest.Entries = in.Results[:1], in.Manifest.Entries[:1] }, unconfirmed},
		"one agent looked elsewhere": {func(in *Input) {
			in.Manifest.Entries[1].Scope = pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}
		}, unconfirmed},
		"one agent looked at these": {func(in *Input) {
			in.Manifest.Entries[1].Scope = pipeline.AgentScope{Files: pipeline.List[string]{"a.go", "b.go"}}
		}, resolved},
		"a stage failed": {func(in *Input) { in.Failed = &pipeline.Incompleteness{What: "stage", Gating: true} }, unconfirmed},
		"its diff is unknown": {func(in *Input) {
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "a.go"}}
		}, unconfirmed},
		"another file's diff is unknown": {func(in *Input) {
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "b.go"}}
		}, resolved},
		"commits are unknown": {func(in *Input) {
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "commits", Gating: true}}
		}, resolved},
		"its file left the change":                         {func(in *Input) { in.Facts.Files = in.Facts.Files[1:] }, resolved},
		"its file left the change, and no agent was asked": {func(in *Input) { in.Facts.Files, in.Results, in.Manifest.Entries = in.Facts.Files[1:], nil, nil }, resolved},
		"its file left the change, and one agent failed": {func(in *Input) {
			in.Facts.Files, in.Results[1].Status = in.Facts.Files[1:], pipeline.AgentTimedOut
		}, unconfirmed},
		"its file left the change, and a diff is unknown": {func(in *Input) {
			in.Facts.Files = in.Facts.Files[1:]
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "b.go", Gating: true}}
		}, unconfirmed},
		"its file is missing from an incomplete list": {func(in *Input) {
			in.Facts.Files = in.Facts.Files[1:]
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "files", Gating: true}}
		}, unconfirmed},
	} {
		next := both()
		tc.change(&next)
		wantHistory(t, name, afterHeads(both(f), next), tc.want)
	}
	f.Confidence = 0.4
	wantHistory(t, "they are unsure now", afterHeads(both(finding("a.go", 4, "T", pipeline.SeverityMajor)), both(f)), unconfirmed)
}

func TestUnknownCommitsKeepTheirFindings(t *testing.T) {
	f := pipeline.Finding{Title: "No imperative", Severity: pipeline.SeverityInfo, Message: "m", Confidence: 1, Section: pipeline.SectionCommit("1111111")}
	next := world(map[string][]pipeline.Finding{"x": nil})
	next.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "commits"}}
	wantHistory(t, "not all commits are known", afterHeads(one(f), next), "new 0, open 0, resolved 0, unconfirmed 1, back []")
	for _, section := range []string{pipeline.SectionTitle, pipeline.SectionDescription} {
		f.Section = section
		wantHistory(t, "but the "+section, afterHeads(one(f), next), "new 0, open 0, resolved 1, unconfirmed 0, back []")
	}
}

// A finding that no agent looked for on some heads is recognised once an agent looks again, even
// many heads later.
func TestUnconfirmedIsRemembered(t *testing.T) {
	with := head{"a.go": {"bad 1", "good"}}.input
	failing := func() Input {
		in := with()
		in.Results[0].Status, in.Results[0].Output.Findings = pipeline.AgentTimedOut, nil
		return in
	}
	broken := func() Input {
		in := failing()
		in.Failed = &pipeline.Incompleteness{What: "stage", Gating: true}
		return in
	}
	without := head{"a.go": {"good", "good"}}.input
	wantHistory(t, "while it fails", afterHeads(with(), failing(), broken(), failing()), "new 0, open 0, resolved 0, unconfirmed 1, back []")
	wantHistory(t, "when it is seen again", afterHeads(with(), failing(), broken(), with()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "when it is gone", afterHeads(with(), failing(), broken(), without()), "new 0, open 0, resolved 1, unconfirmed 0, back []")
	wantHistory(t, "and stays gone", afterHeads(with(), failing(), without(), without()), "new 0, open 0, resolved 0, unconfirmed 0, back []")
}

// A review whose last stage failed keeps the history.
func TestFailedReportRemembers(t *testing.T) {
	in := head{"a.go": {"bad 1"}}.input()
	in.Previous = previous(afterHeads(head{"a.go": {"bad 0", "good", "bad 1"}}.input(), in))
	failed := Failed(in, &pipeline.Incompleteness{What: "stage", Gating: true})
	if failed.Iteration != 3 || failed.Changes.PreviousReport != "head-2" {
		t.Errorf("iteration %d after %s", failed.Iteration, failed.Changes.PreviousReport)
	}
	next := head{"a.go": {"bad 0", "good", "bad 1"}}.input()
	next.Previous = previous(failed)
	wantHistory(t, "after it", Aggregate(next), `new 1, open 1, resolved 0, unconfirmed 0, back ["back: it was fixed in head-2"]`)
}

func TestUnconfirmedIsBounded(t *testing.T) {
	var lines []string
	for i := range pipeline.MaxUnconfirmed + 5 {
		lines = append(lines, fmt.Sprintf("bad %d", i), "good", "good")
	}
	failing := head{"a.go": lines}.input()
	failing.Results[0].Status, failing.Results[0].Output.Findings = pipeline.AgentFailed, nil
	if n := len(afterHeads(head{"a.go": lines}.input(), failing).Changes.Unconfirmed); n != pipeline.MaxUnconfirmed {
		t.Errorf("%d unconfirmed findings remembered, want %d", n, pipeline.MaxUnconfirmed)
	}
	if n := len(afterHeads(head{"a.go": lines}.input(), head{"a.go": {"good"}}.input()).Changes.Fixed); n != pipeline.MaxFixed {
		t.Errorf("%d fixed findings remembered, want %d", n, pipeline.MaxFixed)
	}
}

func TestBroughtBack(t *testing.T) {
	with, without := head{"a.go": {"bad 1", "good"}}.input, head{"a.go": {"good", "good"}}.input
	back := func(by string) string {
		return fmt.Sprintf("new 1, open 0, resolved 0, unconfirmed 0, back [%q]", string(pipeline.ReasonBack)+by)
	}
	wantHistory(t, "on the next head", afterHeads(with(), without(), with()), back("head-2"))
	wantHistory(t, "two heads later", afterHeads(with(), without(), without(), with()), back("head-2"))
	wantHistory(t, "a second time", afterHeads(with(), without(), with(), without(), with()), back("head-4"))
	wantHistory(t, "at another line", afterHeads(with(), without(), head{"a.go": {"good", "good", "  bad  1"}}.input()), back("head-2"))
	open := afterHeads(with(), without(), with(), with())
	wantHistory(t, "once it is known to be back", open, "new 0, open 1, resolved 0, unconfirmed 0, back []")
	if len(open.Changes.Fixed) != 0 {
		t.Errorf("it still counts as fixed: %+v", open.Changes.Fixed)
	}
	renamed := with()
	renamed.Facts.Files[0].Path, renamed.Facts.Files[0].PreviousPath, renamed.Facts.Files[0].Status = "z.go", "a.go", pipeline.FileRenamed
	renamed.Results[0].Output.Findings[0].Path = "z.go"
	wantHistory(t, "under a name that the code host tells of", afterHeads(with(), without(), renamed), back("head-2"))

	// One of two merged findings is fixed first, then the other one, and then the first is back.
	wantHistory(t, "one of two", afterHeads(
		head{"a.go": {"bad 1", "bad 2"}}.input(), head{"a.go": {"bad 1", "good"}}.input(), head{"a.go": {"good", "bad 2"}}.input(),
	), "new 1, open 0, resolved 1, unconfirmed 0, back [\"back: it was fixed in head-2\"]")
}

// The report names the head that fixed the finding last, by seven characters of its SHA.
func TestBackNamesTheHead(t *testing.T) {
	in := head{"a.go": {"bad 1"}}.input()
	id := Aggregate(in).Findings[0].ID
	in.Previous = &pipeline.PreviousReport{HeadSHA: "last", Fixed: pipeline.List[pipeline.FixedFinding]{
		{Fingerprint: id, HeadSHA: "0123456789abcdef"}, {Fingerprint: id, HeadSHA: "older"},
	}}
	wantHistory(t, "fixed twice", Aggregate(in), `new 1, open 0, resolved 0, unconfirmed 0, back ["back: it was fixed in 0123456"]`)
}

// Two reviews of one head have the same previous report and give the same result. If an older head
// is pushed again, its review comes after the review of the newer head.
func TestReviewedAgain(t *testing.T) {
	with, without := head{"a.go": {"bad 1"}}.input(), head{"a.go": {"good"}}.input()
	first := afterHeads(with)
	without.Previous = previous(first)
	for range 2 {
		wantHistory(t, "the same head again", Aggregate(without), "new 0, open 0, resolved 1, unconfirmed 0, back []")
	}
	without.Facts.Head.SHA = "head-2"
	with.Previous = previous(Aggregate(without))
	wantHistory(t, "the older head again", Aggregate(with), `new 1, open 0, resolved 0, unconfirmed 0, back ["back: it was fixed in head-2"]`)
}

// A finding that is no longer ignored is new to the gate, and was not fixed.
func TestNoLongerIgnoredIsNew(t *testing.T) {
	ignored := accepting(head{"a.go": {"bad 1 // reviewgate:ignore r1 wanted"}}.input())
	plain := head{"a.go": {"bad 1"}}.input()
	wantHistory(t, "the comment is gone", afterHeads(ignored, plain), "new 1, open 0, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "the comment comes", afterHeads(plain, ignored), "new 0, open 0, resolved 0, unconfirmed 0, back []")
}

// A finding that is new without models stays new, even if a model reported it before.
func TestModelsKeepFindingsNew(t *testing.T) {
	f := finding("a.go", 2, "T", pipeline.SeverityMajor)
	model := func(agents ...pipeline.Finding) Input {
		in := world(map[string][]pipeline.Finding{"x": agents})
		in.Results = append(in.Results, pipeline.AgentResult{Agent: "llm", Model: "m", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{f}}})
		return in
	}
	named := f
	named.RuleID = "r1"
	wantHistory(t, "an agent agrees under a rule", afterHeads(model(), model(named)), "new 1, open 0, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "the model alone", afterHeads(model(), model()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
	without := world(map[string][]pipeline.Finding{"x": {f}})
	wantHistory(t, "an agent finds what only the model did", afterHeads(model(), without), "new 1, open 0, resolved 0, unconfirmed 1, back []")
	wantHistory(t, "and the model with it", afterHeads(model(), model(f)), "new 1, open 0, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "an agent finds what both did", afterHeads(model(f), without), "new 0, open 1, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "the model goes on alone", afterHeads(model(f), model()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// Reports of older versions have no fingerprints of merged findings and no memory.
func TestOldReportsAreUnderstood(t *testing.T) {
	in := head{"a.go": {"bad 1", "good", "good", "bad 2"}}.input()
	r := Aggregate(in)
	for i := range r.Findings {
		r.Findings[i].Fingerprints, r.Findings[i].OriginalPath = nil, ""
	}
	next := head{"a.go": {"bad 1", "good"}}.input()
	next.Previous = &pipeline.PreviousReport{HeadSHA: "old", Findings: r.Findings, Iteration: 1}
	wantHistory(t, "after an old report", Aggregate(next), "new 0, open 1, resolved 1, unconfirmed 0, back []")
}

func TestDismissedFindingIsRecognised(t *testing.T) {
	before := head{"a.go": {"bad 1", "good", "good", "bad 1"}}.input()
	id := Aggregate(before).Findings[0].Also[0].ID
	after := head{"a.go": {"good", "bad 1", "good", "good", "\tbad  1"}}.input()
	after.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: id, Path: "a.go", By: "alice", Reason: "wanted"}}
	r := afterHeads(before, after)
	if len(r.Suppressed) != 1 || r.Suppressed[0].Finding.StartLine != 5 || r.Suppressed[0].Finding.State != pipeline.StateDismissed {
		t.Errorf("suppressed %+v, want the one on line 5", r.Suppressed)
	}
	wantHistory(t, "one of two dismissed", r, "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// The gate with a model is never milder than without it, now or before. This holds where people
// dismissed findings and where the gate counts new findings.
func TestModelsNeverLoosenTheGateOverTime(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		before, after := drawnHead(t), drawnHead(t)
		if rapid.Bool().Draw(t, "moved") {
			before["old.go"], after["new.go"] = before["b.go"], before["b.go"]
			delete(before, "b.go")
		}
		alone := before.input()
		if rapid.Bool().Draw(t, "missed") { // the agent reports it only on the next head
			alone.Results[0].Output.Findings = nil
		}
		first := alone
		first.Results = append(slices.Clone(first.Results), pipeline.AgentResult{Agent: "llm", Model: "m", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: modelSays(t, first)}})
		var dismissed pipeline.List[pipeline.Dismissal]
		for _, f := range Aggregate(first).Findings {
			if f.Model != "" && len(f.Reviewers) == 1 && rapid.Bool().Draw(t, "dismissed") { // only the model found it
				for _, print := range f.Fingerprints {
					dismissed = append(dismissed, pipeline.Dismissal{Fingerprint: print, Path: f.Path, By: "alice", Override: true})
				}
			}
		}
		first.Memory.Dismissed = dismissed
		review := func(in, last Input, memory pipeline.Memory, models bool) pipeline.Report {
			in.Previous, in.Memory = previous(Aggregate(last)), memory
			in.Config.Settings.Gate.Conditions = append([]policies.GateCondition{{When: "new_warning > 0", Decision: pipeline.DecisionNeedsFixes}}, in.Config.Settings.Gate.Conditions...)
			if models {
				in.Results = append(in.Results, pipeline.AgentResult{Agent: "llm", Model: "m", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: modelSays(t, in)}})
			}
			return Aggregate(in)
		}
		with := review(after.input(), first, first.Memory, true)
		for what, without := range map[string]pipeline.Report{
			"now": review(after.input(), first, first.Memory, false), "now or before": review(after.input(), alone, pipeline.Memory{}, false),
		} {
			if with.Decision.Rank() < without.Decision.Rank() {
				t.Errorf("%s without the model %s, %s with it\n%s\n%s", without.Decision, what, with.Decision, history(without), history(with))
			}
		}
	})
}

// A model's finding by a rule has a different fingerprint than the rule's own finding: dismissing
// one does not dismiss the other. Together they are one finding, in the rule's words.
func TestDismissingAModelsFindingKeepsTheRules(t *testing.T) {
	f := ruledBy(finding("a.go", 2, "It leaks", pipeline.SeverityMajor), "r1")
	remark := sure(ruledBy(finding("a.go", 2, "A short name", pipeline.SeverityInfo), "r1"), 0.99)
	in := panel(outputs{x: {f}, qualityA: {remark}})
	together := Aggregate(in)
	if len(together.Findings) != 1 || together.Findings[0].Title != f.Title || together.Findings[0].Agent != "x" || len(together.Findings[0].Reviewers) != 2 {
		t.Fatalf("%+v", together.Findings)
	}
	old := Aggregate(panel(outputs{x: {}, qualityA: {remark}})).Findings[0]
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: old.ID, By: "ann", Reason: "fine", Override: true}}
	r := Aggregate(in)
	if len(r.Suppressed) != 1 || len(r.Findings) != 1 || r.Findings[0].Agent != "x" || r.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("decision %s, findings %+v, suppressed %+v", r.Decision, r.Findings, r.Suppressed)
	}
}

// modelSays draws findings of a model, many of which resemble the agent's.
func modelSays(t *rapid.T, in Input) pipeline.List[pipeline.Finding] {
	var out pipeline.List[pipeline.Finding]
	for i := range in.Facts.Files {
		f := &in.Facts.Files[i]
		for k := range f.Additions {
			if !rapid.Bool().Draw(t, "says") {
				continue
			}
			x := finding(f.Path, k+1, rapid.SampledFrom([]string{"Bad", "Block", "Else"}).Draw(t, "title"), rapid.SampledFrom([]pipeline.Severity{"info", "warning", "critical"}).Draw(t, "severity"))
			x.RuleID = rapid.SampledFrom([]string{"", "r1"}).Draw(t, "rule")
			out = append(out, x)
		}
	}
	return out
}

// A finding is resolved if its lines are gone, even if its agent was not asked again. If the agent
// failed, the problem may be elsewhere, so the finding is unconfirmed.
func TestFindingsOnRemovedLinesAreResolved(t *testing.T) {
	before := head{"a.go": {"x", "bad one", "bad two", "y", "begin {", "", "1", "2", "3"}}
	const resolved, unconfirmed = "new 0, open 0, resolved 2, unconfirmed 0, back []", "new 0, open 0, resolved 0, unconfirmed 2, back []"
	for name, tc := range map[string]struct {
		lines  []string
		failed bool
		want   string
	}{
		"everything is gone":      {[]string{"x", "good one", "good two", "y", "start {", "1", "2", "3"}, false, resolved},
		"everything moved":        {[]string{"y", "", "begin {", "1", "  2", "3", "", "x", "bad  one", "bad two"}, false, unconfirmed},
		"one of two remains":      {[]string{"bad two", "4", "begin {", "1", "2", "3"}, false, unconfirmed},
		"a part of it remains":    {[]string{"begin {", "1", "2", "and 3"}, false, resolved},
		"gone, but nobody looked": {[]string{"x"}, true, unconfirmed},
	} {
		next := head{"a.go": tc.lines}.input()
		next.Results[0].Output.Findings = nil
		next.Manifest.Entries[0].Scope = pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}
		if tc.failed {
			next.Results[0].Status = pipeline.AgentFailed
		}
		wantHistory(t, name, afterHeads(before.input(), next), tc.want)
	}
}

// Lines that the diff does not show are unknown, so they can't count as gone.
func TestHiddenLinesDoNotCountAsRemoved(t *testing.T) {
	before := one(finding("a.go", 40, "t", pipeline.SeverityMajor))
	before.Facts.Files[0].Status = pipeline.FileModified
	next := world(map[string][]pipeline.Finding{"x": {}})
	next.Facts.Files[0].Status = pipeline.FileModified
	next.Manifest.Entries[0].Scope = pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}
	wantHistory(t, "not shown", afterHeads(before, next), "new 0, open 0, resolved 0, unconfirmed 1, back []")
}
