// Package news asks for reviews where something happened beside a pull request that may
// change its review: somebody asked for a check again, a comment brought a review report,
// or another App's check ended.
package news
