package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// pushed is a change at one head.
type pushed struct {
	inMemory
	head, base, title string
	commits           []pipeline.Commit
}

func (s *pushed) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.inMemory.PullRequest(ctx)
	p.Head.SHA, p.Base, p.Commits = s.head, pipeline.Base{Ref: "main", SHA: s.base}, len(s.commits)
	if s.title != "" {
		p.Title = s.title
	}
	return p, err
}

func (s *pushed) Commits(context.Context) (raw.Commits, error) {
	commits := slices.Clone(s.commits)
	commits[len(commits)-1].SHA = s.head
	return raw.Commits{Commits: commits}, nil
}

// standIn replaces an agent of the config. ofSecrets is the built-in agent for secrets.
const standIn, ofSecrets = "finance-sme", "secrets"

// carrying reviews one head, and then another.
type carrying struct {
	*testing.T
	ran    []string // the heads for which the replacement agents ran
	mu     sync.Mutex
	runner *Runner
	fails  bool
}

func newCarrying(t *testing.T) *carrying {
	c := &carrying{T: t}
	c.runner = newRunner(t, map[string]dispatch.Agent{standIn: agentFunc(func(_ context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ran = append(c.ran, task.Facts.Head.SHA)
		if c.fails {
			return pipeline.AgentOutput{}, errors.New("out of order")
		}
		return pipeline.AgentOutput{}, nil
	})})
	return c
}

func (c *carrying) first() *pushed {
	return &pushed{inMemory: *change(c.T), head: "head-1", base: "base-1", commits: []pipeline.Commit{{Message: "feat: totals", Author: "ann"}}}
}

func (c *carrying) review(src normalize.Source, carry Carry) Outcome {
	c.Helper()
	out, err := c.runner.Run(c.Context(), src, Options{Carry: carry})
	if err != nil {
		c.Fatal(err)
	}
	return out
}

// after returns a Carry from a stored review.
func (c *carrying) after(was Outcome, carry Carry) Carry {
	c.Helper()
	stored, err := json.Marshal(was.Review)
	if err != nil {
		c.Fatal(err)
	}
	var again pipeline.Review
	if err := json.Unmarshal(stored, &again); err != nil {
		c.Fatal(err)
	}
	carry.Last = func(context.Context) (*LastReview, error) {
		return &LastReview{Review: &again, Version: was.Record.Version}, nil
	}
	return carry
}

// carriedOver returns the agents whose results were carried.
func carriedOver(o Outcome) []string {
	var out []string
	for _, r := range o.Review.Results {
		if r.CarriedFrom != "" {
			out = append(out, r.Agent)
		}
	}
	slices.Sort(out)
	return out
}

// On the same head, results are carried unless somebody asks for a new review.
func TestCarryOnTheSameHead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		carry Carry
		all   bool // all results are carried
		but   string
	}{
		{"asked for again", Carry{}, false, ""},
		{"only the decision is made again", Carry{SameHead: true}, true, ""},
		{"one agent is asked again", Carry{SameHead: true, Rerun: []string{standIn}}, true, standIn},
	} {
		c := newCarrying(t)
		first := c.review(c.first(), Carry{})
		out := c.review(c.first(), c.after(first, tt.carry))
		var want []string
		for _, e := range first.Review.Manifest.Entries {
			if tt.all && e.Agent != tt.but {
				want = append(want, e.Agent)
			}
		}
		slices.Sort(want)
		if got := carriedOver(out); !slices.Equal(got, want) {
			t.Errorf("%s: carried %q, want %q", tt.name, got, want)
		}
		if runs := len(c.ran); (runs == 1) != slices.Contains(want, standIn) {
			t.Errorf("%s: the agent ran %d times", tt.name, runs)
		}
		if a, b := first.Review.Report, out.Review.Report; a.Decision != b.Decision || len(a.Findings) != len(b.Findings) {
			t.Errorf("%s: %s with %d findings became %s with %d", tt.name, a.Decision, len(a.Findings), b.Decision, len(b.Findings))
		}
		for _, row := range out.Review.Report.Coverage {
			if noted := row.Note == "its last result on this head stands"; noted != slices.Contains(want, row.Agent) {
				t.Errorf("%s: the coverage has the note %q for %s", tt.name, row.Note, row.Agent)
			}
		}
		for _, a := range out.Record.Agents {
			if (a.Attempts == 0) != slices.Contains(want, a.Agent) {
				t.Errorf("%s: the record has %d attempts of %s", tt.name, a.Attempts, a.Agent)
			}
		}
		if got, want := len(out.Record.Agents), len(out.Review.Manifest.Entries); got != want {
			t.Errorf("%s: the record has %d agents, want %d", tt.name, got, want)
		}
	}
}

// To another head, results are carried only if the change is known to be equal.
func TestCarryToAnotherHead(t *testing.T) {
	brought := pipeline.Commit{Message: "Merge branch 'main' into totals", Author: "ann"}
	for _, tt := range []struct {
		name   string
		change func(s *pushed)
		rules  bool // agents that read no commits are carried
		others bool // the other agent that can be carried is carried
	}{
		{"rebased", func(*pushed) {}, true, true},
		{"brought up to date", func(s *pushed) { s.commits = append(s.commits, brought) }, true, false},
		{"another commit message", func(s *pushed) { s.commits[0].Message = "feat: sums" }, true, false},
		{"another title", func(s *pushed) { s.title = "feat: sums" }, false, false},
		{"another line", func(s *pushed) { s.files[0].Patch += "!" }, false, false},
		{"lines moved", func(s *pushed) { s.files[1].Patch = strings.Replace(s.files[1].Patch, "-1 +1", "-2 +2", 1) }, false, false},
		{"one file fewer", func(s *pushed) { s.files = s.files[:1] }, false, false},
	} {
		c := newCarrying(t)
		first := c.review(c.first(), Carry{})
		next := c.first()
		next.head, next.base = "head-2", "base-2"
		tt.change(next)
		out := c.review(next, c.after(first, Carry{}))
		got := carriedOver(out)
		if slices.Contains(got, ofSecrets) != tt.rules || slices.Contains(got, standIn) != tt.others {
			t.Errorf("%s: carried %q", tt.name, got)
		}
		for _, row := range out.Review.Report.Coverage {
			if noted := row.Note == "carried over from head-1, whose change is equal"; noted != slices.Contains(got, row.Agent) {
				t.Errorf("%s: the coverage says %q of %s", tt.name, row.Note, row.Agent)
			}
		}

		// In the next review, the coverage still names the review in which the agent really ran.
		third := *next
		third.head, third.base = "head-3", "base-3"
		for _, r := range c.review(&third, c.after(out, Carry{})).Review.Results {
			if r.CarriedFrom != "" && slices.Contains(got, r.Agent) != (r.CarriedFrom == "head-1") {
				t.Errorf("%s: %s is carried from %s, in which it was carried itself: %t", tt.name, r.Agent, r.CarriedFrom, slices.Contains(got, r.Agent))
			}
		}
	}
}

// A result is not carried if anything that it depends on may differ.
func TestCarryNothing(t *testing.T) {
	for _, tt := range []struct {
		name  string
		prime func(c *carrying, first, next *pushed)
		was   func(o *Outcome)
		next  Carry
	}{
		{"a failed agent", func(c *carrying, first, next *pushed) { c.fails = true; next.head = first.head }, nil, Carry{SameHead: true}},
		{"another reviewgate", nil, func(o *Outcome) { o.Record.Version = "v1.2.2" }, Carry{}},
		{"another config", func(_ *carrying, _, next *pushed) {
			cfg := *next.cfg
			cfg.InForce.Version = "other"
			next.cfg = &cfg
		}, nil, Carry{}},
		{"another entry in the manifest", nil, func(o *Outcome) {
			for i := range o.Review.Manifest.Entries {
				o.Review.Manifest.Entries[i].Required = !o.Review.Manifest.Entries[i].Required
			}
		}, Carry{}},
		{"another classification", nil, func(o *Outcome) { o.Review.Classification.Risk.Score++ }, Carry{}},
		{"a binary file", func(_ *carrying, first, next *pushed) {
			logo := raw.ChangedFile{Path: "logo.png", Status: pipeline.FileAdded}
			first.files, next.files = append(first.files, logo), append(next.files, logo)
		}, func(o *Outcome) {
			if !o.Review.Facts.Files[0].Binary && len(o.Review.Facts.Incomplete) == 0 {
				panic("the file has text")
			}
		}, Carry{}},
		{"a file that can't be read", func(_ *carrying, first, next *pushed) {
			large := raw.ChangedFile{Path: "data.ts", Status: pipeline.FileModified, Additions: 9000}
			first.files, next.files = append(first.files, large), append(next.files, large)
		}, func(o *Outcome) {
			if o.Review.Facts.Files[0].Binary || len(o.Review.Facts.Incomplete) == 0 {
				panic("the file is known")
			}
		}, Carry{}},
		{"no earlier review", nil, func(o *Outcome) { o.Review.Results = nil }, Carry{}},
	} {
		c := newCarrying(t)
		first, next := c.first(), c.first()
		next.head = "head-2"
		if tt.prime != nil {
			tt.prime(c, first, next)
		}
		was := c.review(first, Carry{})
		if tt.was != nil {
			tt.was(&was)
		}
		out := c.review(next, c.after(was, tt.next))
		if got := carriedOver(out); slices.Contains(got, standIn) || tt.name != "a failed agent" && len(got) > 0 {
			t.Errorf("%s: carried %q", tt.name, got)
		}
	}
}

// A finding about a commit names a commit that another head may not have, so it is not carried.
func TestCarryNoFindingAboutACommit(t *testing.T) {
	about := agentFunc(func(_ context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
			Title: "Message says nothing", Severity: "warning", Message: "m", Confidence: 0.9, Section: pipeline.SectionCommit(task.Facts.Commits[0].SHA),
		}}}, nil
	})
	c := newCarrying(t)
	c.runner = newRunner(t, map[string]dispatch.Agent{standIn: about})
	first := c.review(c.first(), Carry{})
	next := c.first()
	next.head = "head-2"
	if got := carriedOver(c.review(next, c.after(first, Carry{}))); slices.Contains(got, standIn) {
		t.Errorf("carried %q", got)
	}
}

// A secret in a commit's message is in another commit after a rebase. That alone does not change
// the change. The finding is made again, for the new commit.
func TestCarryWithASecretInACommit(t *testing.T) {
	c := newCarrying(t)
	first := c.first()
	first.head, first.commits[0].Message = "aaaaaaa1", "feat: totals\n\nwith ghp_"+"x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	was := c.review(first, Carry{})
	next := *first
	next.head, next.commits = "bbbbbbb2", slices.Clone(first.commits)
	out := c.review(&next, c.after(was, Carry{}))
	if got := carriedOver(out); !slices.Contains(got, standIn) || slices.Contains(got, ofSecrets) {
		t.Errorf("carried %q", got)
	}
	about := func(o Outcome, sha string) bool {
		return slices.ContainsFunc(o.Review.Report.Findings, func(f pipeline.Finding) bool { return f.Section == pipeline.SectionCommit(sha) })
	}
	if !about(was, first.head) || !about(out, next.head) || about(out, first.head) {
		t.Errorf("findings at first: %+v, and then: %+v", was.Review.Report.Findings, out.Review.Report.Findings)
	}
}

// Citations outside the change are looked up again, because the cited file may be missing at
// another head.
func TestCarryLooksCitationsUp(t *testing.T) {
	cites := agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
			Title: "T", Severity: "warning", Message: "m", Confidence: 0.9, Path: "src/cart/view.ts", StartLine: 1,
			SuggestedFix: "x", AutoClaim: "pattern", Citation: "src/other.ts",
		}}}, nil
	})
	c := newCarrying(t)
	c.runner = newRunner(t, map[string]dispatch.Agent{standIn: cites})
	cited := func(src normalize.Source, carry Carry, there bool) (pipeline.AgentResult, Outcome) {
		out, err := c.runner.Run(t.Context(), src, Options{Carry: carry, File: func(context.Context, string, string, int64) ([]byte, bool, error) {
			return nil, there, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(out.Review.Results, func(r pipeline.AgentResult) bool { return r.Agent == standIn })
		return out.Review.Results[i], out
	}
	before, first := cited(c.first(), Carry{}, true)
	next := c.first()
	next.head = "head-2"
	after, _ := cited(next, c.after(first, Carry{}), false)
	if len(before.Citations) != 1 || after.CarriedFrom == "" || len(after.Citations) != 0 {
		t.Errorf("citations %q at the first head, and %q at the second (carried from %q)", before.Citations, after.Citations, after.CarriedFrom)
	}
}

// An I/O agent reads, for example, a report or another App's check. This may differ even if the
// change is equal, so its result is not carried to another head. If only the decision is made
// again, the result stands.
func TestCarryNoIOResultsToAnotherHead(t *testing.T) {
	read := 0
	ioAgents := func(IOAgent) dispatch.Agent {
		return reader{func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			read++
			return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{Title: "Blocked", Severity: "major", Message: "No.", Confidence: 1, Path: reportPath}}}, nil
		}}
	}
	c := newCarrying(t)
	at := func(head string, carry Carry, reads int) Outcome {
		src := c.first()
		src.files, src.head = withReport(t).files, head
		out, err := c.runner.Run(t.Context(), src, Options{Carry: carry, IOAgents: ioAgents})
		if err != nil {
			t.Fatal(err)
		}
		if read != reads || len(out.Review.Report.Findings) == 0 {
			t.Errorf("%s: read %d times, want %d: %+v", head, read, reads, out.Review.Report.Findings)
		}
		return out
	}
	first := at("head-1", Carry{}, 1)
	at("head-1", c.after(first, Carry{SameHead: true}), 1)
	next := at("head-2", c.after(first, Carry{SameHead: true}), 2)
	if !slices.Contains(carriedOver(next), ofSecrets) {
		t.Errorf("carried %q", carriedOver(next))
	}
}

// Rules for commit messages run on another head's messages, even if the change is equal.
func TestCarryNoRulesForOtherCommits(t *testing.T) {
	const agent = "pr-hygiene"
	cfg, err := proposes(map[string]string{config.FileRules: `[{"id": "no-fixup", "name": "Fixup", "severity": "major", "agent": "pr-hygiene", "category": "words",
		"description": "It is to be squashed.", "detection": "Messages that begin with it", "recommendation": "Squash it.", "match": {"on": "commit_message", "pattern": "^fixup!"}}]`})(t.Context(), nil)
	if err != nil || len(cfg.InForce.Problems) > 0 {
		t.Fatal(err, cfg.InForce.Problems)
	}
	c := newCarrying(t)
	first := c.first()
	first.cfg = cfg
	was := c.review(first, Carry{})
	next := *first
	next.head, next.commits = "head-2", append(slices.Clone(first.commits), pipeline.Commit{Message: "fixup! feat: totals", Author: "ann"})
	out := c.review(&next, c.after(was, Carry{}))
	got := carriedOver(out)
	if slices.Contains(got, agent) || !slices.Contains(got, ofSecrets) || was.Review.Manifest.Entry(agent) == nil {
		t.Errorf("carried %q", got)
	}
	if !slices.ContainsFunc(out.Review.Report.Findings, func(f pipeline.Finding) bool { return f.RuleID == "no-fixup" }) {
		t.Errorf("no rule looked at the message: %+v", out.Review.Report.Findings)
	}
}

func TestCarryFails(t *testing.T) {
	broken := errors.New("the disk is full")
	_, err := newRunner(t, nil).Run(t.Context(), change(t), Options{Carry: Carry{
		Last: func(context.Context) (*LastReview, error) { return nil, broken }, SameHead: true,
	}})
	if !errors.Is(err, broken) {
		t.Errorf("Run = %v, want the error", err)
	}
	// If the last review can't be used, it is not read.
	asked := Carry{Last: func(context.Context) (*LastReview, error) { t.Error("the last review was read"); return nil, nil }}
	for i := range shipped(t).Agents {
		asked.Rerun = append(asked.Rerun, shipped(t).Agents[i].ID)
	}
	if _, err := newRunner(t, nil).Run(t.Context(), change(t), Options{Carry: asked}); err != nil {
		t.Error(err)
	}
}
