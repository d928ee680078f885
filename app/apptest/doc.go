// Package apptest runs the whole App against a stand-in for GitHub. Only tests import it:
// those of package app and of the packages in app/conversations.
package apptest
