package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
)

// sizedFindings draws findings of all severities in any order, whose words
// are long, short or costly to escape. Their titles number them.
func sizedFindings(t *rapid.T) []pipeline.Finding {
	n := rapid.SampledFrom([]int{0, 1, 3, 40, 300, 2500}).Draw(t, "findings")
	words := rapid.SampledFrom([]string{"", "Plain words. ", "<&amp;>`|@a", "\u202e\U000e0041", "日本語"}).Draw(t, "words")
	long := strings.Repeat(words, rapid.SampledFrom([]int{1, 10, 2000}).Draw(t, "repeated"))
	fix := rapid.SampledFrom([]string{"", "x", strings.Repeat("fix ` ```\n", 30)}).Draw(t, "fix")
	path := rapid.SampledFrom([]string{"pricing/total.ts", strings.Repeat("d@`|/", 800)}).Draw(t, "path")
	seed := rapid.IntRange(0, 1<<20).Draw(t, "seed")
	out := make([]pipeline.Finding, n)
	for i := range out {
		out[i] = pipeline.Finding{
			Title: fmt.Sprintf("F%05d %s", i, long), Severity: pipeline.Severities()[(i*7+seed*(i%5))%4],
			Path: path, StartLine: 42, EndLine: 42, Message: long, WhyItMatters: "w " + long, Recommendation: "r " + long,
			Evidence: pipeline.List[string]{long, long}, SuggestedFix: fix, Agent: fmt.Sprintf("agent-%d", i%3), RuleID: "rule",
		}
	}
	return out
}

var (
	titled = regexp.MustCompile(`F[0-9]{5}`)
	hidden = regexp.MustCompile(`…and ([0-9,]+) more \((.*?)\) that`)
)

// shownTitles returns the numbers of the findings in a text, in order.
func shownTitles(text string) []int {
	var out []int
	for _, m := range titled.FindAllString(text, -1) {
		n, _ := strconv.Atoi(m[1:])
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Any report fits; the worst findings are those that are shown; shown and
// left out are all.
func TestEveryReportFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := cleanView()
		fs := sizedFindings(t)
		setFindings(&v, pipeline.DecisionFail, "critical > 0", fs...)
		crowd(t, &v)
		order := worstFirst(fs)
		check := Check(v)
		for name, text := range map[string]string{"comment": Comment(v).Body, "text": check.Text} {
			if len(text) > maxBody || utf8.RuneCountInString(text) > 65_535 {
				t.Fatalf("%s has %d bytes", name, len(text))
			}
			shown := shownTitles(text)
			if len(shown) > len(order) || !slices.Equal(shown, order[:len(shown)]) {
				t.Fatalf("%s does not show the worst findings first: %v", name, shown)
			}
			if len(fs) > 0 && len(shown) == 0 {
				t.Fatalf("%s shows no finding at all", name)
			}
			left := 0
			if m := hidden.FindStringSubmatch(text); m != nil {
				left, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			}
			if len(shown)+left != len(fs) {
				t.Fatalf("%s shows %d findings and leaves out %d of %d", name, len(shown), left, len(fs))
			}
		}
		if len(check.Summary) > 65_535 || utf8.RuneCountInString(check.Title) > 255 {
			t.Fatalf("summary of %d bytes, title %q", len(check.Summary), check.Title)
		}
		checkAnnotations(t, v, check.Annotations)
	})
}

// crowd fills the lists around the findings.
func crowd(t *rapid.T, v *View) {
	n := rapid.SampledFrom([]int{0, 3, 1000}).Draw(t, "crowd")
	text := strings.Repeat("<@`é", 200)
	v.Notice = text
	for range n {
		r := &v.Review
		r.Report.Incomplete = append(r.Report.Incomplete, pipeline.Incompleteness{What: "patch", Path: text, Why: text, Gating: true})
		r.Report.Changes.Resolved = append(r.Report.Changes.Resolved, pipeline.Finding{Title: text, Severity: pipeline.SeverityInfo, Path: text})
		r.Report.ResidualConcerns = append(r.Report.ResidualConcerns, pipeline.SourcedText{Text: text, Source: text})
		r.Report.GapLog = append(r.Report.GapLog, pipeline.GapLogEntry{Concern: text, Path: text, Line: 1, Quote: text, Missed: text,
			Suggestion: pipeline.ConfigPatch{File: text, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: text, Value: text}}}})
		r.Facts.Config.Problems = append(r.Facts.Config.Problems, pipeline.ConfigProblem{File: text, Problem: text, Remedy: text})
		r.Facts.Files = append(r.Facts.Files, pipeline.File{Path: text, Generated: true, GeneratedByPath: true})
		r.Manifest.Skipped = append(r.Manifest.Skipped, pipeline.SkippedAgent{Agent: text, Reason: text})
		r.Classification.Domains = append(r.Classification.Domains, pipeline.Domain{ID: text})
		r.Classification.Risk.Reasons = append(r.Classification.Risk.Reasons, pipeline.RiskReason{Reason: text, Points: 1})
		r.Facts.Config.Layers = append(r.Facts.Config.Layers, pipeline.ConfigLayer{Name: text, Used: true})
		v.Shared = append(v.Shared, SharedHead{Number: 1})
	}
}

func worstFirst(fs []pipeline.Finding) []int {
	order := make([]int, len(fs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return fs[b].Severity.Rank() - fs[a].Severity.Rank() })
	return order
}

func checkAnnotations(t *rapid.T, v View, list []Annotation) {
	if len(list) > maxAnnotations {
		t.Fatalf("%d annotations", len(list))
	}
	levels := []string{"failure", "warning", "notice"}
	worst := 0
	for _, a := range list {
		level := slices.Index(levels, a.Level)
		if level < worst {
			t.Fatalf("annotation of level %s comes after a lesser one", a.Level)
		}
		worst = level
		if a.StartLine <= 0 || a.EndLine < a.StartLine || a.Message == "" {
			t.Fatalf("annotation is not valid: %+v", a)
		}
		if len(a.Message) > 64<<10 || len(a.RawDetails) > 64<<10 || utf8.RuneCountInString(a.Title) > 255 {
			t.Fatalf("annotation is too long: %d, %d, %d", len(a.Message), len(a.RawDetails), utf8.RuneCountInString(a.Title))
		}
		if _, all := newDiffIndex(v.Review.Facts.Files).text(a.Path, a.StartLine, a.EndLine); !all {
			t.Fatalf("annotation on %s:%d-%d is outside of the diff", a.Path, a.StartLine, a.EndLine)
		}
	}
}

func TestFitPrefersLength(t *testing.T) {
	long := func(i int) safe { return safe(strings.Repeat("L", 100)) }
	short := func(i int) safe { return "s" }
	for _, c := range []struct {
		name    string
		n, room int
		want    string // L, s for each finding
	}{
		{"all at length", 2, 300, "LL"},
		{"the worst at length, all shown", 3, 150, "Lss"},
		{"all in short", 3, 50, "sss"},
		{"not all fit: half of the room for length", 200, 300, "L" + strings.Repeat("s", 66)},
		{"nothing fits", 2, 1, ""},
		{"no limit", 3, unlimited, "LLL"},
	} {
		got := ""
		for _, s := range fit(c.n, c.room, long, short) {
			got += string(s[:1])
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func BenchmarkComment(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Comment(v)
			}
			perFinding(b, n)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Check(v)
			}
			perFinding(b, n)
		})
	}
}

// BenchmarkText renders every finding, however many.
func BenchmarkText(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				Text(v, TextOptions{})
			}
			perFinding(b, n)
		})
	}
}

func BenchmarkSARIF(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		v := overflowView(n)
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := SARIF(v); err != nil {
					b.Fatal(err)
				}
			}
			perFinding(b, n)
		})
	}
}

func perFinding(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/finding")
}
