package probation

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

var today = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const (
	minor = "build-go-drop-error-01" // a warning of build-reviewer
	other = "build-go-err-compare-01"
)

// world is a store with one repository. Its own config are its settings.
type world struct {
	ports.Layers
	logs     [][]learning.Entry
	settings string
	rules    string
	rows     []ports.Probation
	told     bool
	sets     int
	asked    []time.Time // since when news were asked for
	marks    map[string]time.Time
	fails    bool
	read     int // how often logs were read
	log      strings.Builder
}

var errDatabase = errors.New("connection reset")

func (w *world) GoodLayer(_ context.Context, repoID int64, layer string) (*ports.GoodLayer, error) {
	if repoID == 0 || w.settings == "" {
		return nil, nil
	}
	files := []ports.ConfigBlob{{Layer: layer, Path: config.FileSettings, Text: []byte(w.settings)}}
	if w.rules != "" {
		files = append(files, ports.ConfigBlob{Layer: layer, Path: config.FileRules, Text: []byte(w.rules)})
	}
	return &ports.GoodLayer{Files: files}, nil
}

func (w *world) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

func (w *world) Log(context.Context, string) ([]learning.Entry, error) { return nil, errDatabase }

func (w *world) Logs(_ context.Context, which ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		w.read++
		if w.fails {
			yield(nil, errDatabase)
			return
		}
		for _, log := range w.logs {
			newest := log[len(log)-1].At
			if !newest.Before(which.Since) && !yield(log, nil) {
				return
			}
		}
	}
}

func (w *world) OnProbation(context.Context, int64) ([]ports.Probation, error) {
	return slices.Clone(w.rows), nil
}

func (w *world) SetProbations(_ context.Context, _ ports.Target, all []ports.Probation, tell bool) error {
	w.rows, w.told = slices.Clone(all), tell
	w.sets++
	return nil
}

func (w *world) LoggedRepositories(_ context.Context, since time.Time) ([]ports.Target, error) {
	w.asked = append(w.asked, since)
	return []ports.Target{{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "acme", Name: "shop"}}, nil
}

func (w *world) Mark(_ context.Context, name string) (time.Time, error) { return w.marks[name], nil }

func (w *world) SetMark(_ context.Context, name string, at time.Time) error {
	if w.marks == nil {
		w.marks = map[string]time.Time{}
	}
	w.marks[name] = at
	return nil
}

// look runs the job at the given time.
func (w *world) look(at time.Time) error { return w.finder(at).Work(context.Background()) }

func (w *world) finder(at time.Time) *Finder {
	return &Finder{
		Configs: &inforce.Configs{Layers: w, Loader: config.NewLoader(4)}, Probations: w, Learning: w, Marks: w, Log: zerolog.New(&w.log),
		Now: func() time.Time { return at },
	}
}

// word is what somebody says of the finding of one pull request.
type word struct {
	rule   string
	at     time.Time
	class  learning.DismissalClass // empty: accepted
	person string
	own    bool
	gate   pipeline.Severity // default warning
}

// say adds the log of a pull request with one finding, which somebody judged.
func (w *world) say(x word) {
	n := len(w.logs) + 1
	at, gate := x.at, x.gate
	if at.IsZero() {
		at = today.Add(-time.Hour)
	}
	if gate == "" {
		gate = pipeline.SeverityWarning
	}
	verdict := learning.Dismissed
	if x.class == "" {
		verdict = learning.Accepted
	}
	w.logs = append(w.logs, []learning.Entry{
		{Event: "run", Kind: learning.KindReview, At: at, Repository: "acme/shop", Number: n, Review: &learning.Review{Findings: pipeline.List[learning.Finding]{
			{ID: "f", Agent: "build-reviewer", Rule: x.rule, Severity: pipeline.SeverityWarning, Gate: gate, Path: "a.go", First: n, Status: learning.StatusOpen},
		}}},
		{Event: "said", Kind: learning.KindJudged, At: at.Add(time.Minute), Repository: "acme/shop", Number: n, Judged: &learning.Judged{
			Findings: pipeline.List[string]{"f"}, Verdict: verdict, Class: x.class, Person: x.person, Own: x.own,
		}},
	})
}

// wrong lets people say n times that a rule is wrong.
func (w *world) wrong(n, people int, x word) {
	for i := range n {
		x.class, x.person = learning.FalsePositive, fmt.Sprint(i%people)
		w.say(x)
	}
}

func (w *world) ids() (all []string) {
	for _, p := range w.rows {
		all = append(all, string(p.Kind)+" "+p.ID)
	}
	return all
}

// It takes 20 judged pull requests, three people who are not their authors, and a bar that the upper
// end of the interval is below.
func TestWhatIsFound(t *testing.T) {
	rule := []string{"rule " + minor}
	for name, tc := range map[string]struct {
		settings string
		logs     func(*world)
		want     []string
	}{
		"often wrong":      {"", func(w *world) { w.wrong(20, 3, word{rule: minor}) }, rule},
		"19 pull requests": {"", func(w *world) { w.wrong(19, 3, word{rule: minor}) }, nil},
		"two people":       {"", func(w *world) { w.wrong(40, 2, word{rule: minor}) }, nil},
		"one person against two others": {"", func(w *world) {
			w.wrong(38, 1, word{rule: minor})
			w.say(word{rule: minor, person: "y"})
			w.say(word{rule: minor, person: "z"})
		}, nil},
		"three people, one of them once each": {"", func(w *world) {
			w.wrong(18, 1, word{rule: minor})
			w.say(word{rule: minor, class: learning.FalsePositive, person: "y"})
			w.say(word{rule: minor, class: learning.FalsePositive, person: "z"})
		}, rule},
		"a person answered": {`{}`, func(w *world) {
			w.wrong(20, 3, word{rule: minor})
			w.rules = `[{"id": "` + minor + `", "mode": "enforce"}]`
		}, nil},
		"a secret":                    {"", func(w *world) { w.wrong(40, 3, word{rule: "secret-github-pat"}) }, nil},
		"by the authors":              {"", func(w *world) { w.wrong(40, 5, word{rule: minor, own: true}) }, nil},
		"a year ago":                  {"", func(w *world) { w.wrong(40, 5, word{rule: minor, at: today.Add(-period - time.Hour)}) }, nil},
		"other bar":                   {`{"probation_bar": 0.1}`, func(w *world) { w.wrong(20, 3, word{rule: minor}) }, nil},
		"never":                       {`{"probation_bar": 0}`, func(w *world) { w.wrong(200, 3, word{rule: minor}) }, nil},
		"a rule that is gone":         {"", func(w *world) { w.wrong(20, 3, word{rule: "old-rule"}) }, nil},
		"no rule":                     {"", func(w *world) { w.wrong(20, 3, word{}) }, []string{"agent build-reviewer"}},
		"the agent because of others": {"", func(w *world) { w.wrong(20, 3, word{rule: minor}); w.wrong(20, 3, word{}) }, []string{"agent build-reviewer", "rule " + minor}},
		"two rules":                   {"", func(w *world) { w.wrong(20, 3, word{rule: minor}); w.wrong(20, 3, word{rule: other}) }, []string{"rule " + minor, "rule " + other}},
		"mostly right": {"", func(w *world) {
			w.wrong(10, 3, word{rule: minor})
			for i := range 20 {
				w.say(word{rule: minor, person: fmt.Sprint(i)})
			}
		}, nil},
		"other classes don't judge": {"", func(w *world) {
			for i := range 40 {
				w.say(word{rule: minor, class: learning.WontFix, person: fmt.Sprint(i)})
			}
		}, nil},
	} {
		w := &world{settings: tc.settings}
		tc.logs(w)
		if err := w.look(today); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, w.ids(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A row has the newest samples, the wrong ones first, and says whether a finding blocked.
func TestWhatIsStored(t *testing.T) {
	w := &world{}
	w.wrong(25, 4, word{rule: minor})
	w.say(word{rule: minor, person: "x"})
	w.say(word{rule: minor, class: learning.FalsePositive, person: "author", own: true})
	if err := w.look(today); err != nil {
		t.Fatal(err)
	}
	want := ports.Probation{Kind: ports.ProbationRule, ID: minor, Judged: 26, People: 4, Precision: 1.0 / 26}
	for n := 25; n > 22; n-- {
		want.Samples = append(want.Samples, ports.ProbationSample{Number: n, Path: "a.go", Line: n, Outcome: learning.OutcomeDismissed})
	}
	_, want.High = learning.Wilson(1, 26)
	if diff := cmp.Diff([]ports.Probation{want}, w.rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if w.told || w.sets != 1 || w.read != 1 {
		t.Errorf("told %t, stored %d times, read %d times", w.told, w.sets, w.read)
	}
	if err := w.look(today.Add(time.Hour)); err != nil || w.sets != 1 {
		t.Errorf("the same again is stored %d times, %v", w.sets, err)
	}
	w.say(word{rule: minor, class: learning.FalsePositive, person: "x", gate: pipeline.SeverityMajor})
	w.settings = `{"issues": {"probation": true}}`
	if err := w.look(today.Add(2 * time.Hour)); err != nil || !w.rows[0].Blocks || !w.told {
		t.Errorf("after a finding that blocked: %+v, told %t, %v", w.rows, w.told, err)
	}
	if err := w.look(today.Add(3 * time.Hour)); err != nil || w.sets != 2 {
		t.Errorf("with issues, the same again is stored %d times, %v", w.sets-1, err)
	}
}

// What is no longer found goes, unless reviewgate put it in evaluation itself: then it stays until a
// person answers.
func TestWhatIsNoLongerFound(t *testing.T) {
	row := ports.Probation{Kind: ports.ProbationRule, ID: minor, Judged: 20, People: 3}
	blocked, agent := row, row
	blocked.Blocks = true
	agent.Kind, agent.ID = ports.ProbationAgent, "build-reviewer"
	for name, tc := range map[string]struct {
		settings string
		row      ports.Probation
		stays    bool
	}{
		"only proposed":              {"", row, false},
		"in evaluation":              {`{"probation": "auto"}`, row, true},
		"one of its findings blocks": {`{"probation": "auto"}`, blocked, false},
		"an agent":                   {`{"probation": "auto"}`, agent, false},
		"the bar is 0":               {`{"probation": "auto", "probation_bar": 0}`, row, false},
	} {
		w := &world{settings: tc.settings, rows: []ports.Probation{tc.row}}
		for range 2 {
			if err := w.look(today); err != nil {
				t.Fatal(err)
			}
			if stays := len(w.rows) == 1; stays != tc.stays {
				t.Errorf("%s: stays %t", name, stays)
			}
		}
	}
}

// All repositories are looked at once a day, and in between those with news. One that fails is logged,
// and does not keep the marks back: with them, every hour would look at all repositories.
func TestWhenItLooks(t *testing.T) {
	w := &world{fails: true}
	w.wrong(20, 3, word{rule: minor})
	if err := w.look(today); err != nil || len(w.marks) != 2 || w.sets != 0 || !strings.Contains(w.log.String(), "connection reset") {
		t.Errorf("%v, marks %v, log %s", err, w.marks, w.log.String())
	}
	w.fails = false
	for _, h := range []int{1, 2, 24, 25} {
		if err := w.look(today.Add(time.Duration(h) * time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want := []time.Time{{}, today, today.Add(time.Hour), {}, today.Add(24 * time.Hour)}
	if diff := cmp.Diff(want, w.asked); diff != "" {
		t.Errorf("since (-want +got):\n%s", diff)
	}
	if len(w.rows) != 1 {
		t.Errorf("after the failure: %+v", w.rows)
	}
}

// A server that stops has not looked at everything.
func TestStopped(t *testing.T) {
	w := &world{fails: true}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := w.finder(today).Work(ctx); !errors.Is(err, context.Canceled) || len(w.marks) > 0 {
		t.Errorf("%v, marks %v", err, w.marks)
	}
}

// A rule is proposed from 20 pull requests on, if three people say that it is wrong, and if even the
// upper end of the interval is below the bar. Wilson's interval of 5 in 20 ends at 0.469, that of 6 at
// 0.519.
func TestTooOften(t *testing.T) {
	for _, tt := range []struct {
		tally
		bar  float64
		want bool
	}{
		{tally{20, 5, 3}, 0.5, true},
		{tally{20, 6, 3}, 0.5, false},
		{tally{20, 6, 3}, 0.52, true},
		{tally{20, 5, 2}, 0.5, false},
		{tally{19, 0, 3}, 0.5, false},
		{tally{0, 0, 0}, 0.5, false},
		{tally{0, 0, 0}, 1, false},
	} {
		if precision, high, got := tt.tooOften(tt.bar); got != tt.want {
			t.Errorf("%+v: %v, %v to %v", tt, got, precision, high)
		}
	}
}

// A pull request in which several findings of a source were judged counts once, and as wrong if one was
// wrong. An agent is judged by the findings that it shares with others, too.
func TestOneJudgementForEachPullRequest(t *testing.T) {
	var all judgements
	for n, outcomes := range [][]learning.Outcome{
		{learning.OutcomeFixed, learning.OutcomeDismissed, learning.OutcomeFixed}, {learning.OutcomeFixed, learning.OutcomeAccepted},
		{learning.OutcomeOpen, learning.OutcomeUnshown}, {learning.OutcomeDismissed},
	} {
		h := learning.History{Number: n + 1}
		for i, o := range outcomes {
			f := learning.Followed{Outcome: o, Shown: true}
			f.Agent, f.Rule, f.First, f.Gate, f.Others = "a", fmt.Sprint("R", i%2), i, pipeline.SeverityWarning, pipeline.List[string]{"b", "a", "b"}
			if o == learning.OutcomeDismissed || o == learning.OutcomeAccepted {
				f.Judged = &learning.Entry{Judged: &learning.Judged{Class: learning.FalsePositive, Person: fmt.Sprint(n)}}
			}
			h.Findings = append(h.Findings, f)
		}
		all.add(&h)
	}
	for _, tt := range []struct {
		of   func(source) bool
		want tally
	}{
		{func(s source) bool { return s.agent == "a" }, tally{3, 1, 2}},
		{func(s source) bool { return s.agent == "b" }, tally{3, 1, 2}},
		{func(s source) bool { return s.agent == "a" && s.rule == "R0" }, tally{3, 2, 1}},
		{func(s source) bool { return s.agent == "b" && s.rule == "R1" }, tally{2, 1, 1}},
		{func(s source) bool { return s.agent == "b" && !s.other }, tally{}},
	} {
		if got := all.merged(tt.of).tally(); got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}
