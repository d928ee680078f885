// Package pgtest runs a PostgreSQL server for tests. It starts one for each
// test binary that asks, from the programs that are installed, and gives each
// test a database of its own.
//
// The server listens on a loopback port with a password made up for it, syncs
// to disk as a real one does, and lives in a temporary directory. A shell
// watches over it: when the test binary ends, however it does, the shell stops
// the server and removes the directory.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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

// URL returns the URL of an empty database, which is dropped when the test
// ends. Where PostgreSQL is not installed the test is skipped, and fails if the
// environment variable CI is set.
func URL(t testing.TB) string {
	t.Helper()
	return running(t).create(t, "template1")
}

// CopyURL is URL for a database as prepare has made it, which is called once
// for all tests of the binary, and closes what it opens.
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
	if err := s.run("CREATE DATABASE " + name + " TEMPLATE " + template); err != nil {
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
	// alive is held open as long as this process lives: its end is what tells
	// the shell to stop the server.
	alive *os.File

	once     sync.Once
	prepared error // of the database that CopyURL copies
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
	dir, err := os.MkdirTemp("", "reviewgate-pgtest-")
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
	if err := os.WriteFile(passwordFile, []byte(s.password), 0o600); err != nil {
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
	var err error
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
	cmd := as.command("/bin/sh", "-c", watch, "sh", dir, postgres, "-D", data,
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+strconv.Itoa(s.port), "-c", "unix_socket_directories=",
		"-c", "max_connections="+strconv.Itoa(connections), "-c", "shared_buffers=64MB")
	cmd.Dir, cmd.Stdin = dir, read
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the server: %w", err), alive.Close())
	}
	s.alive = alive
	return nil
}

// errPortTaken says that another program took the port that was free.
var errPortTaken = errors.New("its port was taken meanwhile")

// wait waits until the server answers.
func (s *server) wait(dir string) error {
	var err error
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = s.run("SELECT 1"); err == nil {
			return nil
		}
		if strings.Contains(logOf(dir), "could not create any TCP/IP sockets") {
			return errors.Join(errPortTaken, s.alive.Close())
		}
	}
	return fmt.Errorf("no answer within %s: %w", startLimit, errors.Join(err, s.alive.Close()))
}

func (s *server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database}
	return u.String()
}

// run runs one statement.
func (s *server) run(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
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

// logOf returns the end of the server's log.
func logOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return "(no log)"
	}
	const tail = 4000
	return string(text[max(0, len(text)-tail):])
}
