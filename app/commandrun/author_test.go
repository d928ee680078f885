package commandrun

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

func TestAllPushesWereSeen(t *testing.T) {
	push := func(head, before string) ports.Push {
		return ports.Push{Target: ports.Target{HeadSHA: head}, Before: before, Sender: "alice"}
	}
	opened := push("a", "")
	for name, tt := range map[string]struct {
		head   string
		pushes []ports.Push
		want   bool
	}{
		"opened":                           {"a", []ports.Push{opened}, true},
		"pushed":                           {"b", []ports.Push{opened, push("b", "a")}, true},
		"pushed twice":                     {"c", []ports.Push{opened, push("b", "a"), push("c", "b")}, true},
		"the newest push was not seen":     {"b", []ports.Push{opened}, false},
		"a push before was not seen":       {"c", []ports.Push{opened, push("c", "b")}, false},
		"it was not seen being opened":     {"b", []ports.Push{push("b", "a")}, false},
		"nothing was seen":                 {"a", nil, false},
		"a change of base is not a push":   {"a", []ports.Push{{Target: ports.Target{HeadSHA: "a"}, Retargeted: true}}, false},
		"back at the head it was opened":   {"a", []ports.Push{opened, push("b", "a"), push("a", "b")}, true},
		"pushes in a circle without start": {"b", []ports.Push{push("b", "c"), push("c", "b")}, false},
	} {
		if got := seen(tt.head, tt.pushes); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
