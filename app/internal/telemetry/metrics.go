// Package telemetry holds the server's Prometheus metrics.
package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are all metrics of one server, in a registry of their own.
type Metrics struct {
	Registry *prometheus.Registry

	deliveries *prometheus.CounterVec
	ack        prometheus.Histogram
	reviews    *prometheus.CounterVec
	review     prometheus.Histogram
	stage      *prometheus.HistogramVec
	agent      *prometheus.HistogramVec
	calls      *prometheus.CounterVec
	call       *prometheus.HistogramVec
	rateLeft   *prometheus.GaugeVec
	gaveUp     *prometheus.CounterVec
	found      *prometheus.CounterVec
	config     *prometheus.CounterVec
	issues     *prometheus.CounterVec
}

// Queue is what is known of the queue when metrics are read.
type Queue struct {
	Waiting int           // jobs that are due
	Running int           // jobs at work
	Later   int           // jobs put off
	Oldest  time.Duration // since the oldest ask that is not answered
}

// New returns metrics. depth is asked each time they are read.
func New(depth func() (Queue, error)) *Metrics {
	seconds := []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_deliveries_total", Help: "Webhook deliveries, by event and what became of them."},
			[]string{"event", "outcome"}),
		ack: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "reviewgate_delivery_ack_seconds", Help: "From a webhook's arrival to its answer, durably stored.", Buckets: seconds}),
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_reviews_total", Help: "Reviews done, by decision."}, []string{"decision"}),
		review: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "reviewgate_review_seconds", Help: "Duration of the pipeline.", Buckets: seconds}),
		stage: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_stage_seconds", Help: "Duration of a stage.", Buckets: seconds}, []string{"stage"}),
		agent: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_agent_seconds", Help: "Duration of an agent, by how it ended.", Buckets: seconds}, []string{"agent", "status"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_github_calls_total", Help: "Calls of GitHub's API, by route and HTTP status (0: no answer)."}, []string{"route", "status"}),
		call: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reviewgate_github_call_seconds", Help: "Duration of calls of GitHub's API.", Buckets: seconds}, []string{"route"}),
		rateLeft: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "reviewgate_github_rate_remaining", Help: "Calls left of an installation's primary rate limit."}, []string{"installation"}),
		gaveUp: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_reviews_given_up_total", Help: "Reviews that could not be completed, by why: access, github, crashes, internal."}, []string{"why"}),
		found: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_lost_found_total", Help: "What had been lost and was found: delivery, pull_request, check."}, []string{"what"}),
		config: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_config_pushes_total", Help: "Pushes that may have changed config, by what it was found to be: valid, invalid, unreadable."}, []string{"found"}),
		issues: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "reviewgate_issues_total", Help: "Issues about what was merged, by what became of them: created, updated, closed, left, waiting, refused, dropped."}, []string{"outcome"}),
	}
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.deliveries, m.ack, m.reviews, m.review, m.stage, m.agent, m.calls, m.call, m.rateLeft, m.gaveUp, m.found, m.config, m.issues, queueCollector{depth})
	return m
}

// Delivery counts a webhook delivery.
func (m *Metrics) Delivery(event, outcome string, d time.Duration) {
	m.deliveries.WithLabelValues(event, outcome).Inc()
	m.ack.Observe(d.Seconds())
}

// Reviewed counts a review.
func (m *Metrics) Reviewed(decision string, d time.Duration) {
	m.reviews.WithLabelValues(decision).Inc()
	m.review.Observe(d.Seconds())
}

// Stage observes a stage.
func (m *Metrics) Stage(stage string, d time.Duration) {
	m.stage.WithLabelValues(stage).Observe(d.Seconds())
}

// Agent observes an agent.
func (m *Metrics) Agent(agent, status string, d time.Duration) {
	m.agent.WithLabelValues(agent, status).Observe(d.Seconds())
}

// GaveUp counts a review that could not be completed.
func (m *Metrics) GaveUp(why string) { m.gaveUp.WithLabelValues(why).Inc() }

// Found counts something that had been lost and was found.
func (m *Metrics) Found(what string) { m.found.WithLabelValues(what).Inc() }

// ConfigPushed counts a push that may have changed config.
func (m *Metrics) ConfigPushed(found string) { m.config.WithLabelValues(found).Inc() }

// Issue counts what became of an issue.
func (m *Metrics) Issue(outcome string) { m.issues.WithLabelValues(outcome).Inc() }

// Call observes a call of GitHub's API. remaining is negative where the
// answer didn't say.
func (m *Metrics) Call(route, status, installation string, d time.Duration, remaining int) {
	m.calls.WithLabelValues(route, status).Inc()
	m.call.WithLabelValues(route).Observe(d.Seconds())
	if remaining >= 0 {
		m.rateLeft.WithLabelValues(installation).Set(float64(remaining))
	}
}

// queueCollector asks the queue for its depth whenever metrics are read.
type queueCollector struct{ depth func() (Queue, error) }

var (
	waitingDesc = prometheus.NewDesc("reviewgate_queue_waiting", "Jobs that wait for a worker.", nil, nil)
	runningDesc = prometheus.NewDesc("reviewgate_queue_running", "Jobs that run.", nil, nil)
	laterDesc   = prometheus.NewDesc("reviewgate_queue_later", "Jobs that were put off after a failure.", nil, nil)
	oldestDesc  = prometheus.NewDesc("reviewgate_oldest_unanswered_seconds", "Since the oldest ask for a review that is not answered.", nil, nil)
)

// Describe implements prometheus.Collector.
func (queueCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- waitingDesc
	ch <- runningDesc
	ch <- laterDesc
	ch <- oldestDesc
}

// Collect implements prometheus.Collector.
func (c queueCollector) Collect(ch chan<- prometheus.Metric) {
	q, err := c.depth()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(waitingDesc, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(q.Waiting))
	ch <- prometheus.MustNewConstMetric(runningDesc, prometheus.GaugeValue, float64(q.Running))
	ch <- prometheus.MustNewConstMetric(laterDesc, prometheus.GaugeValue, float64(q.Later))
	ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, q.Oldest.Seconds())
}
