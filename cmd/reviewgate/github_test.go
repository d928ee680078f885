package main

import (
	"os"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// githubs are the stand-ins of the scripts that run.
var githubs sync.Map // *ghtest.Server by work directory

// github is a command of scripts: a stand-in for GitHub with a repository
// acme/shop, and the settings for it in the environment.
//
//	github            starts it
//	github open FILE  opens a pull request with the file
//	github quiet      fails if something was written to it
func github(ts *testscript.TestScript, _ bool, args []string) {
	work := ts.Getenv("WORK")
	if len(args) == 0 {
		gh, err := ghtest.New(ghtest.Options{Fail: ts.Fatalf})
		ts.Check(err)
		ts.Defer(func() { ts.Check(gh.Close()) })
		githubs.Store(work, gh)
		gh.Repo("acme/shop").Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
		key := ts.MkAbs("app.pem")
		ts.Check(os.WriteFile(key, gh.AppPrivateKeyPEM(), 0o600))
		for name, value := range map[string]string{
			"GITHUB_APP_INTEGRATION_ID":   strconv.FormatInt(gh.AppID(), 10),
			"GITHUB_APP_PRIVATE_KEY_FILE": key,
			"GITHUB_APP_WEBHOOK_SECRET":   "script-secret",
			"GITHUB_V3_API_URL":           gh.URL + "/api/v3/",
			"GITHUB_V4_API_URL":           gh.URL + "/api/graphql",
			"REVIEWGATE_DATABASE_URL":     "sqlite://" + ts.MkAbs("reviewgate.db"),
		} {
			ts.Setenv(name, value)
		}
		return
	}
	at, ok := githubs.Load(work)
	if !ok {
		ts.Fatalf("start github first")
	}
	gh := at.(*ghtest.Server)
	switch args[0] {
	case "open":
		gh.Repo("acme/shop").OpenPR(ghtest.PR{Head: args[1], Files: ghtest.Files{args[1]: ts.ReadFile(args[1])}})
	case "quiet":
		if writes := gh.Writes(); len(writes) != 0 {
			ts.Fatalf("written: %v", writes)
		}
	default:
		ts.Fatalf("github %s is none", args[0])
	}
}
