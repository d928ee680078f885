package layers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

const testsPath = config.RepositoryDir + "/" + config.TestsDir

// ignoring are settings by which the code in policy tests does not count.
const ignoring = `"ignore": [{"paths": ["` + testsPath + `/**"], "reason": "code that is wrong on purpose"}]`

// trusting is a case whose change trusts every server.
func trusting(name, expect string) string {
	return `{"name": "` + name + `", "change": {"title": "feat: client", "body": "Add a client.", "files": {"store/client.go":
		{"head": ["package store", "", "var c = &tls.Config{InsecureSkipVerify: true}"]}}}, "expect": ` + expect + `}`
}

// The policy tests of a proposed config are run. One that fails is a warning in the comment, and
// never affects the check.
func TestProposedTestsWarn(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{
		apptest.SettingsPath:       "{" + ignoring + "}",
		testsPath + "/client.json": "[" + trusting("a client", `{"decision": "needs_fixes"}`) + "," + trusting("a rule", `{"findings": [{"rule": "sec-tls-verify-01"}]}`) + "]",
	}, "tests")
	const name = "@octocat **bold** <!-- reviewgate:report --> ![x](https://evil.example/p.png) </details> `a` #12"
	pr := w.Open(apptest.Tested(ghtest.Files{
		apptest.SettingsPath:         `{"gate": {"conditions": [{"when": "major > 0", "decision": "fail"}]}, ` + ignoring + "}",
		testsPath + "/hostile.json":  trusting(name, `{"decision": "pass"}`),
		testsPath + "/unknown.json":  trusting("unknown", `{"not_agents": ["finance-smo"]}`),
		testsPath + "/no-case.jsonc": "not a case",
	}))
	w.Idle()
	w.Wants(pr, "success",
		"- Warning: 2 of 3 policy tests fail: `a client` (decision: want needs_fixes, got fail (major > 0)), "+
			"`@\u200boctocat **bold** <!\u200b-- reviewgate:report --> ![x](https://evil.example/p.png) </…` (decision: want pass, got fail (major > 0)).\n",
		"`"+testsPath+"/unknown.json:2:", "the config has no agent \"finance-smo\"; did you mean \"finance-sme\"?",
	)
	got := w.Stored(pr).Review.Report.ProposedConfig.Tests
	if got == nil || got.Cases != 3 || got.Failed != 2 || len(got.Problems) != 1 || got.Failures[1].Name != name {
		t.Errorf("stored %+v", got)
	}

	// A change that touches only tests has them run under the config in force.
	only := w.Another("only", ghtest.Files{testsPath + "/more.json": trusting("more", `{"decision": "needs_fixes"}`)})
	w.Idle()
	w.Wants(only, "success", "All 3 policy tests pass.", "`"+testsPath+"/more.json`", "with the same agents and the same findings")
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	apptest.Replays(t, w.DB, nil)
}

// Secrets in what the comment says of proposed tests are replaced.
func TestProposedTestsAreRedacted(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	pr := w.Open(ghtest.Files{testsPath + "/a.json": trusting("of "+token, `{"decision": "pass", "condition": "`+token+`"}`)})
	w.Idle()
	got := w.Stored(pr).Review.Report.ProposedConfig.Tests
	if got == nil || got.Failed != 1 || !strings.Contains(got.Failures[0].Name, pipeline.RedactionMark) {
		t.Errorf("stored %+v", got)
	}
	if body := w.Comment(pr).Body; strings.Contains(body, token) {
		t.Errorf("the comment has the token:\n%s", body)
	}
}

// A case that is written from a stored review passes with the config that the review used.
func TestRecordedCasesPass(t *testing.T) {
	t.Parallel()
	url := history(t)
	reader, runner := reading(t, url)
	replayer := replay.New(runner)
	lacking, last := 0, ""
	for s, err := range reader.Archived(t.Context(), ports.ReviewFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := replayer.ConfigOf(s)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := policytest.Record(t.Context(), s, cfg, policytest.Options{Engines: runner.Engines})
		if err != nil {
			t.Fatal(err)
		}
		last = s.RunID
		if len(recorded.LeftOut) > 0 {
			lacking++
		}
		if s.Review.Previous == nil && len(recorded.LeftOut)+len(recorded.Why) > 0 && len(s.Review.Memory.Dismissed) == 0 && s.Review.Memory.ByHand == nil {
			t.Errorf("%s lacks %q, %q", s.Review.Facts.PullName(), recorded.LeftOut, recorded.Why)
		}
		report := runText(t, recorded.Text, cfg, runner.Engines)
		if report.Passed != 1 {
			t.Errorf("%s: %s\n%s", s.Review.Facts.PullName(), policytest.Text(report), recorded.Text)
		}
		if err := config.ValidateData(config.SchemaPolicyTest, recorded.Text); err != nil {
			t.Error(err)
		}
	}
	recorded, err := app.RecordTest(t.Context(), url, last)
	if err != nil || !strings.Contains(string(recorded.Text), "(run "+last+", ") {
		t.Errorf("run %s: %v", last, err)
	}
	if _, err := app.RecordTest(t.Context(), url, "none"); err == nil || !strings.Contains(err.Error(), "the database has no run none: the last line of a comment names") {
		t.Errorf("an unknown run: %v", err)
	}
	if lacking != 1 { // the dismissed finding counts in a test
		t.Errorf("%d cases lack an expectation, want one", lacking)
	}
}

func runText(t *testing.T, text []byte, cfg *config.Config, engines *run.Engines) *policytest.Report {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, config.TestsDir), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, config.TestsDir, "a.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := policytest.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases, problems, _ := policytest.Read(t.Context(), files, cfg)
	if len(problems.List) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return policytest.Run(t.Context(), cases, cfg, policytest.Options{Engines: engines})
}
