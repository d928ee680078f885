// Package expression compiles and evaluates CEL expressions that are true or false. Expressions of
// policies and of rules about the whole change read "facts" (pipeline.PRFacts) and "classification"
// (pipeline.Classification), with the names of their JSON. The gate's conditions read named
// numbers.
//
// Expressions come from repositories that may be hostile. They are type-checked when they are
// compiled. They loop over lists only, and match only constant patterns, which are compiled and
// measured in advance. The cost of an evaluation is counted and limited, so that the same input and
// expression give the same answer on every machine. There is no clock and no randomness, and adding
// and splitting texts are the only ways to make a value that is larger than its parts.
package expression
