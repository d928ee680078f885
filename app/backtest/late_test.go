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
	from := Chosen{Archive: twice{}}
	for i := range 20 {
		from.Reviews.Heads = append(from.Reviews.Heads, ports.ChosenHead{Key: fmt.Sprint("k", i)})
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

// both has a review of each of two heads, and an altered one.
type both struct{ ports.Archive }

func (both) Archived(_ context.Context, f ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		_ = yield(&ports.StoredReview{Key: f.Key, HeadSHA: "a"}, nil) &&
			yield(nil, &ports.AlteredError{RunID: f.Key}) &&
			yield(&ports.StoredReview{Key: f.Key, HeadSHA: "b"}, nil)
	}
}

// A head that was reviewed after the choice does not count.
func TestOnlyChosenHeads(t *testing.T) {
	from := Chosen{both{}, ports.ChosenReviews{Heads: []ports.ChosenHead{{Key: "2", HeadSHA: "b"}, {Key: "1", HeadSHA: "a"}, {Key: "2", HeadSHA: "a"}}}}
	var got []string
	for s, err := range from.Archived(t.Context(), ports.ReviewFilter{}) {
		if err != nil {
			got = append(got, "altered")
			continue
		}
		got = append(got, s.Key+s.HeadSHA)
	}
	if want := []string{"2a", "altered", "2b", "1a", "altered"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}
