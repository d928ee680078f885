// Package inforce finds the config that a pull request is judged by. It lays the layers
// that live on GitHub over the server's, keeps the last valid version of each, and has pull
// requests reviewed again where a push changes what they were judged by.
package inforce
