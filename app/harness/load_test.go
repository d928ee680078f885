package harness

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for plain inserts

	"github.com/reviewgate/reviewgate/app/ghtest"
)

const (
	hookGap     = 5 * time.Millisecond // 200 webhooks a second
	callLatency = 50 * time.Millisecond
)

// A burst of webhooks is sent, each at its due time whatever the others do. None may be
// refused, and every pull request is reviewed at its last head. The figures are printed and
// not judged. GitHub's rate limits are off, because otherwise the test would measure them.
func TestLoad(t *testing.T) {
	large(t)
	seed := begin(t)
	onDatabases(t, []string{sqlite}, func(t *testing.T, s setup) {
		s.seed, s.limits, s.logInterval = seed, unlimited(), 24*time.Hour
		w := newWorld(t, s)
		hooks := or(*flagHooks, 100)
		pulls := w.withheld(or(*flagPulls, hooks/10), hooks)
		var f figures
		f.add("database, servers", "%s, %d", w.database, len(w.servers))
		f.add("webhooks, pull requests", "%d at %d/s, %d", hooks, time.Second/hookGap, len(pulls))

		alone := pace(t, hooks, bareInsert(t))
		w.gh.On("*", ghtest.Delay(callLatency))
		w.gh.Calls.Reset()
		burst := w.burst(pulls)
		var beside, ack []time.Duration
		insert := bareInsert(t)
		stopReplays := w.replays()
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { beside = pace(t, hooks, insert) })
		ack = pace(t, hooks, w.poster(burst))
		wg.Wait()
		sent := time.Since(began)
		replayed := stopReplays()
		if !until(*flagPatience, func() bool { return len(w.faults(pulls)) == 0 && w.quiet() }) {
			t.Errorf("not every pull request is answered %s after the burst", *flagPatience)
		}
		took := time.Since(began)
		w.reviewed(pulls)

		f.add("acknowledged", "%s", spread(ack))
		f.add("bare insert beside it", "%s", spread(beside))
		f.add("bare insert alone before", "%s", spread(alone))
		f.add("acknowledged / bare insert, p99", "beside %.1f, alone %.1f", ratio(ack, beside), ratio(ack, alone))
		reviews := w.metric("reviewgate_reviews_total")
		if *flagReplay {
			f.add("reviews computed again meanwhile", "%d", replayed)
		}
		f.add("until all was answered", "%s, of these after the burst %s", short(took), short(took-sent))
		f.add("reviews", "%.0f, %.1f a second", reviews, reviews/took.Seconds())
		f.add("calls of GitHub", "%d of %s each", len(w.gh.Calls.All()), callLatency)
		for _, s := range w.servers {
			s.note()
			f.add(fmt.Sprintf("peak memory of server %d", s.n), "%s", mb(s.peak))
		}
		f.print(t)
	})
}

// replays computes all stored reviews again, over and over, if the flag says so. The function that
// it returns ends that and returns the number of reviews that were computed.
func (w *world) replays() (stop func() int) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan int, 1)
	go func() {
		n := 0
		for *flagReplay && ctx.Err() == nil {
			if w.metric("reviewgate_reviews_total") == 0 {
				time.Sleep(50 * time.Millisecond) // there is nothing to compute yet
				continue
			}
			var all int
			_, _ = fmt.Sscanf(w.replay(ctx), "%d replayed", &all) // the last one may print nothing
			n += all
		}
		done <- n
	}()
	return func() int {
		cancel()
		return <-done
	}
}

// unlimited are GitHub's limits without rate limits.
func unlimited() *ghtest.Limits {
	l := ghtest.GitHubLimits()
	l.RequestsPerHour, l.Concurrent, l.PointsPerMinute, l.CreationsPerMinute, l.CreationsPerHour = 0, 0, 0, 0, 0
	return &l
}

// withheld creates n pull requests with as many heads as the webhooks need. Their events are
// withheld, for the harness to send.
func (w *world) withheld(n, hooks int) (pulls []*pull) {
	w.gh.Webhook.Withhold()
	repos := w.repos(min(n, 20))
	for i := range n {
		p := &pull{repo: repos[i%len(repos)], name: fmt.Sprintf("change-%d", i), author: "alice"}
		p.begin(i%2 == 0)
		pulls = append(pulls, p)
	}
	for i := n; i < hooks; i++ {
		pulls[i%n].push(i%3 == 0)
	}
	w.gh.Webhook.Resume()
	return pulls
}

// burst collects the withheld events of the pull requests.
func (w *world) burst(pulls []*pull) (events []ghtest.Delivery) {
	ours := map[int64]bool{}
	for _, p := range pulls {
		ours[p.repo.ID()] = true
	}
	for _, d := range w.gh.Webhook.Deliveries() {
		if ours[d.RepositoryID] && d.Event == "pull_request" {
			events = append(events, d)
		}
	}
	return events
}

// poster sends the events as GitHub does, and expects that each is accepted.
func (w *world) poster(events []ghtest.Delivery) func(int) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	w.t.Cleanup(client.CloseIdleConnections)
	return func(i int) error {
		if i >= len(events) {
			return fmt.Errorf("there are %d events only", len(events))
		}
		req, err := http.NewRequest(http.MethodPost, w.hook, bytes.NewReader(events[i].Payload))
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(events[i].Payload)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-GitHub-Event", events[i].Event)
		req.Header.Set("X-GitHub-Delivery", events[i].GUID)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		if resp.StatusCode >= 300 {
			return fmt.Errorf("webhook %d is refused: %s", i, resp.Status)
		}
		return nil
	}
}

// pace calls f n times, each in its own goroutine at its own time, even if earlier calls have
// not returned. It measures from the time when each call was due.
func pace(t *testing.T, n int, f func(int) error) []time.Duration {
	took := make([]time.Duration, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(i) * hookGap)
		time.Sleep(time.Until(due))
		wg.Go(func() {
			if err := f(i); err != nil {
				t.Error(err)
			}
			took[i] = time.Since(due)
		})
	}
	wg.Wait()
	return took
}

// bareInsert inserts rows into its own database, each in its own durable transaction.
func bareInsert(t *testing.T) func(int) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bare.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE deliveries (guid TEXT PRIMARY KEY, event TEXT, received_at INTEGER)`); err != nil {
		t.Fatal(err)
	}
	return func(i int) error {
		_, err := db.Exec(`INSERT INTO deliveries VALUES (?, ?, ?)`, fmt.Sprint("guid-", i), "pull_request", time.Now().UnixMicro())
		return err
	}
}

func ratio(a, b []time.Duration) float64 {
	return float64(percentile(a, 99)) / float64(percentile(b, 99))
}
