// Package policies has reviewgate's decision functions and the documents that they decide by: when
// a policy's trigger holds, and which decision the gate's conditions give for a report. They are
// pure functions: the same input always gives the same answer. Each answer has its reason in words.
package policies
