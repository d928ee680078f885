package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Places of config in a repository.
const (
	settingsPath = config.RepositoryDir + "/" + config.FileSettings
	rulesPath    = config.RepositoryDir + "/" + config.FileRules
	policiesPath = config.RepositoryDir + "/" + config.FileComposition
)

// withServer starts a world whose server has a layer of its own.
func withServer(files map[string]string) func(*world) {
	return func(w *world) {
		w.server = config.Layer{Name: config.LayerServer, Source: "/etc/reviewgate"}
		for name, text := range files {
			w.server.Files = append(w.server.Files, config.File{Path: name, Text: []byte(text)})
		}
	}
}

// restart ends the App and starts it again on the same database. It knows no
// organisation's config by heart then.
func (w *world) restart() {
	w.Helper()
	if err := w.stop(); err != nil {
		w.Fatalf("the App did not end cleanly: %v", err)
	}
	w.run()
}

// another opens a pull request beside the first, on a branch of its own.
func (w *world) another(head string, files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	return w.repo.OpenPR(ghtest.PR{Title: "feat: " + head, Body: goodBody, Head: head, Files: files})
}

// stored is the newest published review of a pull request.
func (w *world) stored(pr *ghtest.PullRequest) *review.StoredReview {
	w.Helper()
	r, err := w.app.Inside().Store.LatestReview(w.Context(), fmt.Sprintf("pull/%d/%d", pr.Repo().ID(), pr.Number))
	if err != nil || r == nil {
		w.Fatalf("no stored review: %v", err)
	}
	return r
}

// layers lists the layers that a review names, those not used with a "-".
func layers(r *review.StoredReview) []string {
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

// ownRule is a rule that finds a word in added lines.
func ownRule(id, word, more string) string {
	return fmt.Sprintf(`{"id": %q, "name": "Banned word %s", "severity": "major", "agent": "build-reviewer", "category": "words",
  "description": "The word is not ours.", "detection": "The word in added lines", "recommendation": "Use another.", "match": {"literal": %q}%s}`, id, word, word, more)
}

// A final rule of the organisation stands, whatever the repository's config
// says: that is broken then, and its last good version is in force.
func TestConfigOfTheOrganisationIsFinal(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"check": {"annotations": false}}`}, "config")
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{rulesPath: "[" + ownRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	first := w.another("first", bad)
	w.idle()
	w.wants(first, "action_required", "acme-word")
	if r := w.stored(first); !slices.Equal(layers(r), []string{"defaults", "organisation", "repository"}) {
		t.Errorf("layers %v", layers(r))
	}

	w.repo.Commit("main", ghtest.Files{rulesPath: "[\n  {\"id\": \"acme-word\", \"enabled\": false}\n]\n"}, "switch it off")
	w.idle()
	second := w.another("second", bad)
	w.idle()
	w.wants(second, "action_required", "acme-word", "review-rules.json:2", "final")
	c := w.check(second)
	if !strings.Contains(c.Summary, "review-rules.json:2") {
		t.Errorf("the check does not name file and line:\n%s", c.Summary)
	}
	if len(c.Annotations) != 0 {
		t.Error("the repository's last good config is not in force")
	}
	r := w.stored(second)
	if want := []string{"defaults", "organisation", "repository", "-repository"}; !slices.Equal(layers(r), want) {
		t.Errorf("layers %v, want %v", layers(r), want)
	}
	texts := map[string]int{}
	for _, b := range r.Config {
		texts[b.Layer]++
	}
	if diff := cmp.Diff(map[string]int{"defaults": 11, "organisation": 1, "repository": 1}, texts); diff != "" {
		t.Errorf("config stored: %s", diff)
	}
}

// A layer that fitted breaks when one below it changes.
func TestConfigThatALowerLayerBreaks(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.gh.Repo("acme/.github")
	org.Commit("main", ghtest.Files{settingsPath: `{"check": {"annotations": false}}`}, "config")
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "advisory"}`}, "config")
	w.idle()
	first := w.another("first", ghtest.Files{"store/client.go": insecure})
	w.idle()
	w.wants(first, "neutral")

	org.Commit("main", ghtest.Files{settingsPath: `{"final": ["mode"], "check": {"annotations": false}}`}, "no way out")
	w.restart()
	second := w.another("second", ghtest.Files{"store/tls.go": insecure})
	w.idle()
	w.wants(second, "action_required", "review-settings.json:1", "final")
	if r := w.stored(second); !slices.Equal(layers(r), []string{"defaults", "organisation", "-repository"}) {
		t.Errorf("layers %v", layers(r))
	}
}

// An organisation's .github that can't be read any more takes nothing out of
// force: what it holds may be final. One that can be read, and holds no config,
// does.
func TestConfigOfAnOrganisationThatIsNoLongerRead(t *testing.T) {
	t.Parallel()
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	final := ghtest.Files{rulesPath: "[" + ownRule("acme-word", "frobnicate", `, "final": true`) + "]", "README.md": "# acme\n"}
	private := func(r *ghtest.Repo) { r.SetPrivate(true); r.SetInstalled(false) }
	for name, tt := range map[string]struct {
		happens func(*ghtest.Repo)
		stays   bool
		mended  func(*ghtest.Repo)
	}{
		"private": {private, true, func(r *ghtest.Repo) {
			r.Commit("main", ghtest.Files{rulesPath: ghtest.Gone}, "no more")
			r.SetInstalled(true)
		}},
		"deleted":        {(*ghtest.Repo).Delete, true, func(*ghtest.Repo) {}},
		"without config": {happens: func(r *ghtest.Repo) { r.Commit("main", ghtest.Files{rulesPath: ghtest.Gone}, "no more") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			org := w.gh.Repo("acme/.github")
			org.Commit("main", final, "rules")
			w.idle()
			first := w.another("first", bad)
			w.idle()
			w.wants(first, "action_required", "acme-word")

			tt.happens(org)
			w.restart()
			second := w.another("second", bad)
			w.idle()
			if !tt.stays {
				w.wantsNoOrganisation(second)
				return
			}
			w.wants(second, "action_required", "acme-word", "The organisation's config has 1 problem", "acme/.github can't be read any more", "make it public or install the App on it")
			if r := w.stored(second); !slices.Equal(layers(r), []string{"defaults", "organisation"}) {
				t.Errorf("layers %v", layers(r))
			}

			if name == "deleted" {
				org = w.gh.Repo("acme/.github") // one anew, with nothing in it
			}
			tt.mended(org)
			w.restart()
			third := w.another("third", bad)
			w.idle()
			w.wantsNoOrganisation(third)
		})
	}
}

// wantsNoOrganisation wants a change to pass without the organisation's config,
// and no word about it.
func (w *world) wantsNoOrganisation(pr *ghtest.PullRequest) {
	w.Helper()
	w.wants(pr, "success")
	r := w.stored(pr)
	if !slices.Equal(layers(r), []string{"defaults"}) || len(r.Review.Facts.Config.Problems) != 0 {
		w.Errorf("layers %v with %+v", layers(r), r.Review.Facts.Config.Problems)
	}
}

// A repository that comes to another account leaves its old one's config
// behind, whether or not the new one has any.
func TestConfigOfTheAccountBefore(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{rulesPath: "[" + ownRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	bad := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	first := w.another("first", bad)
	w.idle()
	w.wants(first, "action_required", "acme-word")
	w.gh.Repo("zenith/site").Commit("main", clean(), "start") // the App is installed there, too
	w.repo.Transfer("zenith")
	w.idle()
	second := w.another("second", bad)
	w.idle()
	w.wantsNoOrganisation(second)
}

// A mistake in the organisation's config is to be repaired in its repository.
func TestConfigOfTheOrganisationSaysWhereItIs(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{rulesPath: "[\n{"}, "break it")
	w.idle()
	pr := w.open(clean())
	w.idle()
	w.wants(pr, "success", "`"+rulesPath+":2", "` in `acme/.github`", "Repair it in `acme/.github`, on its default branch")
}

// What was good before is no part of what a newer version is laid over.
func TestConfigThatOnlyFitsItsOwnPast(t *testing.T) {
	t.Parallel()
	w := start(t)
	agents := config.RepositoryDir + "/" + config.FileAgents
	w.repo.Commit("main", ghtest.Files{
		agents:       `[{"id": "shop-agent", "name": "Shop", "kind": "rules", "description": "Words."}]`,
		policiesPath: `[{"id": "shop", "description": "Words.", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["shop-agent"]}}]`,
		rulesPath:    "[" + strings.Replace(ownRule("shop-word", "frobnicate", ""), "build-reviewer", "shop-agent", 1) + "]",
	}, "config")
	w.open(clean())
	w.idle()
	w.repo.Commit("main", ghtest.Files{agents: "[]"}, "drop the agent, and forget the rest")
	w.idle()
	pr := w.another("second", ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"})
	w.idle()
	w.wants(pr, "action_required", "shop-word", "shop-agent", "review-rules.json:1")
	if r := w.stored(pr); !slices.Equal(layers(r), []string{"defaults", "repository", "-repository"}) {
		t.Errorf("layers %v", layers(r))
	}
}

// The last good version of each layer outlives the server.
func TestConfigThatWasGoodSurvivesRestarts(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.gh.Repo("acme/.github")
	org.Commit("main", ghtest.Files{rulesPath: "[" + ownRule("acme-word", "frobnicate", "") + "]"}, "rules")
	w.repo.Commit("main", ghtest.Files{rulesPath: "[" + ownRule("shop-word", "blarney", "") + "]"}, "rules")
	w.idle()
	w.another("first", ghtest.Files{"store/a1.go": "package store\n"})
	w.idle()

	org.Commit("main", ghtest.Files{rulesPath: "[\n{"}, "break it")
	w.repo.Commit("main", ghtest.Files{rulesPath: "[\n\n{"}, "break it")
	w.restart()
	pr := w.another("second", ghtest.Files{"store/words.go": "package store\n\n// frobnicate\n// blarney\n"})
	w.idle()
	w.wants(pr, "action_required", "acme-word", "shop-word")
	r := w.stored(pr)
	if want := []string{"defaults", "organisation", "-organisation", "repository", "-repository"}; !slices.Equal(layers(r), want) {
		t.Errorf("layers %v, want %v", layers(r), want)
	}
	var broken []string
	for _, p := range r.Review.Facts.Config.Problems {
		broken = append(broken, fmt.Sprintf("%s %s:%d", p.Layer, p.File, p.Line))
	}
	if len(broken) != 2 || !strings.HasPrefix(broken[0], "organisation "+rulesPath) || !strings.HasPrefix(broken[1], "repository "+rulesPath) {
		t.Errorf("problems %v, want one of each layer", broken)
	}
}

// The organisation's own repository has no config but the organisation's.
func TestConfigOfTheOrganisationsRepository(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.gh.Repo("acme/.github")
	org.Commit("main", ghtest.Files{settingsPath: `{"final": ["check"], "check": {"annotations": false}}`}, "config")
	pr := org.OpenPR(ghtest.PR{Title: "feat: more", Body: goodBody, Files: ghtest.Files{
		"client.go": insecure, settingsPath: `{"final": ["check", "gate"], "check": {"annotations": true}}`,
	}})
	w.idle()
	w.wants(pr, "action_required")
	r := w.stored(pr)
	if want := []string{"defaults", "organisation"}; !slices.Equal(layers(r), want) || len(r.Review.Facts.Config.Problems) != 0 {
		t.Errorf("layers %v with %v, want %v", layers(r), r.Review.Facts.Config.Problems, want)
	}
	if p := r.Review.Report.ProposedConfig; len(p.Problems) != 0 || p.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("proposed: %+v", p)
	}
}

// The server chooses which repositories are reviewed, and how.
func TestConfigOfTheServerChoosesModes(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: `{
		"mode": "off",
		"repositories": [{"globs": ["acme/shop"], "mode": "advisory"}, {"globs": ["acme/bank"], "mode": "enforce"}]
	}`}))
	on := func(name string) (*ghtest.Repo, *ghtest.PullRequest) {
		r := w.gh.Repo(name)
		r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
		r.Grant("alice", "write")
		return r, r.OpenPR(ghtest.PR{Title: "feat: stock", Body: goodBody, Files: ghtest.Files{"client.go": insecure}})
	}
	advisory := w.another("first", ghtest.Files{"client.go": insecure})
	_, enforced := on("acme/bank")
	w.idle()
	w.wants(advisory, "neutral")
	w.wants(enforced, "action_required")

	w.gh.ResetCalls()
	_, silent := on("acme/docs")
	w.idle()
	reads := w.gh.Calls()
	// A token, the pull request, its files and commits, and the config's root.
	if len(reads) > 5 {
		t.Errorf("a repository that is switched off costs %d calls: %v", len(reads), reads)
	}
	silent.Comment("alice", "/review")
	silent.Comment("alice", "/frobnicate")
	silent.Comment("alice", "/review frobnicate")
	w.idle()
	w.work(review.JobSweep)
	w.gh.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) { x.Fail(404, "no") })
	silent.Push(ghtest.Files{"more.go": "package store\n"}, "more")
	w.idle()
	if writes := w.gh.Writes(); len(writes) != 0 {
		t.Errorf("a repository that is switched off was written to: %v", writes)
	}
}

// A repository's own word on its mode comes before the server's choice.
func TestConfigOfTheRepositoryChoosesItsMode(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: `{"mode": "off"}`}))
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "enforce"}`}, "config")
	w.idle()
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	w.wants(pr, "action_required")
}

// What a change does to the config has no say in its own check, and is shown.
func TestConfigThatIsProposedIsOnlyShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  ghtest.Files
		change string // one of those that are listed
		says   string // the comment
		want   pipeline.ProposedConfig
	}{
		"off": {
			ghtest.Files{settingsPath: `{"mode": "off"}`},
			"review-settings.json mode changed",
			"the decision would be the same",
			pipeline.ProposedConfig{Decision: pipeline.DecisionNeedsFixes},
		},
		"no gate": {
			ghtest.Files{settingsPath: `{"gate": {"conditions": []}}`},
			"review-settings.json gate.conditions changed",
			"it would have passed",
			pipeline.ProposedConfig{Decision: pipeline.DecisionPass},
		},
		"agent off": {
			ghtest.Files{config.RepositoryDir + "/" + config.FileAgents: `[{"id": "security-reviewer", "enabled": false}]`},
			"review-rules.json sec-tls-verify-01 removed",
			"Would not run any more: security-reviewer",
			pipeline.ProposedConfig{Decision: pipeline.DecisionPass, FindingsGone: 1, AgentsGone: pipeline.List[string]{"security-reviewer"}},
		},
		"broken": {
			ghtest.Files{settingsPath: "{\n  \"modus\": \"off\"\n}"},
			"",
			"review-settings.json:2",
			pipeline.ProposedConfig{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			files := ghtest.Files{"store/client.go": insecure, "store/client_test.go": "package store\n"}
			var touched pipeline.List[string]
			for path, text := range c.files {
				files[path], touched = text, append(touched, path)
			}
			pr := w.open(files)
			w.idle()
			w.wants(pr, "action_required", "store/client.go", "It is judged by the config in force.", c.says)
			got := w.stored(pr).Review.Report.ProposedConfig
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

// The pull request that mends the config is not held up by what it mends.
func TestConfigThatIsMendedPasses(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{settingsPath: "{\n  \"chek\": {}\n}\n"}, "break it")
	w.idle()
	pr := w.open(ghtest.Files{settingsPath: `{"check": {"annotations": false}}`})
	w.idle()
	w.wants(pr, "success", "review-settings.json:2")
	if p := w.stored(pr).Review.Report.ProposedConfig; len(p.Problems) != 0 || p.Decision != pipeline.DecisionPass {
		t.Errorf("proposed: %+v", p)
	}
	pr.Merge()
	w.idle()
	next := w.another("next", ghtest.Files{"store/client.go": insecure})
	w.idle()
	if c := w.check(next); len(c.Annotations) != 0 || strings.Contains(c.Summary, "review-settings.json") {
		t.Errorf("the mended config is not in force: %d annotations\n%s", len(c.Annotations), c.Summary)
	}
}

// Only branches that the server lists are judged by config of their own, and
// what was good on one branch does not stand in for another's.
func TestConfigOfABranch(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: `{"config_branches": ["release/*"]}`}))
	w.repo.Commit("release/1", ghtest.Files{rulesPath: "[" + ownRule("release-word", "frobnicate", "") + "]"}, "branch off")
	w.repo.Commit("topic", ghtest.Files{rulesPath: "[" + ownRule("topic-word", "frobnicate", "") + "]"}, "branch off")
	w.repo.Commit("main", ghtest.Files{rulesPath: "[" + ownRule("main-word", "frobnicate", "") + "]"}, "rules")
	word := ghtest.Files{"store/word.go": "package store\n\n// frobnicate\n"}
	for base, rule := range map[string]string{"main": "main-word", "release/1": "release-word", "topic": "main-word"} {
		pr := w.repo.OpenPR(ghtest.PR{Title: "feat: word", Body: goodBody, Base: base, Head: "from-" + strings.ReplaceAll(base, "/", "-"), Files: word})
		w.idle()
		w.wants(pr, "action_required", rule)
		r := w.stored(pr)
		l := r.Review.Facts.Config.Layers
		if own := l[len(l)-1]; (base == "release/1") != strings.Contains(own.Source, "release/1") {
			t.Errorf("base %s: config read from %s", base, own.Source)
		}
	}

	w.repo.Commit("release/1", ghtest.Files{rulesPath: "[\n{"}, "break it")
	pr := w.repo.OpenPR(ghtest.PR{Title: "feat: word again", Body: goodBody, Base: "release/1", Head: "again", Files: ghtest.Files{"store/other.go": "package store\n\n// frobnicate\n"}})
	w.idle()
	w.wants(pr, "action_required", "release-word", "review-rules.json:2")
}

// An expression that reads labels makes label events matter; others cost
// nothing.
func TestConfigWhoseExpressionReadsLabels(t *testing.T) {
	t.Parallel()
	w := start(t)
	policy := func(when string) ghtest.Files {
		return ghtest.Files{policiesPath: fmt.Sprintf(`[{"id": "shop-labelled", "description": "Labelled changes.", "priority": 50,
			"trigger": {"type": "expression", "when": %q}, "dispatch": {"agents": ["finance-sme"], "scope": "all"}}]`, when)}
	}
	w.repo.Commit("main", policy(`facts.title.startsWith("money")`), "policy")
	w.idle()
	pr := w.open(clean())
	w.idle()
	before := len(w.gh.Calls())
	pr.Label("money")
	w.idle()
	if calls := w.gh.Calls()[before:]; len(calls) > 0 {
		t.Errorf("a label that no policy reads cost %d calls: %v", len(calls), calls)
	}

	w.repo.Commit("main", policy(`"money" in facts.labels`), "policy")
	pr.Push(ghtest.Files{"store/more.go": "package store\n"}, "more")
	w.idle()
	if w.stored(pr).Review.Manifest.Entry("finance-sme") == nil {
		t.Error("the label was not read")
	}
	pr.Unlabel("money")
	w.idle()
	if e := w.stored(pr).Review.Manifest.Entry("finance-sme"); e != nil {
		t.Errorf("the review does not follow the label: %+v", e)
	}
}

// By the defaults some rules and policies read a change's type. Only labels that
// name one start a review then, and only where the title names none.
func TestLabelsOfTypes(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.repo.OpenPR(ghtest.PR{Title: "Count the stock", Body: goodBody, Head: "stock", Files: clean()})
	w.idle()
	calls := func(act func()) int {
		before := len(w.gh.Calls())
		act()
		w.idle()
		return len(w.gh.Calls()) - before
	}
	if n := calls(func() { pr.Label("help wanted"); pr.Unlabel("help wanted"); pr.Label("urgent") }); n > 0 {
		t.Errorf("labels that name no type cost %d calls", n)
	}
	typed := func(want string) {
		t.Helper()
		if c := w.stored(pr).Review.Classification; c.Type != want {
			t.Errorf("the type is %s (%s), want %s", c.Type, c.TypeSource, want)
		}
	}
	typed("feature")
	pr.Label("type: docs")
	w.idle()
	typed("docs")
	pr.Unlabel("type: docs")
	w.idle()
	typed("feature")

	title := "fix: count the stock"
	pr.Edit(ghtest.Edit{Title: &title})
	w.idle()
	typed("fix")
	if n := calls(func() { pr.Label("documentation") }); n > 0 {
		t.Errorf("with the type in the title, a label that names another cost %d calls", n)
	}
}
