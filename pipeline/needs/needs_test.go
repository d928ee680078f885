package needs

import (
	"fmt"
	"testing"
)

// teller is a test that records how it ended.
type teller struct {
	testing.TB
	told string
}

func (t *teller) Helper()           {}
func (t *teller) Fatal(args ...any) { t.told = "failed: " + fmt.Sprint(args...) }
func (t *teller) Skip(args ...any)  { t.told += "skipped: " + fmt.Sprint(args...) }

func TestLacks(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped: SKIPPED: no initdb", "true": "failed: no initdb"} {
		t.Setenv("CI", ci)
		end := &teller{TB: t}
		Lacks(end, "no %s", "initdb")
		if end.told[:len(want)] != want {
			t.Errorf("with CI=%q the test is %q, want %q", ci, end.told, want)
		}
	}
}
