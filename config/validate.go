package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// valueChecks checks single values of a layer for what schemas can't say.
type valueChecks struct {
	*problems
	compiled int // size of the layer's patterns so far
}

// checkEntries validates single entries of the layer where schemas can't. It reads the JSON,
// so that it also checks entries with other mistakes, and all mistakes are reported at once.
func (t *trial) checkEntries() {
	for _, file := range listFiles() {
		for _, e := range t.own[file] {
			t.values.checkWords(e)
		}
	}
	for _, e := range t.own[FileRules] {
		t.values.checkMatch(e)
		t.values.checkReference(e.node.Get("reference"))
		t.values.checkLinters(e)
		t.values.checkStyle(e)
	}
	for _, e := range t.own[FileComposition] {
		t.values.checkTriggerGlobs(e.node.Get("trigger"))
		if p, ok := e.value.(*Policy); ok {
			t.values.checkTrigger(e.node.Get("trigger"), withoutExpressions(p.Trigger))
		}
	}
	for _, e := range t.own[FileAgents] {
		t.checkAgent(e)
	}
	for _, e := range t.own[FileDomains] {
		t.values.checkGlobs(e.node.Get("globs"))
		t.values.checkLanguages(e.node.Get("languages"))
		e.size, _ = t.values.checkPattern(e.node.Get("pattern"))
		if r, ok := e.value.(*RiskFactor); ok && r.Factor == RiskSensitivePath && len(r.Globs) == 0 {
			t.of(e.node, `a factor "sensitive_path" without globs never counts`, `add "globs"`)
		}
	}
	t.checkEvaluatedPolicies()
	t.checkTotalSize()
	t.checkExpressions()
}

// checkWords refuses texts of nothing but blanks.
func (c *valueChecks) checkWords(e *entry) {
	for _, field := range []string{"name", "description", "detection", "recommendation"} {
		if n := e.node.Get(field); given(n) && strings.TrimSpace(n.Text) == "" {
			c.of(n, field+" is blank", "write something")
		}
	}
}

func (c *valueChecks) checkMatch(e *entry) {
	n := e.node.Get("match")
	if n == nil {
		return
	}
	if on := n.Get("on"); n.Get("net") != nil && n.Get("net").Text == "true" && given(on) && on.Text != OnAdded && on.Text != OnRemoved {
		c.of(n.Get("net"), fmt.Sprintf("net compares lines, and the rule looks at %s", shown(on.Text)), `remove it, or set "on" to added or removed`)
	}
	pattern, literal := n.Get("pattern"), n.Get("literal")
	switch {
	case given(pattern) && given(literal):
		c.of(n, "a match has both a pattern and a literal", `keep one of the two; to lay one over the other of a lower layer, set that to ""`)
	case !given(pattern) && !given(literal) && e.value != nil:
		c.of(n, "a match needs a pattern or a literal", `add "pattern" or "literal", or remove "match" from a rule that no machine can check`)
	}
	size, groups := c.checkPattern(pattern)
	more, _ := c.checkPattern(n.Get("not_pattern"))
	source, _ := c.checkPattern(n.Get("source"))
	inFile, _ := c.checkPattern(n.Get("not_in_file"))
	inChange, _ := c.checkPattern(n.Get("not_in_change"))
	e.size = size + more + source + inFile + inChange
	for _, b := range elems(n.Get("not_before")) {
		before, _ := c.checkPattern(b.Get("pattern"))
		e.size += before
		c.checkDay(b.Get("day"))
	}
	for _, field := range []string{"not_in_file", "not_in_change", "not_before"} {
		if on := n.Get("on"); (given(n.Get(field)) || len(elems(n.Get(field))) > 0) && given(on) && on.Text != OnAdded && on.Text != OnRemoved {
			c.of(n.Get(field), fmt.Sprintf("%s is for rules on lines, and the rule looks at %s", field, shown(on.Text)), `remove it, or set "on" to added or removed`)
		}
	}
	if given(n.Get("source")) != (len(elems(n.Get("safe_calls"))) > 0) {
		c.of(n, "a match has only one of source and safe_calls", "name both, or neither")
	}
	if fix := n.Get("fix"); given(fix) && groups != nil {
		if problem, remedy := checkFix(fix.Text, groups); problem != "" {
			c.of(fix, problem, remedy)
		}
	}
	c.checkGlobs(n.Get("paths"))
	c.checkGlobs(n.Get("exclude_paths"))
	c.checkLanguages(n.Get("languages"))
}

// given reports whether n is a string that is not empty.
func given(n *jsontree.Node) bool {
	return n != nil && n.Kind == jsontree.String && n.Text != ""
}

// checkPattern validates the pattern in n, if there is one. groups is nil if the pattern is
// wrong; without a pattern it has the group of the whole match.
func (c *valueChecks) checkPattern(n *jsontree.Node) (size int, groups []string) {
	if !given(n) {
		return 0, []string{""}
	}
	if len(n.Text) > maxPatternBytes {
		return 0, nil // the schema reports this
	}
	// Patterns beyond the total limit are not compiled. checkTotalSize reports them.
	size, groups, problem, remedy := checkPattern(n.Text, maxTotalSize-c.compiled)
	c.compiled += size
	if problem != "" {
		c.of(n, problem, remedy)
	}
	return size, groups
}

// checkTotalSize limits the patterns of all layers together.
func (t *trial) checkTotalSize() {
	total := 0
	for _, file := range []string{FileRules, FileDomains} {
		for _, e := range t.stack.lists[file].entries {
			total += e.size
		}
	}
	if total > maxTotalSize {
		t.of(t.roots.blame(FileRules), fmt.Sprintf("all patterns together expand to about %d instructions, more than the limit of %d", total, maxTotalSize), "remove rules, or make their patterns smaller")
	}
}

// maxGlobCharacters is the limit of the schemas.
const maxGlobCharacters = 256

// checkGlobs validates the list of globs in n, if n is a list.
func (c *valueChecks) checkGlobs(n *jsontree.Node) {
	for _, e := range elems(n) {
		if !given(e) || utf8.RuneCountInString(e.Text) > maxGlobCharacters {
			continue // the schema reports this
		}
		if err := glob.Validate(e.Text); err != nil {
			problem, remedy := halves(err, "write a pattern such as src/**/*.go")
			c.of(e, fmt.Sprintf("the glob %s is refused: %s", shown(e.Text), problem), remedy)
		}
	}
}

func elems(n *jsontree.Node) []*jsontree.Node {
	if n == nil {
		return nil
	}
	return n.Elems
}

// halves splits an error of package policies: "what is wrong: what to write".
func halves(err error, fallback string) (problem, remedy string) {
	problem, remedy, found := strings.Cut(err.Error(), ": ")
	if !found {
		remedy = fallback
	}
	return problem, remedy
}

// checkTrigger checks what the schema can't, such as how deep a trigger is nested. Its globs
// have been checked already.
func (c *valueChecks) checkTrigger(n *jsontree.Node, trigger policies.Trigger) {
	for _, p := range policies.ValidateTrigger(trigger) {
		if strings.Contains(p.Pointer, "/globs") {
			continue
		}
		c.of(n.At(strings.Split(strings.TrimPrefix(p.Pointer, "/"), "/")...), p.Problem, p.Remedy)
	}
}

func (c *valueChecks) checkTriggerGlobs(n *jsontree.Node) {
	c.checkGlobs(n.Get("globs"))
	for _, sub := range elems(n.Get("triggers")) {
		c.checkTriggerGlobs(sub)
	}
}

// maxConditions is what the schema allows. More are not compiled.
const maxConditions = 50

func (t *trial) checkSettings(root *jsontree.Node) {
	t.values.checkGlobs(root.Get("synthesis").Get("protected_artifacts"))
	t.values.checkGlobs(root.Get("config_branches"))
	t.values.checkEndpoints(root.Get("model_endpoints"))
	t.values.checkReceiver(root.Get("escalation_webhook"))
	t.values.checkIgnored(root.Get("ignore"), t.stack.lists[FileAgents])
	t.values.checkSecrets(root.Get("secrets").Get("allow"), t.below.lists[FileAgents])
	for _, r := range elems(root.Get("repositories")) {
		t.values.checkGlobs(r.Get("globs"))
	}
	conditions := elems(root.Get("gate").Get("conditions"))
	for _, c := range conditions[:min(len(conditions), maxConditions)] {
		if when := c.Get("when"); given(when) { // otherwise the schema reports it
			t.checkExpression(when, func(text string) error {
				_, err := policies.CompileCondition(text)
				return err
			})
		}
	}
}
