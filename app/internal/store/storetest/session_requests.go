package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// reviewersTime is the time that reviewers have to answer.
const reviewersTime = 10 * time.Minute

// requests returns requests to reviewers about a target's head. Each has an ID such as "codex 1 aaa".
func (f sessionFixture) requests(g ports.Target, cycle int, agents ...string) (all []ports.SessionRequest) {
	now := f.clock.Now()
	for _, agent := range agents {
		all = append(all, ports.SessionRequest{
			ID: fmt.Sprintf("%s %d %s", agent, cycle, g.HeadSHA), Kind: ports.RequestReview, Key: g.Key(), Cycle: cycle, HeadSHA: g.HeadSHA, Agent: agent,
			Body: []byte(`{"type":"review_request"}`), Session: cycle != 0, AskedAt: now, Deadline: now.Add(reviewersTime), State: ports.RequestOpen,
		})
	}
	return all
}

// askReviewers asks reviewers as a run does, and returns the IDs of the requests.
func (f sessionFixture) askReviewers(t *testing.T, g ports.Target, cycle int, agents ...string) (asked []string) {
	t.Helper()
	l := f.acquire(t, g.Key())
	all, err := f.AskReviewers(f.ctx, l, cycle, g.HeadSHA, f.clock.Now().Add(reviewersTime), f.requests(g, cycle, agents...))
	if err := errors.Join(err, f.Release(f.ctx, l)); err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		asked = append(asked, q.ID)
	}
	return asked
}

func (f sessionFixture) request(t *testing.T, id string) ports.SessionRequest {
	t.Helper()
	q, err := f.Request(f.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (f sessionFixture) answerTo(id string, v pipeline.SessionVerdict) ports.RequestAnswer {
	return ports.RequestAnswer{
		ID: id, Digest: id + string(v), Signature: "signed " + id,
		Answer: pipeline.SessionAnswer{Verdict: v, Summary: "fine", Issues: pipeline.List[pipeline.SessionIssue]{{Severity: pipeline.SeverityWarning, Description: "x", File: "a.go", Line: 3}}, At: f.clock.Now()},
	}
}

func (f sessionFixture) answer(t *testing.T, id string, v pipeline.SessionVerdict, want ports.AnswerOutcome) {
	t.Helper()
	if got, err := f.Answer(f.ctx, f.answerTo(id, v)); err != nil || got != want {
		t.Fatalf("Answer(%s, %s) = %s, %v; want %s", id, v, got, err, want)
	}
}

// askedCycle begins the first cycle of a pull request, asks reviewers, and finishes the review that did
// so.
func (f sessionFixture) askedCycle(t *testing.T, g ports.Target, agents ...string) {
	t.Helper()
	f.accept(t, push("push "+g.Key(), g))
	f.cycle(t, g, 1)
	f.askReviewers(t, g, 1, agents...)
	f.finish(t, g, false)
	f.wantAsked(t, "asked", g, 2, "milestone by claude")
}

var sessionRequestTests = with(func(f *fixture) sessionFixture { return sessionFixture{f} }, map[string]func(*testing.T, sessionFixture){
	"reviewers are asked once about each head": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		jobs := f.jobs(t)
		deadline := f.clock.Now().Add(reviewersTime)
		want := []string{"codex 1 aaa", "sme 1 aaa"}
		if diff := cmp.Diff(want, f.askReviewers(t, g, 1, "sme", "codex")); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		f.wantJobs(t, jobs+2, "asked")
		f.clock.pass(time.Minute)
		if diff := cmp.Diff(want, f.askReviewers(t, g, 1, "codex", "sme")); diff != "" {
			t.Errorf("asked again (-want +got):\n%s", diff)
		}
		f.wantJobs(t, jobs+2, "asked again")
		r := f.session(t, g)
		if r.HeadSHA != "aaa" || r.Cycle.Deadline != deadline {
			t.Errorf("head %s, deadline %v; want aaa, %v", r.HeadSHA, r.Cycle.Deadline, deadline)
		}
		asked := f.requests(g, 1, "codex")[0]
		asked.AskedAt, asked.Deadline = deadline.Add(-reviewersTime), deadline
		if diff := cmp.Diff(asked, f.request(t, "codex 1 aaa")); diff != "" {
			t.Errorf("the request (-want +got):\n%s", diff)
		}

		// A push in the running cycle: reviewers are asked again, and have a new deadline.
		pushed := g.At("bbb")
		f.accept(t, push("2", pushed))
		if diff := cmp.Diff([]string{"codex 1 bbb"}, f.askReviewers(t, pushed, 1, "codex")); diff != "" {
			t.Errorf("asked about the next head (-want +got):\n%s", diff)
		}
		if r := f.session(t, g); r.HeadSHA != "bbb" || r.Cycle.Deadline != deadline.Add(time.Minute) || !r.Running {
			t.Errorf("the session is %+v", r)
		}
		all, err := f.Requests(f.ctx, g.Key(), 2)
		if err != nil || len(all) != 2 || all[0].ID != "codex 1 bbb" || all[1].ID != "codex 1 aaa" {
			t.Errorf("the newest requests are %+v, %v", all, err)
		}
	},
	"nobody is asked in a cycle that does not run": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		if asked := f.askReviewers(t, g, 1, "codex"); len(asked) != 0 {
			t.Errorf("asked without a session: %q", asked)
		}
		f.cycle(t, g, 1)
		f.askReviewers(t, g, 1, "codex")
		if asked := f.askReviewers(t, g, 2, "codex"); len(asked) != 0 {
			t.Errorf("asked in a cycle that has not begun: %q", asked)
		}
		f.publish(t, g, decided(1))
		if diff := cmp.Diff([]string{"codex 1 aaa"}, f.askReviewers(t, g, 1, "codex", "sme")); diff != "" {
			t.Errorf("asked after the decision (-want +got):\n%s", diff)
		}
		if r := f.session(t, g); r.Running {
			t.Errorf("the session is %+v", r)
		}
		f.cycle(t, g, 2)
		if r := f.session(t, g); r.HeadSHA != "" || !r.Cycle.Deadline.IsZero() {
			t.Errorf("nobody was asked in the next cycle, and the session is %+v", r)
		}
		f.askReviewers(t, g, 2, "codex")
		if r := f.session(t, g); r.HeadSHA != "aaa" || r.Cycle.Deadline != f.clock.Now().Add(reviewersTime) {
			t.Errorf("asked in the next cycle, the session is %+v", r)
		}
	},
	"reviewers outside of sessions are asked with those of the cycle": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		if diff := cmp.Diff([]string{"always 0 aaa"}, f.askReviewers(t, g, 0, "always")); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(ports.SessionRow{Key: g.Key()}, f.session(t, g)); diff != "" {
			t.Errorf("without an event, the session is (-want +got):\n%s", diff)
		}
		f.cycle(t, g, 1)
		if diff := cmp.Diff([]string{"always 0 aaa", "codex 1 aaa"}, f.askReviewers(t, g, 1, "codex")); diff != "" {
			t.Errorf("asked in the cycle (-want +got):\n%s", diff)
		}
		f.publish(t, g, decided(1))
		if diff := cmp.Diff([]string{"always 0 aaa", "codex 1 aaa"}, f.askReviewers(t, g, 0)); diff != "" {
			t.Errorf("asked after the decision (-want +got):\n%s", diff)
		}
		pushed := g.At("bbb")
		f.accept(t, push("2", pushed))
		if diff := cmp.Diff([]string{"always 0 bbb"}, f.askReviewers(t, pushed, 0, "always")); diff != "" {
			t.Errorf("asked about a head that the cycle is not about (-want +got):\n%s", diff)
		}
		f.cycle(t, pushed, 2)
		f.askReviewers(t, g, 2, "codex")
		f.askReviewers(t, pushed, 2, "codex")
		if diff := cmp.Diff([]string{"always 0 aaa"}, f.askReviewers(t, g, 0)); diff != "" {
			t.Errorf("asked about an older head of the cycle (-want +got):\n%s", diff)
		}
	},
	"a run asks about its own target, under its lease": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		lost := f.acquire(t, g.Key())
		f.clock.pass(time.Hour)
		l := f.acquire(t, g.Key())
		_, err := f.AskReviewers(f.ctx, lost, 1, "aaa", f.clock.Now(), f.requests(g, 1, "codex"))
		wantErr(t, "with a lost lease", err, ports.ErrLeaseLost)
		for what, q := range map[string]ports.SessionRequest{
			"another target": f.requests(pull(2, "aaa"), 1, "codex")[0], "another head": f.requests(g.At("bbb"), 1, "codex")[0], "another cycle": f.requests(g, 2, "codex")[0],
		} {
			if _, err := f.AskReviewers(f.ctx, l, 1, "aaa", f.clock.Now(), []ports.SessionRequest{q}); err == nil {
				t.Errorf("%s was asked about", what)
			}
		}
		if r := f.session(t, g); r.HeadSHA != "" {
			t.Errorf("the session is %+v", r)
		}
	},
	"the deadline asks for the decision once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		f.say(t, milestone(g, "claude", "waits"), ports.Spoken{Cycle: 2})
		f.clock.pass(reviewersTime - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "the deadline has passed", 1)
		f.wantAsked(t, "the deadline has passed", g, 3, "the reviewers' deadline has passed")
		if st := f.state(t, g.Key()); !st.Rerun.Decide {
			t.Errorf("the agents run again: %+v", st.Rerun)
		}
		f.fire(t, "again", 0)
		f.askReviewers(t, g, 1, "codex", "sme") // the review that decides
		f.clock.pass(time.Hour)
		f.fire(t, "no new deadline", 0)
		if r := f.session(t, g); !r.Running || r.Cycle.Number != 1 {
			t.Errorf("the session is %+v", r)
		}
		f.publish(t, g, decided(1))
		f.fire(t, "the event that waited", 1)
	},
	"a reviewer who is asked later has its own deadline": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		f.clock.pass(time.Minute)
		f.askReviewers(t, g, 1, "codex", "sme")
		f.clock.pass(reviewersTime - time.Minute)
		f.fire(t, "the deadline of the first has passed", 1)
		if q := f.request(t, "codex 1 aaa"); q.State != ports.RequestFailed || q.Note != "did not answer in time" {
			t.Errorf("the request is %+v", q)
		}
		if q := f.request(t, "sme 1 aaa"); q.State != ports.RequestOpen {
			t.Errorf("the request is %+v", q)
		}
		f.finish(t, g, false)
		if r := f.session(t, g); !r.Running {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(time.Second)
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "the first is late, and the second has time", g, 4, "codex answered")
		f.finish(t, g, false)
		f.clock.pass(59 * time.Second)
		f.fire(t, "the deadline of the second has passed", 1)
		f.wantAsked(t, "the deadline of the second has passed", g, 5, "the reviewers' deadline has passed")
		f.askReviewers(t, g, 1, "third")
		f.finish(t, g, false)
		f.clock.pass(reviewersTime)
		f.fire(t, "the deadline of the third has passed", 1)
		if q := f.request(t, "third 1 aaa"); q.State != ports.RequestFailed {
			t.Errorf("the request is %+v", q)
		}
	},
	"a decision ends the wait for reviewers": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.publish(t, g, decided(1))
		f.clock.pass(reviewersTime)
		f.fire(t, "decided", 0)
	},
	"the last answer asks for the decision": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		f.answer(t, "codex 1 aaa", pipeline.SessionConcerns, ports.AnswerStored)
		f.wantAsked(t, "one of two", g, 2, "milestone by claude")
		f.clock.pass(time.Minute)
		f.answer(t, "sme 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "both", g, 3, "sme answered")
		if st := f.state(t, g.Key()); !st.Rerun.Decide {
			t.Errorf("the agents run again: %+v", st.Rerun)
		}
		got := f.request(t, "sme 1 aaa")
		want := f.answerTo("sme 1 aaa", pipeline.SessionApproved)
		if diff := cmp.Diff(&want.Answer, got.Answer); diff != "" || got.State != ports.RequestAnswered || got.Digest != want.Digest || got.Late || got.Outdated {
			t.Errorf("the request is %+v; its answer (-want +got):\n%s", got, diff)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "nobody is awaited", 0)
	},
	"a blocker asks for the decision at once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.wantAsked(t, "a blocker", g, 3, "codex answered")
		f.publish(t, g, paused(1))
		f.answer(t, "sme 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "the last answer, after the decision", g, 4, "sme answered")
	},
	"a late answer asks for a new decision": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme", "third")
		f.clock.pass(reviewersTime)
		f.answer(t, "third 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		if q := f.request(t, "third 1 aaa"); q.Late {
			t.Error("an answer at the deadline is late")
		}
		f.clock.pass(time.Microsecond)
		f.fire(t, "the deadline has passed", 1)
		f.publish(t, g, paused(1))
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		if q := f.request(t, "codex 1 aaa"); !q.Late || q.State != ports.RequestAnswered {
			t.Errorf("the request is %+v", q)
		}
		f.wantAsked(t, "late", g, 4, "codex answered")
	},
	"an answer to a request that failed counts": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		if err := f.EndRequest(f.ctx, "codex 1 aaa", false, "it answered with status 500"); err != nil {
			t.Fatal(err)
		}
		if q := f.request(t, "codex 1 aaa"); q.State != ports.RequestFailed || q.Note != "it answered with status 500" {
			t.Errorf("the request is %+v", q)
		}
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		if q := f.request(t, "codex 1 aaa"); q.State != ports.RequestAnswered || q.Note != "" || q.Answer == nil {
			t.Errorf("the request is %+v", q)
		}
		f.wantAsked(t, "the other one is awaited", g, 2, "milestone by claude")
	},
	"an answer about an older head or cycle asks for no review": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		pushed := g.At("bbb")
		f.accept(t, push("2", pushed))
		f.answer(t, "sme 1 aaa", pipeline.SessionBlocker, ports.AnswerStored) // nobody was asked about the newest head yet
		f.askReviewers(t, pushed, 1, "codex")
		f.finish(t, pushed, false)
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.wantAsked(t, "an older head", g, 3, "pushed")
		for _, id := range []string{"codex 1 aaa", "sme 1 aaa"} {
			if q := f.request(t, id); !q.Outdated || q.Late || q.State != ports.RequestAnswered {
				t.Errorf("the request is %+v", q)
			}
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "the deadline has passed", 1)
		f.publish(t, pushed, decided(1))
		f.cycle(t, pushed, 2)
		f.finish(t, pushed, false)
		f.answer(t, "codex 1 bbb", pipeline.SessionBlocker, ports.AnswerStored)
		f.wantAsked(t, "an older cycle", g, 5, "milestone by claude")
		if q := f.request(t, "codex 1 bbb"); !q.Outdated || !q.Late {
			t.Errorf("the request is %+v", q)
		}
	},
	"an answer about a closed pull request does not open it": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		if err := f.SetClosed(f.ctx, ports.Close{Target: g}); err != nil {
			t.Fatal(err)
		}
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.clock.pass(reviewersTime)
		f.fire(t, "closed", 1)
		if q := f.request(t, "codex 1 aaa"); q.Outdated {
			t.Errorf("the request is %+v", q)
		}
		if st := f.state(t, g.Key()); !st.Closed || st.Wanted != 2 {
			t.Errorf("the target is %+v", st)
		}
	},
	"a closed pull request waits for nobody": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		if err := f.SetClosed(f.ctx, ports.Close{Target: g}); err != nil {
			t.Fatal(err)
		}
		if err := f.StallCycle(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "closed", 0)
	},
	"an answer about a head that no delivery has named": func(t *testing.T, f sessionFixture) {
		f.cycle(t, pull(1, ""), 1)
		f.askReviewers(t, pull(1, "aaa"), 1, "codex", "sme")
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		if q := f.request(t, "codex 1 aaa"); q.Outdated {
			t.Errorf("the request is %+v", q)
		}
		f.wantAsked(t, "answered", pull(1, ""), 2, "codex answered")
	},
	"repeated answers": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerKnown)
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerConflict)
		stolen := f.answerTo("sme 1 aaa", pipeline.SessionApproved)
		stolen.Signature = "signed codex 1 aaa"
		if got, err := f.Answer(f.ctx, stolen); err != nil || got != ports.AnswerReplayed {
			t.Errorf("with a signature that was used: %s, %v", got, err)
		}
		if q := f.request(t, "codex 1 aaa"); q.Answer.Verdict != pipeline.SessionApproved {
			t.Errorf("the first answer was replaced: %+v", q)
		}
		if q := f.request(t, "sme 1 aaa"); q.Answer != nil || q.State != ports.RequestOpen {
			t.Errorf("a replayed answer counts: %+v", q)
		}
		f.wantAsked(t, "sme is awaited", g, 2, "milestone by claude")
		unsigned := f.answerTo("sme 1 aaa", pipeline.SessionApproved)
		unsigned.Signature = ""
		if got, err := f.Answer(f.ctx, unsigned); err != nil || got != ports.AnswerStored {
			t.Errorf("without a signature: %s, %v", got, err)
		}
		_, err := f.Answer(f.ctx, f.answerTo("unknown", pipeline.SessionApproved))
		wantErr(t, "an unknown request", err, ports.ErrNotFound)
	},
	"equal answers at the same time count once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		var first atomic.Int64
		var wg sync.WaitGroup
		for i := range 4 {
			id := []string{"codex 1 aaa", "sme 1 aaa"}[i%2]
			wg.Go(func() {
				a := f.answerTo(id, pipeline.SessionApproved)
				a.Signature = "one for both"
				got, err := f.Answer(f.ctx, a)
				if err != nil {
					t.Error(err)
				}
				if got == ports.AnswerStored {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if first.Load() != 1 {
			t.Errorf("%d answers with one signature were stored, want 1", first.Load())
		}
	},
	"an answer outside of sessions is about the newest head": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.askReviewers(t, g, 0, "one", "two")
		f.finish(t, g, false)
		f.answer(t, "one 0 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "one of two", g, 1, "pushed")
		f.answer(t, "two 0 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "both", g, 2, "two answered")
		f.askReviewers(t, g, 0, "third", "fourth", "fifth")
		f.finish(t, g, false)
		f.clock.pass(reviewersTime + time.Microsecond)
		f.answer(t, "third 0 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.wantAsked(t, "late", g, 3, "third answered")
		if err := f.EndRequest(f.ctx, "fourth 0 aaa", false, "no answer"); err != nil {
			t.Fatal(err)
		}
		f.wantAsked(t, "the fifth is open", g, 3, "third answered")
		f.fire(t, "the deadline of the fifth has passed", 1)
		f.wantAsked(t, "the deadline of the fifth has passed", g, 4, "the reviewers' deadline has passed")
		f.accept(t, push("2", g.At("bbb")))
		f.answer(t, "fifth 0 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.wantAsked(t, "an older head", g, 5, "pushed")
	},
	"the answer to a failed request is no longer awaited": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		end := func(id string, done bool) {
			t.Helper()
			if err := f.EndRequest(f.ctx, id, done, "refused"); err != nil {
				t.Fatal(err)
			}
		}
		end("codex 1 aaa", true) // sent, and still to be answered
		if q := f.request(t, "codex 1 aaa"); q.State != ports.RequestOpen || q.Note != "" {
			t.Errorf("the request is %+v", q)
		}
		end("codex 1 aaa", false)
		f.wantAsked(t, "one of two", g, 2, "milestone by claude")
		end("sme 1 aaa", false)
		f.wantAsked(t, "both", g, 3, "sme can't answer")
		end("sme 1 aaa", false)
		f.wantAsked(t, "again", g, 3, "sme can't answer")
		f.clock.pass(reviewersTime)
		f.fire(t, "nobody is awaited", 0)
		wantErr(t, "an unknown request", f.EndRequest(f.ctx, "unknown", false, ""), ports.ErrNotFound)
	},
	"a request that fails after an early decision asks for a new one": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme", "third")
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.publish(t, g, paused(1))
		f.wantAsked(t, "decided", g, 3, "codex answered")
		for _, id := range []string{"sme 1 aaa", "third 1 aaa"} {
			f.wantAsked(t, "one is open", g, 3, "codex answered")
			if err := f.EndRequest(f.ctx, id, false, "no answer"); err != nil {
				t.Fatal(err)
			}
			if q := f.request(t, id); q.State != ports.RequestFailed {
				t.Errorf("the request is %+v", q)
			}
		}
		f.wantAsked(t, "none is open", g, 4, "third can't answer")
		f.publish(t, g, paused(1))
		f.clock.pass(reviewersTime)
		f.fire(t, "nobody is awaited", 0)
	},
	"the deadline asks for a new decision after an early one": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex", "sme")
		f.clock.pass(time.Minute)
		f.answer(t, "codex 1 aaa", pipeline.SessionBlocker, ports.AnswerStored)
		f.publish(t, g, paused(1))
		if r := f.session(t, g); r.Running {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(reviewersTime - time.Minute - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "the deadline of the other has passed", 1)
		f.wantAsked(t, "the deadline of the other has passed", g, 4, "the reviewers' deadline has passed")
		if q, st := f.request(t, "sme 1 aaa"), f.state(t, g.Key()); q.State != ports.RequestFailed || q.Note != "did not answer in time" || !st.Rerun.Decide {
			t.Errorf("the request is %+v, and the target %+v", q, st)
		}
		f.askReviewers(t, g, 0)
		f.publish(t, g, paused(1))
		f.clock.pass(time.Minute)
		f.fire(t, "once", 0)
		f.wantAsked(t, "once", g, 4, "the reviewers' deadline has passed")
	},
	"a reviewer outside of sessions who never answers is awaited once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.askReviewers(t, g, 0, "always")
		f.publish(t, g, ports.SessionOutcome{})
		f.clock.pass(reviewersTime - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "the deadline has passed", 1)
		f.wantAsked(t, "the deadline has passed", g, 2, "the reviewers' deadline has passed")
		if q := f.request(t, "always 0 aaa"); q.State != ports.RequestFailed || q.Note != "did not answer in time" {
			t.Errorf("the request is %+v", q)
		}
		for range 3 {
			f.askReviewers(t, g, 0, "always")
			f.finish(t, g, false)
			f.clock.pass(reviewersTime)
			f.fire(t, "once", 0)
			f.wantAsked(t, "once", g, 2, "the reviewers' deadline has passed")
		}
		if r := f.session(t, g); r.Running || r.Cycle.Number != 0 {
			t.Errorf("the session is %+v", r)
		}
	},
	"only requests about the newest head and cycle have a deadline": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		f.askReviewers(t, g, 0, "always")
		pushed := g.At("bbb")
		f.accept(t, push("2", pushed))
		f.clock.pass(reviewersTime)
		f.fire(t, "asked about an older head", 1)
		f.wantAsked(t, "asked about an older head", g, 3, "pushed")
		for _, id := range []string{"codex 1 aaa", "always 0 aaa"} {
			if q := f.request(t, id); q.State != ports.RequestOpen {
				t.Errorf("the request is %+v", q)
			}
		}
		f.askReviewers(t, pushed, 1, "codex", "sme")
		f.answer(t, "codex 1 bbb", pipeline.SessionBlocker, ports.AnswerStored)
		f.publish(t, pushed, paused(1))
		f.cycle(t, pushed, 2)
		f.finish(t, pushed, false)
		f.wantAsked(t, "the next cycle", g, 5, "milestone by claude")
		f.clock.pass(reviewersTime)
		f.fire(t, "asked in an older cycle", 0)
	},
	"a run that asks only models leaves no deadline": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		f.askReviewers(t, g, 1)
		if r := f.session(t, g); r.HeadSHA != "aaa" || !r.Running {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(time.Hour)
		f.fire(t, "nobody remote was asked", 0)
		f.finish(t, g, false)
		if r := f.session(t, g); !r.Stalled {
			t.Errorf("no review is left to decide, and the session is %+v", r)
		}
	},
	"a reviewer outside of sessions does not keep a cycle from stalling": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		f.askReviewers(t, g, 1)
		f.askReviewers(t, g, 0, "always")
		f.finish(t, g, false)
		if r := f.session(t, g); !r.Stalled {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "the deadline has passed", 1)
		f.wantAsked(t, "the deadline has passed", g, 3, "the reviewers' deadline has passed")
	},
	"reviewers keep their time when a cycle stalls": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		if err := f.StallCycle(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		if r := f.session(t, g); !r.Stalled {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "the deadline has passed", 1)
		f.wantAsked(t, "the deadline has passed", g, 3, "the reviewers' deadline has passed")
	},
	"a pull request that was closed and opened again waits again": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		f.clock.pass(time.Minute)
		if err := f.SetClosed(f.ctx, ports.Close{Target: g}); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "closed", 1)
		f.fire(t, "closed", 0)
		if q := f.request(t, "codex 1 aaa"); q.State != ports.RequestOpen {
			t.Errorf("the request is %+v", q)
		}
		f.accept(t, push("reopened", g))
		f.askReviewers(t, g, 1, "codex")
		f.finish(t, g, false)
		f.fire(t, "opened again", 1)
		f.wantAsked(t, "opened again", g, 4, "the reviewers' deadline has passed")
	},
	"a failed request is reopened on demand": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		again := func(agent string) {
			t.Helper()
			q := f.requests(g, 0, agent)[0]
			q.ID, q.Again = "new "+agent, true
			l := f.acquire(t, g.Key())
			_, err := f.AskReviewers(f.ctx, l, 0, "aaa", q.Deadline, []ports.SessionRequest{q})
			if err := errors.Join(err, f.Release(f.ctx, l)); err != nil {
				t.Fatal(err)
			}
		}
		end := func(id string) {
			t.Helper()
			if err := f.EndRequest(f.ctx, id, false, "refused"); err != nil {
				t.Fatal(err)
			}
		}
		f.askReviewers(t, g, 0, "one", "two", "three")
		f.answer(t, "two 0 aaa", pipeline.SessionApproved, ports.AnswerStored)
		end("one 0 aaa")
		f.finish(t, g, false)
		before := f.request(t, "two 0 aaa")
		jobs := f.jobs(t)
		f.clock.pass(time.Minute)
		f.askReviewers(t, g, 0, "one") // without Again
		if q := f.request(t, "one 0 aaa"); q.State != ports.RequestFailed {
			t.Errorf("the request is %+v", q)
		}
		again("one")
		want := f.requests(g, 0, "one")[0]
		if diff := cmp.Diff(want, f.request(t, "one 0 aaa")); diff != "" {
			t.Errorf("the request (-want +got):\n%s", diff)
		}
		f.wantJobs(t, jobs+1, "reopened, although its first job has not run")
		f.clock.pass(time.Second)
		again("one")
		again("two")
		again("three")
		f.wantJobs(t, jobs+1, "open, or answered")
		if q := f.request(t, "one 0 aaa"); q.AskedAt != want.AskedAt {
			t.Errorf("an open request was reopened: %+v", q)
		}
		if diff := cmp.Diff(before, f.request(t, "two 0 aaa")); diff != "" {
			t.Errorf("the answered request (-want +got):\n%s", diff)
		}
		_, err := f.Request(f.ctx, "new one")
		wantErr(t, "a second request", err, ports.ErrNotFound)

		f.clock.pass(reviewersTime - time.Minute - time.Second)
		f.fire(t, "the deadline of three has passed", 1)
		f.finish(t, g, false)
		f.clock.pass(time.Minute)
		f.fire(t, "the new deadline of one has passed", 1)
		again("one")
		f.answer(t, "one 0 aaa", pipeline.SessionApproved, ports.AnswerStored)
		if q := f.request(t, "one 0 aaa"); q.Late || q.Answer == nil {
			t.Errorf("the request is %+v", q)
		}
	},
	"a reviewer of a cycle who is asked again has a new deadline": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		f.clock.pass(reviewersTime)
		f.fire(t, "the deadline has passed", 1)
		q := f.requests(g, 1, "codex")[0]
		q.Again = true
		l := f.acquire(t, g.Key())
		all, err := f.AskReviewers(f.ctx, l, 1, "aaa", q.Deadline, []ports.SessionRequest{q})
		if err := errors.Join(err, f.Release(f.ctx, l)); err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].State != ports.RequestOpen || all[0].Note != "" {
			t.Errorf("the requests are %+v", all)
		}
		if r := f.session(t, g); r.Cycle.Deadline != q.Deadline {
			t.Errorf("the cycle's deadline is %v, want %v", r.Cycle.Deadline, q.Deadline)
		}
		f.finish(t, g, false)
		f.clock.pass(reviewersTime - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "the new deadline has passed", 1)
	},
	"other requests are done when they are sent": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.askedCycle(t, g, "codex")
		o := paused(1)
		o.Requests = []ports.SessionRequest{
			{ID: "ask", Kind: ports.RequestClarification, Cycle: 1, HeadSHA: "aaa", Agent: "codex"}, {ID: "call", Kind: ports.RequestEscalation, Cycle: 1, HeadSHA: "aaa"},
		}
		f.publish(t, g, o)
		if err := errors.Join(f.EndRequest(f.ctx, "ask", true, ""), f.EndRequest(f.ctx, "call", false, "refused")); err != nil {
			t.Fatal(err)
		}
		if q := f.request(t, "ask"); q.State != ports.RequestAnswered {
			t.Errorf("the clarification is %+v", q)
		}
		if q := f.request(t, "call"); q.State != ports.RequestFailed || q.Note != "refused" {
			t.Errorf("the escalation is %+v", q)
		}
		f.wantAsked(t, "sent", g, 2, "milestone by claude")
		_, err := f.Answer(f.ctx, f.answerTo("ask", pipeline.SessionApproved))
		wantErr(t, "an answer to a clarification", err, ports.ErrNotFound)
		wantErr(t, "an unknown request", f.EndRequest(f.ctx, "unknown", true, ""), ports.ErrNotFound)
	},
	"a request needs an id and a kind": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		q := f.requests(g, 0, "codex")[0]
		q.ID = ""
		if _, err := f.AskReviewers(f.ctx, f.acquire(t, g.Key()), 0, "aaa", f.clock.Now(), []ports.SessionRequest{q}); err == nil {
			t.Error("it was stored")
		}
	},
})
