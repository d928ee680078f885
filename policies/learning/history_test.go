package learning_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/learning"
)

var start = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func at(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

// row is a finding of a review.
func row(id string, status learning.Status, change ...func(*learning.Finding)) learning.Finding {
	f := learning.Finding{ID: id, Agent: "code", Rule: "r1", Severity: pipeline.SeverityMajor, Gate: pipeline.SeverityMajor, Around: "around " + id, Status: status}
	for _, c := range change {
		c(&f)
	}
	return f
}

func warning(f *learning.Finding) {
	f.Severity, f.Gate = pipeline.SeverityWarning, pipeline.SeverityWarning
}
func around(s string) func(*learning.Finding) { return func(f *learning.Finding) { f.Around = s } }
func also(ids ...string) func(*learning.Finding) {
	return func(f *learning.Finding) { f.Also = ids }
}

// review is the entry of a review of a head.
func review(minute int, head string, findings ...learning.Finding) learning.Entry {
	return learning.Entry{
		Event: "run " + head + fmt.Sprint(minute), Kind: learning.KindReview, At: at(minute), Repository: "acme/shop", Number: 7,
		Review: &learning.Review{HeadSHA: head, BaseRef: "main", Decision: pipeline.DecisionNeedsFixes, Findings: findings},
	}
}

func judged(minute int, verdict learning.Judgement, class learning.DismissalClass, ids ...string) learning.Entry {
	j := &learning.Judged{Findings: ids, Verdict: verdict, Class: class, Person: "p"}
	for _, id := range ids {
		j.Around = append(j.Around, "around "+id)
	}
	return learning.Entry{Event: fmt.Sprint("command ", minute), Kind: learning.KindJudged, At: at(minute), Judged: j}
}

func event(minute int, kind learning.Kind) learning.Entry {
	return learning.Entry{Event: fmt.Sprint(kind, " ", minute), Kind: kind, At: at(minute)}
}

func byHand(minute int, action learning.Action, head string) learning.Entry {
	return learning.Entry{Event: fmt.Sprint("command ", minute), Kind: learning.KindDecided, At: at(minute), Decided: &learning.Decided{Action: action, HeadSHA: head, BaseRef: "main"}}
}

// The first row of the table of outcomes that holds decides.
func TestOutcomes(t *testing.T) {
	const fp, wont = learning.FalsePositive, learning.WontFix
	open, fixed := learning.StatusOpen, learning.StatusFixed
	for name, tt := range map[string]struct {
		log  []learning.Entry
		want learning.Outcome
	}{
		"open":                     {[]learning.Entry{review(1, "a", row("f", open))}, learning.OutcomeOpen},
		"fixed":                    {[]learning.Entry{review(1, "a", row("f", open)), review(2, "b", row("f", fixed))}, learning.OutcomeFixed},
		"back":                     {[]learning.Entry{review(1, "a", row("f", open)), review(2, "b", row("f", fixed)), review(3, "c", row("f", open))}, learning.OutcomeOpen},
		"fixed, then merged":       {[]learning.Entry{review(1, "a", row("f", open)), review(2, "b", row("f", fixed)), event(3, learning.KindMerged)}, learning.OutcomeFixed},
		"withdrawn":                {[]learning.Entry{review(1, "a", row("f", open)), review(2, "b", row("f", learning.StatusWithdrawn))}, learning.OutcomeWithdrawn},
		"obsolete":                 {[]learning.Entry{review(1, "a", row("f", open)), review(2, "a", row("f", learning.StatusObsolete))}, learning.OutcomeObsolete},
		"not raised again":         {[]learning.Entry{review(1, "a", row("f", open)), review(2, "a", row("f", learning.StatusNotRaised))}, learning.OutcomeNotRaised},
		"unknown":                  {[]learning.Entry{review(1, "a", row("f", open)), review(2, "b", row("f", learning.StatusUnknown))}, learning.OutcomeOpen},
		"unshown":                  {[]learning.Entry{review(1, "a", row("f", learning.StatusUnshown)), event(2, learning.KindMerged)}, learning.OutcomeUnshown},
		"dismissed":                {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, fp, "f")}, learning.OutcomeDismissed},
		"dismissed, then fixed":    {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, fp, "f"), review(3, "b", row("f", fixed))}, learning.OutcomeDismissed},
		"restored":                 {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, fp, "f"), judged(3, learning.Restored, "", "f")}, learning.OutcomeOpen},
		"the last word":            {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, fp, "f"), judged(3, learning.Accepted, "", "f")}, learning.OutcomeAccepted},
		"accepted, then fixed":     {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Accepted, "", "f"), review(3, "b", row("f", fixed))}, learning.OutcomeAccepted},
		"the code around changed":  {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, wont, "f"), review(3, "b", row("f", open, around("other")))}, learning.OutcomeOpen},
		"confirmed after that":     {[]learning.Entry{review(1, "a", row("f", open)), review(3, "b", row("f", open, around("around x"))), judged(4, learning.Dismissed, wont, "x", "f"), review(5, "c", row("f", open, around("around x"), also("x")))}, learning.OutcomeDismissed},
		"dismissed by another id":  {[]learning.Entry{review(1, "a", row("f", open, also("g"), around("around g"))), judged(2, learning.Dismissed, wont, "g")}, learning.OutcomeDismissed},
		"another one is dismissed": {[]learning.Entry{review(1, "a", row("f", open)), judged(2, learning.Dismissed, fp, "g")}, learning.OutcomeOpen},
		"overridden":               {[]learning.Entry{review(1, "a", row("f", open)), byHand(2, learning.Overrode, "a"), event(3, learning.KindMerged)}, learning.OutcomeOverridden},
		"a warning, overridden":    {[]learning.Entry{review(1, "a", row("f", open, warning)), byHand(2, learning.Overrode, "a"), event(3, learning.KindMerged)}, learning.OutcomeMergedOpen},
		"held, overridden":         {[]learning.Entry{review(1, "a", row("f", open, warning, func(f *learning.Finding) { f.Holds = true })), byHand(2, learning.Overrode, "a"), event(3, learning.KindMerged)}, learning.OutcomeOverridden},
		"override of an old head":  {[]learning.Entry{review(1, "a", row("f", open)), byHand(2, learning.Overrode, "a"), review(3, "b"), event(4, learning.KindMerged)}, learning.OutcomeMergedOpen},
		"override, then rejected":  {[]learning.Entry{review(1, "a", row("f", open)), byHand(2, learning.Overrode, "a"), byHand(3, learning.Rejected, "a"), event(4, learning.KindMerged)}, learning.OutcomeMergedOpen},
		"override after the merge": {[]learning.Entry{review(1, "a", row("f", open)), event(3, learning.KindMerged), byHand(4, learning.Overrode, "a")}, learning.OutcomeMergedOpen},
		"merged by an admin":       {[]learning.Entry{review(1, "a", row("f", open)), event(4, learning.KindMerged)}, learning.OutcomeMergedOpen},
		"closed":                   {[]learning.Entry{review(1, "a", row("f", open)), event(4, learning.KindClosed)}, learning.OutcomeClosed},
		"reopened":                 {[]learning.Entry{review(1, "a", row("f", open)), event(4, learning.KindClosed), event(5, learning.KindReopened)}, learning.OutcomeOpen},
		"reopened in the same second, and stored first": {[]learning.Entry{
			review(1, "a", row("f", open)),
			{Kind: learning.KindReopened, Event: "reopened 1", At: event(4, learning.KindReopened).At},
			{Kind: learning.KindClosed, Event: "closed 2", At: event(4, learning.KindClosed).At},
		}, learning.OutcomeOpen},
		"closed again":             {[]learning.Entry{review(1, "a", row("f", open)), event(4, learning.KindClosed), event(5, learning.KindReopened), event(6, learning.KindClosed)}, learning.OutcomeClosed},
		"merged, then told closed": {[]learning.Entry{review(1, "a", row("f", open)), event(4, learning.KindMerged), event(5, learning.KindClosed)}, learning.OutcomeMergedOpen},
	} {
		h := learning.Replay(tt.log)
		if len(h.Findings) != 1 || h.Findings[0].Outcome != tt.want {
			t.Errorf("%s: %+v, want %s", name, h.Findings, tt.want)
		}
	}
}

// A finding that joins another one counts with it, and what was said of either is said of both.
func TestJoinedFindings(t *testing.T) {
	log := []learning.Entry{
		review(1, "a", row("f", learning.StatusOpen), row("g", learning.StatusOpen)),
		judged(2, learning.Dismissed, learning.FalsePositive, "g"),
		review(3, "b", row("g", learning.StatusJoined), row("f", learning.StatusOpen, also("g"), around("around g"))),
	}
	h := learning.Replay(log)
	if len(h.Findings) != 1 || h.Findings[0].ID != "f" || !h.Findings[0].FalsePositive() {
		t.Errorf("%+v", h.Findings)
	}
}

// drawLog draws a log: reviews in order, with amendments between them.
func drawLog(t *rapid.T) (reviews, amendments []learning.Entry) {
	ids := []string{"f", "g", "h", "i"}
	minute := 0
	next := func() int { minute += rapid.IntRange(1, 5).Draw(t, "minutes"); return minute }
	for range rapid.IntRange(1, 4).Draw(t, "reviews") {
		var findings []learning.Finding
		for _, id := range ids {
			status := rapid.SampledFrom([]learning.Status{"", learning.StatusOpen, learning.StatusFixed, learning.StatusWithdrawn, learning.StatusObsolete, learning.StatusNotRaised, learning.StatusUnshown}).Draw(t, "status of "+id)
			if status != "" {
				findings = append(findings, row(id, status, around(rapid.SampledFrom([]string{"around " + id, "else"}).Draw(t, "around"))))
			}
		}
		reviews = append(reviews, review(next(), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "head"), findings...))
		for range rapid.IntRange(0, 4).Draw(t, "amendments") {
			minute := next()
			id := rapid.SampledFrom(ids).Draw(t, "id")
			class := rapid.SampledFrom([]learning.DismissalClass{learning.FalsePositive, learning.Other}).Draw(t, "class")
			head := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "of head")
			amendments = append(amendments, rapid.SampledFrom([]learning.Entry{
				judged(minute, learning.Dismissed, class, id), judged(minute, learning.Accepted, "", id), judged(minute, learning.Restored, "", id),
				byHand(minute, learning.Overrode, head), byHand(minute, learning.Rejected, head),
				event(minute, learning.KindClosed), event(minute, learning.KindReopened), event(minute, learning.KindMerged),
			}).Draw(t, "amendment"))
		}
	}
	return reviews, amendments
}

// outcomes lists what became of each finding, in a form that can be compared.
func outcomes(h learning.History) map[string]string {
	out := map[string]string{"end": fmt.Sprint(h.End, h.EndedAt, h.Overridden)}
	for i := range h.Findings {
		f := &h.Findings[i]
		out[f.ID] = fmt.Sprint(f.Outcome, f.FalsePositive(), f.FirstAt, f.GoneAt)
	}
	return out
}

// Outcomes are the same whatever the order in which events arrive, and however often.
func TestOutcomesDoNotDependOnArrival(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		reviews, amendments := drawLog(t)
		want := outcomes(learning.Replay(slices.Concat(reviews, amendments)))
		var log []learning.Entry
		late := rapid.Permutation(slices.Concat(amendments, rapid.SliceOf(rapid.SampledFrom(append(amendments, reviews[0]))).Draw(t, "again"))).Draw(t, "arrival")
		for _, r := range reviews { // each amendment comes before some review, or at the end
			n := rapid.IntRange(0, len(late)).Draw(t, "before the next review")
			for _, e := range late[:n] {
				if e.Kind != learning.KindReview || len(log) > 0 {
					log = append(log, e)
				}
			}
			late = late[n:]
			log = append(log, r)
		}
		log = append(log, late...)
		if diff := cmp.Diff(want, outcomes(learning.Replay(log))); diff != "" {
			t.Fatalf("the outcomes depend on the order (-in order +as they arrived):\n%s", diff)
		}
	})
}

// An entry survives its stored form, which holds neither logins nor texts.
func TestEntriesAsStored(t *testing.T) {
	e := review(1, "a", row("f", learning.StatusOpen, also("g")))
	body, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got learning.Entry
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(learning.Replay([]learning.Entry{e}).Findings[0].Finding, learning.Replay([]learning.Entry{got}).Findings[0].Finding); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}
