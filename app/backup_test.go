package app

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/review"
)

// Everything since the backup is lost, a review among it that was at work then.
// The sweep finds what that was, and what is on GitHub already is taken over.
func TestRestoredFromBackup(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct {
		database func(t *testing.T) string
		backup   func(t *testing.T, w *world, empty string) (restored string)
	}{
		"SQLite": {
			func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db") },
			func(t *testing.T, w *world, _ string) string {
				file := filepath.Join(t.TempDir(), "backup.db")
				if _, err := MakeBackup(t.Context(), w.db, file); err != nil {
					t.Fatal(err)
				}
				return "sqlite://" + file
			},
		},
		"PostgreSQL": {
			func(t *testing.T) string { return pgtest.URL(t) },
			func(t *testing.T, w *world, restored string) string {
				file := filepath.Join(t.TempDir(), "backup.dump")
				pgtest.Run(t, "pg_dump", "--format=custom", "--file="+file, w.db)
				pgtest.Run(t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+restored, file)
				return restored
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, spare := how.database(t), how.database(t)
			w := startWith(t, ghtest.Options{WebhookSecret: secret}, func(w *world) { w.db = db })
			w.loseWhatFollows(func() string { return how.backup(t, w, spare) })
		})
	}
}

// client is the change of the nth pull request.
func client(n int, text string) ghtest.Files {
	return ghtest.Files{fmt.Sprintf("store/client%d.go", n): text, fmt.Sprintf("store/client%d_test.go", n): "package store\n"}
}

func (w *world) loseWhatFollows(backup func() string) {
	w.Helper()
	open := func(n int, text string) *ghtest.PullRequest {
		return w.repo.OpenPR(ghtest.PR{Title: fmt.Sprint("feat: client ", n), Body: goodBody, Head: fmt.Sprint("change", n), Files: client(n, text)})
	}
	var pulls []*ghtest.PullRequest
	for n := range 5 {
		pulls = append(pulls, open(n, insecure))
	}
	w.idle()

	// #1 is being read while the backup is made, and deliveries come in.
	reading, letGo := w.held(routeFiles, "pull_number", "1")
	pulls[0].Push(client(0, moved), "more")
	<-reading
	begun, done := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			pulls[1].Push(ghtest.Files{"store/n.go": fmt.Sprintf("package store\n\nconst N = %d\n", n)}, "count")
			if n == 3 {
				close(begun)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	<-begun
	restored := backup()
	close(done)
	wg.Wait()
	letGo()
	w.idle()

	pulls[1].Push(client(1, secure), "fix: verify certificates")
	pulls[2].Push(client(2, secure), "fix: verify certificates")
	pulls[3].Close()
	pulls[4].Comment("alice", "/review")
	pulls = append(pulls, open(5, insecure), open(6, secure))
	w.idle()
	if err := w.stop(); err != nil {
		w.Fatal(err)
	}
	w.away(func() { pulls[6].Push(client(6, insecure), "feat: a hurry") })

	w.db = restored
	w.run()
	w.idle()
	w.work(review.JobSweep)
	for i, want := range []string{"action_required", "success", "success", "", "action_required", "action_required", "action_required"} {
		pr := pulls[i]
		if faults := pr.Faults(); len(faults) > 0 {
			w.Error(faults)
		}
		if want == "" {
			continue
		}
		w.wants(pr, want)
		// A command makes a run of its own, and so does a review that was at work
		// when the backup was made: what it said then is not known.
		if n := len(pr.CheckRuns()); n != 1 && i != 4 && i > 1 {
			w.Errorf("#%d has %d check runs on its head", pr.Number, n)
		}
	}
}
