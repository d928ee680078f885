package layers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Paths of config in a repository.
const (
	policiesPath = config.RepositoryDir + "/" + config.FileComposition
)

// restart ends the App and starts it again on the same database. The new process has no
// organisation's config in memory.
func (w *world) restart() {
	w.Helper()
	if err := w.Stop(); err != nil {
		w.Fatalf("the App did not end cleanly: %v", err)
	}
	w.StartApp()
}

// layers lists the layers that a review names. A "-" marks those that were not used.
func layers(r *ports.StoredReview) []string {
	var names []string
	for _, l := range r.Review.Facts.Config.Layers {
		if l.Used {
			names = append(names, l.Name)
		} else {
			names = append(names, "-"+l.Name)
		}
	}
	return names
}

// A final rule of the organisation holds, whatever the repository's config says. A
// repository's config that contradicts it is broken, and its last good version is in force.
func TestConfigOfTheOrganisationIsFinal(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": false}}`}, "config")
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	first := w.Another("first", bad)
	w.Idle()
	w.Wants(first, "action_required", "acme-word")
	if r := w.Stored(first); !slices.Equal(layers(r), []string{"defaults", "organisation", "repository"}) {
		t.Errorf("layers %v", layers(r))
	}

	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[\n  {\"id\": \"acme-word\", \"enabled\": false}\n]\n"}, "switch it off")
	w.Idle()
	second := w.Another("second", bad)
	w.Idle()
	w.Wants(second, "action_required", "acme-word", "review-rules.json:2", "final")
	c := w.Check(second)
	if !strings.Contains(c.Summary, "review-rules.json:2") {
		t.Errorf("the check does not name file and line:\n%s", c.Summary)
	}
	if len(c.Annotations) != 0 {
		t.Error("the repository's last good config is not in force")
	}
	r := w.Stored(second)
	if want := []string{"defaults", "organisation", "repository", "-repository"}; !slices.Equal(layers(r), want) {
		t.Errorf("layers %v, want %v", layers(r), want)
	}
	texts := map[string]int{}
	for _, b := range r.Config {
		texts[b.Layer]++
	}
	if diff := cmp.Diff(map[string]int{"defaults": 14, "organisation": 1, "repository": 1}, texts); diff != "" {
		t.Errorf("config stored: %s", diff)
	}
}

// A valid layer becomes broken when a layer below it changes.
func TestConfigThatALowerLayerBreaks(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.GH.Repo("acme/.github")
	org.Commit("main", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": false}}`}, "config")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory"}`}, "config")
	w.Idle()
	first := w.Another("first", ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Wants(first, "neutral")

	org.Commit("main", ghtest.Files{apptest.SettingsPath: `{"final": ["mode"], "check": {"annotations": false}}`}, "no way out")
	w.restart()
	second := w.Another("second", ghtest.Files{"store/tls.go": apptest.Insecure})
	w.Idle()
	w.Wants(second, "action_required", "review-settings.json:1", "final")
	if r := w.Stored(second); !slices.Equal(layers(r), []string{"defaults", "organisation", "-repository"}) {
		t.Errorf("layers %v", layers(r))
	}
}

// When an organisation's .github can no longer be read, its config stays in force, because
// it may hold final rules. When it can be read and holds no config, its old config ends.
func TestUnreadableConfigOfTheOrganisationStaysInForce(t *testing.T) {
	t.Parallel()
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	final := ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "frobnicate", `, "final": true`) + "]", "README.md": "# acme\n"}
	private := func(r *ghtest.Repo) { r.Settings.SetPrivate(true); r.Settings.SetInstalled(false) }
	for name, tt := range sample.Map(t, 2, map[string]struct {
		happens func(*ghtest.Repo)
		stays   bool
		mended  func(*ghtest.Repo)
	}{
		"private": {private, true, func(r *ghtest.Repo) {
			r.Commit("main", ghtest.Files{apptest.RulesPath: ghtest.Gone}, "no more")
			r.Settings.SetInstalled(true)
		}},
		"deleted":        {func(r *ghtest.Repo) { r.Settings.Delete() }, true, func(*ghtest.Repo) {}},
		"without config": {happens: func(r *ghtest.Repo) { r.Commit("main", ghtest.Files{apptest.RulesPath: ghtest.Gone}, "no more") }},
	}) {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			org := w.GH.Repo("acme/.github")
			org.Commit("main", final, "rules")
			w.Idle()
			first := w.Another("first", bad)
			w.Idle()
			w.Wants(first, "action_required", "acme-word")

			tt.happens(org)
			w.restart()
			second := w.Another("second", bad)
			w.Idle()
			if !tt.stays {
				w.wantsNoOrganisation(second)
				return
			}
			w.Wants(second, "action_required", "acme-word", "The organisation's config has 1 problem", "acme/.github can no longer be read", "make it public or install the App on it")
			if r := w.Stored(second); !slices.Equal(layers(r), []string{"defaults", "organisation"}) {
				t.Errorf("layers %v", layers(r))
			}

			if name == "deleted" {
				org = w.GH.Repo("acme/.github") // a new and empty repository
			}
			tt.mended(org)
			w.restart()
			third := w.Another("third", bad)
			w.Idle()
			w.wantsNoOrganisation(third)
		})
	}
}

// wantsNoOrganisation wants a change to pass without the organisation's config, and without a
// word about it.
func (w *world) wantsNoOrganisation(pr *ghtest.PullRequest) {
	w.Helper()
	w.Wants(pr, "success")
	r := w.Stored(pr)
	if !slices.Equal(layers(r), []string{"defaults"}) || len(r.Review.Facts.Config.Problems) != 0 {
		w.Errorf("layers %v with %+v", layers(r), r.Review.Facts.Config.Problems)
	}
}

// A repository that moves to another account is no longer judged by the old account's config,
// whether or not the new account has config.
func TestConfigOfTheOldAccountEnds(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	first := w.Another("first", bad)
	w.Idle()
	w.Wants(first, "action_required", "acme-word")
	w.GH.Repo("zenith/site").Commit("main", apptest.Clean(), "start") // so that the App is installed there, too
	w.Repo.Settings.Transfer("zenith")
	w.Idle()
	second := w.Another("second", bad)
	w.Idle()
	w.wantsNoOrganisation(second)
}

// The check tells where a fault of the organisation's config can be corrected: in its own
// repository.
func TestConfigOfTheOrganisationSaysWhereItIs(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.RulesPath: "[\n{"}, "break it")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "success", "`"+apptest.RulesPath+":2", "` in `acme/.github`", "Repair it in `acme/.github`, on its default branch")
}

// A newer version of a layer is not laid over that layer's own last good version.
func TestNewConfigIsNotLaidOverItsOldVersion(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	agents := config.RepositoryDir + "/" + config.FileAgents
	w.Repo.Commit("main", ghtest.Files{
		agents:            `[{"id": "shop-agent", "name": "Shop", "kind": "rules", "description": "Words."}]`,
		policiesPath:      `[{"id": "shop", "description": "Words.", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["shop-agent"]}}]`,
		apptest.RulesPath: "[" + strings.Replace(apptest.OwnRule("shop-word", "frobnicate", ""), "build-reviewer", "shop-agent", 1) + "]",
	}, "config")
	w.Open(apptest.Clean())
	w.Idle()
	w.Repo.Commit("main", ghtest.Files{agents: "[]"}, "drop the agent, and forget the rest")
	w.Idle()
	pr := w.Another("second", ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"})
	w.Idle()
	w.Wants(pr, "action_required", "shop-word", "shop-agent", "review-rules.json:1")
	if r := w.Stored(pr); !slices.Equal(layers(r), []string{"defaults", "repository", "-repository"}) {
		t.Errorf("layers %v", layers(r))
	}
}

// The last good version of each layer survives a restart of the server.
func TestLastGoodConfigSurvivesRestarts(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.GH.Repo("acme/.github")
	org.Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "frobnicate", "") + "]"}, "rules")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("shop-word", "blarney", "") + "]"}, "rules")
	w.Idle()
	w.Another("first", ghtest.Files{"store/a1.go": "package store\n"})
	w.Idle()

	org.Commit("main", ghtest.Files{apptest.RulesPath: "[\n{"}, "break it")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[\n\n{"}, "break it")
	w.restart()
	pr := w.Another("second", ghtest.Files{"store/words.go": "package store\n\n// frobnicate\n// blarney\n"})
	w.Idle()
	w.Wants(pr, "action_required", "acme-word", "shop-word")
	r := w.Stored(pr)
	if want := []string{"defaults", "organisation", "-organisation", "repository", "-repository"}; !slices.Equal(layers(r), want) {
		t.Errorf("layers %v, want %v", layers(r), want)
	}
	var broken []string
	for _, p := range r.Review.Facts.Config.Problems {
		broken = append(broken, fmt.Sprintf("%s %s:%d", p.Layer, p.File, p.Line))
	}
	if len(broken) != 2 || !strings.HasPrefix(broken[0], "organisation "+apptest.RulesPath) || !strings.HasPrefix(broken[1], "repository "+apptest.RulesPath) {
		t.Errorf("problems %v, want one of each layer", broken)
	}
}

// The organisation's own repository has only the organisation's config.
func TestConfigOfTheOrganisationsRepository(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	org := w.GH.Repo("acme/.github")
	org.Commit("main", ghtest.Files{apptest.SettingsPath: `{"final": ["check"], "check": {"annotations": false}}`}, "config")
	pr := org.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Files: ghtest.Files{
		"client.go": apptest.Insecure, apptest.SettingsPath: `{"final": ["check", "gate"], "check": {"annotations": true}}`,
	}})
	w.Idle()
	w.Wants(pr, "action_required")
	r := w.Stored(pr)
	if want := []string{"defaults", "organisation"}; !slices.Equal(layers(r), want) || len(r.Review.Facts.Config.Problems) != 0 {
		t.Errorf("layers %v with %v, want %v", layers(r), r.Review.Facts.Config.Problems, want)
	}
	if p := r.Review.Report.ProposedConfig; len(p.Problems) != 0 || p.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("proposed: %+v", p)
	}
}

// The server chooses which repositories are reviewed, and in which mode.
func TestConfigOfTheServerChoosesModes(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: `{
		"mode": "off",
		"repositories": [{"globs": ["acme/shop"], "mode": "advisory"}, {"globs": ["acme/bank"], "mode": "enforce"}]
	}`}))
	on := func(name string) (*ghtest.Repo, *ghtest.PullRequest) {
		r := w.GH.Repo(name)
		r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
		r.Grant("alice", "write")
		return r, r.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"client.go": apptest.Insecure}})
	}
	advisory := w.Another("first", ghtest.Files{"client.go": apptest.Insecure})
	_, enforced := on("acme/bank")
	w.Idle()
	w.Wants(advisory, "neutral")
	w.Wants(enforced, "action_required")

	w.GH.Calls.Reset()
	_, silent := on("acme/docs")
	w.Idle()
	reads := w.GH.Calls.All()
	// A token, the pull request, its files and commits, and the config's root.
	if len(reads) > 5 {
		t.Errorf("a repository that is switched off costs %d calls: %v", len(reads), reads)
	}
	silent.Comment("alice", "/review")
	silent.Comment("alice", "/frobnicate")
	silent.Comment("alice", "/review frobnicate")
	w.Idle()
	w.Work(ports.JobSweep)
	w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) { x.Fail(404, "no") })
	silent.Push(ghtest.Files{"more.go": "package store\n"}, "more")
	w.Idle()
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("a repository that is switched off was written to: %v", writes)
	}
}

// A repository's own mode overrides the server's choice.
func TestConfigOfTheRepositoryChoosesItsMode(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: `{"mode": "off"}`}))
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "enforce"}`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Wants(pr, "action_required")
}

// A change's edits to the config do not affect its own check. The comment shows them.
func TestProposedConfigIsOnlyShown(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Map(t, 2, map[string]struct {
		files  ghtest.Files
		change string // one of the listed changes
		says   string // in the comment
		want   pipeline.ProposedConfig
	}{
		"off": {
			ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`},
			"review-settings.json mode changed",
			"would review nothing in this repository",
			pipeline.ProposedConfig{Decision: pipeline.DecisionNeedsFixes},
		},
		"no gate": {
			ghtest.Files{apptest.SettingsPath: `{"gate": {"conditions": []}}`},
			"review-settings.json gate.conditions changed",
			"it would have passed",
			pipeline.ProposedConfig{Decision: pipeline.DecisionPass},
		},
		"agent off": {
			ghtest.Files{config.RepositoryDir + "/" + config.FileAgents: `[{"id": "security-reviewer", "enabled": false}]`},
			"review-rules.json sec-tls-verify-01 removed",
			"Would no longer run: security-reviewer",
			pipeline.ProposedConfig{Decision: pipeline.DecisionPass, FindingsGone: 1, AgentsGone: pipeline.List[string]{"security-reviewer"}},
		},
		"broken": {
			ghtest.Files{apptest.SettingsPath: "{\n  \"modus\": \"off\"\n}"},
			"",
			"review-settings.json:2",
			pipeline.ProposedConfig{},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			files := ghtest.Files{"store/client.go": apptest.Insecure, "store/client_test.go": "package store\n"}
			var touched pipeline.List[string]
			for path, text := range c.files {
				files[path], touched = text, append(touched, path)
			}
			pr := w.Open(files)
			w.Idle()
			w.Wants(pr, "action_required", "store/client.go", "It is judged by the config in force.", c.says)
			got := w.Stored(pr).Review.Report.ProposedConfig
			if (name == "broken") != (len(got.Problems) == 1 && got.Problems[0].Line == 2) {
				t.Errorf("problems %+v", got.Problems)
			}
			changes := []string{""}
			for _, x := range got.Changes {
				changes = append(changes, x.File+" "+x.ID+" "+x.Change)
			}
			if !slices.Contains(changes, c.change) {
				t.Errorf("changes %q, want %q among them", changes, c.change)
			}
			if !slices.Equal(got.Files, touched) || got.Decision != c.want.Decision || got.FindingsGone != c.want.FindingsGone || !slices.Equal(got.AgentsGone, c.want.AgentsGone) || got.Note != "" {
				t.Errorf("proposed: %+v, want %+v of %v", got, c.want, touched)
			}
		})
	}
}

// A pull request that corrects broken config is not held up by the fault that it corrects.
func TestCorrectedConfigPasses(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: "{\n  \"chek\": {}\n}\n"}, "break it")
	w.Idle()
	pr := w.Open(ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": false}}`})
	w.Idle()
	w.Wants(pr, "success", "review-settings.json:2")
	if p := w.Stored(pr).Review.Report.ProposedConfig; len(p.Problems) != 0 || p.Decision != pipeline.DecisionPass {
		t.Errorf("proposed: %+v", p)
	}
	pr.Merge()
	w.Idle()
	next := w.Another("next", ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if c := w.Check(next); len(c.Annotations) != 0 || strings.Contains(c.Summary, "review-settings.json") {
		t.Errorf("the mended config is not in force: %d annotations\n%s", len(c.Annotations), c.Summary)
	}
}

// Only branches that the server lists have their own config, and the last good config of one
// branch does not replace another branch's.
func TestConfigOfABranch(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: `{"config_branches": ["release/*"]}`}))
	w.Repo.Commit("release/1", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("release-word", "frobnicate", "") + "]"}, "branch off")
	w.Repo.Commit("topic", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("topic-word", "frobnicate", "") + "]"}, "branch off")
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("main-word", "frobnicate", "") + "]"}, "rules")
	word := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	for base, rule := range map[string]string{"main": "main-word", "release/1": "release-word", "topic": "main-word"} {
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: word", Body: apptest.GoodBody, Base: base, Head: "from-" + strings.ReplaceAll(base, "/", "-"), Files: word})
		w.Idle()
		w.Wants(pr, "action_required", rule)
		r := w.Stored(pr)
		l := r.Review.Facts.Config.Layers
		if own := l[len(l)-1]; (base == "release/1") != strings.Contains(own.Source, "release/1") {
			t.Errorf("base %s: config read from %s", base, own.Source)
		}
	}

	w.Repo.Commit("release/1", ghtest.Files{apptest.RulesPath: "[\n{"}, "break it")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: word again", Body: apptest.GoodBody, Base: "release/1", Head: "again", Files: ghtest.Files{"store/other.go": "package store\n\n// frobnicate\n"}})
	w.Idle()
	w.Wants(pr, "action_required", "release-word", "review-rules.json:2")
}

// When an expression reads labels, label events cause reviews. Otherwise they cost nothing.
func TestExpressionReadsLabels(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	policy := func(when string) ghtest.Files {
		return ghtest.Files{policiesPath: fmt.Sprintf(`[{"id": "shop-labelled", "description": "Labelled changes.", "priority": 50,
			"trigger": {"type": "expression", "when": %q}, "dispatch": {"agents": ["finance-sme"], "scope": "all"}}]`, when)}
	}
	w.Repo.Commit("main", policy(`facts.title.startsWith("money")`), "policy")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	before := len(w.GH.Calls.All())
	pr.Label("money")
	w.Idle()
	if calls := w.GH.Calls.All()[before:]; len(calls) > 0 {
		t.Errorf("a label that no policy reads cost %d calls: %v", len(calls), calls)
	}

	w.Repo.Commit("main", policy(`"money" in facts.labels`), "policy")
	pr.Push(ghtest.Files{"store/more.go": "package store\n"}, "more")
	w.Idle()
	if w.Stored(pr).Review.Manifest.Entry("finance-sme") == nil {
		t.Error("the label was not read")
	}
	pr.Unlabel("money")
	w.Idle()
	if e := w.Stored(pr).Review.Manifest.Entry("finance-sme"); e != nil {
		t.Errorf("the review does not follow the label: %+v", e)
	}
}

// Some default rules and policies read a change's type. Labels that name a type then cause a
// review, but only where the title names none.
func TestLabelsOfTypes(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "Count the stock", Body: apptest.GoodBody, Head: "stock", Files: apptest.Clean()})
	w.Idle()
	calls := func(act func()) int {
		before := len(w.GH.Calls.All())
		act()
		w.Idle()
		return len(w.GH.Calls.All()) - before
	}
	if n := calls(func() { pr.Label("help wanted"); pr.Unlabel("help wanted"); pr.Label("urgent") }); n > 0 {
		t.Errorf("labels without a type cost %d calls", n)
	}
	typed := func(want string) {
		t.Helper()
		if c := w.Stored(pr).Review.Classification; c.Type != want {
			t.Errorf("the type is %s (%s), want %s", c.Type, c.TypeSource, want)
		}
	}
	typed("feature")
	pr.Label("type: docs")
	w.Idle()
	typed("docs")
	pr.Unlabel("type: docs")
	w.Idle()
	typed("feature")

	title := "fix: count the stock"
	pr.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	typed("fix")
	if n := calls(func() { pr.Label("documentation") }); n > 0 {
		t.Errorf("with the type in the title, a label that names another cost %d calls", n)
	}
}
