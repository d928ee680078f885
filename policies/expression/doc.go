// Package expression compiles and evaluates CEL expressions that are true or
// false. Those of policies and whole-change rules read "facts"
// (pipeline.PRFacts) and "classification" (pipeline.Classification), by the
// names of their JSON; the gate's conditions read named numbers.
//
// Expressions come from repositories that nobody vouches for. They are
// type-checked when they are compiled, loop over nothing but lists, match only
// constant patterns that were compiled and measured, and what one evaluation
// may cost is bounded and counted: the same input and expression give the same
// answer on every machine. There is no clock, no randomness and no way to make
// a value larger than its parts but to add or split texts.
package expression
