// Package rules is the engine for machine-checkable rules.
//
// [Compile] turns the rules of one config version into an [Engine]. An
// [Engine.Scan] reads a change once, for all rules of all agents. It searches
// the added lines for all literals that the rules' expressions need at the same
// time. Only a line that holds a literal is matched against the expression that
// needs it. [Scan.Agent] is one agent's share of the result.
//
// A rule with an expression instead of a match looks at the change as a whole,
// once. An expression that can't be evaluated is a finding too.
//
// A rule without a literal would have to run on every line. A few common shapes
// (trailing white space, lines that are too long) have hand-written matchers.
// Other expressions without a literal do run on every line, which costs about a
// hundred times what a rule with a literal costs.
//
// Some files are generated or vendored, by their path. Only rules of major and
// critical severity look at their lines: milder findings would be noise there,
// but anyone can choose a path.
package rules
