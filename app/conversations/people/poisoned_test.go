package people

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

// insecure opens a pull request with what a rule finds, and what the secrets detector finds.
func (w *world) insecure(author string) *ghtest.PullRequest {
	w.Helper()
	w.opened++
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Author: author, Head: fmt.Sprintf("stock-%d", w.opened), Files: ghtest.Files{
		"store/client.go": apptest.Insecure, "store/client_test.go": "package store\n", "store/token.txt": apptest.Token + "\n",
	}})
	w.Idle()
	return pr
}

// What a rule finds, a secret, and a final finding block in the next pull request, too, whatever
// maintainers dismiss.
func TestMemoryLeavesRulesSecretsAndFinalFindingsAlone(t *testing.T) {
	t.Parallel()
	for name, final := range map[string]string{
		"rules and secrets": `[]`, "final": `[{"id": "sec-tls-verify-01", "final": true}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
				w.Server = config.Layer{Name: config.LayerServer, Source: "/etc/reviewgate", Files: []config.File{{Path: config.FileRules, Text: []byte(final)}}}
			})
			w.Repo.Grant("carol", "write")
			for _, login := range []string{"mia", "moe", "max", "may"} {
				w.Repo.Grant(login, "maintain")
				pr := w.insecure("carol")
				decision, n := w.decided(pr)
				if !decision.Blocks() || n != 2 {
					t.Fatalf("before %s: %s with %d blocking findings", login, decision, n)
				}
				for _, f := range w.Latest(pr).Review.Report.Findings {
					w.says(pr, login, "/review dismiss %s false_positive it is a test", f.ID)
				}
			}
			pr := w.insecure("carol")
			if decision, n := w.decided(pr); !decision.Blocks() || n != 2 || len(w.Latest(pr).Review.Report.Memory) > 0 {
				t.Errorf("after all dismissals: %s with %d blocking findings, records %v", decision, n, w.records())
			}
		})
	}
}

// The authors of a pull request don't approve what somebody taught on it, and votes can be taken back.
func TestMemoryIsApprovedByOthers(t *testing.T) {
	t.Parallel()
	w := withDoubts(t, `{}`)
	pr := w.client("mia") // who maintains the repository
	id, _ := w.doubt(pr)
	w.says(pr, "dave", "/review dismiss %s false_positive my second account says so", id)
	w.wantRecords("a writer dismissed it", "M-1 proposed")
	w.says(pr, "mia", "/review remember M-1")
	w.wantRecords("the author approves", "M-1 proposed")
	w.wantDoubt(w.client("carol"), false, "with a proposal")
	other := w.client("carol")
	w.says(other, "mia", "/review remember M-1") // in another place
	w.wantRecords("the author approves elsewhere", "M-1 proposed")

	w.Repo.Grant("alice", "write")
	for _, login := range []string{"erin", "alice"} {
		pr := w.client("carol")
		id, _ := w.doubt(pr)
		w.says(pr, login, "/review dismiss %s false_positive so it is", id)
		if login == "alice" {
			w.wantRecords("three people agree", "M-1 active")
			w.says(pr, login, "/review restore %s", id)
		}
	}
	w.wantRecords("one of them takes it back", "M-1 proposed")
	w.wantDoubt(w.client("carol"), false, "with two votes")
}
