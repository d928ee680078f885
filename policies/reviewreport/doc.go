// Package reviewreport decides what the review reports of a specification or a
// plan come to: whether work may go on to the next phase, what to change first,
// and how good the document is. It is pure.
//
// A review report is markdown with a section "## Machine-Readable Review Data"
// that holds one fenced json block. [Extract] reads it into a [Record] and
// [Write] writes one, so what reviewgate says in its own comment can be read
// back. [Aggregate] puts the reports of one document together.
//
// # Broken reports
//
// A report without the section, with a block that is not JSON, without a
// required field or with a field of a wrong type becomes a record of the status
// FAILURE by the agent "unknown", with what is wrong and where. It stops no
// other report from being read, and it always blocks.
//
// # Words and numbers
//
// Severities and priorities are compared without regard to case, so that a
// "CRITICAL" is none the less critical, and are printed as the report spells
// them. Every other word is compared as it is.
//
// Scores are computed on IEEE 754 doubles in one fixed order of operations, so
// that a score is the same to its last digit wherever it is computed.
package reviewreport
