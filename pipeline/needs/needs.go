// Package needs is for tests that need something of the machine: a program that may
// not be there, or a free address.
package needs

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Lacks ends a test for which something is missing, and says what. It is skipped,
// in capitals, and where the environment variable CI is set, where nothing may be
// left out, it fails.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if sample.OnCI() {
		t.Fatal(why)
	}
	t.Skip("SKIPPED: " + why)
}
