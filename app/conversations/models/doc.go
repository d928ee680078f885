// Package models has no code, only tests. They show what comes of what language
// models answer. Their binary alone links the models' SDKs.
package models
