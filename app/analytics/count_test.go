package analytics

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// byModels is a finding of the stage spec without a rule.
func byModels(status learning.Status, models ...string) learning.Finding {
	var all []learning.Stated
	for _, m := range models {
		all = append(all, learning.Stated{Model: m, Confidence: 0.85})
	}
	return found("f1", "spec-reviewer", "", pipeline.SeverityMajor, status, all...)
}

// asking sets which agents asked which models, written as "agent model checklist".
func asking(all ...string) func(*learning.Review) {
	return func(r *learning.Review) {
		for _, a := range all {
			f := strings.Split(a, " ")
			r.Asked = append(r.Asked, learning.Asked{Agent: f[0], Model: f[1], Stage: "spec", Checklist: f[2], Lines: pipeline.List[learning.Lines]{{Path: "cart/total.go", First: 1, Last: 9}}})
		}
	}
}

// A model missed a finding if it never made it, although it was asked for the same as those that did.
func TestMissed(t *testing.T) {
	t.Parallel()
	both := asking("spec-reviewer large c1", "spec-reviewer small c1")
	for _, tt := range []struct {
		name  string
		asked func(*learning.Review)
		first []string // who made it at first
		later []string // and in the next review
		want  int      // missed by small
	}{
		{"it did not make it", both, []string{"large"}, []string{"large"}, 1},
		{"it made it only at first", both, []string{"large", "small"}, []string{"large"}, 0},
		{"it made it only later", both, []string{"large"}, []string{"large", "small"}, 0},
		{"it was not asked", asking("spec-reviewer large c1"), []string{"large"}, []string{"large"}, 0},
		{"other checklist", asking("spec-reviewer large c1", "spec-reviewer small c2"), []string{"large"}, []string{"large"}, 0},
		{"same checklist of another agent", asking("spec-reviewer large c1", "style small c1"), []string{"large"}, []string{"large"}, 1},
		{"no checklists of two agents", asking("spec-reviewer large ", "style small "), []string{"large"}, []string{"large"}, 0},
		{"no checklist of the same agent", asking("spec-reviewer large ", "spec-reviewer small "), []string{"large"}, []string{"large"}, 1},
		{"a rule's finding", both, nil, nil, 0},
	} {
		s := tell("acme/shop", 1).review("fail", tt.asked, byModels(learning.StatusOpen, tt.first...)).
			review("fail", tt.asked, byModels(learning.StatusOpen, tt.later...)).review("pass", nil, byModels(learning.StatusFixed, tt.later...))
		got := 0
		for _, r := range summarised(t, [][]learning.Entry{s.log}, Options{By: ByModel}).Tables[0].Rows {
			if r.Name == "small" {
				got = *r.Missed
			}
		}
		if got != tt.want {
			t.Errorf("%s: missed %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A finding counts for every model that ever made it, once.
func TestModelsCountOnce(t *testing.T) {
	t.Parallel()
	twice := tell("acme/shop", 1).review("fail", nil, byModels(learning.StatusOpen, "large", "large")).review("pass", nil, byModels(learning.StatusFixed, "large", "large"))
	s := summarised(t, [][]learning.Entry{twice.log}, Options{})
	if b := s.Calibration[0].Bins[8]; b.Judged != 1 || b.Right != 1 || len(s.Calibration) != 1 {
		t.Errorf("a model that made it through two agents: %+v", s.Calibration)
	}
	if seed := seedOf(t, [][]learning.Entry{twice.log}, Options{}); !strings.Contains(seed, `"category": "large_only"`) {
		t.Errorf("a model that made it through two agents: %s", seed)
	}

	forgot := tell("acme/shop", 1).review("fail", nil, byModels(learning.StatusOpen, "large", "small")).
		review("fail", nil, byModels(learning.StatusOpen, "small")).review("pass", nil, byModels(learning.StatusFixed, "small"))
	s = summarised(t, [][]learning.Entry{forgot.log}, Options{By: ByModel})
	for _, r := range s.Tables[0].Rows {
		if r.Outcomes.Fixed != 1 {
			t.Errorf("of %s, %d findings were fixed", r.Name, r.Outcomes.Fixed)
		}
	}
	if len(s.Tables[0].Rows) != 2 || len(s.Calibration) != 2 {
		t.Errorf("%d models, %d with a calibration", len(s.Tables[0].Rows), len(s.Calibration))
	}
	if seed := seedOf(t, [][]learning.Entry{forgot.log}, Options{}); !strings.Contains(seed, `"category": "agreed"`) {
		t.Errorf("both models found it at first: %s", seed)
	}
}

func TestTimeToGreen(t *testing.T) {
	t.Parallel()
	failed := func() *story { return tell("acme/shop", 1).review("fail", nil) }
	for _, tt := range []struct {
		name          string
		of            *story
		green, notYet int
	}{
		{"open", failed(), 0, 1},
		{"merged red", failed().end(learning.KindMerged), 0, 1},
		{"closed", failed().end(learning.KindClosed), 0, 0},
		{"closed and opened again", failed().end(learning.KindClosed).end(learning.KindReopened), 0, 1},
		{"passed, then closed", failed().review("pass", nil).end(learning.KindClosed), 1, 0},
		{"overridden", failed().decided(learning.Overrode), 1, 0},
		{"overridden, then rejected", failed().decided(learning.Overrode).decided(learning.Rejected), 0, 1},
		{"rejected, then overridden", failed().decided(learning.Rejected).decided(learning.Overrode), 1, 0},
		{"overridden, next head rejected", failed().decided(learning.Overrode).review("fail", nil).decided(learning.Rejected), 1, 0},
		{"passed at once", tell("acme/shop", 1).review("pass", nil), 0, 0},
	} {
		g := summarised(t, [][]learning.Entry{tt.of.log}, Options{}).Totals.Green
		if g.PullRequests != tt.green || g.NotYet != tt.notYet {
			t.Errorf("%s: %+v", tt.name, g)
		}
	}
	// Of several overrides the one that still stands counts: 90 minutes each for two of them and a reject.
	again := failed().decided(learning.Overrode).decided(learning.Rejected).decided(learning.Overrode)
	if g := summarised(t, [][]learning.Entry{again.log}, Options{}).Totals.Green; *g.MedianSeconds != 3*90*60 {
		t.Errorf("overridden again: %d seconds", *g.MedianSeconds)
	}
}

// The average is of all pull requests: most need no fix.
func TestAverageFixIterations(t *testing.T) {
	t.Parallel()
	var logs [][]learning.Entry
	for i := range 95 {
		logs = append(logs, tell("acme/shop", i).review("pass", nil).log)
	}
	for i := range 5 {
		s := tell("acme/shop", 100+i).review("fail", nil)
		if i == 0 {
			s.review("fail", nil)
		}
		logs = append(logs, s.review("pass", nil).log)
	}
	s := summarised(t, logs, Options{})
	if a := s.Totals.AverageFixIterations; *a != 0.06 || s.Totals.Failed != 5 || len(s.Hints) > 0 {
		t.Errorf("%v on average, %d failed, hints %+v", *a, s.Totals.Failed, s.Hints)
	}
	s = summarised(t, logs[94:], Options{})
	if a := s.Totals.AverageFixIterations; *a != 1 || len(s.Hints) > 0 {
		t.Errorf("%v on average, hints %+v", *a, s.Hints)
	}
	s = summarised(t, logs[95:], Options{})
	if a := s.Totals.AverageFixIterations; *a != 1.2 || len(s.Hints) != 1 || s.Hints[0].Kind != HintFixIterations {
		t.Errorf("%v on average, hints %+v", *a, s.Hints)
	}
}

// What leads to a person is not in the log that is handed out.
func TestLogLeadsToNobody(t *testing.T) {
	t.Parallel()
	s := tell("acme/shop", 1).review("fail", nil, byModels(learning.StatusOpen, "large"))
	s.add(learning.KindJudged, "command issue_comment 4012345678", func(e *learning.Entry) {
		e.Judged = &learning.Judged{Findings: pipeline.List[string]{"f1"}, Verdict: learning.Dismissed, Person: "8c1f2e"}
	})
	s.add(learning.KindDecided, "review 4098765432", func(e *learning.Entry) {
		e.Decided = &learning.Decided{Action: learning.Approved, HeadSHA: "head1", Person: "8c1f2e"}
	})
	write := func(since time.Time) string {
		var b bytes.Buffer
		if _, err := Log(t.Context(), &b, each([][]learning.Entry{s.log}), since); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all := write(time.Time{})
	for _, secret := range []string{"4012345678", "4098765432", "8c1f2e"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is in %s", secret, all)
		}
	}
	for _, event := range []string{`"event":"run1-1"`, `"event":"2"`, `"event":"3"`} {
		if strings.Count(all, event) != 1 {
			t.Errorf("no %s in %s", event, all)
		}
	}
	if last := write(s.base.At); !strings.HasPrefix(last, `{"event":"3"`) {
		t.Errorf("an entry has another number in a shorter period: %s", last)
	}
}

// Wilson's intervals of 8 in 10, and of 81 in 263: the example of Newcombe, Statistics in Medicine 17
// (1998), table I.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		part, of  int
		low, high float64
	}{{8, 10, 0.490, 0.943}, {81, 263, 0.255, 0.366}} {
		s := newShare(tt.part, tt.of)
		if math.Abs(s.Low-tt.low) > 0.0005 || math.Abs(s.High-tt.high) > 0.0005 {
			t.Errorf("%d of %d: %s", tt.part, tt.of, fmt.Sprint(*s))
		}
	}
}

// A repository that was renamed has one row, with its newest name.
func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	log := func(id int64, name string, number int) []learning.Entry {
		s := tell(name, number)
		s.base.RepositoryID = id
		return s.review("pass", nil).log
	}
	logs := [][]learning.Entry{log(1, "acme/shop", 1), log(1, "acme/store", 3), log(1, "acme/shop", 2), log(2, "acme/shop", 4), log(0, "acme/web", 5)}
	for range 2 {
		got := map[string]int{}
		for _, r := range summarised(t, logs, Options{By: ByRepository}).Tables[0].Rows {
			got[r.Name] += *r.Reviews
		}
		if len(got) != 3 || got["acme/store"] != 3 || got["acme/shop"] != 1 || got["acme/web"] != 1 {
			t.Errorf("reviews by repository: %v", got)
		}
		slices.Reverse(logs)
	}
}
