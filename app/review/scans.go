package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// noteScans records what the review took in of what others found, so that it is known
// which news of others make a difference.
func (s *Service) noteScans(ctx context.Context, state ports.TargetState, reads ports.ScansRead) error {
	if len(reads.Agents) == 0 && len(state.Scans.Agents) == 0 {
		return nil // as nearly everywhere: no news of a check ever matters
	}
	if err := s.Store.SetScans(ctx, state.Key(), reads); err != nil {
		return fmt.Errorf("note what was read of others' findings: %w", err)
	}
	return nil
}
