// Package models decides what the reviews of language models are worth: their
// verdicts, which of their findings are proven enough to block, and how sure
// they are together. It is pure.
//
// A model can only ever tighten the gate. What one model alone found counts as
// a warning at most, unless settings hold the gate for a person to decide.
package models
