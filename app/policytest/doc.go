// Package policytest tests a config. A case describes a change and what the config must make of
// it: the decision, the agents, the findings. The package reads cases, reviews their changes by the
// whole pipeline and compares. It asks neither GitHub nor a model, and writes a case from a stored
// review.
//
// Anybody who may open a pull request may write cases, so they are bounded in number, size and
// time, and no case can harm another.
package policytest
