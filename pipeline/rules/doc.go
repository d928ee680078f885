// Package rules is the engine for machine-checkable rules.
//
// [Compile] turns the rules of one config version into an [Engine]. An
// [Engine.Scan] goes over a change once, for all rules of all agents, however
// many of them ask: added lines are searched for the literals that the rules'
// expressions need, all at the same time, and only a line that holds one is
// shown to the expression it belongs to. [Scan.Agent] is one agent's share of
// the result.
//
// A rule with an expression in place of a match looks at the change as a
// whole, once. Where it can't be evaluated, that is a finding too.
//
// A rule without a literal would have to run on every line. For the few
// shapes that people write (white space at the end, lines that are too long)
// there are matchers by hand; other such expressions do run on every line,
// which costs about a hundred times what a rule with a literal costs.
//
// In files whose path says that they are generated or vendored, only rules of
// major and critical severity look at the lines: milder findings would be
// noise there, but anyone can choose a path.
package rules
