// Package people has no code, only tests. They show what people say and decide on a
// pull request, and what comes of it.
package people
