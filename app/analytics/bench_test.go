package analytics

import (
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// storedLog is the log of a pull request with ten findings, as a store holds it.
func storedLog(n int) (bodies [][]byte) {
	at := begin.Add(time.Duration(n) * time.Hour)
	e := learning.Entry{Repository: "acme/shop", Number: n, At: at}
	review := func(run string, decision pipeline.Decision, status learning.Status) {
		r := &learning.Review{
			HeadSHA: fmt.Sprintf("%040x", n), BaseRef: "main", BaseSHA: fmt.Sprintf("%040x", n+1), ConfigVersion: fmt.Sprintf("%064x", n), Version: "1.0.0",
			Iteration: 1, Services: pipeline.List[string]{"cart"}, Decision: decision, Condition: "no_blocking", Strategy: "parallel", Confidence: 0.9,
			AutoDecision: pipeline.AutoHuman, DurationMS: 1234,
			Use: pipeline.List[learning.Use]{{Agent: "quality", Model: "small", Input: 1000, Output: 100, Cost: 0.01}, {Agent: "quality", Model: "large", Input: 1000, Output: 100, Cost: 0.1}},
		}
		for _, m := range []string{"small", "large"} {
			r.Asked = append(r.Asked, learning.Asked{Agent: "quality", Model: m, Stage: "quality", Checklist: "c1", Prompt: "p1", Lines: pipeline.List[learning.Lines]{{Path: "cart/total.go", First: 1, Last: 90}}})
		}
		for i := range 10 {
			f := learning.Finding{
				ID: fmt.Sprintf("%016x", 100*n+i), Agent: "code-quality-reviewer", Rule: fmt.Sprint("rule-", i), Severity: pipeline.SeverityMajor, Gate: pipeline.SeverityMajor,
				Category: "error-handling", Path: "cart/total.go", First: 10 + i, Last: 12 + i, Services: pipeline.List[string]{"cart"}, Around: fmt.Sprintf("%016x", i), Status: status,
			}
			if i%2 == 0 {
				f.Agent, f.Rule, f.Stage, f.Prompt = "quality", "", "quality", "p1"
				f.Models = pipeline.List[learning.Stated]{{Model: []string{"small", "large"}[i/2%2], Confidence: 0.8}}
			}
			if i%3 > 0 || status == learning.StatusOpen {
				r.Findings = append(r.Findings, f)
			}
		}
		e.Event, e.Kind, e.Review, e.At = run, learning.KindReview, r, e.At.Add(time.Hour)
		bodies = append(bodies, encoded(e))
	}
	review("run1", pipeline.DecisionNeedsFixes, learning.StatusOpen)
	review("run2", pipeline.DecisionPass, learning.StatusFixed)
	e.Event, e.Kind, e.Review = "comment", learning.KindJudged, nil
	e.Judged = &learning.Judged{Findings: pipeline.List[string]{fmt.Sprintf("%016x", 100*n)}, Verdict: learning.Dismissed, Class: learning.FalsePositive, Person: fmt.Sprint("person", n%5)}
	bodies = append(bodies, encoded(e))
	e.Event, e.Kind, e.Judged = "end", learning.KindMerged, nil
	return append(bodies, encoded(e))
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// BenchmarkSummarise summarises a million findings, from the stored form of their logs.
func BenchmarkSummarise(b *testing.B) {
	const findings, each, distinct = 1_000_000, 10, 500
	var stored [distinct][][]byte
	size := 0
	for i := range stored {
		stored[i] = storedLog(i)
		for _, body := range stored[i] {
			size += len(body)
		}
	}
	rows := func() iter.Seq2[[][]byte, error] {
		return func(yield func([][]byte, error) bool) {
			for i := range findings / each {
				if !yield(stored[i%distinct], nil) {
					return
				}
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := Summarise(b.Context(), decode(rows()), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if s.Totals.Findings.Shown != findings {
			b.Fatalf("%d findings", s.Totals.Findings.Shown)
		}
	}
	b.ReportMetric(findings*float64(b.N)/b.Elapsed().Seconds(), "findings/s")
	b.ReportMetric(float64(size)/distinct*findings/each/1e6, "MB")
}

func decode(rows iter.Seq2[[][]byte, error]) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		var d learning.Decoder
		for bodies, err := range rows {
			log := make([]learning.Entry, len(bodies))
			for i, body := range bodies {
				if err == nil {
					log[i], err = d.Decode(body)
				}
			}
			if !yield(log, err) {
				return
			}
		}
	}
}
