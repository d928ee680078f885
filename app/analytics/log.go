package analytics

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Log writes the entries of a period as they are stored, each on a line of JSON, and returns how many
// there were. It leaves out what identifies people, so that nobody can rank them: the hashes of
// accounts, and the comments and reviews on GitHub in which they said something. Those events are
// numbered within the log of their pull request instead. Reviews keep the id of their run.
func Log(ctx context.Context, w io.Writer, logs iter.Seq2[[]learning.Entry, error], since time.Time) (n int, err error) {
	for log, err := range logs {
		if err != nil {
			return n, fmt.Errorf("read the logs of pull requests: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		for i := range log {
			if log[i].At.Before(since) {
				continue
			}
			line, err := render.JSONLine(withoutPerson(log[i], i+1))
			if err != nil {
				return n, err
			}
			if _, err := w.Write(line); err != nil {
				return n, fmt.Errorf("write the log: %w", err)
			}
			n++
		}
	}
	return n, nil
}

// withoutPerson returns an entry that says what a person said, but not who. number is its place in the
// log, from 1.
func withoutPerson(e learning.Entry, number int) learning.Entry {
	if e.Kind != learning.KindReview {
		e.Event = strconv.Itoa(number)
	}
	if e.Judged != nil {
		judged := *e.Judged
		judged.Person, e.Judged = "", &judged
	}
	if e.Decided != nil {
		decided := *e.Decided
		decided.Person, e.Decided = "", &decided
	}
	return e
}
