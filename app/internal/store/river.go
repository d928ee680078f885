package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// riverJobs inserts jobs into River in transactions of the type TTx.
type riverJobs[TTx any] struct {
	driver riverdriver.Driver[TTx]
	client *river.Client[TTx] // inserts only
}

func newRiverJobs[TTx any](driver riverdriver.Driver[TTx], log *slog.Logger) (*riverJobs[TTx], error) {
	// River tells workers of at most one insert in each cooldown.
	client, err := river.NewClient(driver, &river.Config{Logger: log, FetchCooldown: river.FetchCooldownMin})
	if err != nil {
		return nil, fmt.Errorf("create the queue's client: %w", err)
	}
	return &riverJobs[TTx]{driver: driver, client: client}, nil
}

func (r *riverJobs[TTx]) insert(ctx context.Context, t TTx, j ports.Job) (alive rivertype.JobState, err error) {
	res, err := r.client.InsertTx(ctx, t, riverArgs{j.Kind, j.Args}, insertOptions(j))
	switch {
	case err != nil:
		return "", fmt.Errorf("insert a %s job: %w", j.Kind, err)
	case res.UniqueSkippedAsDuplicate:
		return res.Job.State, nil
	}
	return "", nil
}

// adopt makes running jobs available and drops the leadership, for one process, or for
// all if process is "". River's rescuer and elector do the same after their timeouts:
// see internal/maintenance/job_rescuer.go there.
func (r *riverJobs[TTx]) adopt(ctx context.Context, t TTx, process string) (n int, err error) {
	exec := r.driver.UnwrapExecutor(t)
	leader, err := exec.LeaderGetElectedLeader(ctx, &riverdriver.LeaderGetElectedLeaderParams{})
	switch {
	case err == nil && process != "" && leader.LeaderID != process:
	case err == nil:
		if _, err := exec.LeaderResign(ctx, &riverdriver.LeaderResignParams{ElectedAt: leader.ElectedAt, LeaderID: leader.LeaderID, LeadershipTopic: leadershipTopic}); err != nil {
			return 0, fmt.Errorf("delete the dead process's leadership: %w", err)
		}
	case !errors.Is(err, rivertype.ErrNotFound):
		return 0, fmt.Errorf("read which process led the queue: %w", err)
	}

	const batch = 1000
	horizon := time.Now().Add(24 * time.Hour) // later than any start: all of them
	for after := int64(0); ; {
		rows, err := exec.JobGetStuck(ctx, &riverdriver.JobGetStuckParams{AfterID: after, Max: batch, StuckHorizon: horizon})
		if err != nil {
			return n, fmt.Errorf("list the jobs that were running: %w", err)
		}
		if len(rows) == 0 {
			return n, nil
		}
		after = rows[len(rows)-1].ID
		if process != "" {
			rows = slices.DeleteFunc(rows, func(row *rivertype.JobRow) bool {
				return len(row.AttemptedBy) == 0 || row.AttemptedBy[len(row.AttemptedBy)-1] != process
			})
		}
		if len(rows) == 0 {
			continue
		}
		if _, err := exec.JobRescueMany(ctx, rescueParams(rows, horizon)); err != nil {
			return n, fmt.Errorf("return the running jobs to the queue: %w", err)
		}
		n += len(rows)
	}
}

// leadershipTopic is River's notifier.NotificationTopicLeadership. The clients that
// listen to it elect another leader at once.
const leadershipTopic = "river_leadership"

func rescueParams(rows []*rivertype.JobRow, horizon time.Time) *riverdriver.JobRescueManyParams {
	now := time.Now().UTC()
	p := &riverdriver.JobRescueManyParams{StuckHorizon: horizon}
	for _, row := range rows {
		// Marshal can't fail: the struct is plain.
		text, _ := json.Marshal(rivertype.AttemptError{At: now, Attempt: max(row.Attempt, 0), Error: "the process died while the job was running"})
		p.ID = append(p.ID, row.ID)
		p.Error = append(p.Error, text)
		p.FinalizedAt = append(p.FinalizedAt, nil)
		p.ScheduledAt = append(p.ScheduledAt, now)
		p.State = append(p.State, string(rivertype.JobStateAvailable))
	}
	return p
}

func (r *riverJobs[TTx]) migrate(ctx context.Context, log *slog.Logger) error {
	m, err := rivermigrate.New(r.driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return fmt.Errorf("prepare the queue's tables: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the queue's tables: %w", err)
	}
	return nil
}

// riverLogger passes on River's and goose's warnings and errors. River logs each job at
// the level of information; the queue logs jobs itself.
func riverLogger(log zerolog.Logger) *slog.Logger {
	return slog.New(zerolog.NewSlogHandler(log.With().Str("component", "river").Logger().Level(max(zerolog.WarnLevel, log.GetLevel()))))
}
