package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// simulate reviews a pull request of acme/shop. Nothing may be written.
func (w *world) simulate(number int, change ...func(*Settings, *Simulation)) (run.Outcome, error) {
	w.Helper()
	settings, s := w.settings(), Simulation{Owner: "acme", Name: "shop", Number: number, Log: zerolog.New(zerolog.NewTestWriter(w.T))}
	for _, f := range change {
		f(&settings, &s)
	}
	w.gh.ResetCalls()
	o, _, err := Simulate(w.Context(), settings, s)
	if writes := w.gh.Writes(); len(writes) != 0 {
		w.Errorf("a simulation writes %v", writes)
	}
	return o, err
}

func layerOf(name, settings string) config.Layer {
	return config.Layer{Name: name, Source: "here", Files: []config.File{{Path: "review-settings.json", Text: []byte(settings)}}}
}

// What was merged unseen can still be looked at.
func TestSimulateOfWhatWasMerged(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	pr.Merge()
	w.idle()
	if o, err := w.simulate(pr.Number); err != nil || o.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("%v, %v; want needs_fixes", o.Review.Report.Decision, err)
	}
}

// A simulation comes to what the App does on a first review, beside the server
// that has the database, and without one.
func TestSimulateIsWhatTheAppDoes(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{settingsPath: `{"gate": {"conditions": [{"when": "warning > 0", "decision": "needs_fixes"}]}, "final": ["gate"]}`}, "config")
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "advisory"}`}, "config")
	w.idle()
	pr := w.open(ghtest.Files{"store/client.go": insecure, settingsPath: `{"mode": "off"}`})
	w.idle()
	stored, err := w.app.Inside().Store.LatestReview(t.Context(), fmt.Sprintf("pull/%d/%d", w.repo.ID(), pr.Number))
	if err != nil || stored == nil {
		t.Fatal(stored, err)
	}
	o, err := w.simulate(pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	asJSON := func(r pipeline.ReviewReport) string {
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

func TestSimulateTriesConfig(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "off"}`}, "config")
	w.idle()
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	for name, c := range map[string]struct {
		change func(*Settings, *Simulation)
		want   pipeline.Decision
		mode   string
	}{
		"nothing": {func(*Settings, *Simulation) {}, pipeline.DecisionNeedsFixes, config.ModeOff},
		"repository": {func(_ *Settings, s *Simulation) {
			l := layerOf(config.LayerRepository, `{"gate": {"conditions": [{"when": "major > 0", "decision": "fail"}]}}`)
			s.Repository = &l
		}, pipeline.DecisionFail, config.ModeEnforce},
		"server": {func(s *Settings, _ *Simulation) {
			s.Config = layerOf(config.LayerServer, `{"mode": "advisory", "final": ["mode"]}`)
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
	draft := repo.OpenPR(ghtest.PR{Draft: true, Fork: "mallory", Author: "mallory", Files: ghtest.Files{"store/client.go": insecure}})
	dir := t.TempDir()
	w := &world{T: t, gh: gh, repo: repo, db: "sqlite://" + dir + "/reviewgate.db"}
	o, err := w.simulate(draft.Number)
	if err != nil || !o.Review.Report.Decision.Blocks() {
		t.Errorf("a draft from a fork: %s, %v", o.Review.Report.Decision, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("there is a database: %v, %v", left, err)
	}

	var input *InputError
	if _, err := w.simulate(99); !errors.As(err, &input) || !strings.Contains(err.Error(), "acme/shop has no pull request #99") {
		t.Errorf("no such pull request: %v", err)
	}
	gh.Suspend("acme")
	if _, err := w.simulate(draft.Number); !errors.As(err, &input) || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("suspended: %v", err)
	}
	gh.Unsuspend("acme")
	repo.SetInstalled(false)
	if _, err := w.simulate(draft.Number); !errors.As(err, &input) || !strings.Contains(err.Error(), "not installed on acme/shop") {
		t.Errorf("not installed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Simulate(ctx, w.settings(), Simulation{Owner: "acme", Name: "shop", Number: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}
