package gh

import (
	"context"
	"errors"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// emptyBlob is git's name for a file without content.
	emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	// crowdedLines and crowdedBytes are half of what GitHub shows in one answer for
	// all files together. Beyond that GitHub shows no lines of a file and no line
	// counts, so that the file looks like a binary file:
	// https://github.com/orgs/community/discussions/213491
	crowdedLines = 10_000
	crowdedBytes = 512 << 10
)

// complete adds what the list lacks. If GitHub lists every file and shows the changes of
// all but a few, complete reads those few one by one. Otherwise git fetches the change. If
// that fails, the files stay as listed, and Incomplete says what is not known.
func (s *source) complete(ctx context.Context, l listing) (raw.Files, error) {
	unshown := l.unshown()
	if !l.cut && len(unshown) == 0 {
		return l.files, nil
	}
	base, err := l.base(ctx)
	if err == nil && !l.cut && !l.doubt {
		if unshown, err = s.readSingly(ctx, &l, unshown, base); err == nil && len(unshown) == 0 {
			return l.files, nil
		}
	}
	if err == nil {
		var fetched raw.Files
		if fetched, err = s.fetchChange(ctx, l, base); err == nil {
			return fetched, nil
		}
	}
	if !isPartial(err) {
		return raw.Files{}, err
	}
	l.sayUnread(unshown, err)
	return l.files, nil
}

// isPartial reports whether the part of the change that is known can still be used after an
// error. Other errors are temporary or concern the whole review: they fail the read.
func isPartial(err error) bool {
	var host *ports.HostError
	return !errors.As(err, &host) || host.Kind == ports.HostNotFound || host.Kind == ports.HostBudget || host.Kind == ports.HostInvalid
}
