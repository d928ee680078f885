package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The burst that must be accepted in time: 2,000 deliveries at 200/s.
const (
	burst    = 2000
	burstGap = 5 * time.Millisecond
	pulls    = 200
)

// BenchmarkAccept measures how long it takes to store a delivery durably in a burst,
// while the queue works on the same database. It compares this with single rows that are
// inserted at the same pace into another database with the same settings. alone-… is the
// time of such a row while the machine does nothing else, and is the stricter figure.
// bare-… is its time during the burst: what the machine can do at that moment. reviews
// is the number of reviews that were saved and published during the burst.
func BenchmarkAccept(b *testing.B) {
	for b.Loop() {
		report(b, openSQLite(b, filepath.Join(b.TempDir(), "reviewgate.db")), bareInsert(b), bareInsert(b))
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAcceptPostgreSQL measures the same on PostgreSQL.
func BenchmarkAcceptPostgreSQL(b *testing.B) {
	for b.Loop() {
		url := pgtest.URL(b)
		report(b, openStore(b, url), barePostgres(b, url, "alone"), barePostgres(b, url, "bare"))
	}
	b.ReportMetric(0, "ns/op")
}

// report measures a burst of rows that insertAlone inserts. Then it measures a burst of
// deliveries, during which insert inserts rows.
func report(b *testing.B, s *store.Store, insertAlone, insert func(int) error) {
	alone := measure(b, insertAlone)
	accept, bare, reviews := measureBurst(b, s, insert)
	b.ReportMetric(float64(reviews), "reviews")
	b.ReportMetric(ms(alone, 99), "alone-p99-ms")
	b.ReportMetric(ms(accept, 99)/ms(alone, 99), "p99-ratio-alone")
	b.ReportMetric(ms(accept, 50), "ack-p50-ms")
	b.ReportMetric(ms(accept, 99), "ack-p99-ms")
	b.ReportMetric(ms(bare, 50), "bare-p50-ms")
	b.ReportMetric(ms(bare, 99), "bare-p99-ms")
	b.ReportMetric(ms(accept, 99)/ms(bare, 99), "p99-ratio")
}

func measureBurst(b *testing.B, s *store.Store, insert func(int) error) (accept, bare []time.Duration, reviews int64) {
	var published atomic.Int64
	q, err := store.NewQueue(s, savingWorker{s, &published}, store.QueueOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if err := q.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { bare = measure(b, insert) })
	wg.Go(func() {
		accept = measure(b, func(i int) error {
			g := ports.Target{Kind: ports.TargetPull, RepoID: 1, Owner: "acme", Name: "shop", Number: i % pulls, HeadSHA: fmt.Sprint("head-", i)}
			_, err := s.Accept(context.Background(), ports.Delivery{
				GUID: fmt.Sprint("guid-", i), Event: "pull_request", Action: "synchronize", RepoID: 1, ReceivedAt: time.Now(),
				Asks: []ports.Ask{ports.ReviewAsk{Target: g, Reason: "pushed"}},
			})
			return err
		})
	})
	wg.Wait()
	reviews = published.Load()
	if err := q.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
	return accept, bare, reviews
}

// bareInsert inserts rows one by one, each in a transaction of its own.
func bareInsert(b *testing.B) func(int) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE deliveries (guid TEXT PRIMARY KEY, event TEXT, received_at INTEGER)`); err != nil {
		b.Fatal(err)
	}
	return func(i int) error {
		_, err := db.Exec(`INSERT INTO deliveries VALUES (?, ?, ?)`, fmt.Sprint("guid-", i), "pull_request", time.Now().UnixMicro())
		return err
	}
}

func barePostgres(b *testing.B, url, table string) func(int) error {
	db, err := pgxpool.New(context.Background(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	if _, err := db.Exec(context.Background(), `CREATE TABLE `+table+` (guid TEXT PRIMARY KEY, event TEXT, received_at BIGINT)`); err != nil {
		b.Fatal(err)
	}
	return func(i int) error {
		_, err := db.Exec(context.Background(), `INSERT INTO `+table+` VALUES ($1, $2, $3)`, fmt.Sprint("guid-", i), "pull_request", time.Now().UnixMicro())
		return err
	}
}

// measure calls f for each delivery of a burst when it is due, in a goroutine of its own.
// It does not wait for earlier calls to return.
func measure(b *testing.B, f func(int) error) []time.Duration {
	took := make([]time.Duration, burst)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range burst {
		due := start.Add(time.Duration(i) * burstGap)
		time.Sleep(time.Until(due))
		wg.Go(func() {
			if err := f(i); err != nil {
				b.Error(err)
			}
			took[i] = time.Since(due) // a late start counts as waiting
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took
}

func ms(sorted []time.Duration, percentile int) float64 {
	return float64(sorted[len(sorted)*percentile/100].Microseconds()) / 1000
}

// savingWorker uses the store as a review and its publication do: lease, heartbeat,
// review, intents, finish. In between it waits as long as GitHub would take to answer.
type savingWorker struct {
	*store.Store
	published *atomic.Int64
}

// latency is the time that GitHub takes to answer.
const latency = 50 * time.Millisecond

func (w savingWorker) Work(ctx context.Context, j ports.Job) error {
	l, ok, err := w.Acquire(ctx, store.KeyOf(j), "worker", time.Minute)
	if err != nil || !ok {
		return err
	}
	if j.Kind == ports.JobReview {
		return w.review(ctx, l)
	}
	return w.publish(ctx, l)
}

func (w savingWorker) review(ctx context.Context, l ports.Lease) error {
	st, err := w.Target(ctx, l.Key)
	if err != nil {
		return err
	}
	if st.Done == st.Wanted {
		_, err := w.Finish(ctx, l, st.Wanted, false)
		return err
	}
	if _, err := w.Intend(ctx, l, ports.Write{Kind: ports.WriteCheck, Subject: "1/" + st.HeadSHA, Key: l.Key, HeadSHA: st.HeadSHA}); err != nil {
		return err
	}
	time.Sleep(latency) // read
	return w.SaveReview(ctx, l, ports.StoredReview{
		RunID: fmt.Sprintf("%s-%d", l.Key, st.Wanted), Key: l.Key, Generation: st.Wanted, RepoID: 1, HeadSHA: st.HeadSHA, Review: benchReview,
	})
}

func (w savingWorker) publish(ctx context.Context, l ports.Lease) error {
	r, err := w.UnpublishedReview(ctx, l.Key)
	if err != nil {
		return err
	}
	if r == nil {
		return w.HandOver(ctx, l, ports.JobReview)
	}
	time.Sleep(latency) // read the head again
	check, err := w.NewestWrite(ctx, ports.WriteCheck, "1/"+r.HeadSHA)
	if err != nil {
		return err
	}
	if err := w.Renew(ctx, l, time.Minute); err != nil {
		return err
	}
	time.Sleep(latency) // write
	check.State = ports.WriteCompleted
	if err := w.Record(ctx, *check); err != nil {
		return err
	}
	if err := w.MarkPublished(ctx, r.RunID); err != nil {
		return err
	}
	w.published.Add(1)
	more, err := w.Finish(ctx, l, r.Generation, false)
	if err != nil || !more {
		return err
	}
	return w.HandOver(ctx, l, ports.JobReview)
}

// benchReview is a review of ten files with 100 lines each.
var benchReview = func() pipeline.Review {
	var r pipeline.Review
	for i := range 10 {
		f := pipeline.File{Path: fmt.Sprintf("src/file%d.go", i), Status: pipeline.FileModified}
		h := pipeline.Hunk{NewStart: 1, NewLines: 100}
		for n := range 100 {
			h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: n + 1, Text: fmt.Sprintf("\tresult%d := compute(%d, input[%d])", n, i, n*i)})
		}
		f.Hunks = append(f.Hunks, h)
		r.Facts.Files = append(r.Facts.Files, f)
	}
	return r
}()

// BenchmarkWake measures the time from the acknowledgement of a delivery to the start of
// its job, on an idle queue.
func BenchmarkWake(b *testing.B) {
	s := openSQLite(b, filepath.Join(b.TempDir(), "reviewgate.db"))
	began := make(chan time.Time, 1)
	q, err := store.NewQueue(s, beginning(began), store.QueueOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if err := q.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		g := ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: i}
		start := time.Now()
		if _, err := s.Accept(context.Background(), ports.Delivery{GUID: fmt.Sprint(i), Asks: []ports.Ask{ports.ReviewAsk{Target: g}}}); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-began).Sub(start))
		time.Sleep(20 * time.Millisecond) // idle again
	}
	slices.Sort(took)
	b.ReportMetric(ms(took, 50), "accept-to-work-p50-ms")
	b.ReportMetric(ms(took, 99), "accept-to-work-p99-ms")
	if err := q.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}

type beginning chan time.Time

func (c beginning) Work(context.Context, ports.Job) error { c <- time.Now(); return nil }

// BenchmarkTitleEdit measures how much the database grows when the title of a large
// change is edited and its review is stored again. The change has 3,000 files with 100,000
// added lines that compress badly.
func BenchmarkTitleEdit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "reviewgate.db")
	s := openSQLite(b, path)
	draw := rand.New(rand.NewPCG(1, 2))
	g := ports.Target{Kind: ports.TargetPull, RepoID: 1, Owner: "acme", Name: "shop", Number: 1, HeadSHA: "head"}
	r := ports.StoredReview{Key: g.Key(), RepoID: 1, HeadSHA: "head"}
	for i := range 3000 {
		f := pipeline.File{Path: fmt.Sprintf("pkg/file%04d.go", i), Status: pipeline.FileAdded, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 1}}}
		for line := range 33 {
			f.Hunks[0].Lines = append(f.Hunks[0].Lines, pipeline.Line{Op: pipeline.LineAdded, New: line + 1, Text: fmt.Sprintf("x%d := call(%x, %x)", line, draw.Uint64(), draw.Uint64())})
		}
		r.Review.Facts.Files = append(r.Review.Facts.Files, f)
	}
	if _, err := s.Accept(b.Context(), ports.Delivery{GUID: "opened", Event: "pull_request", Asks: []ports.Ask{ports.ReviewAsk{Target: g}}}); err != nil {
		b.Fatal(err)
	}
	size := func() (n int64) {
		files, err := filepath.Glob(path + "*")
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range files {
			if info, err := os.Stat(name); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	edits := int64(0)
	save := func() {
		edits++
		r.RunID, r.Generation, r.Review.Facts.Title = fmt.Sprint("run-", edits), edits, fmt.Sprint("title ", edits)
		lease, _, err := s.Acquire(b.Context(), g.Key(), "bench", time.Hour)
		if err == nil {
			err = s.SaveReview(b.Context(), lease, r)
		}
		if err == nil {
			err = s.MarkPublished(b.Context(), r.RunID)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	save()
	first := size()
	for b.Loop() {
		save()
	}
	b.ReportMetric(float64(first)/(1<<20), "first-MB")
	b.ReportMetric(float64(size()-first)/float64(max(edits-1, 1))/(1<<10), "edit-KB")
}
