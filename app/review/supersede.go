package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// supersede drops a review of another head than the newest.
func (s *Service) supersede(ctx context.Context, lease ports.Lease, r *ports.StoredReview, headSHA string) error {
	if err := s.Store.SetHead(ctx, lease.Key, headSHA); err != nil {
		return fmt.Errorf("note the newer head: %w", err)
	}
	if err := s.Store.DropReview(ctx, r.RunID); err != nil {
		return fmt.Errorf("drop a superseded review: %w", err)
	}
	return errSuperseded
}

// Reasons why a run stops before it is done.
var (
	errSuperseded = errors.New("superseded by a newer head")
	errClosed     = errors.New("the pull request was closed")
)
