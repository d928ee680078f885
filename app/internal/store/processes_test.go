package store

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// fast makes a dead process known within half a second.
var fast = timing{beat: 50 * time.Millisecond, ttl: 400 * time.Millisecond, settle: 200 * time.Millisecond}

func openReplica(t *testing.T, url, process string) (*Store, *postgresDB) {
	t.Helper()
	db, err := openPostgres(t.Context(), url, process, fast, riverLogger(zerolog.New(zerolog.NewTestWriter(t))))
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(&core{Now: db.now, db: db, log: zerolog.Nop(), process: process})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

type workerFunc func(context.Context, ports.Job) error

func (w workerFunc) Work(ctx context.Context, j ports.Job) error { return w(ctx, j) }

func startTestQueue(t *testing.T, s *Store, workers int, w workerFunc) {
	t.Helper()
	q, err := NewQueue(s, w, QueueOptions{Workers: workers, RescueInterval: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestDeadProcessIsTakenOver(t *testing.T) {
	t.Parallel()
	url := pgtest.CopyURL(t, Prepare)
	g := ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: 1, HeadSHA: "aaa"}
	dead, deadDB := openReplica(t, url, "dead")
	end, began := make(chan struct{}), make(chan ports.JobKind, 2)
	// Its two workers never end, so it takes no further jobs.
	startTestQueue(t, dead, 2, func(ctx context.Context, j ports.Job) error {
		if j.Kind == ports.JobReview {
			if _, ok, err := dead.Acquire(ctx, KeyOf(j), dead.process, time.Hour); !ok || err != nil {
				t.Error(ok, err)
			}
		}
		began <- j.Kind
		<-end
		return nil
	})
	t.Cleanup(func() { close(end) })
	_, err := dead.Accept(t.Context(), ports.Delivery{GUID: "1", Asks: []ports.Ask{ports.ReviewAsk{Target: g}, ports.Command{Place: ports.PlaceReviewLine, CommentID: 7, Target: g}}})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	<-began

	alive, _ := openReplica(t, url, "alive")
	taken := make(chan ports.Job, 10)
	var crashes atomic.Int64
	startTestQueue(t, alive, 8, func(ctx context.Context, j ports.Job) error {
		if j.Kind == ports.JobReview {
			l, ok, err := alive.Acquire(ctx, KeyOf(j), alive.process, time.Hour)
			if err != nil || !ok {
				return err
			}
			st, err := alive.Target(ctx, KeyOf(j))
			if err != nil {
				return err
			}
			crashes.Store(max(crashes.Load(), int64(st.Crashes)))
			if _, err := alive.Finish(ctx, l, st.Wanted, false); err != nil {
				return err
			}
		}
		taken <- j
		return nil
	})
	select {
	case j := <-taken:
		t.Fatalf("%+v was taken from a process that lives", j)
	case <-time.After(3 * fast.ttl):
	}
	deadDB.processes.stop() // it stops beating
	got := map[ports.JobKind]ports.Job{}
	for len(got) < 2 {
		select {
		case j := <-taken:
			got[j.Kind] = j
		case <-time.After(20 * time.Second):
			t.Fatalf("taken up: %v; want the review and the command", got)
		}
	}
	j := got[ports.JobCommand]
	if c, err := ports.ArgsOf[ports.CommandJob](j); err != nil || c.Place != ports.PlaceReviewLine || c.CommentID != 7 || j.Attempt != 2 {
		t.Errorf("command %+v, attempt %d (%v); want the second attempt at 7", c, j.Attempt, err)
	}
	if crashes.Load() != 1 {
		t.Errorf("crashes = %d, want 1", crashes.Load())
	}
	if _, err := dead.Failed(t.Context(), ports.Lease{Key: g.Key(), Owner: "dead", Token: 1}); !errors.Is(err, ports.ErrLeaseLost) {
		t.Errorf("the dead process stores something: %v", err)
	}
}

func processNames(t *testing.T, db *postgresDB) string {
	t.Helper()
	rows, err := db.pool.Query(t.Context(), `SELECT name FROM processes ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestClosedProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.CopyURL(t, Prepare)
	s, db := openReplica(t, url, "stays")
	leaving, err := openPostgres(t.Context(), url, "leaves", fast, riverLogger(zerolog.Nop()))
	if err != nil {
		t.Fatal(err)
	}
	other := newStore(&core{Now: leaving.now, db: leaving})
	if _, ok, err := other.Acquire(t.Context(), "pull/1/1", "leaves", time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := processNames(t, db); got != "leaves stays" {
		t.Errorf("processes %q", got)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := processNames(t, db); got != "stays" {
		t.Errorf("processes %q after one was closed", got)
	}
	if _, ok, err := s.Acquire(t.Context(), "pull/1/1", "stays", time.Hour); !ok || err != nil {
		t.Errorf("its lease is not free: %v, %v", ok, err)
	}
}

// During an outage of the database no process can beat. The first process that reaches it
// again takes no other for dead until the others have had time to beat.
func TestNobodyIsDeadAfterAnOutage(t *testing.T) {
	t.Parallel()
	_, db := openReplica(t, pgtest.CopyURL(t, Prepare), "first")
	p := db.processes
	p.stop()
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO processes VALUES ('second', clock_timestamp() - interval '1 hour')`); err != nil {
		t.Fatal(err)
	}
	dead := func() []string {
		t.Helper()
		names, err := p.dead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	p.last = time.Now().Add(-time.Minute) // its last beat was a minute ago; now it beats again
	if err := p.beatOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := dead(); len(got) != 0 {
		t.Errorf("dead right after the outage: %v", got)
	}
	p.last = time.Now()
	p.since = p.last.Add(-fast.settle)
	if got := dead(); len(got) != 1 || got[0] != "second" {
		t.Errorf("dead later: %v, want second", got)
	}
	if buried, err := db.buryOne(t.Context(), "first", false); buried || err != nil {
		t.Errorf("a process that beats was buried: %v, %v", buried, err)
	}
}

func TestClockIsTheDatabases(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	s, db := openReplica(t, pgtest.CopyURL(t, Prepare), "one")
	db.processes.offset.Store(int64(time.Hour)) // as on a machine whose clock is an hour slow
	if d := time.Until(s.Now()); d < 59*time.Minute {
		t.Errorf("the clock is %s ahead, want an hour", d)
	}
	if err := db.processes.beatOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := time.Until(s.Now()).Abs(); d > time.Second { // the database is on the same machine
		t.Errorf("the clock is off by %s", d)
	}
}

func TestBrokenOffTransactionsAreTriedAgain(t *testing.T) {
	t.Parallel()
	_, db := openReplica(t, pgtest.CopyURL(t, Prepare), "one")
	for _, tt := range []struct {
		code  string
		fails int
		want  int
	}{
		{"40P01", 2, 3}, {"40001", attempts - 1, attempts}, {"40001", attempts, attempts}, {"23505", 1, 1},
	} {
		calls := 0
		err := db.write(t.Context(), func(t tx) error {
			if calls++; calls <= tt.fails {
				return errors.Join(errors.New("read"), &pgconn.PgError{Code: tt.code})
			}
			return nil
		})
		if calls != tt.want || (err == nil) != (tt.fails < tt.want) {
			t.Errorf("%s, %d times: %d calls and %v, want %d calls", tt.code, tt.fails, calls, err, tt.want)
		}
	}
}

func TestParametersAreNumbered(t *testing.T) {
	for query, want := range map[string]string{
		`a = ? AND b = ?`:          `a = $1 AND b = $2`,
		`a = '?' AND b = ?`:        `a = '?' AND b = $1`,
		`"?" = ? OR a = 'it''s ?'`: `"?" = $1 OR a = 'it''s ?'`,
		``:                         ``,
	} {
		if got := numbered(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestWithoutNUL(t *testing.T) {
	for in, want := range map[string]string{
		`"a\u0000b"`:       `"a\ufffdb"`,
		`"a\\u0000b"`:      `"a\\u0000b"`,
		`"a\\\u0000"`:      `"a\\\ufffd"`,
		`"\u0000\u0000"`:   `"\ufffd\ufffd"`,
		`"\u00001 \u000"\`: `"\ufffd1 \u000"\`,
	} {
		if got := string(withoutNUL([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestServersThatWontDo(t *testing.T) {
	for _, tt := range []struct {
		number   int
		encoding string
		standby  bool
		want     string
	}{
		{150018, "UTF8", false, ""},
		{140000, "UTF8", false, ""},
		{130022, "UTF8", false, "reviewgate needs version 14 or newer"},
		{150018, "SQL_ASCII", false, "ENCODING 'UTF8'"},
		{150018, "UTF8", true, "name the primary"},
	} {
		err := judgeServer(tt.number, "x", tt.encoding, tt.standby)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d, %s, %v: %v, want %q", tt.number, tt.encoding, tt.standby, err, tt.want)
		}
	}
}
