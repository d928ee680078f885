// Package telemetry holds the server's Prometheus metrics, and its traces if an endpoint
// for them is set.
package telemetry

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Metrics are all metrics of one server, in a separate registry. Every label has a limited
// number of values: those that GitHub and the code define, one for each installation, or a
// few and [other].
type Metrics struct {
	Registry *prometheus.Registry

	agents []string // the agents with label values of their own, sorted
	events atMost

	deliveries *prometheus.CounterVec
	ack        prometheus.Histogram
	requests   *prometheus.CounterVec
	reviews    *prometheus.CounterVec
	review     prometheus.Histogram
	cycles     *prometheus.CounterVec
	answers    *prometheus.CounterVec
	jobs       *prometheus.CounterVec
	job        *prometheus.HistogramVec
	stage      *prometheus.HistogramVec
	agent      *prometheus.HistogramVec
	calls      *prometheus.CounterVec
	call       *prometheus.HistogramVec
	rateLeft   rateCollector
	refusals   *prometheus.CounterVec
	gaveUp     *prometheus.CounterVec
	found      *prometheus.CounterVec
	config     *prometheus.CounterVec
	issues     *prometheus.CounterVec
	tokens     *prometheus.CounterVec
	cost       *prometheus.CounterVec
}

// other is the value of a label for everything that has no value of its own.
const other = "other"

// atMost passes on the first max different values, and replaces later ones by other.
type atMost struct {
	mu   sync.Mutex
	seen []string
	max  int
}

func (a *atMost) value(v string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case slices.Contains(a.seen, v):
		return v
	case len(a.seen) < a.max:
		a.seen = append(a.seen, v)
		return v
	}
	return other
}

// maxEvents is more than the events that an App can subscribe to. It is needed because
// the header with the event's name is not signed.
const maxEvents = 100

// Queue is the state of the queue when the metrics are read.
type Queue struct {
	Waiting int           // jobs that are due
	Running int           // jobs at work
	Later   int           // jobs put off after a failure
	Oldest  time.Duration // age of the oldest request without an answer
	// Quarantined is how many reviews crashed their process and wait for another try.
	Quarantined int
}

// Options are the settings of metrics.
type Options struct {
	Version string
	// Agents are the ids of agents that get their own label values. Agents of repositories
	// do not, since people can write any number of them.
	Agents []string
	// Jobs are the kinds of jobs.
	Jobs []string
	// Routes are the routes of the API.
	Routes []string
	// Depth is called each time the metrics are read.
	Depth func() (Queue, error)
}

// New returns metrics.
func New(o Options) *Metrics {
	seconds := []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		agents:   slices.Sorted(slices.Values(o.Agents)),
		events:   atMost{max: maxEvents},
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_deliveries_total", Help: "Webhook deliveries, by event and outcome: accepted, duplicate, no_op, rejected, failed."},
			[]string{"event", "outcome"}),
		ack: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "reviewgate_delivery_ack_seconds", Help: "Time from a webhook's arrival to its answer. Before the answer the delivery is stored durably.", Buckets: seconds}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_api_requests_total", Help: "Requests to the API, by route and HTTP status. The route \"other\" stands for all paths that do not exist."}, []string{"route", "status"}),
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_reviews_total", Help: "Completed reviews, by decision: pass, pass_with_warnings, needs_fixes, fail."}, []string{"decision"}),
		review: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "reviewgate_review_seconds", Help: "Duration of the pipeline.", Buckets: seconds}),
		cycles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_session_cycles_total", Help: "Decided cycles of sessions, by the rule of the first decision: 0 to 4."}, []string{"rule"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_session_answers_total", Help: "Reviewers' answers at the first decision of a cycle, by verdict: approved, concerns, blocker, waiting, missing. Agents of repositories have the label \"other\"."}, []string{"agent", "verdict"}),
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_jobs_total", Help: "Attempts at jobs of the queue, by kind and outcome: done, put_off, given_up, panicked, stopped."}, []string{"kind", "outcome"}),
		job: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_job_seconds", Help: "Duration of an attempt at a job.", Buckets: seconds}, []string{"kind"}),
		stage: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_stage_seconds", Help: "Duration of a stage of the pipeline.", Buckets: seconds}, []string{"stage"}),
		agent: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_agent_seconds", Help: "Duration of an agent, by outcome: ok, failed, timed_out, malformed, skipped, discarded. Agents of repositories have the label \"other\".", Buckets: seconds}, []string{"agent", "status"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_github_calls_total", Help: "Calls to GitHub's API, by route and HTTP status (0: no answer)."}, []string{"route", "status"}),
		call: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_github_call_seconds", Help: "Duration of calls to GitHub's API.", Buckets: seconds}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_github_refusals_total", Help: "How often GitHub refused an installation's calls because of a rate limit, primary or secondary."}, []string{"installation"}),
		gaveUp: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_reviews_given_up_total", Help: "Reviews that could not be completed, by reason: access, github, crashes, internal."}, []string{"why"}),
		found: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_lost_found_total", Help: "Lost work that the server recovered, by kind: delivery, pull_request, check."}, []string{"what"}),
		config: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_config_pushes_total", Help: "Pushes that may have changed config, by the state of the config: valid, invalid, unreadable."}, []string{"found"}),
		issues: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_issues_total", Help: "Issues about merged pull requests, by outcome: created, updated, closed, left, waiting, refused, dropped."}, []string{"outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_model_tokens_total", Help: "Tokens of language models, by model and kind: input (not from the API's cache), cached, output."}, []string{"model", "kind"}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_model_cost_dollars_total", Help: "Cost of language models in US dollars, by the prices in the server's config."}, []string{"model"}),
	}
	// Counters of failures exist from the start: Prometheus does not see an increase if
	// a counter appears with its first value.
	for _, kind := range o.Jobs {
		m.jobs.WithLabelValues(kind, "panicked")
		m.jobs.WithLabelValues(kind, "given_up")
	}
	for _, route := range o.Routes {
		m.requests.WithLabelValues(route, "500")
	}
	for _, why := range []string{"access", "github", "crashes", "internal"} {
		m.gaveUp.WithLabelValues(why)
	}
	for _, what := range []string{"delivery", "pull_request", "check"} {
		m.found.WithLabelValues(what)
	}
	for _, rule := range []string{"0", "1"} {
		m.cycles.WithLabelValues(rule)
	}
	for _, result := range []string{"invalid", "unreadable"} {
		m.config.WithLabelValues(result)
	}
	for _, outcome := range []string{"refused", "dropped"} {
		m.issues.WithLabelValues(outcome)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "reviewgate_build_info", Help: "Always 1. The label has the version of this server.", ConstLabels: prometheus.Labels{"version": o.Version}})
	build.Set(1)
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build,
		m.deliveries, m.ack, m.requests, m.reviews, m.review, m.cycles, m.answers, m.jobs, m.job, m.stage, m.agent,
		m.calls, m.call, &m.rateLeft, m.refusals, m.gaveUp, m.found, m.config, m.issues, m.tokens, m.cost, queueCollector{o.Depth})
	return m
}

// Delivery counts a webhook delivery.
func (m *Metrics) Delivery(event, outcome string, d time.Duration) {
	m.deliveries.WithLabelValues(m.events.value(event), outcome).Inc()
	m.ack.Observe(d.Seconds())
}

// Request counts a request to the API.
func (m *Metrics) Request(route string, status int) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
}

// Reviewed counts a review.
func (m *Metrics) Reviewed(decision string, d time.Duration) {
	m.reviews.WithLabelValues(decision).Inc()
	m.review.Observe(d.Seconds())
}

// Cycle counts a decided cycle of a session.
func (m *Metrics) Cycle(rule string) { m.cycles.WithLabelValues(rule).Inc() }

// Answer counts a reviewer's answer, or the lack of one, in a decided cycle.
func (m *Metrics) Answer(agent, verdict string) {
	m.answers.WithLabelValues(m.known(agent), verdict).Inc()
}

// known returns an agent's label.
func (m *Metrics) known(agent string) string {
	if _, known := slices.BinarySearch(m.agents, agent); !known {
		return other
	}
	return agent
}

// Job observes an attempt at a job.
func (m *Metrics) Job(kind, outcome string, d time.Duration) {
	m.jobs.WithLabelValues(kind, outcome).Inc()
	m.job.WithLabelValues(kind).Observe(d.Seconds())
}

// Stage observes a stage.
func (m *Metrics) Stage(stage string, d time.Duration) {
	m.stage.WithLabelValues(stage).Observe(d.Seconds())
}

// Agent observes an agent.
func (m *Metrics) Agent(agent, status string, d time.Duration) {
	m.agent.WithLabelValues(m.known(agent), status).Observe(d.Seconds())
}

// Refused counts a refusal for a rate limit.
func (m *Metrics) Refused(installation string) { m.refusals.WithLabelValues(installation).Inc() }

// GaveUp counts a review that could not be completed.
func (m *Metrics) GaveUp(why string) { m.gaveUp.WithLabelValues(why).Inc() }

// Found counts lost work that the server recovered.
func (m *Metrics) Found(what string) { m.found.WithLabelValues(what).Inc() }

// ConfigPushed counts a push that may have changed config.
func (m *Metrics) ConfigPushed(result string) { m.config.WithLabelValues(result).Inc() }

// Issue counts the outcome of an issue.
func (m *Metrics) Issue(outcome string) { m.issues.WithLabelValues(outcome).Inc() }

// ModelUse counts the tokens and the cost of questions to a model. The models are those of
// the server's config, so the label has few values.
func (m *Metrics) ModelUse(u pipeline.ModelUse) {
	m.tokens.WithLabelValues(u.Model, "input").Add(float64(max(0, u.Input-u.Cached)))
	m.tokens.WithLabelValues(u.Model, "cached").Add(float64(max(0, u.Cached)))
	m.tokens.WithLabelValues(u.Model, "output").Add(float64(max(0, u.Output)))
	m.cost.WithLabelValues(u.Model).Add(max(0, u.CostUSD))
}

// Call observes a call of GitHub's API. remaining is negative if the answer didn't report
// it.
func (m *Metrics) Call(route, status, installation string, d time.Duration, remaining int) {
	m.calls.WithLabelValues(route, status).Inc()
	m.call.WithLabelValues(route).Observe(d.Seconds())
	if remaining >= 0 {
		m.rateLeft.set(installation, remaining)
	}
}

// ratePeriod is the period of GitHub's primary rate limit. Older values mean nothing.
const ratePeriod = time.Hour

// rateCollector shows how many calls each installation has left. It drops values that are
// older than ratePeriod: otherwise the last value of an installation that is gone, or that
// another replica serves now, would stay for ever.
type rateCollector struct {
	mu   sync.Mutex
	left map[string]rateLeft
}

type rateLeft struct {
	calls int
	at    time.Time
}

var rateDesc = prometheus.NewDesc("reviewgate_github_rate_remaining", "Calls left in an installation's primary rate limit, by GitHub's last answer within an hour. Installation 0 is the App itself.", []string{"installation"}, nil)

func (c *rateCollector) set(installation string, calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil {
		c.left = map[string]rateLeft{}
	}
	c.left[installation] = rateLeft{calls, time.Now()}
}

// Describe implements prometheus.Collector.
func (c *rateCollector) Describe(ch chan<- *prometheus.Desc) { ch <- rateDesc }

// Collect implements prometheus.Collector.
func (c *rateCollector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.left, func(_ string, l rateLeft) bool { return time.Since(l.at) > ratePeriod })
	for installation, l := range c.left {
		ch <- prometheus.MustNewConstMetric(rateDesc, prometheus.GaugeValue, float64(l.calls), installation)
	}
}

// queueCollector reads the state of the queue each time the metrics are read.
type queueCollector struct{ depth func() (Queue, error) }

var (
	waitingDesc     = prometheus.NewDesc("reviewgate_queue_waiting", "Jobs that are due and wait for a worker.", nil, nil)
	runningDesc     = prometheus.NewDesc("reviewgate_queue_running", "Jobs that run.", nil, nil)
	laterDesc       = prometheus.NewDesc("reviewgate_queue_later", "Jobs that were put off after a failure.", nil, nil)
	databaseDesc    = prometheus.NewDesc("reviewgate_database_up", "1 if the server could read the queue from the database for this page, otherwise 0.", nil, nil)
	quarantinedDesc = prometheus.NewDesc("reviewgate_quarantined", "Reviews that crashed their process and wait for the next try.", nil, nil)
	oldestDesc      = prometheus.NewDesc("reviewgate_oldest_unanswered_seconds", "Age of the oldest request for a review without an answer. Requests after a push of config don't count, since nobody waits for them.", nil, nil)
)

// Describe implements prometheus.Collector.
func (queueCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- databaseDesc
	ch <- waitingDesc
	ch <- runningDesc
	ch <- laterDesc
	ch <- oldestDesc
	ch <- quarantinedDesc
}

// Collect implements prometheus.Collector.
func (c queueCollector) Collect(ch chan<- prometheus.Metric) {
	q, err := c.depth()
	if err != nil {
		ch <- prometheus.MustNewConstMetric(databaseDesc, prometheus.GaugeValue, 0)
		return
	}
	ch <- prometheus.MustNewConstMetric(databaseDesc, prometheus.GaugeValue, 1)
	ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(q.Waiting))
	ch <- prometheus.MustNewConstMetric(runningDesc, prometheus.GaugeValue, float64(q.Running))
	ch <- prometheus.MustNewConstMetric(laterDesc, prometheus.GaugeValue, float64(q.Later))
	ch <- prometheus.MustNewConstMetric(quarantinedDesc, prometheus.GaugeValue, float64(q.Quarantined))
	ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, q.Oldest.Seconds())
}
