package sample

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	was := *full
	t.Cleanup(func() { *full = was })
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv("CI", "true")
	if got := Of(t, 3, cases); !slices.Equal(got, cases) {
		t.Errorf("in CI the cases are %v, want all", got)
	}
	if got := Size(3, 10); got != 10 {
		t.Errorf("in CI the size is %d, want 10", got)
	}
	t.Setenv("CI", "")
	*full = true
	if got := Of(t, 3, cases); !slices.Equal(got, cases) {
		t.Errorf("with -full the cases are %v, want all", got)
	}
	*full = false
	for n, want := range map[int][]int{1: {0}, 2: {0, 9}, 3: {0, 4, 9}, 10: cases, 20: cases} {
		if got := Of(t, n, cases); !slices.Equal(got, want) {
			t.Errorf("%d of the cases are %v, want %v", n, got, want)
		}
	}
	if got := Size(3, 10); got != 3 {
		t.Errorf("the size is %d, want 3", got)
	}
}

func TestCheck(t *testing.T) {
	drawn := 0
	Check(t, func(*rapid.T) { drawn++ })
	want := draws
	if Full() {
		want = 100
	}
	if drawn != want {
		t.Errorf("the property was tried %d times, want %d", drawn, want)
	}
}
