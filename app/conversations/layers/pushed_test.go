package layers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// pushes returns how many pushes of config were found to be so.
func (w *world) pushes(found string) float64 {
	w.Helper()
	return w.counter("reviewgate_config_pushes_total", found)
}

// counter returns the value of the App's counter whose labels have these values, in the order
// of the labels' names.
func (w *world) counter(name string, labels ...string) float64 {
	w.Helper()
	families, err := w.App.Inside().Metrics.Registry.Gather()
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

// A push of config has open pull requests reviewed at once. Closed ones are left alone.
func TestPushedConfigIsInForce(t *testing.T) {
	t.Parallel()
	w := start(t)
	open, gone := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})), w.Another("gone", apptest.Client(1, apptest.Insecure))
	w.Idle()
	gone.Close()
	w.Idle()
	w.Wants(open, "action_required")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	w.Wants(open, "neutral")
	if n := len(gone.CheckRuns()); n != 1 {
		t.Errorf("the closed pull request has %d check runs", n)
	}
	if n := w.pushes("valid"); n != 1 {
		t.Errorf("%v pushes were counted", n)
	}

	// A file in that directory that no review reads changes nothing.
	w.GH.Calls.Reset()
	w.Repo.Commit("main", ghtest.Files{config.RepositoryDir + "/NOTES.md": "why"}, "notes")
	w.Idle()
	if writes := w.GH.Calls.Writes(); len(writes) > 0 {
		t.Errorf("notes beside the config cause %v", writes)
	}
}

// Merging a pull request that changes config has the others reviewed.
func TestMergedConfigIsInForce(t *testing.T) {
	t.Parallel()
	w := start(t)
	other := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	change := w.Another("config", ghtest.Files{apptest.RulesPath: apptest.Milder})
	w.Idle()
	w.Wants(other, "action_required")
	change.Merge()
	w.Idle()
	w.Wants(other, "neutral")
}

// A push of broken config is reported at once, and the config in force stays.
func TestPushedConfigThatIsBroken(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.Wants(pr, "neutral")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: `[{"id": 5}]`}, "oops")
	w.Idle()
	if n := w.pushes("invalid"); n != 1 {
		t.Errorf("%v broken pushes were counted", n)
	}
	w.Wants(pr, "neutral", config.FileRules)
}

// An organisation's config applies to all its repositories, and the push makes the App read
// it again instead of using its cache.
func TestPushedConfigOfTheOrganisation(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startLetting(t)
	organisation := w.GH.Repo("acme/.github")
	organisation.Commit("main", ghtest.Files{"README.md": "# acme\n"}, "start")
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	foreign := w.GH.Repo("zenith/shop")
	foreign.Commit("main", ghtest.Files{"README.md": "# zenith\n"}, "start")
	theirs := foreign.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})})
	w.Idle()
	w.Wants(pr, "action_required")
	before := len(theirs.CheckRuns())
	organisation.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	w.Wants(pr, "neutral")
	w.GH.Calls.Reset()
	organisation.Commit("draft", ghtest.Files{apptest.RulesPath: "[]"}, "not yet")
	w.Idle()
	if n := len(w.GH.Calls.All()); n > 0 || len(theirs.CheckRuns()) != before {
		t.Errorf("another branch costs %d calls; the other account has %d check runs", n, len(theirs.CheckRuns()))
	}
}

// A push to a branch with its own config has the pull requests into that branch reviewed, and
// no others.
func TestPushedConfigOfABranch(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: `{"config_branches": ["release"]}`}))
	w.Release()
	main := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	release := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "backport", Base: "release", Files: apptest.Client(1, apptest.Insecure)})
	w.Idle()
	w.Repo.Commit("release", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	w.Wants(release, "neutral")
	w.Wants(main, "action_required")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	w.Wants(main, "neutral")
	if n := len(release.CheckRuns()); n != 2 {
		t.Errorf("the other branch's pull request has %d check runs, want 2", n)
	}
}

// If nothing is posted, pushes of config cost nothing.
func TestPushedConfigOfARepositoryThatIsOff(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: `{"mode": "off"}`}))
	w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.GH.Calls.Reset()
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("%d calls: %v", len(calls), calls)
	}
}

// A push whose event is not complete may have changed config. The App reads the config, and
// does nothing more if it is unchanged.
func TestPushEventIsIncomplete(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	tip := w.Repo.Branch("main")
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
		w.GH.Calls.Reset()
		d := w.GH.Webhook.Send("push", "", w.AsOurs(pr, fmt.Appendf(nil, body, tip)))
		w.Idle()
		var answer struct{ Status string }
		if err := json.Unmarshal([]byte(d.Response), &answer); err != nil || answer.Status != "accepted" || len(w.GH.Calls.All()) != 1 {
			t.Errorf("%s: %s, %d calls; want one look", name, d.Response, len(w.GH.Calls.All()))
		}
	}
}

// putOff waits until a job of this kind was postponed.
func (w *world) putOff(kind ports.JobKind) {
	w.Helper()
	for deadline := time.Now().Add(apptest.Patience); w.counter("reviewgate_jobs_total", string(kind), "put_off") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("no %s job was put off within %s", kind, apptest.Patience)
		}
	}
}

// During a review the App does not know yet which config judges it. The push waits for the
// review and counts once.
func TestPushedConfigDuringAReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	<-reading
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder")
	w.putOff(ports.JobConfig)
	letGo()
	w.Idle()
	w.Wants(pr, "neutral")
	if n := w.pushes("valid"); n != 1 {
		t.Errorf("one push was counted %v times", n)
	}
}
