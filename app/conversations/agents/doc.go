// Package agents has only tests. They play sessions: coding agents report events about pull requests,
// remote reviewers answer, and the tests check what follows.
package agents
