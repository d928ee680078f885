package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// history is an archive with the logs of its pull requests.
type history struct {
	ports.Archive
	ports.Backtests
	ports.Learning
	all  []*ports.StoredReview
	logs map[string][]learning.Entry
	read func() // called before each review
	// altered are the keys of reviews that were altered since they were stored.
	altered []string
}

func (h *history) Archived(_ context.Context, which ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		for _, s := range h.all {
			if s.Key != which.Key {
				continue
			}
			if h.read != nil {
				h.read()
			}
			if slices.Contains(h.altered, s.Key) {
				if !yield(nil, &ports.AlteredError{RunID: "run", Err: errors.New("its digest does not match")}) {
					return
				}
				continue
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (h *history) ChooseAllReviews(context.Context, ports.Target, bool, time.Time, int) (c ports.ChosenReviews, err error) {
	for _, s := range h.all {
		c.Heads = append(c.Heads, ports.ChosenHead{Key: s.Key, HeadSHA: s.HeadSHA})
	}
	return c, nil
}

func (h *history) Log(_ context.Context, key string) ([]learning.Entry, error) {
	return h.logs[key], nil
}

// asked is a review in which models found something in store/client.go. It can be computed again from
// their answers, since a stage failed after they were asked.
func asked(number int, found ...pipeline.Finding) *ports.StoredReview {
	s := &ports.StoredReview{}
	s.Key, s.HeadSHA, s.RepoID = fmt.Sprintf("pull/7/%d", number), fmt.Sprintf("abc%d", number), shop.RepoID
	s.Review.Failed = pipeline.StageDispatch
	s.Review.Facts.Number = number
	s.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "store/client.go", Status: pipeline.FileModified}}
	for i, f := range found {
		f.Path, f.Severity, f.Category, f.Confidence = "store/client.go", pipeline.SeverityWarning, "reliability", 0.6
		f.ID = fmt.Sprintf("f00%d", i)
		s.Review.Results = append(s.Review.Results, pipeline.AgentResult{
			Agent: "quality", Model: fmt.Sprint("model-", i), Stage: "1", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{f}},
		})
	}
	return s
}

// A record is tried on earlier reviews. What it would have hidden counts if somebody fixed it.
func TestTry(t *testing.T) {
	const title = "The request is never cancelled"
	finding := pipeline.Finding{Title: title, Message: "It runs on."}
	old := func(number int) *ports.StoredReview { // its config is no longer valid
		s := asked(number, finding)
		s.Config = []ports.ConfigBlob{{Layer: "server", Path: "review-settings.json", Text: []byte(`{"setting_of_an_old_version": 1}`)}}
		return s
	}
	runner, err := run.NewRunner(run.Config{Version: "x", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		reviews []*ports.StoredReview
		right   bool // what was found was fixed
		records []ports.MemoryRecord
		slow    bool // there is no time
		altered []string
		want    memory.Trial
		hides   bool
		unclear bool
	}{
		"no reviews":               {},
		"another finding":          {reviews: []*ports.StoredReview{asked(1, pipeline.Finding{Title: "Missing index", Message: "It is slow."})}, right: true, want: memory.Trial{Reviews: 1, Of: 1}},
		"hidden, outcome unknown":  {reviews: []*ports.StoredReview{asked(1, finding)}, want: memory.Trial{Reviews: 1, Of: 1, Compared: 1}},
		"hidden, and it was right": {reviews: []*ports.StoredReview{asked(1, finding)}, right: true, want: memory.Trial{Reviews: 1, Of: 1, Compared: 1}, hides: true},
		"the only match fails":     {reviews: []*ports.StoredReview{old(1), asked(2)}, right: true, want: memory.Trial{Reviews: 1, Of: 2, Failed: 1}, unclear: true},
		"one of two matches fails": {reviews: []*ports.StoredReview{old(1), asked(2, finding)}, want: memory.Trial{Reviews: 1, Of: 2, Failed: 1, Compared: 1}},
		"altered":                  {reviews: []*ports.StoredReview{asked(1, finding)}, altered: []string{"pull/7/1"}, right: true, want: memory.Trial{Of: 1, Failed: 1}, unclear: true},
		"none can be read":         {reviews: []*ports.StoredReview{old(1), old(2)}, right: true, want: memory.Trial{Of: 2, Failed: 2}, unclear: true},
		"no time":                  {reviews: []*ports.StoredReview{asked(1), asked(2), asked(3)}, slow: true, want: memory.Trial{Of: 3, Stopped: true}, unclear: true},
		"another record hid it already": {
			reviews: []*ports.StoredReview{asked(1, finding)}, right: true, records: []ports.MemoryRecord{active(3)}, want: memory.Trial{Reviews: 1, Of: 1, Compared: 1},
		},
	} {
		h := &history{all: test.reviews, altered: test.altered, logs: map[string][]learning.Entry{}}
		clock := now
		x := &memory.Tester{Archive: h, Backtests: h, Learning: h, Memory: &store{records: test.records}, Runner: runner, Now: func() time.Time {
			if test.slow {
				clock = clock.Add(time.Minute)
			}
			return clock
		}}
		r := active(12)
		r.About.Title, r.About.Category = title, "reliability"
		if test.right {
			for _, s := range test.reviews {
				h.logs[s.Key] = fixedIn(t, runner, s)
			}
		}
		got, err := x.Try(t.Context(), &r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		test.want.Days = 90
		if got.Hides() != test.hides || got.Inconclusive() != test.unclear {
			t.Errorf("%s: hides %t, inconclusive %t", name, got.Hides(), got.Inconclusive())
		}
		got.Hidden = nil
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// fixedIn is the log of a pull request in which everything was fixed that a review found.
func fixedIn(t *testing.T, runner *run.Runner, s *ports.StoredReview) []learning.Entry {
	t.Helper()
	cfg, err := replay.New(runner).ConfigOf(s)
	if err != nil {
		return nil
	}
	report, err := runner.Replay(t.Context(), &s.Review, cfg)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(head string, minute int, status learning.Status) learning.Entry {
		e := learning.Entry{Event: "run " + head, Kind: learning.KindReview, At: now.Add(time.Duration(minute) * time.Minute), Repository: "acme/shop", Number: s.Review.Facts.Number,
			Review: &learning.Review{HeadSHA: head, BaseRef: "main"}}
		for _, f := range report.Findings {
			e.Review.Findings = append(e.Review.Findings, learning.Finding{ID: f.ID, Agent: f.Agent, Severity: f.Severity, Gate: f.GateSeverity, Status: status})
		}
		return e
	}
	return []learning.Entry{entry("one", 0, learning.StatusOpen), entry("two", 1, learning.StatusFixed)}
}

// One record is tried at a time.
func TestOneTrialAtATime(t *testing.T) {
	h := &history{all: []*ports.StoredReview{asked(1)}}
	runner, err := run.NewRunner(run.Config{Version: "x", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	x := &memory.Tester{Archive: h, Backtests: h, Learning: h, Memory: &store{}, Runner: runner, Now: func() time.Time { return now }}
	r := active(12)
	var second error
	h.read = func() { _, second = x.Try(t.Context(), &r) }
	_, first := x.Try(t.Context(), &r)
	var later *ports.RetryError
	if first != nil || !errors.As(second, &later) {
		t.Errorf("the first ended with %v, the second with %v; want that it is put off", first, second)
	}
}
