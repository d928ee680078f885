// Package apptest runs the whole App against a GitHub of the tests' own. Only
// tests import it: those of package app and of the packages in app/conversations.
package apptest
