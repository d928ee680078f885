// Package agents has no code, only tests. They show sessions: what coding agents say about pull
// requests, what remote reviewers answer, and what comes of it.
package agents
