// Package inforce finds the config that applies to a pull request. It lays the layers on
// GitHub over the server's and stores the last valid version of each. After a push that
// changes their config, it asks for new reviews of pull requests.
package inforce
