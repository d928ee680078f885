package review

import "testing"

func TestAuthorship(t *testing.T) {
	push := func(head, before, sender string) Push {
		return Push{Target: Target{HeadSHA: head}, Before: before, Sender: sender}
	}
	opened := push("a", "", "alice")
	for name, tt := range map[string]struct {
		head   string
		pushes []Push
		want   authorship
	}{
		"opened by another":                {"a", []Push{opened}, authorship{}},
		"pushed by the sender":             {"b", []Push{opened, push("b", "a", "Carol")}, authorship{own: true}},
		"pushed over by another":           {"c", []Push{opened, push("b", "a", "carol"), push("c", "b", "alice")}, authorship{own: true}},
		"opened by the sender":             {"a", []Push{push("a", "", "carol")}, authorship{own: true}},
		"the newest push was not seen":     {"b", []Push{opened}, authorship{unseen: true}},
		"a push before was not seen":       {"c", []Push{opened, push("c", "b", "alice")}, authorship{unseen: true}},
		"it was not seen being opened":     {"b", []Push{push("b", "a", "alice")}, authorship{unseen: true}},
		"nothing was seen":                 {"a", nil, authorship{unseen: true}},
		"back at the head it was opened":   {"a", []Push{opened, push("b", "a", "alice"), push("a", "b", "alice")}, authorship{}},
		"pushes in a circle without start": {"b", []Push{push("b", "c", "alice"), push("c", "b", "alice")}, authorship{unseen: true}},
	} {
		if got := authorshipOf("carol", tt.head, tt.pushes); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
