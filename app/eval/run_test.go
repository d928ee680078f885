package eval

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

var update = flag.Bool("update", false, "write the figures of docs/eval.md anew")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // compiling config leaves much garbage
	goleak.VerifyTestMain(m)
}

func options(cases []Case) Options {
	return Options{Cases: cases, Version: "devel", Now: time.Now}
}

// The shipped rules review the shipped set. docs/eval.md and the README name the share of
// defects that they find.
func TestShippedRulesOnTheSet(t *testing.T) {
	cases := loadSet(t)
	r, err := Run(t.Context(), options(cases))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, x := range r.Agents {
		lines[x.Agent]++
		if x.Failed != 0 || x.Model != "" || x.Asked != 0 || x.CostUSD != 0 {
			t.Errorf("%s failed or asked a model: %+v", x.Agent, x)
		}
		if x.Hits > x.Findings || x.Found > x.Hits || x.CleanFindings > x.Findings-x.Hits || x.P50MS > x.MaxMS || x.Cases > r.Cases {
			t.Errorf("the figures of %s are impossible: %+v", x.Agent, x)
		}
	}
	if lines["security-reviewer"] != 1 || lines["secrets"] != 1 || lines["code-scanning"] != 0 {
		t.Errorf("agents %v, want each that reviews code once", lines)
	}
	if r.Cases != len(cases) || r.Report.Found == 0 || r.Report.Found >= len(r.Defects) || *r.Report.Precision < 0.3 {
		t.Errorf("%d cases, report %+v: want some but not all defects, and more right findings than wrong ones", r.Cases, r.Report)
	}
	found := 0
	for _, p := range r.Parts {
		found += p.Found
	}
	if found != r.Report.Found || r.Report.CleanBlocked > r.Clean/4 {
		t.Errorf("%d found by language and %d in all; %d clean changes blocked", found, r.Report.Found, r.Report.CleanBlocked)
	}
	if text := Text(r); !strings.Contains(text, "security-reviewer") || strings.Contains(text, "NaN") {
		t.Errorf("text:\n%s", text)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("JSON: %v", err)
	}
	checkPage(t, r)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	says := fmt.Sprintf("Of %d defects that mostly need an understanding of the code, they find %d", len(r.Defects), r.Report.Found)
	if !strings.Contains(strings.Join(strings.Fields(string(readme)), " "), says) {
		t.Errorf("the README does not contain %q", says)
	}
}

// checkPage compares the figures of docs/eval.md with the result, or updates them.
func checkPage(t *testing.T, r Result) {
	t.Helper()
	const page, begin, end = "../../docs/eval.md", "<!-- figures -->\n", "<!-- figures end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	documented, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the figures", page)
	}
	figures := figuresTable(r)
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+figures+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if documented != figures {
		t.Errorf("%s does not have the figures; run: go test ./app/eval -run TestShippedRulesOnTheSet -update\n%s", page, figures)
	}
}

// figuresTable is the part of a result that docs/eval.md shows. It leaves times out, because
// they differ in each run.
func figuresTable(r Result) string {
	var b strings.Builder
	b.WriteString("| agent | cases | findings | hits | precision | found | recall | on clean |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	row := func(agent string, cases int, s Score) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %d | %s | %d |\n", agent, cases, s.Findings, s.Hits, percent(s.Precision), s.Found, percent(s.Recall), s.CleanFindings)
	}
	for _, x := range r.Agents {
		row(x.Agent, x.Cases, x.Score)
	}
	row("report", r.Cases, r.Report.Score)
	fmt.Fprintf(&b, "\n%d cases, %d of them clean, and %d defects.\n\nThe gate blocks %d of the %d cases with defects and %d of the clean ones.\n",
		r.Cases, r.Clean, len(r.Defects), r.Report.DefectCasesBlocked, r.Cases-r.Clean, r.Report.CleanBlocked)
	return b.String()
}

func TestOneAgentAlone(t *testing.T) {
	cases := loadSet(t)[:3]
	o := options(cases)
	o.Agent = "build-reviewer"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Agents) != 1 || r.Agents[0].Agent != "build-reviewer" || r.Agents[0].Cases != 3 {
		t.Errorf("rows %+v, want build-reviewer's on three cases", r.Agents)
	}
	o.Agent = "build"
	var bad *UnusableError
	if _, err := Run(t.Context(), o); !errors.As(err, &bad) || !strings.Contains(err.Error(), "build-reviewer") {
		t.Errorf("error %v, want one that names the agents", err)
	}
}

func TestConfigCounts(t *testing.T) {
	o := options(loadSet(t)[:1])
	o.Layers = []config.Layer{{Name: config.LayerServer, Files: []config.File{{Path: config.FileAgents, Text: []byte(`[{"id": "secrets", "enabled": false}]`)}}}}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Agents {
		if x.Agent == "secrets" {
			t.Errorf("a disabled agent ran: %+v", x)
		}
	}
	o.Layers[0].Files[0].Text = []byte(`[{"id": 5}]`)
	var bad *UnusableError
	if _, err := Run(t.Context(), o); !errors.As(err, &bad) || !strings.Contains(err.Error(), config.FileAgents) {
		t.Errorf("error %v, want one about the config", err)
	}
}

func TestDefectsOutsideTheDiff(t *testing.T) {
	long := "package a\n" + strings.Repeat("// line\n", 20) + "var x = 1\n"
	for name, tt := range map[string]struct {
		c    Case
		says string
	}{
		"no change":     {Case{Base: map[string]string{"a.go": long}, Head: map[string]string{"a.go": long}}, "base and head are the same"},
		"outside":       {Case{Base: map[string]string{"a.go": long}, Head: map[string]string{"a.go": "// new\n" + long}, Defects: []Defect{{Path: "a.go", Quotes: []string{"var x"}, Lines: []Range{{23, 23}}}}}, `"var x" is not in the diff of a.go`},
		"a binary file": {Case{Head: map[string]string{"b.png": "\x89PNG\r\n\x1a\n\x00a"}, Defects: []Defect{{Path: "b.png", Quotes: []string{"a"}, Lines: []Range{{1, 1}}}}}, "is not in the diff"},
	} {
		tt.c.Name, tt.c.Title = "a", "feat: a"
		if _, err := Run(t.Context(), options([]Case{tt.c})); err == nil || !strings.Contains(err.Error(), "the case a: ") || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", name, err, tt.says)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, options(loadSet(t)[:2])); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// noting is an agent that has a note and takes a second.
type noting struct{ clock *time.Time }

func (a noting) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	*a.clock = a.clock.Add(time.Second)
	return dispatch.Answer{Note: "seen half"}, nil
}

// Attempts of one model add up, and different models stay separate.
func TestTimed(t *testing.T) {
	var clock time.Time
	watch := &stopwatch{now: func() time.Time { return clock }}
	a := timed{noting{&clock}, watch}
	for _, model := range []string{"atlas", "zephyr", "atlas"} {
		answer, err := a.Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "quality"}, Model: model})
		if answer.Note != "seen half" || err != nil {
			t.Errorf("note %q, %v", answer.Note, err)
		}
	}
	if got := watch.took[reviewer{"quality", "atlas"}]; got != 2*time.Second {
		t.Errorf("atlas took %s, want 2s", got)
	}
}
