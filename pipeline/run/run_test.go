package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // compiling configs makes much garbage
	goleak.VerifyTestMain(m)
}

// engines is shared by all tests, and most of them review with the shipped config. A test that
// changes a config gives it another key with rekey.
var engines = NewEngines()

// rekey gives a changed config another key. Configs with the same changes get the same key.
func rekey(cfg *config.Config, how ...any) {
	cfg.Key = sha256.Sum256(fmt.Append(cfg.Key[:], how...))
}

// ticking is a clock that advances by a second each time it is read.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func newRunner(t *testing.T, agents map[string]dispatch.Agent) *Runner {
	t.Helper()
	r, err := NewRunner(Config{Version: "v1.2.3", Now: ticking(), Agents: agents, Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func shipped(t *testing.T) *config.Config {
	t.Helper()
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// change adds a file that multiplies prices outside of finance's files, and a file of finance.
func change(t *testing.T) *inMemory {
	return &inMemory{cfg: shipped(t), files: []raw.ChangedFile{
		{Path: "src/cart/view.ts", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+const sum = grossAmount * quantity;"},
		{Path: "src/pricing/total.ts", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: "@@ -1 +1 @@\n-const a = 1;\n+const a = 2;"},
	}}
}

// says is an agent that answers with one finding.
func says(severity pipeline.Severity) dispatch.Agent {
	return agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
			Title: "Total is rounded twice", Severity: severity, Message: "Cents get lost.", Confidence: 0.9,
			Path: "src/pricing/total.ts", StartLine: 1,
		}}}, nil
	})
}

type agentFunc func(context.Context, dispatch.Task) (pipeline.AgentOutput, error)

func (f agentFunc) Review(ctx context.Context, t dispatch.Task) (dispatch.Answer, error) {
	out, err := f(ctx, t)
	return dispatch.Answer{Output: out}, err
}

func TestEachStageFitsItsSchema(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says("P1")})
	out, err := r.Run(t.Context(), change(t), Options{RunID: "r1", Trigger: "opened"})
	if err != nil {
		t.Fatal(err)
	}
	v := out.Review
	outputs := map[string]any{
		config.SchemaPRFacts:        v.Facts,
		config.SchemaClassification: v.Classification,
		config.SchemaAgentManifest:  v.Manifest,
		config.SchemaReviewReport:   v.Report,
	}
	for schema, output := range outputs {
		data, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.ValidateData(schema, data); err != nil {
			t.Error(err)
		}
	}
	if v.Report.Decision != pipeline.DecisionNeedsFixes || len(v.Report.Findings) != 1 || v.Report.Findings[0].Agent != "finance-sme" {
		t.Errorf("decision %s with %+v, want needs_fixes by the one finding of finance-sme", v.Report.Decision, v.Report.Findings)
	}
	if e := v.Manifest.Entry("finance-sme"); e == nil || !slices.Contains(e.Scope.Files, "src/cart/view.ts") {
		t.Errorf("finance-sme's entry = %+v, want its scope widened to src/cart/view.ts", e)
	}
	if len(v.Report.GapLog) != 1 || v.Report.GapLog[0].Path != "src/cart/view.ts" {
		t.Errorf("gap log = %+v, want the arithmetic in src/cart/view.ts", v.Report.GapLog)
	}
}

// A gap has its concern's name from the config, without text that nobody should read.
func TestGapsAreNamed(t *testing.T) {
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	for name, leaks := range map[string]bool{"sums of money": false, "sums " + token: true} {
		c := change(t)
		cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{
			{Path: config.FileDomains, Text: []byte(`[{"id": "signal-money-arithmetic", "name": "` + name + `"}]`)},
		}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		c.cfg = cfg
		out, err := newRunner(t, nil).Run(t.Context(), c, Options{RunID: "r1", Trigger: "opened"})
		if err != nil {
			t.Fatal(err)
		}
		log := out.Review.Report.GapLog
		if len(log) != 1 || !strings.HasPrefix(log[0].Name, "sums ") || (log[0].Name == name) == leaks {
			t.Errorf("gap log = %+v, want one named %q, without secrets", log, name)
		}
	}
}

func TestRecordDescribesTheRun(t *testing.T) {
	var progress []string
	out, err := newRunner(t, nil).Run(t.Context(), change(t), Options{
		RunID: "r1", Trigger: "opened", Progress: func(what string) {
			if !strings.HasSuffix(what, " is done") { // agents may end in any order
				progress = append(progress, what)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var stages []pipeline.Stage
	for _, s := range out.Record.Stages {
		stages = append(stages, s.Stage)
		if s.DurationMS < 1000 || s.Error != "" {
			t.Errorf("stage %s took %v ms with error %q, want at least a tick and none", s.Stage, s.DurationMS, s.Error)
		}
	}
	want := []pipeline.Stage{pipeline.StageNormalize, pipeline.StageClassify, pipeline.StageCompose, pipeline.StageGapDetect, pipeline.StageDispatch, pipeline.StageAggregate}
	if diff := cmp.Diff(want, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if len(progress) != len(want) {
		t.Errorf("progress = %q, want a line for each stage", progress)
	}
	rec := out.Record
	if rec.RunID != "r1" || rec.Trigger != "opened" || rec.Version != "v1.2.3" || rec.Duration() <= 0 {
		t.Errorf("record = %+v, want what was asked for and a duration", rec)
	}
	if len(rec.Agents) != len(out.Review.Manifest.Entries) {
		t.Errorf("%d agents timed, want %d", len(rec.Agents), len(out.Review.Manifest.Entries))
	}
}

func TestTheSameChangeGivesTheSameBytes(t *testing.T) {
	var first []byte
	for range 10 {
		out, err := newRunner(t, map[string]dispatch.Agent{"finance-sme": says("P1")}).Run(t.Context(), change(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(out.Review)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		} else if diff := cmp.Diff(string(first), string(data)); diff != "" {
			t.Fatalf("two runs differ (-first +second):\n%s", diff)
		}
	}
}

// If any stage fails, the report names it and does not pass.
func TestBrokenStageNeverPasses(t *testing.T) {
	tests := map[string]func(*Engine){
		"classify":   func(e *Engine) { e.classify = nil },
		"compose":    func(e *Engine) { e.compose = nil },
		"gap-detect": func(e *Engine) { e.gaps = nil },
		"dispatch":   func(e *Engine) { e.config = nil },
	}
	for stage, breakIt := range tests {
		src := change(t)
		r := newRunner(t, nil)
		e, err := r.Engines.get(src.cfg)
		if err != nil {
			t.Fatal(err)
		}
		broken := *e
		breakIt(&broken)
		r.Engines = NewEngines()
		r.Engines.add(src.cfg, &broken)
		var stack string
		out, err := r.Run(t.Context(), src, Options{Panicked: func(where string, err error, s []byte) { stack = where + err.Error() + string(s) }})
		if err != nil {
			t.Errorf("%s: Run = %v, want a review that says so", stage, err)
			continue
		}
		report := out.Review.Report
		if !report.Decision.Blocks() {
			t.Errorf("%s: decision is %s", stage, report.Decision)
		}
		if !slices.ContainsFunc(report.Incomplete, func(i pipeline.Incompleteness) bool {
			return i.What == "stage" && i.Gating && strings.Contains(i.Why, stage)
		}) {
			t.Errorf("%s: incomplete = %+v, want the stage named", stage, report.Incomplete)
		}
		if !strings.HasPrefix(stack, stage) {
			t.Errorf("%s: stack is %.40q, want that of the stage", stage, stack)
		}
		if s := out.Record.Stages[len(out.Record.Stages)-2]; string(s.Stage) != stage || s.Error == "" {
			t.Errorf("%s: the record's last stage before aggregate is %+v", stage, s)
		}
	}
}

func TestRequiredAgentThatFailsNeverPasses(t *testing.T) {
	tests := map[string]agentFunc{
		"error": func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			return pipeline.AgentOutput{}, errors.New("down")
		},
		"panic": func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { panic("down") },
	}
	for name, agent := range tests {
		out, err := newRunner(t, map[string]dispatch.Agent{"security-reviewer": agent}).Run(t.Context(), change(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := out.Review.Report; !r.Decision.Blocks() {
			t.Errorf("%s: decision %s with %+v", name, r.Decision, r.Incomplete)
		}
	}
}

// failing is a source whose pull request can't be read.
type failing struct {
	inMemory
	err error
}

func (f *failing) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{}, f.err
}

func TestFactsThatCannotBeReadAreAnError(t *testing.T) {
	down := errors.New("502")
	_, err := newRunner(t, nil).Run(t.Context(), &failing{inMemory: *change(t), err: down}, Options{})
	var stage *pipeline.StageError
	if !errors.As(err, &stage) || stage.Stage != pipeline.StageNormalize || !errors.Is(err, down) {
		t.Errorf("Run = %v, want a StageError of normalize that wraps the cause", err)
	}
	_, err = newRunner(t, nil).Run(t.Context(), &failing{inMemory: *change(t), err: normalize.ErrSuperseded}, Options{})
	if !errors.Is(err, normalize.ErrSuperseded) {
		t.Errorf("Run = %v, want ErrSuperseded", err)
	}
}

func TestCancelledRunHasNoReview(t *testing.T) {
	superseded := errors.New("a newer head")
	ctx, cancel := context.WithCancelCause(t.Context())
	agent := agentFunc(func(ctx context.Context, _ dispatch.Task) (pipeline.AgentOutput, error) {
		cancel(superseded)
		<-ctx.Done()
		return pipeline.AgentOutput{}, ctx.Err()
	})
	_, err := newRunner(t, map[string]dispatch.Agent{"security-reviewer": agent}).Run(ctx, change(t), Options{})
	if !errors.Is(err, superseded) {
		t.Errorf("Run = %v, want the cause of the cancellation", err)
	}
}

func TestCheckRefusesBeforeAgentsRun(t *testing.T) {
	refused := errors.New("draft")
	agent := agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		t.Error("an agent ran")
		return pipeline.AgentOutput{}, nil
	})
	_, err := newRunner(t, map[string]dispatch.Agent{"security-reviewer": agent}).Run(t.Context(), change(t), Options{
		Check: func(*pipeline.PRFacts, *config.Config) error { return refused },
	})
	if !errors.Is(err, refused) {
		t.Errorf("Run = %v, want Check's error as it is", err)
	}
}

// People's decisions are an input of the review and are stored with it.
func TestMemoryIsPartOfTheReview(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says("P1")})
	first, err := r.Run(t.Context(), change(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := first.Review.Report.Findings[0]
	memory := pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{{Fingerprint: found.ID, Path: found.Path, Reason: "wanted", By: "alice"}}}
	memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandReject, By: "alice", Reason: "not yet", At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
	out, err := r.Run(t.Context(), change(t), Options{Memory: func(_ context.Context, f *pipeline.PRFacts, c *pipeline.Classification) (pipeline.Memory, error) {
		if f.Head.SHA != "h" || c.Type == "" {
			t.Errorf("what people taught was read for the head %q and the type %q", f.Head.SHA, c.Type)
		}
		return memory, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	v := out.Review
	if v.Report.ByHand == nil || v.Report.Decision != pipeline.DecisionFail {
		t.Errorf("rejected by hand: %s, %+v", v.Report.Decision, v.Report.ByHand)
	}
	if len(v.Report.Suppressed) != 1 || v.Report.Suppressed[0].Finding.ID != found.ID || len(v.Report.Findings) != len(first.Review.Report.Findings)-1 {
		t.Errorf("%d findings, suppressed %+v", len(v.Report.Findings), v.Report.Suppressed)
	}

	// The stored review without its report gives the report again.
	stored, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again pipeline.Review
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	report := aggregate.Aggregate(aggregate.Input{
		Facts: &again.Facts, Classification: &again.Classification, Manifest: &again.Manifest, Gaps: again.Report.GapLog,
		Results: again.Results, Previous: again.Previous, Memory: again.Memory, Config: out.Config,
	})
	want, _ := json.Marshal(v.Report)
	if got, _ := json.Marshal(report); string(got) != string(want) {
		t.Errorf("computed again:\ngot  %s\nwant %s", got, want)
	}
}

func TestPreviousReportIsComparedWith(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says("P1")})
	first, err := r.Run(t.Context(), change(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	previous := &pipeline.PreviousReport{HeadSHA: "older", Findings: first.Review.Report.Findings, Iteration: first.Review.Report.Iteration}
	second, err := r.Run(t.Context(), change(t), Options{
		Previous: func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) { return previous, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	got := second.Review.Report
	if got.Iteration != 2 || got.Changes.Open != 1 || got.Changes.New != 0 || got.Changes.PreviousReport != "older" {
		t.Errorf("iteration %d, changes %+v, want the finding to be open in the second", got.Iteration, got.Changes)
	}
	down := errors.New("store is down")
	_, err = r.Run(t.Context(), change(t), Options{
		Previous: func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) { return nil, down },
	})
	if !errors.Is(err, down) {
		t.Errorf("Run = %v, want the store's error", err)
	}
}

// keyed is the key of a config that belongs to no text.
func keyed(i int) [sha256.Size]byte { return sha256.Sum256([]byte{byte(i), byte(i >> 8)}) }

func TestCompiledConfigsAreKeptAndBounded(t *testing.T) {
	c := NewEngines()
	// One version may belong to two configs, by chance or because somebody searched for them.
	numbered := func(i int) *config.Config {
		return &config.Config{Key: keyed(i), InForce: pipeline.ConfigInForce{Version: "same"}}
	}
	first, err := c.get(numbered(0))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.get(numbered(0)); again != first {
		t.Error("the same config was compiled twice")
	}
	const fit = maxEngines / bytesPerConfig
	for i := range 2 * fit {
		if _, err := c.get(numbered(i)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.get(numbered(0)); err != nil {
			t.Fatal(err)
		}
	}
	if c.cache.Len() != fit {
		t.Errorf("%d engines, want %d", c.cache.Len(), fit)
	}
	if kept, _ := c.cache.Get(keyed(0)); kept != first {
		t.Error("the config that was used again and again is gone")
	}
	c.forget()
	if again, err := c.get(numbered(0)); err != nil || again == first || c.cache.Len() != 1 {
		t.Errorf("after forget: the same engine %t, %d cached, error %v", again == first, c.cache.Len(), err)
	}
}

// The only config in use is cached, whatever its size.
func TestLargeConfigIsCachedAlone(t *testing.T) {
	c := NewEngines()
	large := func(i int) *config.Config {
		return &config.Config{Key: keyed(i), Rules: make([]config.Rule, maxEngines/bytesPerEntry)}
	}
	for i := range 2 {
		cfg := large(i)
		e, err := c.get(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.get(cfg); again != e || c.cache.Len() != 1 {
			t.Errorf("%d: kept: %v, beside %d others", i, again == e, c.cache.Len()-1)
		}
	}
}
