package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/policies"
)

// troubled is a source whose answers a test changes.
type troubled struct {
	inMemory
	pr      func(*raw.PullRequest) error
	list    func(*raw.Files) error
	commits func(*raw.Commits) error
	read    func(*config.Config) (*config.Config, error)
}

func (s *troubled) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.inMemory.PullRequest(ctx)
	if s.pr != nil {
		err = s.pr(&p)
	}
	return p, err
}

func (s *troubled) Files(ctx context.Context) (raw.Files, error) {
	f, err := s.inMemory.Files(ctx)
	if s.list != nil {
		err = s.list(&f)
	}
	return f, err
}

func (s *troubled) Commits(ctx context.Context) (raw.Commits, error) {
	c, err := s.inMemory.Commits(ctx)
	if s.commits != nil {
		err = s.commits(&c)
	}
	return c, err
}

func (s *troubled) Config(ctx context.Context) (normalize.ConfigRead, error) {
	if s.read != nil {
		cfg, err := s.read(s.cfg)
		return normalize.ConfigRead{Config: cfg}, err
	}
	return s.inMemory.Config(ctx)
}

func TestReadThatFailsLeavesNoReview(t *testing.T) {
	for name, trouble := range map[string]error{"error": errors.New("502"), "panic": nil} {
		fail := func() error {
			if trouble == nil {
				panic("index out of range")
			}
			return trouble
		}
		for read, bend := range map[string]func(*troubled){
			"pull request": func(s *troubled) { s.pr = func(*raw.PullRequest) error { return fail() } },
			"files":        func(s *troubled) { s.list = func(*raw.Files) error { return fail() } },
			"commits":      func(s *troubled) { s.commits = func(*raw.Commits) error { return fail() } },
			"config":       func(s *troubled) { s.read = func(*config.Config) (*config.Config, error) { return nil, fail() } },
			"no config":    func(s *troubled) { s.read = func(*config.Config) (*config.Config, error) { return nil, nil } },
		} {
			src := &troubled{inMemory: *change(t)}
			bend(src)
			out, err := newRunner(t, nil).Run(t.Context(), src, Options{})
			var stage *pipeline.StageError
			if !errors.As(err, &stage) || stage.Stage != pipeline.StageNormalize {
				t.Errorf("%s of %s: Run = %v, want a StageError of normalize", name, read, err)
			}
			if d := out.Review.Report.Decision; !d.Blocks() {
				t.Errorf("%s of %s: decision %s", name, read, d)
			}
		}
	}
}

// The aggregate stage can't report its own failure. A report without findings does, and blocks.
func TestFailureOfEachStageGates(t *testing.T) {
	for _, s := range []pipeline.Stage{
		pipeline.StageNormalize, pipeline.StageClassify, pipeline.StageCompose,
		pipeline.StageGapDetect, pipeline.StageDispatch, pipeline.StageAggregate,
	} {
		for how, f := range map[string]func() error{
			"error": func() error { return errors.New("down") },
			"panic": func() error { panic("down") },
		} {
			tm := timer{now: ticking(), record: &pipeline.RunRecord{}}
			stage := tm.then("", s, "working", f)
			failed := failureOf(stage)
			if failed == nil || !failed.Gating || failed.What != "stage" || !strings.Contains(failed.Why, string(s)) {
				t.Fatalf("%s of %s: %+v, want a gating row that names the stage", how, s, failed)
			}
			if later := tm.then(stage, pipeline.StageAggregate, "working", func() error { panic("it ran") }); later != stage {
				t.Errorf("%s of %s: a later stage ran", how, s)
			}
			for what, report := range map[string]pipeline.Report{
				"Aggregate": aggregate.Aggregate(aggregate.Input{Facts: &pipeline.PRFacts{}, Config: shipped(t), Failed: failed}),
				"Failed":    aggregate.Failed(aggregate.Input{Facts: &pipeline.PRFacts{}, Config: shipped(t)}, failed),
			} {
				if !report.Decision.Blocks() || !slices.Contains(report.Incomplete, *failed) {
					t.Errorf("%s of %s: %s gives the decision %s with %+v", how, s, what, report.Decision, report.Incomplete)
				}
			}
		}
	}
}

// A change without findings never passes if a part of it was not read.
func TestReachedLimitDoesNotPass(t *testing.T) {
	const patch = "@@ -0,0 +1 @@\n+package a"
	added := func(path string) raw.ChangedFile {
		return raw.ChangedFile{Path: path, Status: pipeline.FileAdded, Additions: 1, Patch: patch}
	}
	one := func(f raw.ChangedFile) func(*troubled) {
		return func(s *troubled) { s.files = []raw.ChangedFile{f} }
	}
	tests := map[string]struct {
		bend func(*troubled)
		what string // the path of the row that reports it
	}{
		"more files than the host lists": {func(s *troubled) {
			s.list = func(f *raw.Files) error {
				f.Incomplete = []pipeline.Incompleteness{{What: "files", Why: "GitHub lists at most 3,000 changed files", Gating: true}}
				return nil
			}
		}, "files"},
		"a list that is shorter than its count": {func(s *troubled) {
			s.pr = func(p *raw.PullRequest) error { p.Totals.Files++; return nil }
		}, "files"},
		"an empty list": {func(s *troubled) {
			s.list = func(f *raw.Files) error { f.Files = nil; return nil }
		}, "files"},
		"files without a name": {func(s *troubled) {
			s.list = func(f *raw.Files) error {
				f.Files = []raw.ChangedFile{{Status: pipeline.FileAdded}}
				return nil
			}
		}, "files"},
		"a file listed twice": {func(s *troubled) {
			s.files = []raw.ChangedFile{added("a.go"), added("a.go")}
		}, "files"},
		"fewer commits than counted": {func(s *troubled) {
			s.pr = func(p *raw.PullRequest) error { p.Commits = 3; return nil }
		}, "commits"},
		"a missing patch":                {one(raw.ChangedFile{Path: "a.go", Status: pipeline.FileModified, Additions: 20001}), "patch"},
		"a patch cut short":              {one(raw.ChangedFile{Path: "a.go", Status: pipeline.FileAdded, Additions: 9, Patch: patch}), "patch"},
		"an invalid patch":               {one(raw.ChangedFile{Path: "a.go", Status: pipeline.FileAdded, Additions: 1, Patch: "Binary files differ"}), "patch"},
		"a hunk that ends early":         {one(raw.ChangedFile{Path: "a.go", Status: pipeline.FileAdded, Patch: "@@ -0,0 +1,3 @@\n+package a"}), "patch"},
		"an endless line":                {one(raw.ChangedFile{Path: "a.js", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + strings.Repeat("a", 1<<20+1)}), "patch"},
		"source that is shown as binary": {one(raw.ChangedFile{Path: "a.go", Status: pipeline.FileModified, Binary: true}), "patch"},
		"attributes that hide the diff": {func(s *troubled) {
			s.files = []raw.ChangedFile{added(".gitattributes"), {Path: "b.go", Status: pipeline.FileModified}}
		}, "patch"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			src := &troubled{inMemory: inMemory{cfg: shipped(t), files: []raw.ChangedFile{added("a.go"), added("a_test.go")}}}
			whole := decided(t, nil, src)
			if whole.Decision != pipeline.DecisionPass || len(whole.Incomplete) > 0 {
				t.Fatalf("whole: %s with %+v", whole.Decision, whole.Incomplete)
			}
			tt.bend(src)
			// No setting opens the gate.
			for _, conditions := range [][]policies.GateCondition{src.cfg.Settings.Gate.Conditions, {{When: "findings >= 0", Decision: pipeline.DecisionPass}}} {
				cfg := *src.cfg
				cfg.Settings.Gate.Conditions = conditions
				rekey(&cfg, conditions)
				src.cfg = &cfg
				r := decided(t, nil, src)
				if !r.Decision.Blocks() {
					t.Errorf("decision %s", r.Decision)
				}
				if !slices.ContainsFunc(r.Incomplete, func(i pipeline.Incompleteness) bool { return i.What == tt.what && i.Gating && i.Why != "" }) {
					t.Errorf("incomplete = %+v, want a row for %s", r.Incomplete, tt.what)
				}
			}
		})
	}
}

// The files contain the change. If there are more commit messages than the host lists, the report
// says that nobody read them, and they don't gate.
func TestCommitsBeyondTheLimitAreNamedAndDoNotGate(t *testing.T) {
	src := &troubled{inMemory: *change(t)}
	src.pr = func(p *raw.PullRequest) error { p.Commits = 300; return nil }
	src.commits = func(c *raw.Commits) error {
		c.Incomplete = []pipeline.Incompleteness{{What: "commits", Why: "GitHub lists at most 250 commits"}}
		return nil
	}
	if r := decided(t, nil, src); r.Decision.Blocks() || len(r.Incomplete) != 1 || r.Incomplete[0].What != "commits" {
		t.Errorf("%s with %+v", r.Decision, r.Incomplete)
	}
}

func decided(t *testing.T, agents map[string]dispatch.Agent, src normalize.Source) pipeline.Report {
	t.Helper()
	out, err := newRunner(t, agents).Run(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Review.Report
}

type busy struct{}

func (busy) Error() string   { return "busy" }
func (busy) Temporary() bool { return true }

// An agent that does not finish has a status that says why. A required agent then keeps the gate
// closed, whatever the conditions say. An agent that may fail by its policy, or that nobody
// requires, is only named.
func TestAgentThatDoesNotFinish(t *testing.T) {
	fails := func(err error) agentFunc {
		return func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { return pipeline.AgentOutput{}, err }
	}
	for how, tt := range map[string]struct {
		agent  dispatch.Agent // or nil
		status pipeline.AgentStatus
	}{
		"error":             {fails(errors.New("no such host")), pipeline.AgentFailed},
		"panic":             {agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { panic("down") }), pipeline.AgentFailed},
		"retries used up":   {fails(busy{}), pipeline.AgentFailed},
		"not registered":    {nil, pipeline.AgentFailed},
		"unreadable answer": {fails(&dispatch.MalformedError{Err: errors.New("no JSON")}), pipeline.AgentMalformed},
		"answer cut short":  {fails(&dispatch.MalformedError{Err: errors.New("larger than 1 MB")}), pipeline.AgentMalformed},
		"context cancelled": {fails(context.Canceled), pipeline.AgentFailed},
		"no answer": {agentFunc(func(ctx context.Context, _ dispatch.Task) (pipeline.AgentOutput, error) {
			<-ctx.Done()
			return pipeline.AgentOutput{}, ctx.Err()
		}), pipeline.AgentTimedOut},
	} {
		for _, policy := range []struct {
			required  bool
			onFailure pipeline.OnFailure
			blocks    bool
		}{{true, "", true}, {true, pipeline.OnFailureBlock, true}, {true, pipeline.OnFailureWarn, false}, {false, "", false}} {
			t.Run(fmt.Sprintf("%s, required %v %s", how, policy.required, policy.onFailure), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := *shipped(t)
					cfg.Agents = append(slices.Clone(cfg.Agents), config.Agent{ID: "late", Enabled: true, Kind: "other"})
					cfg.Policies = append(slices.Clone(cfg.Policies), config.Policy{
						ID: "late", Enabled: true, Trigger: policies.Trigger{Type: policies.TriggerAlways},
						Dispatch: config.Dispatch{Agents: []string{"late"}, Required: policy.required, OnFailure: policy.onFailure},
					})
					cfg.Settings.Gate.Conditions = []policies.GateCondition{{When: "findings >= 0", Decision: pipeline.DecisionPass}}
					rekey(&cfg, policy.required, policy.onFailure)
					agents := map[string]dispatch.Agent{}
					if tt.agent != nil {
						agents["late"] = tt.agent
					}
					src := change(t)
					src.cfg = &cfg
					r := decided(t, agents, src)
					at := slices.IndexFunc(r.Coverage, func(c pipeline.Coverage) bool { return c.Agent == "late" })
					if at < 0 || r.Coverage[at].Status != tt.status {
						t.Fatalf("coverage %+v, want late to be %s", r.Coverage, tt.status)
					}
					if r.Decision.Blocks() != policy.blocks {
						t.Errorf("decision %s", r.Decision)
					}
					if len(r.Incomplete) != 1 || r.Incomplete[0].What != "agent" || r.Incomplete[0].Gating != policy.blocks || !strings.HasPrefix(r.Incomplete[0].Why, "late ") {
						t.Errorf("incomplete = %+v, want a row for late", r.Incomplete)
					}
				})
			})
		}
	}
}

// However many findings an agent has, the worst one decides.
func TestAgentThatFindsTooMuch(t *testing.T) {
	const many = 20_000
	agent := agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		var out pipeline.AgentOutput
		for i := range many {
			out.Findings = append(out.Findings, pipeline.Finding{
				Title: fmt.Sprint("Finding ", i), Severity: pipeline.SeverityInfo, Message: strings.Repeat("m", 100), Confidence: 0.9, Path: "src/pricing/total.ts",
			})
		}
		out.Findings[many-1].Severity = pipeline.SeverityCritical
		out.Findings[many-1].Message = strings.Repeat("m", 8<<20)
		return out, nil
	})
	r := decided(t, map[string]dispatch.Agent{"security-reviewer": agent}, change(t))
	if r.Decision != pipeline.DecisionFail || r.Counts.Critical != 1 || r.Counts.Info != many-1 {
		t.Errorf("decision %s, counts %+v", r.Decision, r.Counts)
	}
}
