// Package models decides how much the reviews of language models count: their verdicts, which of
// their findings are proven enough to block, and how confident the models are together. It is pure.
//
// A model can only make the gate stricter. A finding of only one model counts as a warning at most,
// unless the settings hold the gate for a person to decide.
package models
