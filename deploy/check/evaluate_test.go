package check

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// day is how long the made-up Prometheus has scraped, once a minute.
const day = 26 * 60

// curve returns the value of a series at a minute.
type curve func(minute int) float64

func always(v float64) curve { return func(int) float64 { return v } }

// perMinute is a counter that rises steadily.
func perMinute(v float64) curve { return func(m int) float64 { return v * float64(m) } }

// absent means that the series does not exist yet.
func absent(int) float64 { return math.NaN() }

// lately is a counter or a gauge that follows another curve in its last minutes.
func lately(minutes int, before, then curve) curve {
	return func(m int) float64 {
		if m < day-minutes {
			return before(m)
		}
		if was := before(day - minutes); !math.IsNaN(was) {
			return was + then(m-(day-minutes))
		}
		return then(m - (day - minutes))
	}
}

// healthy is a server that reviews without trouble. Keys are the series in the form of the
// queries.
func healthy() map[string]curve {
	return map[string]curve{
		`reviewgate_build_info{version="1"}`:                                   always(1),
		`process_start_time_seconds{}`:                                         always(1e9),
		`reviewgate_database_up{}`:                                             always(1),
		`reviewgate_oldest_unanswered_seconds{}`:                               always(20),
		`reviewgate_queue_waiting{}`:                                           always(2),
		`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: perMinute(10),
		`reviewgate_deliveries_total{event="",outcome="rejected"}`:             perMinute(.1),
		`reviewgate_deliveries_total{event="pull_request",outcome="failed"}`:   always(3),
		`reviewgate_delivery_ack_seconds_bucket{le="0.05"}`:                    perMinute(10),
		`reviewgate_delivery_ack_seconds_bucket{le="5"}`:                       perMinute(10),
		`reviewgate_delivery_ack_seconds_bucket{le="10"}`:                      perMinute(10),
		`reviewgate_delivery_ack_seconds_bucket{le="+Inf"}`:                    perMinute(10),
		`reviewgate_lost_found_total{what="delivery"}`:                         perMinute(.01),
		`reviewgate_reviews_given_up_total{why="github"}`:                      always(4),
		`reviewgate_jobs_total{kind="review",outcome="panicked"}`:              always(1),
		`reviewgate_jobs_total{kind="review",outcome="done"}`:                  perMinute(10),
		`reviewgate_agent_seconds_count{agent="secrets",status="ok"}`:          perMinute(10),
		`reviewgate_agent_seconds_count{agent="secrets",status="failed"}`:      perMinute(.2),
		`reviewgate_github_calls_total{route="GET /app",status="200"}`:         perMinute(80),
		`reviewgate_github_calls_total{route="GET /app",status="502"}`:         perMinute(1),
		`reviewgate_github_rate_remaining{installation="7"}`:                   always(4000),
		`reviewgate_github_refusals_total{installation="7"}`:                   perMinute(.01),
	}
}

// Each kind of trouble raises its own alert, and a healthy server raises none.
func TestAlertsAreRaised(t *testing.T) {
	for _, tt := range []struct {
		alert  string // "" for none
		change map[string]curve
	}{
		{"", nil},
		{"ReviewgatePullRequestUnanswered", map[string]curve{`reviewgate_oldest_unanswered_seconds{}`: always(1000)}},
		{"ReviewgateDown", map[string]curve{`reviewgate_build_info{version="1"}`: nil}},
		{"ReviewgateDatabase", map[string]curve{`reviewgate_database_up{}`: always(0)}},
		{"ReviewgateWebhooksFail", map[string]curve{`reviewgate_deliveries_total{event="pull_request",outcome="failed"}`: lately(10, always(3), perMinute(1))}},
		{"ReviewgateWebhooksRejected", map[string]curve{
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: lately(30, perMinute(10), always(0)),
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             lately(30, perMinute(.1), perMinute(10)),
		}},
		// A server that has accepted no webhook since its start lacks this series.
		{"ReviewgateWebhooksRejected", map[string]curve{
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: nil,
			`reviewgate_deliveries_total{event="pull_request",outcome="failed"}`:   nil,
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             perMinute(1),
			`reviewgate_build_info{version="1"}`:                                   lately(60, absent, always(1)),
		}},
		{"ReviewgateWebhooksSlow", map[string]curve{`reviewgate_delivery_ack_seconds_bucket{le="0.05"}`: lately(15, perMinute(10), perMinute(5))}},
		{"ReviewgateNoWebhooks", map[string]curve{
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: always(5),
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             always(0),
		}},
		{"ReviewgateNoWebhooks", map[string]curve{
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: nil,
			`reviewgate_deliveries_total{event="pull_request",outcome="failed"}`:   nil,
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             nil,
		}},
		{"ReviewgateNoWebhooks", map[string]curve{ // the remaining limit of GitHub is not always known
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: always(5),
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             always(0),
			`reviewgate_github_rate_remaining{installation="7"}`: func(m int) float64 {
				if m > day-10 {
					return absent(m)
				}
				return 4000
			},
		}},
		{"", map[string]curve{ // a server that started an hour ago and has accepted none
			`reviewgate_deliveries_total{event="pull_request",outcome="accepted"}`: nil,
			`reviewgate_deliveries_total{event="pull_request",outcome="failed"}`:   nil,
			`reviewgate_deliveries_total{event="",outcome="rejected"}`:             nil,
			`reviewgate_build_info{version="1"}`:                                   lately(60, absent, always(1)),
		}},
		{"ReviewgateWebhooksLost", map[string]curve{`reviewgate_lost_found_total{what="delivery"}`: perMinute(1)}},
		{"ReviewgateReviewsGivenUp", map[string]curve{`reviewgate_reviews_given_up_total{why="github"}`: lately(5, always(4), always(1))}},
		{"ReviewgateQueueGrows", map[string]curve{`reviewgate_queue_waiting{}`: lately(30, always(2), func(m int) float64 { return 30 + float64(m) })}},
		{"ReviewgateJobsPanic", map[string]curve{`reviewgate_jobs_total{kind="review",outcome="panicked"}`: lately(5, always(1), always(1))}},
		{"ReviewgateAgentsFail", map[string]curve{`reviewgate_agent_seconds_count{agent="secrets",status="failed"}`: perMinute(5)}},
		{"ReviewgateGitHubFails", map[string]curve{`reviewgate_github_calls_total{route="GET /app",status="502"}`: perMinute(50)}},
		{"ReviewgateGitHubRateLow", map[string]curve{`reviewgate_github_rate_remaining{installation="7"}`: always(100)}},
		{"ReviewgateGitHubRefuses", map[string]curve{`reviewgate_github_refusals_total{installation="7"}`: perMinute(.5)}},
		{"ReviewgateRestarts", map[string]curve{`process_start_time_seconds{}`: func(m int) float64 { return float64(m / 5) }}},
	} {
		t.Run(tt.alert, func(t *testing.T) {
			curves := healthy()
			for name, c := range tt.change {
				if curves[name] == nil {
					t.Fatalf("%s is not among the healthy series", name)
				}
				curves[name] = c
			}
			var want []string
			if tt.alert != "" {
				want = append(want, tt.alert)
			}
			if got := raised(t, curves); !slices.Equal(got, want) {
				t.Errorf("raised %v, want %v", got, want)
			}
		})
	}
}

// raised are the alerts whose query has a result after a day of these curves.
func raised(t *testing.T, curves map[string]curve) (names []string) {
	t.Helper()
	var all []storage.Series
	for name, c := range curves {
		if c == nil {
			continue
		}
		m, err := queries.ParseMetric(name)
		if err != nil {
			t.Fatal(err)
		}
		var points []chunks.Sample
		for minute := range day {
			if v := c(minute); !math.IsNaN(v) {
				points = append(points, point{int64(minute) * 60_000, v})
			}
		}
		lset := labels.NewBuilder(m).Set("job", "reviewgate").Set("instance", "a").Labels()
		all = append(all, storage.NewListSeries(lset, points))
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, Parser: queries})
	defer engine.Close()
	end := time.UnixMilli((day - 1) * 60_000)
	for _, r := range alerts(t) {
		q, err := engine.NewInstantQuery(context.Background(), made(all), nil, r.Expr, end)
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		v, err := q.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		if len(v) > 0 {
			names = append(names, r.Alert)
		}
		q.Close()
	}
	return names
}

// made is a Prometheus with made-up series.
func made(all []storage.Series) storage.Queryable {
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			var found []storage.Series
			for _, s := range all {
				if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) }) {
					found = append(found, s)
				}
			}
			return &set{all: found}
		},
	}}
}

// set iterates over the series.
type set struct {
	all []storage.Series
	at  storage.Series
}

func (s *set) Next() bool {
	if len(s.all) == 0 {
		return false
	}
	s.at, s.all = s.all[0], s.all[1:]
	return true
}

func (s *set) At() storage.Series                { return s.at }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

type point struct {
	t int64
	f float64
}

func (p point) T() int64                    { return p.t }
func (p point) ST() int64                   { return 0 }
func (p point) F() float64                  { return p.f }
func (point) H() *histogram.Histogram       { return nil }
func (point) FH() *histogram.FloatHistogram { return nil }
func (point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample         { return p }
