// Package people has no code, only tests. They show what people and language models
// say and decide on a pull request, and what comes of it. Of the conversations' test
// binaries only this one links the models' SDKs.
package people
