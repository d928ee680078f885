// Package layers has no code, only tests. They show which config is in force, from
// which layers it comes, how the App keeps issues for what was put off, and that
// stored reviews can be computed again.
package layers
