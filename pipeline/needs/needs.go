// Package needs is for tests that need something from the machine: a program that may be missing,
// or a free address.
package needs

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Lacks ends a test because something is missing, and says what. It skips the test, in capitals. If
// the environment variable CI is set, nothing may be skipped, and it fails the test.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if sample.OnCI() {
		t.Fatal(why)
	}
	t.Skip("SKIPPED: " + why)
}
