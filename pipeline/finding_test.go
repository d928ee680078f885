package pipeline

import "testing"

func TestOnlyIn(t *testing.T) {
	f := func(ids ...string) Finding { return Finding{Fingerprints: ids} }
	type list = []Finding
	for name, tt := range map[string]struct {
		one, other  list
		added, gone int
	}{
		"the same":           {list{f("a"), f("b")}, list{f("b"), f("a")}, 0, 0},
		"another":            {list{f("a")}, list{f("b")}, 1, 1},
		"one more":           {list{f("a"), f("b"), f("c")}, list{f("a")}, 2, 0},
		"merged with others": {list{f("a", "b")}, list{f("b", "c"), f("d")}, 0, 1},
		"nothing":            {nil, nil, 0, 0},
	} {
		if added, gone := len(OnlyIn(tt.one, tt.other)), len(OnlyIn(tt.other, tt.one)); added != tt.added || gone != tt.gone {
			t.Errorf("%s: %d only in the one, %d only in the other, want %d and %d", name, added, gone, tt.added, tt.gone)
		}
	}
}
