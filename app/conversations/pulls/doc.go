// Package pulls has no code, only tests. They show what the App makes of GitHub's
// events, and of what a pull request holds, be it large, broken or hostile.
package pulls
