// Package probation finds the rules and agents that the people of a repository judge wrong too often,
// from the logs of its pull requests. It stores them. Reviews, and the issues about them, read what is
// stored.
package probation
