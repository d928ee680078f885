package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/ports"
)

// QueueOptions tune a Queue. Zero values mean the defaults.
type QueueOptions struct {
	// Workers is how many jobs run at the same time. As many publish jobs and as many
	// requests run beside them. Default 8: they wait for GitHub most of the time.
	Workers int
	// JobTimeout ends a job's context. Default 30 minutes, since models are
	// slow; a review has shorter limits of its own.
	JobTimeout time.Duration
	// FetchCooldown is the least time between two fetches of jobs. Default
	// 10 ms; River's default of 100 ms limits a client to 40 to 80 jobs/s.
	FetchCooldown time.Duration
	// FetchInterval is how often the queue looks for jobs when nothing wakes it.
	// Default 1 s.
	FetchInterval time.Duration
	// RescueInterval is how often the queue looks for stranded targets. Default 5 s.
	RescueInterval time.Duration
	// Periodic are jobs that run at the start and then at an interval.
	Periodic []Periodic
	// Begin, if set, is called at the start of each job. The job runs in the
	// context that Begin returns, and end is called with the job's outcome.
	Begin func(context.Context, *jobcontext.Job) (_ context.Context, end func(Outcome))
}

// Outcome is how one attempt at a job ended.
type Outcome string

// The outcomes.
const (
	OutcomeDone     Outcome = "done"
	OutcomePutOff   Outcome = "put_off"  // tried again later
	OutcomeGivenUp  Outcome = "given_up" // a target's state says what is left to do
	OutcomePanicked Outcome = "panicked" // tried again, maxRuns times in all
	OutcomeStopped  Outcome = "stopped"  // with the queue, to run again after the next start
)

// Periodic is a job that runs at an interval, in one of the processes on the database.
// While such a job is alive no second one is inserted.
type Periodic struct {
	Kind  ports.JobKind // a kind with ports.JobRules.Periodic
	Every time.Duration // at least a second
}

const (
	// maxRuns is how often a job without a target may run if it panics or its process
	// dies each time. Targets count for themselves: see TargetState.Crashes.
	maxRuns = 3
	// stopGrace is how long Stop waits for jobs that it has cancelled.
	stopGrace = 10 * time.Second
)

// Queue runs the jobs that the store's methods insert.
type Queue struct {
	store  *Store
	worker ports.Worker
	opts   QueueOptions
	runner runner

	stopRescue context.CancelFunc
	rescuing   sync.WaitGroup
}

// NewQueue returns a queue that hands the store's jobs to worker once it is
// started.
func NewQueue(s *Store, worker ports.Worker, opts QueueOptions) (*Queue, error) {
	setDefault(&opts.Workers, 8)
	setDefault(&opts.JobTimeout, 30*time.Minute)
	setDefault(&opts.FetchCooldown, 10*time.Millisecond)
	setDefault(&opts.FetchInterval, time.Second)
	setDefault(&opts.RescueInterval, defaultTiming.ttl/2)
	if opts.Begin == nil {
		opts.Begin = func(ctx context.Context, _ *jobcontext.Job) (context.Context, func(Outcome)) {
			return ctx, func(Outcome) {}
		}
	}
	q := &Queue{store: s, worker: worker, opts: opts, stopRescue: func() {}}

	workers := river.NewWorkers()
	for kind := range rules {
		river.AddWorkerArgs(workers, riverArgs{kind: kind}, &jobWorker{queue: q})
	}
	periodic, err := periodicJobs(opts.Periodic)
	if err != nil {
		return nil, err
	}
	fetch := map[string]river.QueueConfig{}
	for _, name := range queues {
		fetch[name] = river.QueueConfig{MaxWorkers: opts.Workers}
	}
	q.runner, err = s.db.runner(&river.Config{
		Logger:            riverLogger(s.log),
		Queues:            fetch,
		Workers:           workers,
		PeriodicJobs:      periodic,
		FetchCooldown:     opts.FetchCooldown,
		FetchPollInterval: opts.FetchInterval,
		JobTimeout:        opts.JobTimeout,
		// This matters if other processes share the database: a lone process recovers at
		// its start.
		RescueStuckJobsAfter: opts.JobTimeout + 5*time.Minute,
		RetryPolicy:          panicBackoff{},
		// Our own tables hold the results of jobs.
		CompletedJobRetentionPeriod: time.Hour,
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

func periodicJobs(all []Periodic) (jobs []*river.PeriodicJob, err error) {
	for _, p := range all {
		args := rules[p.Kind].Periodic
		if args == nil {
			return nil, fmt.Errorf("make periodic jobs: %q is not a periodic kind", p.Kind)
		}
		if p.Every < time.Second {
			return nil, fmt.Errorf("make periodic jobs: %s for %q is less than a second", p.Every, p.Kind)
		}
		j := ports.NewJob(p.Kind, args)
		jobs = append(jobs, river.NewPeriodicJob(river.PeriodicInterval(p.Every),
			func() (river.JobArgs, *river.InsertOpts) { return riverArgs{j.Kind, j.Args}, insertOptions(j) },
			&river.PeriodicJobOpts{ID: string(p.Kind), RunOnStart: true}))
	}
	return jobs, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Start starts the queue and returns at once. If this process is the only one on the
// database, Start first takes over the work of a dead process. The end of ctx does not
// stop the queue.
func (q *Queue) Start(ctx context.Context) error {
	n, err := q.store.Recover(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		q.store.log.Info().Int("targets", n).Msg("taking up unfinished work")
	}
	ctx = context.WithoutCancel(ctx)
	if err := q.runner.Start(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	ctx, q.stopRescue = context.WithCancel(ctx)
	q.rescuing.Go(func() { q.rescueLoop(ctx) })
	return nil
}

func (q *Queue) rescueLoop(ctx context.Context) {
	tick := time.NewTicker(q.opts.RescueInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n, err := q.store.Rescue(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			q.store.log.Error().Err(err).Msg("stranded work not taken up")
		case n > 0:
			q.store.log.Debug().Int("targets", n).Msg("made sure of their jobs")
		}
	}
}

// Stop fetches no more jobs and waits for the running ones. When ctx ends, Stop
// cancels them and waits a little longer; they run again after the next start.
func (q *Queue) Stop(ctx context.Context) error {
	q.stopRescue()
	q.rescuing.Wait()
	if err := q.runner.Stop(ctx); err == nil {
		return nil
	}
	hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if err := q.runner.StopAndCancel(hard); err != nil {
		return fmt.Errorf("stop the queue: jobs were still running %s after their cancellation: %w", stopGrace, err)
	}
	return nil
}

// Depth counts the jobs that wait, run and are done.
type Depth struct {
	Available int // jobs that are due, waiting for a worker
	Running   int // jobs at work
	Later     int // jobs put off
	Done      int // jobs completed in the last hour; may lag by 250 ms
	// Quarantined is how many reviews ended their process and wait for another try.
	Quarantined int
	Oldest      time.Duration // age of the oldest unanswered ask that somebody waits for; 0 if every ask is answered
}

// Depth returns the counts for metrics.
func (q *Queue) Depth(ctx context.Context) (Depth, error) {
	n, at, quarantined, err := q.store.depth(ctx)
	if err != nil {
		return Depth{}, err
	}
	d := Depth{
		Available: n[rivertype.JobStateAvailable],
		Running:   n[rivertype.JobStateRunning],
		Later:     n[rivertype.JobStateScheduled] + n[rivertype.JobStateRetryable],
		Done:      n[rivertype.JobStateCompleted],

		Quarantined: quarantined,
	}
	if !at.IsZero() {
		d.Oldest = max(0, q.store.Now().Sub(at))
	}
	return d, nil
}

// Ready returns nil if the database can be written to, for readiness probes.
func (q *Queue) Ready(ctx context.Context) error {
	if err := q.store.db.there(); err != nil {
		return err
	}
	// The row changes each time: otherwise a full disk would not cause an error.
	return wrap(q.store.SetMark(ctx, "ready", time.Now()), "write to the database")
}

// jobWorker hands River's jobs to the queue.
type jobWorker struct {
	river.WorkerDefaults[riverArgs]
	queue *Queue
}

func (w *jobWorker) Work(ctx context.Context, j *river.Job[riverArgs]) error {
	return w.queue.work(ctx, j.JobRow)
}

// work runs a job and logs the outcome.
func (q *Queue) work(ctx context.Context, row *rivertype.JobRow) error {
	job := ports.Job{Kind: ports.JobKind(row.Kind), Args: row.EncodedArgs, Attempt: row.Attempt + snoozes(row)}
	ids := idsOf(job)
	logged := &jobcontext.Job{Kind: row.Kind, ID: row.ID, Attempt: job.Attempt, Target: ids.Key, Delivery: ids.Delivery}
	ctx, end := q.opts.Begin(jobcontext.With(ctx, logged), logged)
	begun := time.Now()
	outcome, line, err := q.attempt(ctx, row, job, ids)
	defer end(outcome)
	line.EmbedObject(logged).EmbedObject(logged.About()).Int("attempt", logged.Attempt).Float64("took_ms", float64(time.Since(begun).Microseconds())/1000).
		Msg("job " + strings.ReplaceAll(string(outcome), "_", " "))
	return err
}

// attempt runs a job once and translates its error for River. line is the beginning
// of the log line.
func (q *Queue) attempt(ctx context.Context, row *rivertype.JobRow, job ports.Job, ids jobIDs) (_ Outcome, line *zerolog.Event, _ error) {
	log := &q.store.log
	if ids.Key == "" && row.Attempt > maxRuns {
		return OutcomeGivenUp, log.Error().Str("why", "its process died, or it panicked, each time"),
			q.giveUp(ctx, ids.Delivery, errors.New("each attempt ended its process"))
	}
	err := q.guarded(ctx, job)
	var retry *ports.RetryError
	var panicked *panicError
	switch {
	case err == nil:
		return OutcomeDone, log.Info(), nil
	case errors.As(err, &retry):
		return OutcomePutOff, log.Info().Err(retry.Err).Dur("again_in_ms", retry.After), q.putOff(ctx, ids.Key, retry.After)
	case errors.As(err, &panicked):
		// River counts the attempt and tries again after panicBackoff.
		return OutcomePanicked, log.Error().Err(err).Str("stack", string(panicked.stack)), err
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return OutcomeStopped, log.Info(), err // River keeps the job
	}
	return OutcomeGivenUp, log.Error().Err(err), q.giveUp(ctx, ids.Delivery, err)
}

func (q *Queue) putOff(ctx context.Context, key string, after time.Duration) error {
	after = max(0, after)
	if key != "" && after > 0 {
		if err := q.store.putOff(context.WithoutCancel(ctx), key, q.store.Now().Add(after)); err != nil {
			q.store.log.Warn().Err(err).Msg("retry time not stored")
		}
	}
	return river.JobSnooze(after)
}

// giveUp ends a job for good. guid is the delivery that asked for the job, or "". If the
// job has a target, the target's state says what is left to do.
func (q *Queue) giveUp(ctx context.Context, guid string, err error) error {
	if guid != "" {
		if err := q.store.giveUpDelivery(context.WithoutCancel(ctx), guid); err != nil {
			q.store.log.Error().Err(err).Str("delivery", guid).Msg("a redelivery will count as a duplicate")
		}
	}
	return river.JobCancel(err)
}

func (q *Queue) guarded(ctx context.Context, job ports.Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return q.worker.Work(ctx, job)
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// snoozes returns how often a job was put off. River doesn't count these as attempts.
func snoozes(row *rivertype.JobRow) int {
	var m struct {
		Snoozes int `json:"snoozes"`
	}
	if json.Unmarshal(row.Metadata, &m) != nil {
		return 0
	}
	return m.Snoozes
}

// panicBackoff decides when a job that panicked runs again.
type panicBackoff struct{}

func (panicBackoff) NextRetry(row *rivertype.JobRow) time.Time {
	return time.Now().Add(time.Duration(min(row.Attempt, 10)) * 30 * time.Second)
}
