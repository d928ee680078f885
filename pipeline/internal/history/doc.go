// Package history reads the changes that the commits of a git repository
// made, for tests and benchmarks that want to work on what people really
// write. It needs the git command.
//
// The repository is the project's own, or the one in the directory that the
// environment variable REVIEWGATE_TEST_HISTORY names.
package history
