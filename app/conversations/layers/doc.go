// Package layers has no code, only tests. They show which config is in force, from
// which layers it comes, and how the App keeps issues for what was put off.
package layers
