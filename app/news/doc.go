// Package news asks for reviews after events outside a pull request that may change its
// review: somebody ran a check again, a comment had a review report, or another App's check
// ended.
package news
