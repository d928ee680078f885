// Package decisions reads what people decided about pull requests and their findings. For a
// merge group it puts together the decisions about the pull requests in it.
package decisions
