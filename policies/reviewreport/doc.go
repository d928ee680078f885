// Package reviewreport decides by the review reports on a specification or a plan: whether work may
// continue with the next phase, what to change first, and how good the document is. It is pure.
//
// A review report is Markdown with a section "## Machine-Readable Review Data", which has one
// fenced json block. [Extract] reads the section into a [Record], and [Write] writes one, so that
// the section in reviewgate's own comment can be read back. [Aggregate] combines the reports on one
// document.
//
// # Broken reports
//
// Some reports can't be used: they lack the section or a required field, their block is not JSON,
// or a field has a wrong type. Such a report becomes a record with the status FAILURE of the agent
// "unknown", with the fault and its place. It does not keep other reports from being read, and it
// always blocks.
//
// # Words and numbers
//
// Severities and priorities are compared without regard to case, so that "CRITICAL" is still
// critical. They are printed as the report spells them. All other words are compared exactly.
//
// Scores are computed with IEEE 754 doubles in one fixed order of operations, so that a score has
// the same last digit on every machine.
package reviewreport
