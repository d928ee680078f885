package backtest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// twice has two reviews of each pull request.
type twice struct{ ports.Archive }

func (twice) Archived(_ context.Context, f ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		for range 2 {
			if !yield(&ports.StoredReview{Key: f.Key}, nil) {
				return
			}
		}
	}
}

func (twice) Ended(context.Context, string) (ports.PullEnd, error) { return ports.PullMerged, nil }

// No review is begun once it is late, even if more have been read. What people did is unknown of the
// pull request whose later reviews are cut off, and of no other.
func TestLate(t *testing.T) {
	from := newestFirst{Archive: twice{}}
	for i := range 20 {
		from.chosen.Keys = append(from.chosen.Keys, fmt.Sprint("k", i))
	}
	for _, most := range []int{0, 1, 4, 7, 39, 40} {
		reviews, ends := 0, []ports.PullEnd{}
		err := chains(t.Context(), from, ports.ReviewFilter{}, walk{
			begin: func(string) {},
			one:   func(*ports.StoredReview) error { reviews++; return nil },
			end:   func(how ports.PullEnd) { ends = append(ends, how) },
			bad:   func(f Failed) { t.Error(f) },
			late:  func() bool { return reviews >= most },
		})
		want := slices.Repeat([]ports.PullEnd{ports.PullMerged}, most/2)
		if most%2 == 1 {
			want = append(want, "")
		}
		if err != nil || reviews != most || !slices.Equal(ends, want) {
			t.Errorf("late after %d: %d reviews begun, %v; ends %q, want %q", most, reviews, err, ends, want)
		}
	}
}
