package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// wordRule is config with a rule that forbids a word, and aWord a file with it.
func wordRule(id string) ghtest.Files {
	return ghtest.Files{rulesPath: "[" + ownRule(id, "frobnicate", "") + "]"}
}

func aWord(name string) ghtest.Files {
	return ghtest.Files{"store/" + name + ".go": "package store\n\n// frobnicate\n"}
}

var brokenRules = ghtest.Files{rulesPath: "[\n{"}

// notGreen wants a check that holds a merge up.
func (w *world) notGreen(pr *ghtest.PullRequest) {
	w.Helper()
	if c := w.check(pr); satisfies(c.Conclusion) {
		w.Errorf("the check is %s (%s), with the layers %v", c.Conclusion, c.Title, layers(w.stored(pr)))
	}
}

// A conflict says nothing of what a repository holds: neither is the change
// judged without its config, nor is the last good version forgotten.
func TestConfigBehindAConflict(t *testing.T) {
	t.Parallel()
	for _, repo := range []string{"shop", ".github"} {
		t.Run(repo, func(t *testing.T) {
			w := start(t)
			from := w.gh.Repo("acme/" + repo)
			from.Commit("main", wordRule("own-word"), "rules")
			w.idle()
			first := w.another("first", aWord("first"))
			w.idle()
			w.wants(first, "action_required", "own-word")
			w.restart()
			over := w.gh.On(routeTree, func(x *ghtest.Exchange) {
				if x.Params["repo"] == repo {
					x.Fail(409, "Repository is being moved.")
				}
			})
			second := w.another("second", aWord("second"))
			w.idle()
			if c := w.check(second); satisfies(c.Conclusion) {
				t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
			}
			over()
			from.Commit("main", brokenRules, "break it")
			w.restart()
			third := w.another("third", aWord("third"))
			w.idle()
			w.wants(third, "action_required", "own-word")
		})
	}
}

// A repository that is reviewed for the first time has the last good version of
// its organisation's config too.
func TestConfigOfAnOrganisationForANewRepository(t *testing.T) {
	t.Parallel()
	w := start(t)
	org := w.gh.Repo("acme/.github")
	org.Commit("main", ghtest.Files{rulesPath: "[" + ownRule("acme-word", "frobnicate", `, "final": true`) + "]"}, "rules")
	w.idle()
	first := w.another("first", aWord("first"))
	w.idle()
	w.wants(first, "action_required", "acme-word")
	org.Commit("main", brokenRules, "break it")
	w.restart()
	r := w.gh.Repo("acme/other")
	r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	pr := r.OpenPR(ghtest.PR{Title: "feat: word", Body: goodBody, Head: "h", Files: aWord("other")})
	w.idle()
	w.wants(pr, "action_required", "acme-word", "review-rules.json:2")
}

// A repository that is transferred leaves its former organisation's config
// behind.
func TestConfigOfATransferredRepository(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", wordRule("acme-word"), "rules")
	w.idle()
	first := w.another("first", aWord("first"))
	w.idle()
	w.wants(first, "action_required", "acme-word")
	w.gh.Repo("zenith/.github").Commit("main", brokenRules, "broken")
	w.repo.Transfer("zenith")
	w.idle()
	second := w.another("second", aWord("second"))
	w.idle()
	for _, l := range w.stored(second).Review.Facts.Config.Layers {
		if strings.HasPrefix(l.Source, "acme/") {
			t.Errorf("acme's config has a say in zenith: %+v", l)
		}
	}
	if body := w.comment(second).Body; strings.Contains(body, "acme-word") {
		t.Error("acme's rule has a say in zenith")
	}
}

// What took the place of .github, or was made of it, is not the organisation's.
func TestConfigOfAnOrganisationThatMoved(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(*ghtest.Repo){
		"transferred": func(r *ghtest.Repo) { r.Transfer("mallory") },
		"renamed":     func(r *ghtest.Repo) { r.Rename("attic") },
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			org := w.gh.Repo("acme/.github")
			org.Commit("main", ghtest.Files{"README.md": "# acme\n"}, "start")
			move(org)
			org.Commit("main", ghtest.Files{settingsPath: `{"mode": "off", "final": ["mode"]}`}, "mine now")
			w.idle()
			pr := w.another("first", ghtest.Files{"store/client.go": insecure})
			w.idle()
			w.notGreen(pr)
		})
		t.Run(name+" with config", func(t *testing.T) {
			w := start(t)
			org := w.gh.Repo("acme/.github")
			org.Commit("main", wordRule("acme-word"), "rules")
			w.idle()
			w.another("first", aWord("first"))
			w.idle()
			move(org)
			org.Commit("main", ghtest.Files{rulesPath: ghtest.Gone}, "mine now")
			w.restart()
			pr := w.another("second", aWord("second"))
			w.idle()
			w.wants(pr, "action_required", "acme-word", "can't be read any more")
		})
	}
}

// After a rename another repository may take the name. Its config neither
// judges the target's pull requests nor is kept as the target's.
func TestConfigOfARepositoryThatTookTheName(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", wordRule("own-word"), "rules")
	w.idle()
	pr := w.another("first", aWord("first"))
	w.idle()
	w.wants(pr, "action_required", "own-word")
	w.repo.Commit("main", brokenRules, "break it") // so that the last good version counts
	w.gh.Withhold()                                // so that the new name is not known
	defer w.gh.Resume()
	w.repo.Rename("store")
	other := w.gh.Repo("acme/shop")
	other.Commit("main", ghtest.Files{settingsPath: `{"mode": "advisory"}`}, "config")
	other.OpenPR(ghtest.PR{Title: "feat: mine", Body: goodBody, Head: "mine", Files: aWord("mine")})
	for _, route := range []string{routePull, routeFiles, routePull + "/commits"} {
		w.gh.On(route, ghtest.Delay(300*time.Millisecond)) // the config is read before
	}
	w.gh.ResetCalls()
	err := w.app.Inside().Store.Ask(t.Context(), review.ReviewAsk{Reason: "asked for", Target: review.Target{
		Kind: review.TargetPull, Installation: w.gh.InstallationID("acme"), RepoID: w.repo.ID(), Owner: "acme", Name: "shop",
		Number: pr.Number, HeadSHA: pr.HeadSHA(),
	}}, true)
	if err != nil {
		t.Fatal(err)
	}
	w.idle()
	r := w.stored(pr)
	if got := layers(r); !slices.Equal(got, []string{"defaults", "repository", "-repository"}) || r.Review.Report.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("judged by %v: %s", got, r.Review.Report.Decision)
	}
	if n := len(w.gh.CallsTo(routePull)); n == 0 {
		t.Error("no review was tried")
	}
}

// Each new version of a file is kept: the newest that was good comes into force
// when one is broken.
func TestConfigThatIsKeptIsTheNewest(t *testing.T) {
	t.Parallel()
	w := start(t)
	for i, id := range []string{"old-word", "new-word"} {
		w.repo.Commit("main", wordRule(id), "rules")
		w.idle()
		pr := w.another(id, aWord("w"+string(rune('0'+i))))
		w.idle()
		w.wants(pr, "action_required", id)
	}
	w.repo.Commit("main", brokenRules, "break it")
	w.idle()
	pr := w.another("last", aWord("last"))
	w.idle()
	w.wants(pr, "action_required", "new-word")
}

const releases = `{"config_branches": ["main", "release/*"]}`

// Where a branch's config switches reviews off, nothing is written to its pull
// requests, the first time not either.
func TestConfigOfABranchSwitchesItOff(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"release/1", "main"} {
		t.Run(base, func(t *testing.T) {
			w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: releases}))
			w.repo.Commit(base, ghtest.Files{settingsPath: `{"mode": "off"}`}, "off")
			pr := w.repo.OpenPR(ghtest.PR{Title: "feat: word", Body: goodBody, Base: base, Head: "h", Files: aWord("first")})
			w.idle()
			w.gh.ResetCalls()
			pr.Push(ghtest.Files{"more.go": "package store\n"}, "more")
			w.idle()
			pr.Comment("alice", "/review")
			w.idle()
			second := w.repo.OpenPR(ghtest.PR{Title: "feat: more", Body: goodBody, Base: base, Head: "second", Files: aWord("second")})
			w.idle()
			if writes := w.gh.Writes(); len(writes) != 0 || len(second.CheckRuns()) != 0 {
				t.Errorf("written to: %v", writes)
			}
		})
	}
}

// The same holds for an organisation, wherever its repositories.
func TestConfigOfAnOrganisationSwitchesItOff(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{settingsPath: `{"mode": "off"}`}, "off")
	w.idle()
	w.open(aWord("first"))
	w.idle()
	w.gh.ResetCalls()
	r := w.gh.Repo("acme/other")
	r.Grant("alice", "write")
	r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	pr := r.OpenPR(ghtest.PR{Title: "feat: word", Body: goodBody, Head: "h", Files: aWord("other")})
	w.idle()
	pr.Comment("alice", "/review")
	w.idle()
	if writes := w.gh.Writes(); len(writes) != 0 {
		t.Errorf("written to: %v", writes)
	}
}

// To list the default branch among those with config of their own changes
// nothing, and does not forget its last good version.
func TestConfigOfTheDefaultBranchThatIsListed(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", wordRule("shop-word"), "rules")
	w.idle()
	w.another("first", ghtest.Files{"store/first.go": "package store\n"})
	w.idle()
	w.repo.Commit("main", brokenRules, "break it")
	withServer(map[string]string{config.FileSettings: releases})(w)
	w.restart()
	pr := w.another("second", aWord("second"))
	w.idle()
	w.wants(pr, "action_required", "shop-word")
}

// What was meant to be config and is not read is broken config, and what was in
// force before stays so.
func TestConfigThatIsNotRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files ghtest.Files
		names string
	}{
		"misspelt":       {ghtest.Files{config.RepositoryDir + "/review-rule.json": "[]"}, "review-rule.json"},
		"another format": {ghtest.Files{rulesPath: ghtest.Gone, config.RepositoryDir + "/review-rules.yaml": "[]"}, "review-rules.yaml"},
		"a link":         {ghtest.Files{rulesPath: ghtest.Gone, config.RepositoryDir: ghtest.Symlink("../conf"), "conf/review-rules.json": "[]"}, config.RepositoryDir},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			w.repo.Commit("main", wordRule("own-word"), "rules")
			w.idle()
			first := w.another("first", aWord("first"))
			w.idle()
			w.wants(first, "action_required", "own-word")

			proposes := w.another("proposes", tt.files)
			w.idle()
			p := w.stored(proposes).Review.Report.ProposedConfig
			if len(p.Problems) == 0 || !strings.HasSuffix(p.Problems[0].File, tt.names) {
				t.Errorf("proposed: %+v", p)
			}

			w.repo.Commit("main", tt.files, "change")
			w.idle()
			second := w.another("second", aWord("second"))
			w.idle()
			w.wants(second, "action_required", "own-word", tt.names)
		})
	}
}

// What came to the base since, and what the organisation says, is no part of
// what a change proposes.
func TestConfigProposedByABranchThatIsBehind(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{rulesPath: "[" + ownRule("acme-word", "blarney", "") + "]"}, "rules")
	w.idle()
	pr := w.another("behind", ghtest.Files{settingsPath: `{"check": {"annotations": false}}`, "store/word.go": "package store\n\n// frobnicate\n"})
	w.idle()
	w.repo.Commit("main", wordRule("own-word"), "rules")
	pr.Comment("alice", "/review")
	w.idle()
	p := w.stored(pr).Review.Report.ProposedConfig
	if len(p.Changes) != 1 || p.Changes[0].ID != "check.annotations" || p.FindingsGone != 0 {
		t.Errorf("%+v", p)
	}
}

// A secret in config is quoted nowhere, whichever layer has it.
func TestConfigWithASecret(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "Zq3vT8mKx2LrWn5YbCd7EfGh1JkPs9QuAa0B"
	in := func(text string) ghtest.Files {
		return ghtest.Files{rulesPath: "[" + strings.Replace(ownRule("own-word", "frobnicate", ""), text, text+" "+token, 1) + "]"}
	}
	for _, repo := range []string{"shop", ".github"} {
		for _, text := range []string{"Use another.", "The word is not ours.", "Banned word frobnicate", "build-reviewer"} { // the last is a problem
			t.Run(repo+" "+text, func(t *testing.T) {
				w := start(t)
				w.gh.Repo("acme/"+repo).Commit("main", in(text), "rules")
				w.idle()
				pr := w.another("first", aWord("first"))
				w.idle()
				c := w.check(pr)
				shown := w.comment(pr).Body + c.Title + c.Summary + c.Text
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
