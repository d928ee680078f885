package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
)

// pushes is how many pushes of config were found to be so.
func (w *world) pushes(found string) float64 {
	w.Helper()
	return w.counter("reviewgate_config_pushes_total", found)
}

// counter returns what a counter of the App stands at whose labels have these
// values, in the order of their names.
func (w *world) counter(name string, labels ...string) float64 {
	w.Helper()
	families, err := w.app.Inside().Metrics.Registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if slices.Equal(values, labels) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// What is open is judged by config as soon as that is pushed; what is closed is
// left alone.
func TestPushedConfigIsJudgedBy(t *testing.T) {
	t.Parallel()
	w := start(t)
	open, gone := w.open(tested(ghtest.Files{"store/client.go": insecure})), w.another("gone", client(1, insecure))
	w.idle()
	gone.Close()
	w.idle()
	w.wants(open, "action_required")
	w.repo.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	w.wants(open, "neutral")
	if n := len(gone.CheckRuns()); n != 1 {
		t.Errorf("the closed pull request has %d check runs", n)
	}
	if n := w.pushes("valid"); n != 1 {
		t.Errorf("%v pushes were counted", n)
	}

	// A file of that directory that no review reads changes nothing.
	w.gh.ResetCalls()
	w.repo.Commit("main", ghtest.Files{config.RepositoryDir + "/NOTES.md": "why"}, "notes")
	w.idle()
	if writes := w.gh.Writes(); len(writes) > 0 {
		t.Errorf("notes beside the config cause %v", writes)
	}
}

// A merge of a pull request that changes config has the others reviewed.
func TestMergedConfigIsJudgedBy(t *testing.T) {
	t.Parallel()
	w := start(t)
	other := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	change := w.another("config", ghtest.Files{rulesPath: milder})
	w.idle()
	w.wants(other, "action_required")
	change.Merge()
	w.idle()
	w.wants(other, "neutral")
}

// Broken config is told of at once, and what was in force stays.
func TestPushedConfigThatIsBroken(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.wants(pr, "neutral")
	w.repo.Commit("main", ghtest.Files{rulesPath: `[{"id": 5}]`}, "oops")
	w.idle()
	if n := w.pushes("invalid"); n != 1 {
		t.Errorf("%v broken pushes were counted", n)
	}
	w.wants(pr, "neutral", config.FileRules)
}

// An organisation's config holds for all of its repositories; what was
// remembered of it is read anew.
func TestPushedConfigOfTheOrganisation(t *testing.T) {
	t.Parallel()
	w := start(t)
	organisation := w.gh.Repo("acme/.github")
	organisation.Commit("main", ghtest.Files{"README.md": "# acme\n"}, "start")
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	foreign := w.gh.Repo("zenith/shop")
	foreign.Commit("main", ghtest.Files{"README.md": "# zenith\n"}, "start")
	theirs := foreign.OpenPR(ghtest.PR{Title: "feat: stock", Body: goodBody, Files: tested(ghtest.Files{"store/client.go": insecure})})
	w.idle()
	w.wants(pr, "action_required")
	before := len(theirs.CheckRuns())
	organisation.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	w.wants(pr, "neutral")
	w.gh.ResetCalls()
	organisation.Commit("draft", ghtest.Files{rulesPath: "[]"}, "not yet")
	w.idle()
	if n := len(w.gh.Calls()); n > 0 || len(theirs.CheckRuns()) != before {
		t.Errorf("another branch costs %d calls; the other account has %d check runs", n, len(theirs.CheckRuns()))
	}
}

// A branch that carries config of its own has its pull requests reviewed, and
// no others.
func TestPushedConfigOfABranch(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: `{"config_branches": ["release"]}`}))
	w.release()
	main := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	release := w.repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: goodBody, Head: "backport", Base: "release", Files: client(1, insecure)})
	w.idle()
	w.repo.Commit("release", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	w.wants(release, "neutral")
	w.wants(main, "action_required")
	w.repo.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	w.wants(main, "neutral")
	if n := len(release.CheckRuns()); n != 2 {
		t.Errorf("the other branch's pull request has %d check runs, want 2", n)
	}
}

// Where nothing is posted, pushes of config cost nothing.
func TestPushedConfigOfARepositoryThatIsOff(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: `{"mode": "off"}`}))
	w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.gh.ResetCalls()
	w.repo.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.idle()
	if calls := w.gh.Calls(); len(calls) > 0 {
		t.Errorf("%d calls: %v", len(calls), calls)
	}
}

// A push that can't be seen whole may have changed config: that is read, and
// where it is as it was nothing follows.
func TestPushThatIsNotSeenWhole(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	tip := w.repo.Branch("main")
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id": %q, "added": ["a"], "removed": [], "modified": []}`, tip)
	}
	for name, body := range map[string]string{
		"no commits":  `{"ref": "refs/heads/main", "after": %q, "commits": []}`,
		"pushed over": `{"ref": "refs/heads/main", "after": %q, "forced": true, "commits": [{"id": "x"}]}`,
		"new":         `{"ref": "refs/heads/main", "after": %q, "created": true, "commits": [{"id": "x"}]}`,
		"cut":         `{"ref": "refs/heads/main", "after": %q, "commits": [{"id": "x", "added": ["a"]}]}`,
		"many":        `{"ref": "refs/heads/main", "after": %q, "commits": [` + strings.Join(many, ",") + `]}`,
	} {
		w.gh.ResetCalls()
		d := w.gh.Send("push", "", w.asOurs(pr, fmt.Appendf(nil, body, tip)))
		w.idle()
		var answer struct{ Status string }
		if err := json.Unmarshal([]byte(d.Response), &answer); err != nil || answer.Status != "accepted" || len(w.gh.Calls()) != 1 {
			t.Errorf("%s: %s, %d calls; want one look", name, d.Response, len(w.gh.Calls()))
		}
	}
}

// putOff waits until a job of the kind was put off.
func (w *world) putOff(kind review.JobKind) {
	w.Helper()
	for deadline := time.Now().Add(patience); w.counter("reviewgate_jobs_total", string(kind), "put_off") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("no %s job was put off within %s", kind, patience)
		}
	}
}

// While a review is under way nobody knows what it is judged by: it is waited for,
// and the push counts once.
func TestPushedConfigDuringAReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	reading, letGo := w.held(routeFiles, "pull_number", "1")
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	<-reading
	w.repo.Commit("main", ghtest.Files{rulesPath: milder}, "milder")
	w.putOff(review.JobConfig)
	letGo()
	w.idle()
	w.wants(pr, "neutral")
	if n := w.pushes("valid"); n != 1 {
		t.Errorf("one push was counted %v times", n)
	}
}
