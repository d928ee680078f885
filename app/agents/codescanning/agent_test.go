package codescanning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// host holds the findings of other Apps.
type host struct {
	runs        []ports.ScanRun
	annotations map[int64][]ports.ScanAnnotation
	alerts      []ports.ScanAlert
	none        string
	err         error
	tooMuch     error // of the runs
	required    bool  // whether the agent is required

	mu   sync.Mutex
	read []string
}

func (h *host) asked(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read = append(h.read, what)
}

func (h *host) OtherRuns(_ context.Context, commit string) ([]ports.ScanRun, error) {
	h.asked("runs of " + commit)
	return h.runs, errors.Join(h.err, h.tooMuch)
}

func (h *host) Annotations(_ context.Context, run int64, _ int) ([]ports.ScanAnnotation, error) {
	h.asked(fmt.Sprint("annotations of ", run))
	return h.annotations[run], h.err
}

func (h *host) Alerts(context.Context) ([]ports.ScanAlert, string, error) {
	h.asked("alerts")
	return h.alerts, h.none, h.err
}

// review runs an agent on a change in which lines 3, 4 and 8 of a.go are new, and both lines
// of new.go.
func (h *host) review(t *testing.T, sources *config.ScanSources) (pipeline.AgentOutput, string, seen, error) {
	t.Helper()
	store := &beginnings{}
	a := New(Options{
		Sources: sources, Host: h, Reads: &Reads{Store: store},
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
	})
	of := task(pipeline.AgentScope{All: true})
	of.Entry.Required = h.required
	answer, err := a.Review(t.Context(), of)
	if store.n != 1 {
		t.Error("the events from before the read are still stored")
	}
	return answer.Output, answer.Note, a.Reads.seen[of.Entry.Agent], err
}

func task(scope pipeline.AgentScope) dispatch.Task {
	line := func(op pipeline.LineOp, n int) pipeline.Line { return pipeline.Line{Op: op, New: n, Text: "x"} }
	added, context := pipeline.LineAdded, pipeline.LineContext
	return dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "code-scanning", Scope: scope},
		Facts: &pipeline.PRFacts{Head: pipeline.Head{SHA: "h"}, Files: pipeline.List[pipeline.File]{
			{Path: "a.go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{{Lines: pipeline.List[pipeline.Line]{
				line(context, 2), line(added, 3), line(added, 4), line(pipeline.LineRemoved, 0), line(context, 5), line(added, 8), line(context, 9),
			}}}},
			{Path: "gone.go", Status: pipeline.FileRemoved},
			{Path: "new.go", Status: pipeline.FileAdded, Additions: 2, Hunks: pipeline.List[pipeline.Hunk]{{Lines: pipeline.List[pipeline.Line]{line(added, 1), line(added, 2)}}}},
		}},
	}
}

// outline is a finding in short form.
func outline(fs []pipeline.Finding) []string {
	var lines []string
	for _, f := range fs {
		lines = append(lines, fmt.Sprintf("%s %s:%d-%d %s %s", f.Severity, f.Path+f.Section, f.StartLine, f.EndLine, f.RuleID, f.Title))
	}
	return lines
}

func remark(path string, start, end int, level, message string) ports.ScanAnnotation {
	return ports.ScanAnnotation{Path: path, StartLine: start, EndLine: end, Level: level, Message: message}
}

func TestAnnotations(t *testing.T) {
	h := &host{
		runs: []ports.ScanRun{
			{ID: 1, Name: "lint", App: "ci", Completed: true, Annotations: 6}, {ID: 2, Name: "vet", App: "ci", Completed: true},
			{ID: 3, Name: "build", App: "ci"}, {ID: 4, Name: "lint again", App: "ci", Completed: true, Annotations: 1},
		},
		annotations: map[int64][]ports.ScanAnnotation{
			1: {
				remark("a.go", 3, 3, "notice", "Mind this."), remark("./a.go", 4, 4, "warning", "Mind hunter2."), remark("a.go", 1, 9, "failure", "All of it.\nIn words."),
				remark("a.go", 5, 5, "failure", "Old."), remark("gone.go", 1, 1, "failure", "Gone."), remark("new.go", 0, 0, "odd", " "),
			},
			4: {remark("a.go", 3, 3, "warning", "Mind this.")}, // the same annotation again, and more severe
		},
	}
	out, note, met, err := h.review(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"major a.go:3-4 ci/lint All of it.", "warning a.go:3-3 ci/lint Mind this.", "warning a.go:4-4 ci/lint Mind [redacted].", "warning new.go:0-0 ci/lint No text",
	}
	if diff := cmp.Diff(want, outline(out.Findings)); diff != "" {
		t.Error(diff)
	}
	if want := "not completed yet and not looked at: build; 2 not shown, since they are on no line that counts"; note != want {
		t.Errorf("note %q, want %q", note, want)
	}
	if len(met.annotated) != 2 || len(met.waiting) != 0 {
		t.Errorf("seen %+v", met)
	}
	for _, f := range out.Findings {
		if f.Confidence != 0.80 || f.Category != "other-checks" || len(f.Evidence) == 0 || strings.TrimSpace(f.Message) == "" {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(h.read)
	if want := []string{"annotations of 1", "annotations of 4", "runs of h"}; !slices.Equal(h.read, want) {
		t.Errorf("read %q, want %q", h.read, want)
	}
}

func TestFilters(t *testing.T) {
	h := &host{runs: []ports.ScanRun{{ID: 1, Name: "lint", App: "ci", Completed: true, Annotations: 7}}, annotations: map[int64][]ports.ScanAnnotation{1: {
		remark("a.go", 3, 3, "warning", "added"), remark("a.go", 5, 5, "warning", "context"), remark("a.go", 5, 8, "warning", "both"), remark("a.go", 100, 99, "warning", "file"),
		remark("other.go", 1, 1, "warning", "elsewhere"), remark("new.go", 9, 9, "warning", "no such line"), remark("a.go", -1, 0, "warning", "whole"),
	}}}
	for filter, want := range map[string][]string{
		"":                   {"warning a.go:3-3 ci/lint added", "warning a.go:8-8 ci/lint both"},
		config.FilterAdded:   {"warning a.go:3-3 ci/lint added", "warning a.go:8-8 ci/lint both"},
		config.FilterContext: {"warning a.go:3-3 ci/lint added", "warning a.go:5-5 ci/lint context", "warning a.go:8-8 ci/lint both"},
		config.FilterFile: {"warning a.go:0-0 ci/lint whole", "warning a.go:3-3 ci/lint added", "warning a.go:5-5 ci/lint context", "warning a.go:8-8 ci/lint both",
			"warning a.go:100-100 ci/lint file", "warning new.go:0-0 ci/lint no such line"},
		config.FilterNone: {"warning change:0-0 ci/lint elsewhere", "warning a.go:0-0 ci/lint whole", "warning a.go:3-3 ci/lint added", "warning a.go:5-5 ci/lint context",
			"warning a.go:8-8 ci/lint both", "warning a.go:100-100 ci/lint file", "warning new.go:0-0 ci/lint no such line"},
	} {
		t.Run(filter, func(t *testing.T) {
			out, _, _, err := h.review(t, &config.ScanSources{Filter: filter})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outline(out.Findings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An agent with a scope reports nothing about other files.
func TestScope(t *testing.T) {
	h := &host{runs: []ports.ScanRun{{ID: 1, Name: "lint", App: "ci", Completed: true, Annotations: 2}}, annotations: map[int64][]ports.ScanAnnotation{1: {
		remark("a.go", 3, 3, "warning", "one"), remark("new.go", 1, 1, "warning", "two"), remark("other.go", 1, 1, "warning", "three"),
	}}}
	for _, filter := range []string{config.FilterAdded, config.FilterNone} {
		a := New(Options{Sources: &config.ScanSources{Filter: filter}, Host: h, Reads: &Reads{}, Redact: func(s string) string { return s }})
		answer, err := a.Review(t.Context(), task(pipeline.AgentScope{Files: pipeline.List[string]{"new.go"}}))
		if want := []string{"warning new.go:1-1 ci/lint two"}; err != nil || !slices.Equal(outline(answer.Output.Findings), want) {
			t.Errorf("%s: %q, %v", filter, outline(answer.Output.Findings), err)
		}
	}
}

func TestSeveritiesOfAlerts(t *testing.T) {
	for _, tt := range []struct{ severity, security, want string }{
		{"error", "critical", "critical"}, {"warning", "high", "major"}, {"error", "medium", "warning"}, {"error", "low", "info"},
		{"error", "", "major"}, {"warning", "", "warning"}, {"note", "", "info"}, {"none", "", ""}, {"", "", "warning"}, {"none", "high", "major"},
	} {
		alert := ports.ScanAlert{Number: 7, Tool: "CodeQL", Rule: "go/x", Title: "Bad", Severity: tt.severity, SecuritySeverity: tt.security, Path: "a.go", StartLine: 3, EndLine: 3, Message: "No.", HelpURL: "https://example.com/x"}
		yes := true
		h := &host{alerts: []ports.ScanAlert{alert}}
		out, _, _, err := h.review(t, &config.ScanSources{Alerts: &yes})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if tt.want != "" {
			want = []string{tt.want + " a.go:3-3 CodeQL/go/x Bad: No."}
		}
		if diff := cmp.Diff(want, outline(out.Findings)); diff != "" {
			t.Errorf("%+v: %s", tt, diff)
		}
	}
}

// Only an https address becomes a recommendation.
func TestHelp(t *testing.T) {
	yes := true
	for address, want := range map[string]string{
		"https://example.com/x": "See https://example.com/x", "http://example.com": "", "javascript:alert(1)": "", "https://me:pw@example.com": "", "": "", "https://": "",
	} {
		h := &host{alerts: []ports.ScanAlert{{Number: 1, Tool: "t", Rule: "r", Path: "a.go", StartLine: 3, HelpURL: address}}}
		out, _, _, err := h.review(t, &config.ScanSources{Alerts: &yes})
		if err != nil || out.Findings[0].Recommendation != want {
			t.Errorf("%q: %q, %v", address, out.Findings[0].Recommendation, err)
		}
	}
}

func TestWaiting(t *testing.T) {
	no := false
	tests := map[string]struct {
		runs []ports.ScanRun
		wait []string
	}{
		"never begun":         {nil, []string{"CodeQL"}},
		"under way":           {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "named"}}, []string{"CodeQL"}},
		"one of two suites":   {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "named", Completed: true}, {ID: 2, Name: "CodeQL", App: "named"}}, []string{"CodeQL"}},
		"of another App":      {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "not-named", Completed: true}}, []string{"CodeQL"}},
		"cut short":           {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "named", Completed: true, Cut: true}}, []string{"CodeQL"}},
		"cut short, again":    {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "named", Completed: true, Cut: true}, {ID: 2, Name: "CodeQL", App: "named", Completed: true}}, nil},
		"completed":           {[]ports.ScanRun{{ID: 1, Name: "CodeQL", App: "named", Completed: true}}, nil},
		"a name that differs": {[]ports.ScanRun{{ID: 1, Name: "codeql", App: "named", Completed: true}}, []string{"CodeQL"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, sources := range []*config.ScanSources{
				{WaitFor: []string{"CodeQL"}, Apps: []string{"named"}}, {WaitFor: []string{"CodeQL"}, Apps: []string{"named"}, Annotations: &no},
			} {
				_, _, met, err := (&host{runs: tt.runs}).review(t, sources)
				if (err != nil) != (tt.wait != nil) || !slices.Equal(met.waiting, tt.wait) {
					t.Errorf("waiting for %q, %v", met.waiting, err)
				}
				if err != nil && err.Error() != "waiting for CodeQL, which must be completed on this head, and not cut short" {
					t.Error(err)
				}
			}
		})
	}
}

// Disabled sources are not read.
func TestDisabledSourcesAreNotRead(t *testing.T) {
	no := false
	h := &host{}
	if _, note, _, err := h.review(t, &config.ScanSources{Annotations: &no}); err != nil || note != "" || h.read != nil {
		t.Errorf("asked for %q: %q, %v", h.read, note, err)
	}
	h = &host{none: "code scanning is not enabled"}
	yes := true
	if _, note, _, err := h.review(t, &config.ScanSources{Annotations: &no, Alerts: &yes}); err != nil || note != h.none || !slices.Equal(h.read, []string{"alerts"}) {
		t.Errorf("asked for %q: %q, %v", h.read, note, err)
	}
}

// A host's error is returned unchanged.
func TestTrouble(t *testing.T) {
	trouble, yes, no := errors.New("no answer"), true, false
	for _, sources := range []*config.ScanSources{nil, {Annotations: &no, Alerts: &yes}} {
		if _, _, _, err := (&host{err: trouble}).review(t, sources); !errors.Is(err, trouble) {
			t.Errorf("%+v: %v", sources, err)
		}
	}
	many := &host{required: true}
	for i := range maxRuns + 1 {
		many.runs = append(many.runs, ports.ScanRun{ID: int64(i), Name: "r", Completed: true, Annotations: 1})
	}
	for what, h := range map[string]*host{
		"runs": many, "annotations": {required: true, runs: []ports.ScanRun{{ID: 1, Completed: true, Annotations: MaxRead + 1}}},
	} {
		if _, _, _, err := h.review(t, nil); err == nil || !strings.Contains(err.Error(), "name the Apps that count") || len(h.read) != 1 {
			t.Errorf("too many %s: %v after %q", what, err, h.read)
		}
	}
}

func TestTooMuchText(t *testing.T) {
	sample.Variant(t)
	long := &host{required: true, runs: []ports.ScanRun{{ID: 1, Name: "r", Completed: true, Annotations: 1}}, annotations: map[int64][]ports.ScanAnnotation{}}
	for i := range MaxRead {
		a := remark("a.go", 3, 3, "warning", fmt.Sprint(i, strings.Repeat(" x", ports.MaxScanText/2)))
		long.annotations[1] = append(long.annotations[1], a)
	}
	if _, _, _, err := long.review(t, nil); err == nil || !strings.Contains(err.Error(), "more text than is read") {
		t.Errorf("too much text: %v", err)
	}
}

// Somebody who floods a change with annotations makes the review worse and hides no findings
// of others.
func TestFlood(t *testing.T) {
	yes := true
	for what, h := range map[string]*host{
		"annotations": {runs: []ports.ScanRun{{ID: 1, Completed: true, Annotations: MaxRead + 1}}},
		"check runs":  {tooMuch: &ports.TooMuchError{What: "there are more check runs than GitHub lists"}},
	} {
		h.alerts = []ports.ScanAlert{{Number: 1, Tool: "CodeQL", Rule: "go/x", Title: "Bad", SecuritySeverity: "critical", Path: "a.go", StartLine: 3, EndLine: 3, Message: "No."}}
		out, _, _, err := h.review(t, &config.ScanSources{Alerts: &yes})
		want := []string{"critical a.go:3-3 CodeQL/go/x Bad: No.", "major change:0-0 annotations/unread Not all that other checks annotated was read"}
		if err != nil || !slices.Equal(outline(out.Findings), want) {
			t.Errorf("%s: %q, %v", what, outline(out.Findings), err)
		}
		h.required = true
		if _, _, _, err := h.review(t, &config.ScanSources{Alerts: &yes}); err == nil {
			t.Errorf("%s: the required agent finished", what)
		}
	}
}

// A secret that is cut by a text's limit is not shown in part.
func TestCutTextShowsNoPartOfASecret(t *testing.T) {
	redact := func(s string) string {
		return strings.ReplaceAll(s, "BEGIN"+strings.Repeat("k", 3000)+"END", "[redacted]")
	}
	text := strings.Repeat("BEGIN"+strings.Repeat("k", 3000)+"END ", 20)[:ports.MaxScanText]
	if got := shown(redact, text, maxMessage); strings.Contains(got, "kkk") || got == "" {
		t.Errorf("%.100q", got)
	}
	if got := shown(redact, "short", 10); got != "short" {
		t.Errorf("%q", got)
	}
	if got := shown(redact, strings.Repeat("é", 20), 10); got != strings.Repeat("é", 9)+"…" {
		t.Errorf("%q", got)
	}
}

// Whatever an annotation contains, its finding is limited, valid, and on a line of the
// change.
func FuzzAnnotation(f *testing.F) {
	f.Add("a.go", 3, 3, "failure", "Bad", "No good.", "raw", "added")
	f.Add("./a.go", -9, 1<<60, "", "", " \n\x00", "```", "none")
	f.Add("../x", 0, -1, "notice", "\u202e", "@me", "", "file")
	f.Fuzz(func(t *testing.T, path string, start, end int, level, title, message, raw, filter string) {
		facts := task(pipeline.AgentScope{All: true})
		c := newCollector(facts, filter)
		c.annotation(ports.ScanRun{Name: title, App: path}, &ports.ScanAnnotation{Path: path, StartLine: start, EndLine: end, Level: level, Title: title, Message: message, RawDetails: raw})
		c.alert(&ports.ScanAlert{Tool: title, Rule: path, Title: title, Severity: level, SecuritySeverity: raw, Path: path, StartLine: start, EndLine: end, Message: message, HelpURL: raw})
		list, more := c.findings(func(s string) string { return s })
		if more != 0 || len(list)+c.notShown > 2 {
			t.Fatalf("%d findings, %d more, %d not shown", len(list), more, c.notShown)
		}
		for _, x := range list {
			known := slices.ContainsFunc(facts.Facts.Files, func(f pipeline.File) bool { return f.Path == x.Path && f.Status != pipeline.FileRemoved })
			if !known && (x.Path != "" || x.Section != pipeline.SectionChange) {
				t.Errorf("path %q, section %q", x.Path, x.Section)
			}
			if x.StartLine < 0 || x.EndLine < x.StartLine || !x.Severity.Valid() || strings.TrimSpace(x.Title) == "" || strings.TrimSpace(x.Message) == "" {
				t.Errorf("%+v", x)
			}
			if n := len([]rune(x.Title)); n > maxTitle {
				t.Errorf("title of %d characters", n)
			}
			if n := len([]rune(x.Message)); n > maxMessage {
				t.Errorf("message of %d characters", n)
			}
			if strings.ContainsAny(x.Title+x.RuleID, "\n\r\x00") {
				t.Errorf("title %q, rule %q", x.Title, x.RuleID)
			}
		}
	})
}
