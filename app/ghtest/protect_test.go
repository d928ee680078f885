package ghtest_test

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A required check blocks a merge until it has succeeded and comes from the required App.
func TestMergeable(t *testing.T) {
	gh, repo, inst := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.go": "package a\n"}})
	wants := func(want bool, words string) {
		t.Helper()
		ok, why := pr.Mergeable()
		if ok != want || !strings.Contains(why, words) {
			t.Errorf("mergeable %t (%s), want %t (%s)", ok, why, want, words)
		}
	}
	check := func(status, conclusion string) {
		t.Helper()
		body := map[string]any{"name": "reviewgate", "head_sha": pr.HeadSHA(), "status": status}
		if conclusion != "" {
			body["conclusion"] = conclusion
		}
		inst.want(inst.do("POST", "/repos/acme/shop/check-runs", body), 201)
	}
	wants(true, "")
	for name, demand := range map[string]func(ghtest.RequiredCheck){
		"ruleset": func(c ghtest.RequiredCheck) {
			repo.Settings.AddRules("main", ghtest.Rule{Type: "deletion"}, ghtest.RequireChecks(c))
		},
		"branch protection": func(c ghtest.RequiredCheck) { repo.Settings.Protect("main", c) },
	} {
		pr.Push(ghtest.Files{"b.go": "package b // " + name + "\n"}, name)
		demand(ghtest.RequiredCheck{Name: "reviewgate", App: gh.AppID()})
		wants(false, "expected")
		repo.Checks.OtherCheck("another-app", "reviewgate", pr.HeadSHA(), "success")
		wants(false, "expected")
		check("in_progress", "")
		wants(false, "in_progress")
		check("completed", "action_required")
		wants(false, "action_required")
		check("completed", "neutral")
		wants(true, "")
		repo.Settings.DropRules("main")
		repo.Settings.Protect("main")
	}
	repo.Settings.Protect("main", ghtest.RequiredCheck{Name: "ci"})
	repo.Checks.OtherCheck("another-app", "ci", pr.HeadSHA(), "failure")
	wants(false, "ci: failure")
}
