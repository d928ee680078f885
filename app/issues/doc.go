// Package issues keeps issues about what was merged with a warning, or with a concern that
// the config missed: it opens them after a merge, counts further occurrences, and closes
// those that a later merge resolves.
package issues
