package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// noteScans records which results of other Apps the review read, so that later events about
// them can be matched. last is what the last review read.
func noteScans(ctx context.Context, store ports.Scans, key string, last, reads ports.ScansRead) error {
	if len(reads.Agents) == 0 && len(last.Agents) == 0 {
		return nil // the usual case: no event about others' checks matters
	}
	if err := store.SetScans(ctx, key, reads); err != nil {
		return fmt.Errorf("note what was read of others' findings: %w", err)
	}
	return nil
}
