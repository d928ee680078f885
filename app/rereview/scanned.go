package rereview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// Scanned asks for a review after events about other Apps' checks or code scanning.
type Scanned struct {
	Scans    ports.Scans
	Interval time.Duration // the minimum time between two such reviews of one pull request
	Retry    retry.Policy
}

// Work asks for the review that events about others' checks called for.
func (n *Scanned) Work(ctx context.Context, job ports.ScansJob, attempt int) error {
	wait, err := n.Scans.AskScans(ctx, job.Key, n.Interval)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return nil
	case err != nil:
		return n.Retry.Job(attempt, fmt.Errorf("ask for a review of what others found: %w", err))
	case wait > 0:
		return &ports.RetryError{After: wait, Err: errors.New("others' findings were read a moment ago")}
	}
	return nil
}
