package layers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var brokenRules = ghtest.Files{apptest.RulesPath: "[\n{"}

// notGreen wants a check that blocks a merge.
func (w *world) notGreen(pr *ghtest.PullRequest) {
	w.Helper()
	if c := w.Check(pr); apptest.Satisfies(c.Conclusion) {
		w.Errorf("the check is %s (%s), with the layers %v", c.Conclusion, c.Title, layers(w.Stored(pr)))
	}
}

// A conflict does not show whether a repository holds config. The change is not judged
// without its config, and the last good version is not forgotten.
func TestConfigBehindAConflict(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, repo := range []string{"shop", ".github"} {
		t.Run(repo, func(t *testing.T) {
			w := start(t)
			from := w.GH.Repo("acme/" + repo)
			from.Commit("main", apptest.WordRule("own-word"), "rules")
			w.Idle()
			first := w.Another("first", apptest.AWord("first"))
			w.Idle()
			w.Wants(first, "action_required", "own-word")
			w.restart()
			over := w.GH.On(apptest.RouteTree, func(x *ghtest.Exchange) {
				if x.Params["repo"] == repo {
					x.Fail(409, "Repository is being moved.")
				}
			})
			second := w.Another("second", apptest.AWord("second"))
			w.Idle()
			if c := w.Check(second); apptest.Satisfies(c.Conclusion) {
				t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
			}
			over()
			from.Commit("main", brokenRules, "break it")
			w.restart()
			third := w.Another("third", apptest.AWord("third"))
			w.Idle()
			w.Wants(third, "action_required", "own-word")
		})
	}
}

// A repository's first review also uses the last good version of its organisation's config.
func TestConfigOfAnOrganisationForANewRepository(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	org := w.GH.Repo("acme/.github")
	org.Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	w.Idle()
	first := w.Another("first", apptest.AWord("first"))
	w.Idle()
	w.Wants(first, "action_required", "acme-word")
	org.Commit("main", brokenRules, "break it")
	w.restart()
	r := w.GH.Repo("acme/other")
	r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	pr := r.OpenPR(ghtest.PR{Title: "feat: word", Body: apptest.GoodBody, Head: "h", Files: apptest.AWord("other")})
	w.Idle()
	w.Wants(pr, "action_required", "acme-word", "review-rules.json:2")
}

// A transferred repository is no longer judged by its former organisation's config.
func TestConfigOfATransferredRepository(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", apptest.WordRule("acme-word"), "rules")
	w.Idle()
	first := w.Another("first", apptest.AWord("first"))
	w.Idle()
	w.Wants(first, "action_required", "acme-word")
	w.GH.Repo("zenith/.github").Commit("main", brokenRules, "broken")
	w.Repo.Settings.Transfer("zenith")
	w.Idle()
	second := w.Another("second", apptest.AWord("second"))
	w.Idle()
	for _, l := range w.Stored(second).Review.Facts.Config.Layers {
		if strings.HasPrefix(l.Source, "acme/") {
			t.Errorf("acme's config is in force in zenith: %+v", l)
		}
	}
	w.WantsNot(second, "acme-word")
}

// A repository that took the place of .github, or that .github became, does not hold the
// organisation's config.
func TestRepositoryInPlaceOfDotGitHub(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, move := range map[string]func(*ghtest.Repo){
		"transferred": func(r *ghtest.Repo) { r.Settings.Transfer("mallory") },
		"renamed":     func(r *ghtest.Repo) { r.Settings.Rename("attic") },
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			org := w.GH.Repo("acme/.github")
			org.Commit("main", ghtest.Files{"README.md": "# acme\n"}, "start")
			move(org)
			org.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "off", "final": ["mode"]}`}, "mine now")
			w.Idle()
			pr := w.Another("first", ghtest.Files{"store/client.go": apptest.Insecure})
			w.Idle()
			w.notGreen(pr)
		})
		t.Run(name+" with config", func(t *testing.T) {
			w := start(t)
			org := w.GH.Repo("acme/.github")
			org.Commit("main", apptest.WordRule("acme-word"), "rules")
			w.Idle()
			w.Another("first", apptest.AWord("first"))
			w.Idle()
			move(org)
			org.Commit("main", ghtest.Files{apptest.RulesPath: ghtest.Gone}, "mine now")
			w.restart()
			pr := w.Another("second", apptest.AWord("second"))
			w.Idle()
			w.Wants(pr, "action_required", "acme-word", "can no longer be read")
		})
	}
}

// After a rename, another repository may take the old name. Its config neither judges the
// renamed repository's pull requests nor is stored as that repository's.
func TestConfigOfARepositoryThatTookTheName(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", apptest.WordRule("own-word"), "rules")
	w.Idle()
	pr := w.Another("first", apptest.AWord("first"))
	w.Idle()
	w.Wants(pr, "action_required", "own-word")
	w.Repo.Commit("main", brokenRules, "break it") // so that the last good version counts
	w.GH.Webhook.Withhold()                        // so that the new name is not known
	defer w.GH.Webhook.Resume()
	w.Repo.Settings.Rename("store")
	other := w.GH.Repo("acme/shop")
	other.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory"}`}, "config")
	other.OpenPR(ghtest.PR{Title: "feat: mine", Body: apptest.GoodBody, Head: "mine", Files: apptest.AWord("mine")})
	for _, route := range []string{apptest.RoutePull, apptest.RouteFiles, apptest.RoutePull + "/commits"} {
		w.GH.On(route, ghtest.Delay(300*time.Millisecond)) // so that the config is read first
	}
	w.GH.Calls.Reset()
	err := w.App.Inside().Store.Ask(t.Context(), ports.ReviewAsk{Reason: "asked for", Fresh: true, Target: ports.Target{
		Kind: ports.TargetPull, Installation: w.GH.InstallationID("acme"), RepoID: w.Repo.ID(), Owner: "acme", Name: "shop",
		Number: pr.Number, HeadSHA: pr.HeadSHA(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Idle()
	r := w.Stored(pr)
	if got := layers(r); !slices.Equal(got, []string{"defaults", "repository", "-repository"}) || r.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("judged by %v: %s", got, r.Review.Report.Decision)
	}
	if n := len(w.GH.Calls.To(apptest.RoutePull)); n == 0 {
		t.Error("no review was attempted")
	}
}

// Each new version of a file is stored. When a version is broken, the newest good one comes
// into force.
func TestNewestGoodConfigIsStored(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	for i, id := range []string{"old-word", "new-word"} {
		w.Repo.Commit("main", apptest.WordRule(id), "rules")
		w.Idle()
		pr := w.Another(id, apptest.AWord("w"+string(rune('0'+i))))
		w.Idle()
		w.Wants(pr, "action_required", id)
	}
	w.Repo.Commit("main", brokenRules, "break it")
	w.Idle()
	pr := w.Another("last", apptest.AWord("last"))
	w.Idle()
	w.Wants(pr, "action_required", "new-word")
}

// If a branch's config switches reviews off, the App writes nothing to its pull requests,
// not even the first time.
func TestConfigOfABranchSwitchesItOff(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"release/1", "main"} {
		t.Run(base, func(t *testing.T) {
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: apptest.Releases}))
			w.Repo.Commit(base, ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`}, "off")
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: word", Body: apptest.GoodBody, Base: base, Head: "h", Files: apptest.AWord("first")})
			w.Idle()
			w.GH.Calls.Reset()
			pr.Push(ghtest.Files{"more.go": "package store\n"}, "more")
			w.Idle()
			pr.Comment("alice", "/review")
			w.Idle()
			second := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Base: base, Head: "second", Files: apptest.AWord("second")})
			w.Idle()
			if writes := w.GH.Calls.Writes(); len(writes) != 0 || len(second.CheckRuns()) != 0 {
				t.Errorf("written to: %v", writes)
			}
		})
	}
}

// An organisation's config can switch reviews off in the same way, in all its repositories.
func TestConfigOfAnOrganisationSwitchesItOff(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startLetting(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`}, "off")
	w.Idle()
	w.Open(apptest.AWord("first"))
	w.Idle()
	w.GH.Calls.Reset()
	r := w.GH.Repo("acme/other")
	r.Grant("alice", "write")
	r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	pr := r.OpenPR(ghtest.PR{Title: "feat: word", Body: apptest.GoodBody, Head: "h", Files: apptest.AWord("other")})
	w.Idle()
	pr.Comment("alice", "/review")
	w.Idle()
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("written to: %v", writes)
	}
}

// Listing the default branch among the branches with their own config changes nothing and
// keeps its last good version.
func TestListedDefaultBranch(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", apptest.WordRule("shop-word"), "rules")
	w.Idle()
	w.Another("first", ghtest.Files{"store/first.go": "package store\n"})
	w.Idle()
	w.Repo.Commit("main", brokenRules, "break it")
	apptest.WithServer(map[string]string{config.FileSettings: apptest.Releases})(w.World)
	w.restart()
	pr := w.Another("second", apptest.AWord("second"))
	w.Idle()
	w.Wants(pr, "action_required", "shop-word")
}

// A file that was meant as config but is not read counts as broken config. What was in force
// before stays in force.
func TestFileThatIsNotReadIsBrokenConfig(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		files ghtest.Files
		names string
	}{
		"misspelt":       {ghtest.Files{config.RepositoryDir + "/review-rule.json": "[]"}, "review-rule.json"},
		"another format": {ghtest.Files{apptest.RulesPath: ghtest.Gone, config.RepositoryDir + "/review-rules.toml": "[]"}, "review-rules.toml"},
		"a link":         {ghtest.Files{apptest.RulesPath: ghtest.Gone, config.RepositoryDir: ghtest.Symlink("../conf"), "conf/review-rules.json": "[]"}, config.RepositoryDir},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			w.Repo.Commit("main", apptest.WordRule("own-word"), "rules")
			w.Idle()
			first := w.Another("first", apptest.AWord("first"))
			w.Idle()
			w.Wants(first, "action_required", "own-word")

			proposes := w.Another("proposes", tt.files)
			w.Idle()
			p := w.Stored(proposes).Review.Report.ProposedConfig
			if len(p.Problems) == 0 || !strings.HasSuffix(p.Problems[0].File, tt.names) {
				t.Errorf("proposed: %+v", p)
			}

			w.Repo.Commit("main", tt.files, "change")
			w.Idle()
			second := w.Another("second", apptest.AWord("second"))
			w.Idle()
			w.Wants(second, "action_required", "own-word", tt.names)
		})
	}
}

// Later changes to the base and the organisation's config do not belong to what a change
// proposes.
func TestConfigProposedByABranchThatIsBehind(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.RulesPath: "[" + apptest.OwnRule("acme-word", "blarney", "") + "]"}, "rules")
	w.Idle()
	pr := w.Another("behind", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": false}}`, "store/word.go": "package store\n\n// frobnicate\n"})
	w.Idle()
	w.Repo.Commit("main", apptest.WordRule("own-word"), "rules")
	pr.Comment("alice", "/review")
	w.Idle()
	p := w.Stored(pr).Review.Report.ProposedConfig
	if len(p.Changes) != 1 || p.Changes[0].ID != "check.annotations" || p.FindingsGone != 0 {
		t.Errorf("%+v", p)
	}
}

// A secret in config is never quoted, whichever layer contains it.
func TestConfigWithASecret(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "Zq3vT8mKx2LrWn5YbCd7EfGh1JkPs9QuAa0B"
	in := func(text string) ghtest.Files {
		return ghtest.Files{apptest.RulesPath: "[" + strings.Replace(apptest.OwnRule("own-word", "frobnicate", ""), text, text+" "+token, 1) + "]"}
	}
	for _, repo := range []string{"shop", ".github"} {
		for _, text := range sample.Of(t, 2, []string{"Use another.", "The word is not ours.", "Banned word frobnicate", "build-reviewer"}) { // the last one is quoted in a problem
			t.Run(repo+" "+text, func(t *testing.T) {
				w := start(t)
				w.GH.Repo("acme/"+repo).Commit("main", in(text), "rules")
				w.Idle()
				pr := w.Another("first", apptest.AWord("first"))
				w.Idle()
				c := w.Check(pr)
				shown := c.Title + c.Summary + c.Text
				for _, comment := range pr.AppComments() {
					shown += comment.Body
				}
				for _, a := range c.Annotations {
					shown += a.Title + a.Message + a.RawDetails
				}
				if strings.Contains(shown, token) {
					t.Error("the token is shown")
				}
				if !strings.Contains(shown, "[redacted:") {
					t.Errorf("nothing is quoted:\n%s", shown)
				}
			})
		}
	}
}
