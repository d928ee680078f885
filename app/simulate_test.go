package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// simulate reviews a pull request of acme/shop, and fails if anything was written.
func (w *world) simulate(number int, change ...func(*app.Settings, *app.Simulation)) (run.Outcome, error) {
	w.Helper()
	settings, s := w.Settings(), app.Simulation{Owner: "acme", Name: "shop", Number: number, Log: zerolog.New(zerolog.NewTestWriter(w.T))}
	for _, f := range change {
		f(&settings, &s)
	}
	w.GH.Calls.Reset()
	o, _, err := app.Simulate(w.Context(), settings, s)
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		w.Errorf("a simulation writes %v", writes)
	}
	return o, err
}

// A pull request that was merged without a review can still be simulated.
func TestSimulateMergedPullRequest(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	pr.Merge()
	w.Idle()
	if o, err := w.simulate(pr.Number); err != nil || o.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("%v, %v; want needs_fixes", o.Review.Report.Decision, err)
	}
}

// A simulation gives the same result as the App's first review, beside the server that uses
// the database, and without one.
func TestSimulateMatchesTheApp(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.SettingsPath: `{"gate": {"conditions": [{"when": "warning > 0", "decision": "needs_fixes"}]}, "final": ["gate"]}`}, "config")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory"}`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure, apptest.SettingsPath: `{"mode": "off"}`})
	w.Idle()
	stored, err := w.App.Inside().Store.LatestReview(t.Context(), fmt.Sprintf("pull/%d/%d", w.Repo.ID(), pr.Number))
	if err != nil || stored == nil {
		t.Fatal(stored, err)
	}
	o, err := w.simulate(pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	asJSON := func(r pipeline.Report) string {
		text, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if diff := cmp.Diff(asJSON(stored.Review.Report), asJSON(o.Review.Report)); diff != "" {
		t.Errorf("the App's report (-) and the simulated one (+):\n%s", diff)
	}
	if mode := o.Config.Mode("acme/shop"); mode != config.ModeAdvisory {
		t.Errorf("mode %s", mode)
	}
	if checks := pr.CheckRuns(); len(checks) != 1 {
		t.Errorf("%d check runs", len(checks))
	}
}

// Findings of other Apps count in a simulation, although it stores no events.
func TestSimulateReadsOtherChecks(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-agents.json": `[{"id": "code-scanning", "enabled": true}]`}, "config")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	o, err := w.simulate(pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(o.Review.Results, func(r pipeline.AgentResult) bool { return r.Agent == "code-scanning" })
	if i < 0 || o.Review.Results[i].Status != pipeline.AgentOK {
		t.Errorf("%+v", o.Review.Results)
	}
}

func TestSimulateTriesConfig(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	for name, c := range map[string]struct {
		change func(*app.Settings, *app.Simulation)
		want   pipeline.Decision
		mode   string
	}{
		"nothing": {func(*app.Settings, *app.Simulation) {}, pipeline.DecisionNeedsFixes, config.ModeOff},
		"repository": {func(_ *app.Settings, s *app.Simulation) {
			l := apptest.LayerOf(config.LayerRepository, `{"gate": {"conditions": [{"when": "major > 0", "decision": "fail"}]}}`)
			s.Repository = &l
		}, pipeline.DecisionFail, config.ModeEnforce},
		"server": {func(s *app.Settings, _ *app.Simulation) {
			s.Config = apptest.LayerOf(config.LayerServer, `{"mode": "advisory", "final": ["mode"]}`)
		}, pipeline.DecisionNeedsFixes, config.ModeAdvisory},
	} {
		o, err := w.simulate(pr.Number, c.change)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mode := o.Config.Mode("acme/shop"); o.Review.Report.Decision != c.want || mode != c.mode {
			t.Errorf("%s: %s in mode %s, want %s in %s", name, o.Review.Report.Decision, mode, c.want, c.mode)
		}
	}
}

// A simulation needs no server, no webhook and no database.
func TestSimulateAlone(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	draft := repo.OpenPR(ghtest.PR{Draft: true, Fork: "mallory", Author: "mallory", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	dir := t.TempDir()
	w := &world{&apptest.World{T: t, GH: gh, Repo: repo, DB: "sqlite://" + dir + "/reviewgate.db"}}
	o, err := w.simulate(draft.Number)
	if err != nil || !o.Review.Report.Decision.Blocks() {
		t.Errorf("a draft from a fork: %s, %v", o.Review.Report.Decision, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the simulation created a database: %v, %v", left, err)
	}

	var input *app.InputError
	if _, err := w.simulate(99); !errors.As(err, &input) || !strings.Contains(err.Error(), "acme/shop has no pull request #99") {
		t.Errorf("no such pull request: %v", err)
	}
	gh.Suspend("acme")
	if _, err := w.simulate(draft.Number); !errors.As(err, &input) || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("suspended: %v", err)
	}
	gh.Unsuspend("acme")
	repo.Settings.SetInstalled(false)
	if _, err := w.simulate(draft.Number); !errors.As(err, &input) || !strings.Contains(err.Error(), "not installed on acme/shop") {
		t.Errorf("not installed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := app.Simulate(ctx, w.Settings(), app.Simulation{Owner: "acme", Name: "shop", Number: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
