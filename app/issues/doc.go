// Package issues keeps issues about changes that were merged with a warning, or with a
// concern that the config missed. It opens them after a merge, counts further occurrences,
// and closes those that a later merge resolves. It also keeps issues about rules and agents
// that people judge wrong too often, until the config says what becomes of them.
//
// A separate job, under one lease for each repository, records what the merge adds and
// resolves, and then updates the issues on GitHub. Each step is stored before the next one,
// so the job can run again at any point.
package issues
