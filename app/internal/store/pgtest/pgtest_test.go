package pgtest_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
)

// childEnv makes a copy of the test binary panic while its server runs.
const childEnv = "REVIEWGATE_PGTEST_CHILD"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDatabasesAreEmptyAndApart(t *testing.T) {
	for range 2 {
		conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), "CREATE TABLE mine (id int)"); err != nil {
			t.Error(err)
		}
		var fsync string
		if err := conn.QueryRow(t.Context(), "SHOW fsync").Scan(&fsync); err != nil || (fsync == "on") != pgtest.Syncs() {
			t.Errorf("fsync is %q, %v; want it on: %v", fsync, err, pgtest.Syncs())
		}
	}
}

func TestServerEndsWithItsBinary(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		var data string
		if err := conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
			t.Fatal(err)
		}
		panic("data in " + data + " of " + strconv.Itoa(os.Getpid()))
	}
	pgtest.URL(t) // skips where there is no server
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsBinary$")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	_, after, ok := strings.Cut(string(out), "data in ")
	dir, _, _ := strings.Cut(after, " ")
	if err == nil || !ok {
		t.Fatalf("the child ended with %v:\n%s", err, out)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is still there 20 s after its test panicked", dir)
		}
	}
}
