package needs

import (
	"fmt"
	"testing"
)

// recorder is a test that records how it ended.
type recorder struct {
	testing.TB
	ending string
}

func (t *recorder) Helper()           {}
func (t *recorder) Fatal(args ...any) { t.ending = "failed: " + fmt.Sprint(args...) }
func (t *recorder) Skip(args ...any)  { t.ending += "skipped: " + fmt.Sprint(args...) }

func TestLacks(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped: SKIPPED: no initdb", "true": "failed: no initdb"} {
		t.Setenv("CI", ci)
		end := &recorder{TB: t}
		Lacks(end, "no %s", "initdb")
		if end.ending[:len(want)] != want {
			t.Errorf("with CI=%q the test is %q, want %q", ci, end.ending, want)
		}
	}
}
