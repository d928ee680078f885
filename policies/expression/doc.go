// Package expression compiles and evaluates the CEL expressions of policies
// and whole-change rules: booleans over "facts" (pipeline.PRFacts) and
// "classification" (pipeline.Classification), by the names of their JSON.
//
// Expressions come from repositories that nobody vouches for. They are
// type-checked when they are compiled, and what one evaluation may cost is
// bounded.
package expression
