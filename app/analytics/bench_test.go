package analytics

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
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
			Iteration: 1, Services: pipeline.List[string]{"cart"}, Decision: decision, Condition: "critical > 0", Strategy: "parallel", Confidence: 0.9,
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

// The benchmark is about a million findings in logs of ten. Only some logs differ.
const (
	manyFindings = 1_000_000
	findingsEach = 10
	distinctLogs = 500
)

// BenchmarkSummarise summarises a million findings, from the stored form of their logs in memory and in
// both databases. It may take 5 seconds on two cores.
func BenchmarkSummarise(b *testing.B) {
	var stored [distinctLogs][][]byte
	for i := range stored {
		stored[i] = storedLog(i)
	}
	b.Run("memory", func(b *testing.B) {
		measure(b, func(yield func([]learning.Entry, error) bool) {
			var d learning.Decoder
			for i := range manyFindings / findingsEach {
				var log []learning.Entry
				for _, body := range stored[i%distinctLogs] {
					e, err := d.Decode(body)
					if err != nil {
						yield(nil, err)
						return
					}
					log = append(log, e)
				}
				if !yield(log, nil) {
					return
				}
			}
		})
	})
	for _, on := range []struct {
		name, driver string
		url          func(testing.TB) string
	}{{"SQLite", "sqlite", sqlitetest.URL}, {"PostgreSQL", "pgx", pgtest.URL}} {
		b.Run(on.name, func(b *testing.B) {
			url := on.url(b)
			s, err := store.Open(b.Context(), url, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			fill(b, on.driver, strings.TrimPrefix(url, "sqlite://"), stored[:])
			r, err := store.OpenReader(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			measure(b, r.Logs(b.Context(), ports.LogFilter{Since: begin}))
		})
	}
}

// fill writes the logs into a database, over and over.
func fill(b *testing.B, driver, url string, logs [][][]byte) {
	b.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	const columns = "target_key, event, repo_id, at, body"
	for i, log := range logs {
		for n, body := range log {
			if _, err := tx.Exec("INSERT INTO learning ("+columns+") VALUES ($1, $2, 1, $3, $4)", fmt.Sprint("log ", i), fmt.Sprint(n), begin.UnixMicro(), string(body)); err != nil {
				b.Fatal(err)
			}
		}
	}
	if _, err := tx.Exec(fmt.Sprintf(`
		INSERT INTO learning (%s)
		WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < %d)
		SELECT 'copy ' || copies.n || ' ' || target_key, event, repo_id, at, body FROM copies, learning ORDER BY copies.n, id`,
		columns, manyFindings/findingsEach/len(logs)-1)); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO learning_logs SELECT target_key, 1, 'acme/shop', max(at) FROM learning GROUP BY target_key"); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func measure(b *testing.B, logs iter.Seq2[[]learning.Entry, error]) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Summarise(b.Context(), logs, Options{Since: begin})
		if err != nil {
			b.Fatal(err)
		}
		if s.Totals.Findings.Shown != manyFindings {
			b.Fatalf("%d findings", s.Totals.Findings.Shown)
		}
	}
	b.ReportMetric(manyFindings*float64(b.N)/b.Elapsed().Seconds(), "findings/s")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
}
