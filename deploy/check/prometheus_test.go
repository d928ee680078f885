package check

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

var queries = parser.NewParser(parser.Options{})

// page is the server's metrics page: for each series the names of its labels, and the whole
// text.
type page struct {
	names map[string]map[string]bool
	text  string
}

// onePage reads the metrics of a real server after a conversation: from the file that
// REVIEWGATE_TEST_METRICS names, or from a new server.
var onePage = sync.OnceValues(func() (page, error) {
	file := os.Getenv("REVIEWGATE_TEST_METRICS")
	if file == "" {
		dir, err := os.MkdirTemp("", "metrics")
		if err != nil {
			return page{}, err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "metrics")
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "go", "test", "./app", "-count", "1", "-run", "^TestMetricsAreDocumented$")
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "REVIEWGATE_TEST_METRICS="+file)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return page{}, err
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return page{}, err
	}
	p := page{names: map[string]map[string]bool{}, text: string(text)}
	label := regexp.MustCompile(`[{,]([a-z_]+)="`)
	for line := range strings.Lines(p.text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := line[:strings.IndexAny(line, "{ ")]
		if p.names[name] == nil {
			// Prometheus adds these labels.
			p.names[name] = map[string]bool{"job": true, "instance": true, model.MetricNameLabel: true}
		}
		for _, m := range label.FindAllStringSubmatch(line, -1) {
			p.names[name][m[1]] = true
		}
	}
	return p, nil
})

func scrape(t *testing.T) page {
	t.Helper()
	p, err := onePage()
	if err != nil {
		t.Fatalf("read the server's metrics: %v", err)
	}
	return p
}

// wrong returns the reasons why a query can't be used: it can't be parsed, or the server has
// no such series, label or value of a label.
func (p page) wrong(query string) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	expr, err := queries.ParseExpr(query)
	if err != nil {
		return []string{err.Error()}
	}
	known := map[string]bool{} // labels of the series that the query names
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		has := p.names[v.Name]
		if has == nil {
			problem("the server has no %s", v.Name)
		}
		maps.Copy(known, has)
		for _, m := range v.LabelMatchers {
			if m.Name == model.MetricNameLabel {
				continue
			}
			if has != nil && !has[m.Name] {
				problem("%s has no label %s", v.Name, m.Name)
			}
			for value := range strings.SplitSeq(m.Value, "|") {
				if !p.told(v.Name, value) {
					problem("%s has no %s %q, and does not tell of it", v.Name, m.Name, value)
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if a, ok := n.(*parser.AggregateExpr); ok {
			for _, name := range a.Grouping {
				if !known[name] {
					problem("nothing in it has the label %s", name)
				}
			}
		}
		return nil
	})
	return problems
}

// told reports whether a label's value is on the page or in the metric's help. Patterns of
// numbers are not looked up.
func (p page) told(name, value string) bool {
	if strings.ContainsAny(value, ".+*0123456789") {
		return true
	}
	for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
		help := regexp.MustCompile(`(?m)^# HELP ` + strings.TrimSuffix(name, suffix) + ` .*\b` + value + `\b`)
		if help.MatchString(p.text) {
			return true
		}
	}
	return regexp.MustCompile(`(?m)^` + name + `\{.*"` + value + `"`).MatchString(p.text)
}

func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("../prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, queries, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// Every alert queries existing series, and has a chapter that says what to do.
func TestAlerts(t *testing.T) {
	p := scrape(t)
	doc, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := alerts(t)
	for _, r := range all {
		for _, problem := range p.wrong(r.Expr) {
			t.Errorf("%s: %s", r.Alert, problem)
		}
		if !strings.Contains(string(doc), "\n### "+r.Alert+"\n") || r.Annotations["runbook"] != "docs/operations.md#"+strings.ToLower(r.Alert) {
			t.Errorf("docs/operations.md has no chapter about %s", r.Alert)
		}
		if s := r.Labels["severity"]; s != "page" && s != "warn" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
	}
	if n := strings.Count(string(doc), "\n### Reviewgate"); n != len(all) {
		t.Errorf("%d alerts, and %d chapters about them", len(all), n)
	}
}

func TestDashboard(t *testing.T) {
	p := scrape(t)
	text, err := os.ReadFile("../grafana/reviewgate.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	n := 0
	for _, panel := range d.Panels {
		if seen[panel.ID] || panel.GridPos.X+panel.GridPos.W > 24 || panel.Title == "" {
			t.Errorf("panel %d (%s) has a bad position or a duplicate number", panel.ID, panel.Title)
		}
		seen[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %q has no query", panel.Title)
		}
		for _, target := range panel.Targets {
			n++
			for _, problem := range p.wrong(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")) {
				t.Errorf("%s: %s", panel.Title, problem)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d queries were read", n)
	}
}

// These queries look right but would fail in use.
func TestBadQueriesAreFound(t *testing.T) {
	p := scrape(t)
	for query, bad := range map[string]bool{
		`sum(rate(reviewgate_deliveries_total{outcome="failed"}[5m]))`:  false,
		`sum(rate(reviewgate_deliveries_total{outcome="failled"}[5m]))`: true,
		`sum by (kind) (reviewgate_deliveries_total)`:                   true,
		`reviewgate_deliveries_totals`:                                  true,
		`sum(rate(`:                                                     true,
	} {
		if problems := p.wrong(query); (len(problems) > 0) != bad {
			t.Errorf("%s: %v, want any: %t", query, problems, bad)
		}
	}
}
