package news

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// Scanned asks for a review where other Apps' checks, or code scanning, have news.
type Scanned struct {
	Scans    ports.Scans
	Interval time.Duration // how often one pull request is reviewed again at most
	Retry    retry.Policy
}

// Work asks for the review that news of others' checks asked for.
func (n *Scanned) Work(ctx context.Context, job ports.ScansJob, attempt int) error {
	wait, err := n.Scans.AskScans(ctx, job.Key, n.Interval)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return nil
	case err != nil:
		return n.Retry.Job(attempt, fmt.Errorf("ask for a review of what others found: %w", err))
	case wait > 0:
		return &ports.RetryError{After: wait, Err: errors.New("others' findings were taken in a moment ago")}
	}
	return nil
}
