// Package publish writes the answer to a pull request: the check run of its head, the one
// comment, and what the settings ask for in addition (a review, requests for reviews,
// labels).
package publish
