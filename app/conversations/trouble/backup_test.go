package trouble

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Everything since the backup is lost, including a review that was running then. The sweep
// finds the lost reviews and takes over what is already on GitHub.
func TestRestoredFromBackup(t *testing.T) {
	t.Parallel()
	databases := map[string]struct {
		database func(t *testing.T) string
		backup   func(t *testing.T, w *world, empty string) (restored string)
	}{
		"SQLite": {
			func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db") },
			func(t *testing.T, w *world, _ string) string {
				file := filepath.Join(t.TempDir(), "backup.db")
				if _, err := app.MakeBackup(t.Context(), w.DB, file); err != nil {
					t.Fatal(err)
				}
				return "sqlite://" + file
			},
		},
		"PostgreSQL": {
			func(t *testing.T) string { return pgtest.URL(t) },
			func(t *testing.T, w *world, restored string) string {
				file := filepath.Join(t.TempDir(), "backup.dump")
				pgtest.Run(t, "pg_dump", "--format=custom", "--file="+file, w.DB)
				pgtest.Run(t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+restored, file)
				return restored
			},
		},
	}
	if !sample.Full() {
		delete(databases, "PostgreSQL") // it takes three times as long
	}
	for name, how := range databases {
		t.Run(name, func(t *testing.T) {
			db, spare := how.database(t), how.database(t)
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.DB = db })
			w.loseWhatFollows(func() string { return how.backup(t, w, spare) })
		})
	}
}

func (w *world) loseWhatFollows(backup func() string) {
	w.Helper()
	open := func(n int, text string) *ghtest.PullRequest {
		return w.Repo.OpenPR(ghtest.PR{Title: fmt.Sprint("feat: client ", n), Body: apptest.GoodBody, Head: fmt.Sprint("change", n), Files: apptest.Client(n, text)})
	}
	var pulls []*ghtest.PullRequest
	for n := range 5 {
		pulls = append(pulls, open(n, apptest.Insecure))
	}
	w.Idle()

	// #1 is being read while the backup is made, and deliveries come in.
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pulls[0].Push(apptest.Client(0, apptest.Moved), "more")
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
	w.Idle()

	pulls[1].Push(apptest.Client(1, apptest.Secure), "fix: verify certificates")
	pulls[2].Push(apptest.Client(2, apptest.Secure), "fix: verify certificates")
	pulls[3].Close()
	pulls[4].Comment("alice", "/review")
	pulls = append(pulls, open(5, apptest.Insecure), open(6, apptest.Secure))
	w.Idle()
	if err := w.Stop(); err != nil {
		w.Fatal(err)
	}
	w.Away(func() { pulls[6].Push(apptest.Client(6, apptest.Insecure), "feat: a hurry") })

	w.DB = restored
	w.StartApp()
	w.Idle()
	w.Work(ports.JobSweep)
	for i, want := range []string{"action_required", "success", "success", "", "action_required", "action_required", "action_required"} {
		pr := pulls[i]
		if faults := pr.Faults(); len(faults) > 0 {
			w.Error(faults)
		}
		if want == "" {
			continue
		}
		w.Wants(pr, want)
		// A command adds a check run of its own. So does the review that was running during
		// the backup, because its result is not known.
		if n := len(pr.CheckRuns()); n != 1 && i != 4 && i > 1 {
			w.Errorf("#%d has %d check runs on its head", pr.Number, n)
		}
	}
}
