// Package people has no code, only tests. They show what people and language models
// say and decide on a pull request, and what comes of it. Their binary alone of those
// of the App's conversations links the models' SDKs.
package people
