// Package rereview asks for another review after an event that no push or command causes:
// somebody ran a check again, a comment has a review report, or another App's check ended.
package rereview
