// Package policies holds reviewgate's decision functions and the documents
// they decide by: when a policy's trigger holds, and what the gate's
// conditions make of a report. They are pure: values in, values out, the same
// answer for the same input, and with each answer its reason in words.
package policies
