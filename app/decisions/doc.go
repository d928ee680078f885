// Package decisions reads people's decisions about pull requests and their findings. For a
// merge group it combines the decisions about the pull requests in it.
package decisions
