package learning_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// scene is a pull request whose reviews a test makes one after the other.
type scene struct {
	log     []learning.Entry
	head    string
	config  string
	base    string
	prompts map[string]string
	off     []string                        // rules that the config switched off
	status  map[string]pipeline.AgentStatus // of agents, ok by default
	files   []string
	lines   map[string]bool // findings whose lines have changed, by ID
	memory  pipeline.Memory
	n       int
}

func newScene() *scene {
	return &scene{
		head: "a", config: "c1", base: "main", files: []string{"a.go"}, prompts: map[string]string{"quality": "p1"},
		status: map[string]pipeline.AgentStatus{}, lines: map[string]bool{},
	}
}

// of is a finding of a rule, and said one of a model.
func of(id string, fingerprints ...string) pipeline.Finding {
	f := pipeline.Finding{
		ID: id, Agent: "code", RuleID: "r1", Severity: pipeline.SeverityMajor, GateSeverity: pipeline.SeverityMajor, Path: "a.go", StartLine: 3, EndLine: 4,
		Fingerprints: append(pipeline.List[string]{id}, fingerprints...), Reviewers: pipeline.List[string]{"code"},
	}
	for _, fp := range f.Fingerprints {
		f.Surroundings = append(f.Surroundings, "around "+fp)
	}
	return f
}

func said(id string) pipeline.Finding {
	f := of(id)
	f.Agent, f.Model, f.RuleID, f.Reviewers = "quality", "small", "", pipeline.List[string]{"quality"}
	f.FoundBy = pipeline.List[pipeline.Maker]{{Agent: "quality", Model: "small", Stated: 0.8}}
	return f
}

// review adds a review with these findings to the log.
func (s *scene) review(findings ...pipeline.Finding) { s.reviewWith(nil, findings...) }

func (s *scene) reviewWith(change func(*pipeline.Review), findings ...pipeline.Finding) learning.Entry {
	s.n++
	v := &pipeline.Review{Memory: s.memory}
	v.Facts.Head.SHA, v.Facts.Base.Ref = s.head, s.base
	for _, path := range s.files {
		v.Facts.Files = append(v.Facts.Files, pipeline.File{Path: path})
	}
	v.Report.ConfigVersion, v.Report.Findings = s.config, findings
	for _, agent := range []string{"code", "quality"} {
		r := pipeline.AgentResult{Agent: agent, Status: pipeline.AgentOK}
		if agent == "quality" {
			r.Model = "small"
		}
		if status := s.status[agent]; status != "" {
			r.Status = status
		}
		v.Results = append(v.Results, r)
		v.Manifest.Entries = append(v.Manifest.Entries, pipeline.ManifestEntry{Agent: agent})
	}
	// The last report of another head has everything that was found so far.
	v.Previous = &pipeline.PreviousReport{}
	before := learning.Replay(s.log)
	for i := range before.Findings {
		x := &before.Findings[i]
		v.Previous.Findings = append(v.Previous.Findings, pipeline.Finding{ID: x.ID, Fingerprints: append(pipeline.List[string]{x.ID}, x.Also...), Path: x.Path, Section: x.Section})
	}
	if change != nil {
		change(v)
	}
	e := learning.Observe(learning.Observation{
		Review: v, Record: &pipeline.RunRecord{RunID: fmt.Sprint("run ", s.n), Version: "1"}, Before: &before,
		Rules:     func(_, rule string) bool { return !slices.Contains(s.off, rule) },
		Prompt:    func(agent string) string { return s.prompts[agent] },
		Checklist: func(string) string { return "" },
		Trace: func(f *pipeline.Finding) (string, bool) {
			if !slices.Contains(s.files, f.Path) {
				return "", s.lines[f.ID]
			}
			return f.Path, s.lines[f.ID]
		},
	})
	e.At = at(s.n)
	s.log = append(s.log, e)
	return e
}

// What a review says of the findings that it no longer has.
func TestWhyFindingsAreGone(t *testing.T) {
	push := func(s *scene) { s.head = "b" }
	changed := func(s *scene) { push(s); s.lines["f"] = true }
	for name, tt := range map[string]struct {
		found  pipeline.Finding
		change func(*scene)
		want   learning.Outcome
	}{
		"a push that changes the lines":          {of("f"), changed, learning.OutcomeFixed},
		"a push elsewhere":                       {of("f"), push, learning.OutcomeFixed}, // the rule says so
		"a push that changes a model's lines":    {said("f"), changed, learning.OutcomeFixed},
		"a push, and the model is silent":        {said("f"), push, learning.OutcomeNotRaised},
		"the model is silent":                    {said("f"), func(*scene) {}, learning.OutcomeNotRaised},
		"the file is gone":                       {of("f"), func(s *scene) { push(s); s.files = []string{"b.go"} }, learning.OutcomeWithdrawn},
		"another config":                         {of("f"), func(s *scene) { s.config = "c2" }, learning.OutcomeObsolete},
		"another config and a push":              {of("f"), func(s *scene) { push(s); s.config = "c2" }, learning.OutcomeObsolete},
		"another config, but the lines changed":  {of("f"), func(s *scene) { changed(s); s.config = "c2" }, learning.OutcomeFixed},
		"the rule is switched off":               {of("f"), func(s *scene) { changed(s); s.config, s.off = "c2", []string{"r1"} }, learning.OutcomeObsolete},
		"another base branch":                    {of("f"), func(s *scene) { s.base = "release" }, learning.OutcomeObsolete},
		"another prompt":                         {said("f"), func(s *scene) { s.prompts["quality"] = "p2" }, learning.OutcomeObsolete},
		"the agent failed":                       {of("f"), func(s *scene) { changed(s); s.status["code"] = pipeline.AgentFailed }, learning.OutcomeOpen},
		"the agent failed on the same head":      {of("f"), func(s *scene) { s.status["code"] = pipeline.AgentTimedOut }, learning.OutcomeOpen},
		"the model's answer could not be read":   {said("f"), func(s *scene) { s.status["quality"] = pipeline.AgentMalformed }, learning.OutcomeOpen},
		"the agent failed, under another config": {of("f"), func(s *scene) { s.config, s.status["code"] = "c2", pipeline.AgentFailed }, learning.OutcomeOpen},
		"a rule's finding that a model shared": {func() pipeline.Finding {
			f := of("f")
			f.FoundBy = pipeline.List[pipeline.Maker]{{Agent: "code"}, {Agent: "quality", Model: "small"}}
			f.Reviewers = pipeline.List[string]{"code", "quality"}
			return f
		}(), changed, learning.OutcomeFixed},
	} {
		s := newScene()
		s.review(tt.found)
		tt.change(s)
		s.review()
		h := learning.Replay(s.log)
		if len(h.Findings) != 1 || h.Findings[0].Outcome != tt.want {
			t.Errorf("%s: %+v, want %s", name, h.Findings, tt.want)
		}
	}
}

// The config changes while an agent fails: the next review compares with the last one that had the
// finding.
func TestWhyAfterAFailedReview(t *testing.T) {
	s := newScene()
	s.review(of("f"))
	s.config, s.status["code"] = "c2", pipeline.AgentFailed
	s.review()
	s.head, s.status["code"] = "b", pipeline.AgentOK
	s.review()
	if h := learning.Replay(s.log); h.Findings[0].Outcome != learning.OutcomeObsolete {
		t.Errorf("%+v", h.Findings)
	}
}

// Findings that were merged into one are told apart again when they split.
func TestFindingsThatJoinAndSplit(t *testing.T) {
	outcomes := func(s *scene) string {
		var all []string
		for _, f := range learning.Replay(s.log).Findings {
			all = append(all, fmt.Sprint(f.ID, " ", f.Outcome))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	s := newScene()
	s.review(of("f", "g"))
	s.head = "b"
	s.review(of("f"), of("g"))
	if got := outcomes(s); got != "f open, g open" {
		t.Errorf("split: %s", got)
	}
	s.head, s.lines["f"] = "c", true
	s.review(of("g"))
	if got := outcomes(s); got != "f fixed, g open" {
		t.Errorf("one is fixed: %s", got)
	}
	s = newScene()
	s.review(of("f"), of("g"))
	s.head = "b"
	s.review(of("f", "g"))
	if got := outcomes(s); got != "f open" {
		t.Errorf("joined: %s", got)
	}
	s.head = "c"
	s.review(of("f"), of("g"))
	if got := outcomes(s); got != "f open, g open" {
		t.Errorf("split again: %s", got)
	}
}

// A dismissal lapses with the code around it, and counts no longer when what people said was deleted.
func TestLapsedDismissals(t *testing.T) {
	dismissed := func(s *scene) {
		s.review(of("f"))
		s.n++
		s.log = append(s.log, judged(s.n, learning.Dismissed, learning.FalsePositive, "f"))
		s.memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: "f"}}
	}
	hidden := func(v *pipeline.Review) {
		f := of("f")
		f.State = pipeline.StateDismissed
		v.Report.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: f}}
	}
	outcome := func(s *scene) learning.Outcome { return learning.Replay(s.log).Findings[0].Outcome }

	s := newScene()
	dismissed(s)
	s.reviewWith(hidden)
	if got := outcome(s); got != learning.OutcomeDismissed {
		t.Errorf("dismissed: %s", got)
	}
	moved := of("f")
	moved.Surroundings[0] = "around something else"
	s.head = "b"
	s.review(moved)
	if got := outcome(s); got != learning.OutcomeOpen {
		t.Errorf("the code around it changed: %s", got)
	}
	s.head, s.lines["f"] = "c", true
	s.review()
	if got := outcome(s); got != learning.OutcomeFixed {
		t.Errorf("then it was fixed: %s", got)
	}

	s = newScene()
	dismissed(s)
	s.memory = pipeline.Memory{} // deleted since
	s.review(of("f"))
	if got := outcome(s); got != learning.OutcomeOpen {
		t.Errorf("the dismissal was deleted: %s", got)
	}

	s = newScene()
	s.memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: "f"}}
	s.reviewWith(hidden) // dismissed before there was a log
	if got := outcome(s); got != learning.OutcomeUnshown {
		t.Errorf("dismissed by an older version: %s", got)
	}
}

// An entry holds no code, no text of a finding and no login, whatever agents outside say.
func TestEntriesHoldNoTexts(t *testing.T) {
	const mark = "password is hunter2"
	f := said("f")
	f.Title, f.Message, f.Category, f.RuleID, f.Path, f.Section = mark, mark, mark, mark, "", mark
	f.Recommendation, f.SuggestedFix, f.WhyItMatters, f.Citation, f.Evidence = mark, mark, mark, mark, pipeline.List[string]{mark}
	f.Reasons = pipeline.List[pipeline.Reason]{{Text: mark}}
	s := newScene()
	e := s.reviewWith(func(v *pipeline.Review) {
		v.Facts.Title, v.Facts.Body, v.Facts.Author.Login = mark, mark, mark
		v.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Reason: mark, By: mark}}
		v.Report.ResidualConcerns = pipeline.List[pipeline.SourcedText]{{Text: mark}}
	}, f)
	body, err := json.Marshal(e)
	if err != nil || len(e.Review.Findings) != 1 {
		t.Fatal(err, e)
	}
	if strings.Contains(string(body), "hunter2") {
		t.Errorf("the entry holds a text: %s", body)
	}
}

// A finding that is shown counts as shown, even if something in evaluation also makes it.
func TestShownAndInEvaluation(t *testing.T) {
	s := newScene()
	e := s.reviewWith(func(v *pipeline.Review) {
		v.Report.Evaluation = &pipeline.Evaluation{Findings: pipeline.List[pipeline.Finding]{of("f"), of("g")}}
	}, of("f"))
	if n := len(e.Review.Findings); n != 2 {
		t.Errorf("%d rows", n)
	}
	for _, f := range learning.Replay(s.log).Findings {
		if want := map[string]learning.Outcome{"f": learning.OutcomeOpen, "g": learning.OutcomeUnshown}[f.ID]; f.Outcome != want {
			t.Errorf("%s is %s, want %s", f.ID, f.Outcome, want)
		}
	}
}

// The log of a pull request stays bounded, however often somebody pushes to it.
func TestLogsAreBounded(t *testing.T) {
	s := newScene()
	rows, ranges := 0, 0
	for push := range 15 {
		s.head = fmt.Sprint("head ", push)
		var all []pipeline.Finding
		for i := range 3000 {
			f := of(fmt.Sprint("f", i))
			f.Surroundings[0] = s.head
			all = append(all, f)
		}
		e := s.reviewWith(func(v *pipeline.Review) {
			v.Results[1].Asked = make(pipeline.List[pipeline.AskedLines], 2000)
			v.Results = append(v.Results, v.Results[1], v.Results[1], v.Results[1])
		}, all...)
		n := len(e.Review.Findings)
		if n > learning.MaxFindings {
			t.Fatalf("an entry has %d findings", n)
		}
		rows += n
		for _, a := range e.Review.Asked {
			if len(a.Lines) > learning.MaxAsked {
				t.Fatalf("a model was asked about %d ranges", len(a.Lines))
			}
			ranges += len(a.Lines)
		}
	}
	if rows != 20_000 || ranges != 20_000 {
		t.Errorf("the log has %d rows and %d ranges", rows, ranges)
	}
}
