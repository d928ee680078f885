package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// These are the limits of expressions, over all layers together. A usual expression compiles in a
// tenth of a millisecond, so all of them take as long as a thousand patterns.
const (
	maxExpressions     = 500
	maxExpressionBytes = 200_000
	// The schemas allow this many characters in one expression.
	maxExpressionCharacters = 2_000
)

// checkExpressions compiles the expressions of the layer's entries, unless there are so many that
// compiling them would take too long.
func (t *trial) checkExpressions() {
	count, length := 0, 0
	for _, file := range []string{FileRules, FileComposition} {
		// Expressions of entries with another fault count too.
		for _, e := range t.merged.entries(file) {
			for _, n := range expressionsOf(e) {
				count, length = count+1, length+len(n.Text)
			}
		}
	}
	switch {
	case count > maxExpressions:
		t.of(t.roots.blame(FileComposition), fmt.Sprintf("all layers together have %d expressions, more than the limit of %d", count, maxExpressions), "remove some, or use triggers of other types")
		return
	case length > maxExpressionBytes:
		t.of(t.roots.blame(FileComposition), fmt.Sprintf("all expressions together have %d bytes, more than the limit of %d", length, maxExpressionBytes), "remove some, or make them shorter")
		return
	}
	for _, file := range []string{FileRules, FileComposition} {
		for _, e := range t.own[file] {
			for _, n := range expressionsOf(e) {
				if t.owns(n) {
					t.checkExpression(n, compileExpression)
				}
			}
		}
	}
}

// expressionsOf returns the expressions of an entry in the rules or the composition.
func expressionsOf(e *entry) []*jsontree.Node {
	var found []*jsontree.Node
	if when := e.node.Get("when"); given(when) {
		found = append(found, when)
	}
	return append(found, expressionsIn(e.node.Get("trigger"))...)
}

func expressionsIn(trigger *jsontree.Node) []*jsontree.Node {
	var found []*jsontree.Node
	if when := trigger.Get("when"); given(when) {
		found = append(found, when)
	}
	for _, sub := range elems(trigger.Get("triggers")) {
		found = append(found, expressionsIn(sub)...)
	}
	return found
}

func compileExpression(text string) error {
	_, err := expression.Compile(text)
	return err
}

// checkExpression reports what is wrong with an expression, at the place within the expression.
func (t *trial) checkExpression(n *jsontree.Node, compile func(string) error) {
	if t.trusted {
		return
	}
	if utf8.RuneCountInString(n.Text) > maxExpressionCharacters {
		return // the schema reports this
	}
	err := compile(n.Text)
	if err == nil {
		return
	}
	var wrong *expression.Error
	if !errors.As(err, &wrong) {
		t.of(n, "the expression can't be compiled: "+err.Error(), "write it in another way")
		return
	}
	place := n.Place()
	if wrong.Line > 0 {
		place = n.PlaceIn(offsetOf(n.Text, wrong.Line, wrong.Column))
	}
	t.at(place, wrong.Problem, wrong.Remedy)
}

// offsetOf turns a line and a column, both counted from 1 and in characters, into an offset in
// bytes.
func offsetOf(text string, line, column int) int {
	start := 0
	for range line - 1 {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	for i := range text[start:] {
		if column--; column <= 0 {
			return start + i
		}
	}
	return len(text)
}

// withoutExpressions returns the trigger with a valid expression in place of each of its own.
// checkExpressions compiles the real ones.
func withoutExpressions(trigger policies.Trigger) policies.Trigger {
	if trigger.When != "" {
		trigger.When = "true"
	}
	trigger.Triggers = slices.Clone(trigger.Triggers)
	for i, sub := range trigger.Triggers {
		trigger.Triggers[i] = withoutExpressions(sub)
	}
	return trigger
}
