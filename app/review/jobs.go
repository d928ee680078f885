package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// work runs one job of one kind.
type work func(context.Context, ports.Job) error

// works returns a handler for each kind of job.
func (s *Service) works() map[ports.JobKind]work {
	return map[ports.JobKind]work{
		ports.JobReview: withArgs(func(ctx context.Context, t ports.TargetJob, _ int) error {
			return s.workTarget(ctx, t.Key, ports.JobReview)
		}),
		ports.JobPublish: withArgs(func(ctx context.Context, t ports.TargetJob, _ int) error {
			return s.workTarget(ctx, t.Key, ports.JobPublish)
		}),
		ports.JobCommand:   s.retried(withArgs(s.commands.Work)),
		ports.JobRerequest: s.retried(withArgs(s.rerequested.Work)),
		ports.JobReport:    s.retried(withArgs(s.reported.Work)),
		ports.JobEvent:     s.retried(withArgs(s.Sessions.Heard)),
		ports.JobRequest:   s.retried(withArgs(s.Sessions.Work)),
		ports.JobScans:     withArgs(s.scanned.Work),
		ports.JobIssues:    s.retried(withArgs(s.tracker.Work)),
		ports.JobConfig:    s.retried(withArgs(s.pushes.Work)),
		ports.JobBacktest:  s.retried(withArgs(s.previewer.Work)),
		ports.JobForget: s.retried(withArgs(func(ctx context.Context, a ports.ForgetJob, _ int) error {
			return s.deleter.Forget(ctx, a.Forget)
		})),
		ports.JobSweep: s.retried(withArgs(func(ctx context.Context, a ports.SweepJob, _ int) error {
			return s.finder.Sweep(ctx, ports.Sweep{Installation: a.Installation, Granted: a.Granted})
		})),
		ports.JobDeliveries: s.retried(func(ctx context.Context, _ ports.Job) error { return s.finder.FindDeliveries(ctx) }),
		ports.JobRetention:  s.retried(func(ctx context.Context, _ ports.Job) error { return s.deleter.Prune(ctx) }),
		ports.JobProbation:  s.retried(func(ctx context.Context, _ ports.Job) error { return s.probation.Work(ctx) }),
	}
}

// Work runs one job of the queue.
func (s *Service) Work(ctx context.Context, job ports.Job) error {
	do, ok := s.jobs[job.Kind]
	if !ok {
		return fmt.Errorf("unknown kind of job %q", job.Kind)
	}
	return do(ctx, job)
}

// withArgs decodes a job's args and passes them to a use case with the number of the
// attempt.
func withArgs[A any](do func(ctx context.Context, args A, attempt int) error) work {
	return func(ctx context.Context, job ports.Job) error {
		args, err := ports.ArgsOf[A](job)
		if err != nil {
			return err
		}
		return do(ctx, args, job.Attempt)
	}
}

// retried makes the queue run a job again after a temporary failure. The steps of a
// target's review have their own retry policy.
func (s *Service) retried(do work) work {
	return func(ctx context.Context, job ports.Job) error { return s.retry.Job(job.Attempt, do(ctx, job)) }
}
