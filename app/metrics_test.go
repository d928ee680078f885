package app_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

var update = flag.Bool("update", false, "write the table of metrics of docs/operations.md anew")

var labelName = regexp.MustCompile(`[{,]([a-z_]+)="`)

// metricsTable is the table of docs/operations.md, made from the server's metrics.
func metricsTable(text string) string {
	labels := map[string][]string{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, "{")
		if strings.HasPrefix(line, "#") || rest == "" {
			continue
		}
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		for _, m := range labelName.FindAllStringSubmatch("{"+rest, -1) {
			if m[1] != "le" && !slices.Contains(labels[name], m[1]) {
				labels[name] = append(labels[name], m[1])
			}
		}
	}
	help := map[string]string{}
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(f) < 4 || f[0] != "#" || !strings.HasPrefix(f[2], "reviewgate_") {
			continue
		}
		if f[1] == "HELP" {
			help[f[2]] = f[3]
			continue
		}
		of := strings.Join(labels[f[2]], ", ")
		if of == "" {
			of = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f[2], f[3], of, help[f[2]])
	}
	return b.String()
}

const (
	metricsBegin = "<!-- metrics: go test ./app -run TestMetricsAreDocumented -update -->\n"
	metricsEnd   = "<!-- metrics end -->"
)

// docs/operations.md lists every metric of a server that has reviewed, failed and been
// refused. REVIEWGATE_TEST_METRICS names a file for the metrics page, which the tests of
// alerts and dashboard read.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr, _ := talk(w)
	w.GH.Refuse("acme", ghtest.Refusal{For: 2 * time.Second})
	pr.Comment("alice", "/review")
	w.App.Inside().Metrics.ModelUse(pipeline.ModelUse{Model: "big", Asked: 1, Input: 100, Output: 10})
	w.App.Inside().Metrics.Answer("codex", "approved")
	text := w.Metrics()
	for end := time.Now().Add(apptest.Patience); !strings.Contains(text, "reviewgate_github_refusals_total{"); text = w.Metrics() {
		if time.Now().After(end) {
			t.Fatal("a refusal by GitHub is not counted")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if file := os.Getenv("REVIEWGATE_TEST_METRICS"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const file = "../docs/operations.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), metricsBegin)
	documented, after, ok2 := strings.Cut(rest, metricsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of metrics", file)
	}
	table := metricsTable(text)
	if documented == table {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+metricsBegin+table+metricsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not have the metrics of the server; run: go test ./app -run TestMetricsAreDocumented -update\n%s", file, table)
}
