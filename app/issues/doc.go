// Package issues keeps issues about changes that were merged with a warning, or with a
// concern that the config missed. It opens them after a merge, counts further occurrences,
// and closes those that a later merge resolves.
package issues
