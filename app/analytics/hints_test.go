package analytics

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestPrecisionIsHidden(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		shown, judged int
		want          bool
	}{{20, 20, true}, {19, 19, false}, {70, 21, true}, {71, 21, false}, {100, 30, true}, {100, 29, false}, {0, 0, false}} {
		p := Precision{Shown: tt.shown, Judged: tt.judged}
		if p.decide(); (p.Share != nil) != tt.want {
			t.Errorf("%d judged of %d: %s", tt.judged, tt.shown, p)
		}
	}
}

// model is a row of a model with right and wrong findings, and missed ones.
func model(right, wrong, missed int) Row {
	r := Row{Name: "haiku", Missed: &missed}
	r.Outcomes.Fixed, r.Dismissals.FalsePositive = right, wrong
	return r
}

func TestHints(t *testing.T) {
	t.Parallel()
	average := func(v float64, pulls int) Totals { return Totals{AverageFixIterations: &v, PullRequests: pulls} }
	issue := func(n int) pipeline.List[Service] {
		return pipeline.List[Service]{{Service: "cart", Issues: pipeline.List[Issue]{{Rule: "sec-sql-01", PullRequests: n}, {Category: "tests", PullRequests: n}}}}
	}
	for _, tt := range []struct {
		name string
		s    Summary
		want string // or empty
	}{
		{"false positives", Summary{models: pipeline.List[Row]{model(14, 6, 0)}}, "The model haiku has many false positives: 6 of 20 judged findings."},
		{"few false positives", Summary{models: pipeline.List[Row]{model(15, 5, 0)}}, ""},
		{"few judged", Summary{models: pipeline.List[Row]{model(0, 19, 0)}}, ""},
		{"missed", Summary{models: pipeline.List[Row]{model(10, 0, 10)}}, "The model haiku misses a lot: it did not report 10 of the 20 correct findings on lines it was asked about."},
		{"few missed", Summary{models: pipeline.List[Row]{model(11, 0, 10)}}, ""},
		{"fixes", Summary{Totals: average(1.25, 5)}, "Pull requests need 1.2 fixes on average."},
		{"one fix", Summary{Totals: average(1, 5)}, ""},
		{"few pull requests", Summary{Totals: average(2, 4)}, ""},
		{"an issue", Summary{Services: issue(5)}, "sec-sql-01 keeps coming up in the service cart: it was found in 5 pull requests."},
		{"a rare issue", Summary{Services: issue(4)}, ""},
	} {
		got := tt.s.hints()
		if tt.want == "" && len(got) == 0 {
			continue
		}
		if tt.want == "" || len(got) != 1 || !strings.Contains(got[0].Text, tt.want) {
			t.Errorf("%s: %+v, want %q", tt.name, got, tt.want)
		}
	}
	many := Summary{models: slices.Repeat(pipeline.List[Row]{model(0, 20, 0)}, 30)}
	if got := many.hints(); len(got) != maxHintsOfAKind {
		t.Errorf("%d hints of a kind", len(got))
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{0: "0 s", 59: "59 s", 60: "1 min", 5999: "100 min", 6000: "2 h", 172799: "48 h", 172800: "2 d"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d seconds: %s, want %s", seconds, got, want)
		}
	}
	for usd, want := range map[float64]string{0: "$0.00", 12.345: "$12.35", 0.5: "$0.500", 0.0123: "$0.0123", 1e-12: "$0.000000000"} {
		if got := money(usd); got != want {
			t.Errorf("%v: %s, want %s", usd, got, want)
		}
	}
}
