package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// opened asks for the review of a pull request that an author opened.
func (f *fixture) opened(t *testing.T, author, repo int64, number int) {
	t.Helper()
	f.clock.pass(time.Millisecond)
	f.accept(t, asking(fmt.Sprint("opened ", repo, number), ports.ReviewAsk{Target: of(5, repo, number, fmt.Sprint("head", repo, number)), Reason: "opened", Author: author}))
}

// order lets one worker do all waiting jobs, and returns the numbers of the first n pull
// requests in the order in which they were done.
func (f *fixture) order(t *testing.T, n int) (numbers []int) {
	t.Helper()
	done := make(chan int, 200)
	f.workWith(t, storeOneWorker, finishTargets(f.Store, func(st ports.TargetState) { done <- st.Number }))
	for range n {
		numbers = append(numbers, receive(t, "one is done", done))
	}
	return numbers
}

// wantWithin fails unless the pull request is among the first ones.
func wantWithin(t *testing.T, order []int, number, first int) {
	t.Helper()
	if at := slices.Index(order, number); at < 0 || at >= first {
		t.Errorf("#%d is number %d to be done, want it among the first %d: %v", number, at+1, first, order)
	}
}

var shareTests = map[string]func(*testing.T, *fixture){
	"many pull requests of one author wait for one of another author": func(t *testing.T, f *fixture) {
		for i := range 30 {
			f.opened(t, 1, 77, i+1)
		}
		f.opened(t, 2, 77, 99)
		f.opened(t, 3, 78, 98)
		order := f.order(t, 32)
		// The first four are done in the order of the asks. Each one that is done lets in one more.
		wantWithin(t, order, 99, 5)
		wantWithin(t, order, 98, 6)
		own := slices.DeleteFunc(slices.Clone(order), func(n int) bool { return n > 90 })
		if !slices.IsSorted(own) || len(own) != 30 {
			t.Errorf("the author's own come in another order, or not all: %v", own)
		}
	},
	"many pull requests of one repository wait for one of another repository": func(t *testing.T, f *fixture) {
		for i := range 30 {
			f.opened(t, int64(i+1), 77, i+1)
		}
		f.opened(t, 40, 78, 99)
		wantWithin(t, f.order(t, 31), 99, 9)
	},
	"two busy authors leave a third a turn": func(t *testing.T, f *fixture) {
		for i := range 20 {
			f.opened(t, int64(i%2+1), 77, i+1)
		}
		f.opened(t, 3, 77, 99)
		wantWithin(t, f.order(t, 21), 99, 9)
	},
	"many pull requests of one author in many repositories wait": func(t *testing.T, f *fixture) {
		for i := range 30 {
			f.opened(t, 1, int64(100+i), i+1)
		}
		f.opened(t, 2, 77, 99)
		wantWithin(t, f.order(t, 31), 99, 5)
	},
	"a postponed review takes no share": func(t *testing.T, f *fixture) {
		for i := range 4 {
			f.opened(t, 1, 77, i+1)
			if _, err := f.Failed(f.ctx, f.acquire(t, of(5, 77, i+1, "").Key())); err != nil {
				t.Fatal(err)
			}
		}
		f.opened(t, 1, 77, 50)
		for i := range 6 {
			f.opened(t, 2, int64(200+i), 60+i)
		}
		order := f.order(t, 11)
		wantWithin(t, order, 50, 5)
	},
	"a merge group does not wait": func(t *testing.T, f *fixture) {
		for i := range 30 {
			f.opened(t, int64(i+1), repoID, i+1)
		}
		g := group("g")
		g.Number = 99
		f.accept(t, push("group", g))
		wantWithin(t, f.order(t, 31), 99, 9)
	},
	"a push to a waiting pull request inserts no job": func(t *testing.T, f *fixture) {
		for i := range 6 {
			f.opened(t, 1, 77, i+1)
		}
		f.wantJobs(t, 6, "after they were opened")
		f.accept(t, push("again", of(5, 77, 6, "newer")))
		f.accept(t, push("and again", of(5, 77, 1, "newer")))
		f.wantJobs(t, 6, "after pushes")
	},
}
