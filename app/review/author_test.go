package review

import "testing"

func TestPushesThatWereSeen(t *testing.T) {
	push := func(head, before string) Push {
		return Push{Target: Target{HeadSHA: head}, Before: before, Sender: "alice"}
	}
	opened := push("a", "")
	for name, tt := range map[string]struct {
		head   string
		pushes []Push
		want   bool
	}{
		"opened":                           {"a", []Push{opened}, true},
		"pushed":                           {"b", []Push{opened, push("b", "a")}, true},
		"pushed twice":                     {"c", []Push{opened, push("b", "a"), push("c", "b")}, true},
		"the newest push was not seen":     {"b", []Push{opened}, false},
		"a push before was not seen":       {"c", []Push{opened, push("c", "b")}, false},
		"it was not seen being opened":     {"b", []Push{push("b", "a")}, false},
		"nothing was seen":                 {"a", nil, false},
		"back at the head it was opened":   {"a", []Push{opened, push("b", "a"), push("a", "b")}, true},
		"pushes in a circle without start": {"b", []Push{push("b", "c"), push("c", "b")}, false},
	} {
		if got := seen(tt.head, tt.pushes); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
