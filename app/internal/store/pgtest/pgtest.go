// Package pgtest runs a PostgreSQL server for tests. It starts one for each
// test binary that asks, from the programs that are installed, and gives each
// test a database of its own.
//
// The server listens on a loopback port with a password made up for it, and lives
// in a temporary directory, in memory if the machine has room for that. It does not
// sync to disk: tests kill the programs that use a database, but never the server. In
// benchmarks, and after Sync, it does sync like a real server, so that measurements are
// realistic. A shell watches the server: when the test binary ends in any way, the shell
// stops the server and removes the directory.
package pgtest

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reviewgate/reviewgate/pipeline/needs"
)

const (
	superuser = "reviewgate"
	// startLimit bounds how long the server may take to answer; it takes two
	// or three seconds.
	startLimit = time.Minute
	// connections is what the server allows: several stores of 16 each.
	connections = 300
	// roomInMemory is what must be free in memory for the server to live there. It
	// begins with 60 MB, and each database takes 8.
	roomInMemory = 3 << 30
)

// start starts the server, once for all tests of the binary.
var start = sync.OnceValues(func() (*server, error) {
	for tries := 1; ; tries++ {
		s, err := newServer()
		if errors.Is(err, errPortTaken) && tries < 5 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
		return s, nil
	}
})

// Sync has the server sync to disk. Call it before any test asks for a database.
func Sync() { synced.Store(true) }

var synced atomic.Bool

// syncs reports whether the server is to sync to disk.
func syncs() bool {
	bench := flag.Lookup("test.bench")
	return synced.Load() || bench != nil && bench.Value.String() != ""
}

// URL returns the URL of an empty database, which is dropped when the test
// ends. Where PostgreSQL is not installed the test is skipped, and fails if the
// environment variable CI is set.
func URL(t testing.TB) string {
	t.Helper()
	return running(t).create(t, "template1")
}

// LoadURL is URL for a database that a dump makes, as pg_dump --inserts writes it.
func LoadURL(t testing.TB, dump string) string {
	t.Helper()
	url := URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_, err = conn.PgConn().Exec(t.Context(), dump).ReadAll()
		err = errors.Join(err, conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatalf("load a dump into a database: %v", err)
	}
	return url
}

// CopyURL is like URL, but returns a copy of a database that prepare has filled. prepare
// is called once for all tests of the binary, and closes what it opens.
func CopyURL(t testing.TB, prepare func(url string) error) string {
	t.Helper()
	s := running(t)
	s.once.Do(func() {
		if s.prepared = s.run("CREATE DATABASE prepared"); s.prepared == nil {
			s.prepared = prepare(s.url("prepared"))
		}
	})
	if s.prepared != nil {
		t.Fatalf("prepare a database to copy: %v", s.prepared)
	}
	return s.create(t, "prepared")
}

func running(t testing.TB) *server {
	t.Helper()
	s, err := start()
	switch {
	case errors.Is(err, errMissing):
		needs.Lacks(t, "NOT TESTED ON POSTGRESQL: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	return s
}

func (s *server) create(t testing.TB, template string) (url string) {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:12])
	if err := s.run("CREATE DATABASE " + name + " TEMPLATE " + template + s.strategy); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.run("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return s.url(name)
}

type server struct {
	port     int
	password string
	// strategy is how a database is copied: file by file, which takes less time than
	// by way of the log. Before PostgreSQL 15 there is no other, and no name for it.
	strategy string
	// alive is held open as long as this process lives: its end is what tells
	// the shell to stop the server.
	alive *os.File

	once     sync.Once
	prepared error // of the database that CopyURL copies

	mu    sync.Mutex
	admin *pgx.Conn // where databases are created and dropped
}

func newServer() (*server, error) {
	bin, err := find("initdb", "postgres")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(home(), "reviewgate-pgtest-")
	if err != nil {
		return nil, fmt.Errorf("make its directory: %w", err)
	}
	s := &server{password: rand.Text()}
	if err := s.start(bin, dir, as); err != nil {
		err = fmt.Errorf("%w\n%s", err, logOf(dir))
		if s.alive == nil { // nobody else removes it
			os.RemoveAll(dir)
		}
		return nil, err
	}
	return s, nil
}

func (s *server) start(bin map[string]string, dir string, as account) error {
	passwordFile := filepath.Join(dir, "password")
	verifier, err := verifierOf(s.password)
	if err == nil {
		err = os.WriteFile(passwordFile, []byte(verifier), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write its password: %w", err)
	}
	if err := as.own(dir, passwordFile); err != nil {
		return fmt.Errorf("hand its directory over: %w", err)
	}
	data := filepath.Join(dir, "data")
	initdb := as.command(bin["initdb"], "--pgdata", data, "--username", superuser, "--pwfile", passwordFile, "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.Dir = dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	if err := s.launch(bin["postgres"], dir, data, as); err != nil {
		return err
	}
	return s.wait(dir)
}

// watch runs the server ($1 and what follows) until its standard input ends.
// It waits in the foreground, since shells give a job in the background no
// standard input.
const watch = `dir=$1; shift
"$@" >"$dir/log" 2>&1 </dev/null &
read -r _
kill -QUIT $! 2>/dev/null
wait
rm -rf "$dir"`

func (s *server) launch(postgres, dir, data string, as account) error {
	read, alive, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer read.Close()
	args := []string{"-c", watch, "sh", dir, postgres, "-D", data}
	for _, setting := range s.settings() {
		args = append(args, "-c", setting)
	}
	cmd := as.command("/bin/sh", args...)
	cmd.Dir, cmd.Stdin = dir, read
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the server: %w", err), alive.Close())
	}
	s.alive = alive
	return nil
}

// settings are those of the server. One that need not sync leaves out what only
// serves to outlive a crash of its own, and looks for deadlocks sooner than after a
// second, since tests wait for that.
func (s *server) settings() []string {
	all := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(s.port), "unix_socket_directories=",
		"max_connections=" + strconv.Itoa(connections), "shared_buffers=64MB",
	}
	if syncs() {
		return all
	}
	return append(all, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
		"max_wal_size=128MB", "autovacuum=off", "deadlock_timeout=50ms")
}

// errPortTaken says that another program took the free port first.
var errPortTaken = errors.New("its port was taken meanwhile")

// wait waits until the server answers.
func (s *server) wait(dir string) error {
	var err error
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = s.connect(); err == nil {
			return nil
		}
		if strings.Contains(logOf(dir), "could not create any TCP/IP sockets") {
			return errors.Join(errPortTaken, s.alive.Close())
		}
	}
	return fmt.Errorf("no answer within %s: %w", startLimit, errors.Join(err, s.alive.Close()))
}

func (s *server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database,
		// The server has no TLS. To ask for it takes another connection each time.
		RawQuery: "sslmode=disable"}
	return u.String()
}

// run runs one statement.
func (s *server) run(statement string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if s.admin.IsClosed() { // by a statement that took too long
		if err := s.connect(); err != nil {
			return err
		}
	}
	_, err := s.admin.Exec(ctx, statement)
	return err
}

// connect opens the connection that statements are run on.
func (s *server) connect() error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	if version >= 150000 {
		s.strategy = " STRATEGY file_copy"
	}
	s.admin = conn
	return nil
}

var errMissing = errors.New("PostgreSQL is not installed")

// find looks for the programs on the PATH and where Debian puts them.
func find(names ...string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			// The pattern is well formed; the last match is of the newest version.
			paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
			if len(paths) == 0 {
				return nil, fmt.Errorf("%w: there is no %s on the PATH; install the server, as with apt-get install postgresql, or brew install postgresql", errMissing, name)
			}
			path = paths[len(paths)-1]
		}
		found[name] = path
	}
	return found, nil
}

// freePort returns a port that nothing listens on.
func freePort() (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// verifierOf is what the server keeps of a password, in the form of RFC 5803. The
// password is hashed once and not 4,096 times as usual, since each connection
// repeats it.
func verifierOf(password string) (string, error) {
	salt := []byte(rand.Text()[:16])
	const iterations = 1
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	mac := func(text string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(mac("Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, b64(salt), b64(stored[:]), b64(mac("Server Key"))), nil
}

// home is the directory that the server's is made in: one in memory if there is
// room, or else the system's temporary directory.
func home() string {
	const inMemory = "/dev/shm" // on Linux
	if syncs() || freeMemory(inMemory) < roomInMemory {
		return ""
	}
	return inMemory
}

// logOf returns the end of the server's log.
func logOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return "(no log)"
	}
	const tail = 4000
	return string(text[max(0, len(text)-tail):])
}
