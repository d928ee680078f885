package pgtest

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// Run runs one of PostgreSQL's programs, such as pg_dump. Where it is not
// installed the test is skipped, and fails if the environment variable CI is
// set.
func Run(t testing.TB, program string, args ...string) {
	t.Helper()
	found, err := find(program)
	switch {
	case errors.Is(err, errMissing):
		needs.Lacks(t, "NOT TESTED ON POSTGRESQL: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), found[program], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}
