// Package expression compiles and evaluates the CEL expressions of policies
// and whole-change rules: booleans over "facts" (pipeline.PRFacts) and
// "classification" (pipeline.Classification), by the names of their JSON.
//
// Expressions come from repositories that nobody vouches for. They are
// type-checked when they are compiled, loop over nothing but lists and at most
// three deep, match only constant patterns that were compiled and measured, and
// what one evaluation may cost is bounded and counted: the same change and
// expression give the same answer on every machine. There is no clock, no
// randomness and no way to make a value larger than its parts but to add or
// split texts.
package expression
