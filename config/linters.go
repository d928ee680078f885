package config

import "fmt"

// checkLinters refuses checks of linters that the layer writes into a rule that does not look at
// added lines: only these have comments for linters.
func (c *valueChecks) checkLinters(e *entry) {
	n := e.node.Get("linters")
	if by := writer(n); by == nil || by.layer != c.layer || len(n.Members) == 0 {
		return
	}
	match := e.node.Get("match")
	switch on := match.Get("on"); {
	case given(on) && on.Text != OnAdded:
		c.of(n, fmt.Sprintf("linters is for rules on added lines, and the rule looks at %s", shown(on.Text)), `remove it, or set "on" to added`)
	case match == nil:
		c.of(n, "linters is for rules on added lines, and the rule has no match", "remove it, or add a match")
	}
}

// checkStyle refuses a rule that the layer calls one on style and that can't be one. What is final in
// a lower layer is checked elsewhere.
func (c *valueChecks) checkStyle(e *entry) {
	n := e.node.Get("style")
	r, ok := e.value.(*Rule)
	if by := writer(n); by == nil || by.layer != c.layer || !ok || !r.Style || e.final != "" && e.final != c.layer {
		return
	}
	if why := r.notStyle(); why != "" {
		c.of(n, "style is for rules on style, and the rule "+why, "remove it")
	}
}
