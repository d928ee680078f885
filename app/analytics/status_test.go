package analytics

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// stored are the logs of a repository.
type stored struct {
	ports.Learning
	logs  [][]learning.Entry
	asked ports.LogFilter
	err   error
}

func (s *stored) Logs(_ context.Context, which ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	s.asked = which
	if s.err != nil {
		return func(yield func([]learning.Entry, error) bool) { yield(nil, s.err) }
	}
	return each(s.logs)
}

// A status is about one repository and the last 90 days.
func TestLately(t *testing.T) {
	t.Parallel()
	now := begin.Add(30 * 24 * time.Hour)
	from := &stored{logs: tenPulls()}
	got, err := Lately(t.Context(), from, 7, now)
	want := render.Lately{
		Days: 90, Reviews: 16, PullRequests: 10, Blocked: 8, Overrides: 1, Shown: 17, Fixed: 4, Accepted: 1, Dismissed: 4, Others: 8, FalsePositives: 1,
		Blocking: render.Judged{Judged: 3, Shown: 7}, Other: render.Judged{Judged: 2, Shown: 6},
	}
	if err != nil || *got != want {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if since := now.Add(-90 * 24 * time.Hour); from.asked.RepoID != 7 || !from.asked.Since.Equal(since) {
		t.Errorf("it read %+v", from.asked)
	}
	if old, err := Lately(t.Context(), from, 7, now.Add(365*24*time.Hour)); old != nil || err != nil {
		t.Errorf("of an old repository: %+v, %v", old, err)
	}
	from.err = errors.New("broken")
	if _, err := Lately(t.Context(), from, 7, now); !errors.Is(err, from.err) {
		t.Errorf("%v, want the reader's error", err)
	}
	enough := judgedOf(Precision{Shown: 60, Judged: 30, Right: 27, Share: newShare(27, 30)})
	if enough != (render.Judged{Judged: 30, Shown: 60, Enough: true, Right: 90, Low: 74, High: 97}) {
		t.Errorf("%+v", enough)
	}
}
