// Package history reads the changes of a git repository's commits, for tests and benchmarks that
// need what people really write. It needs the git command.
//
// The repository is the project's own, or the one in the directory that the environment variable
// REVIEWGATE_TEST_HISTORY names.
package history
