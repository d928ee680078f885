package backtest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

const calm = "package store\n\nfunc Calm() string { return \"calm\" }\n"

// history is a database with pull requests, and what people did with them.
func history(t *testing.T) string {
	t.Helper()
	w := apptest.Start(t)
	open := func(head string, files ghtest.Files) *ghtest.PullRequest {
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: head, Author: "mallory", Files: apptest.Tested(files)})
		w.Idle()
		return pr
	}
	fixed := open("fixed", ghtest.Files{"store/fixed.go": apptest.Insecure}) // #1
	fixed.Push(ghtest.Files{"store/fixed.go": calm}, "fix: verify")
	w.Idle()
	overridden := open("overridden", ghtest.Files{"store/overridden.go": apptest.Insecure}) // #2
	w.Repo.Grant("maria", "admin")
	overridden.Comment("maria", "/review override the warehouse has its own authority")
	w.Idle()
	open("waits", ghtest.Files{"store/waits.go": apptest.Insecure}) // #3
	merged := open("merged", ghtest.Files{"store/merged.go": calm}) // #4
	later := open("later", ghtest.Files{"store/later.go": calm})    // #5
	later.Push(ghtest.Files{"store/later.go": "package store\n"}, "fix: less")
	w.Idle()
	merged.Merge()
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	return w.DB
}

// compute computes the reviews of a database under a repository's config.
func compute(t *testing.T, url string, files map[string]string, against map[string]string) *backtest.Report {
	t.Helper()
	reader, err := store.OpenReader(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p, a := proposal(files), (*backtest.Proposal)(nil)
	if against != nil {
		other := proposal(against)
		a = &other
	}
	r, err := backtest.New(runner, p, a).Run(context.Background(), reader, ports.ReviewFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func proposal(files map[string]string) backtest.Proposal {
	p := backtest.Proposal{Layer: config.LayerRepository}
	for name, text := range files {
		p.Files = append(p.Files, config.File{Path: name, Text: []byte(text)})
	}
	return p
}

// The rule that blocks Insecure is off, and another one finds the word calm.
var (
	milder   = map[string]string{config.FileRules: `[{"id": "sec-tls-verify-01", "enabled": false}]`}
	stricter = map[string]string{config.FileRules: `[{"id": "no-calm", "name": "Calm code", "severity": "critical", "agent": "build-reviewer", "category": "style",
		"description": "Calm code is boring.", "detection": "The word Calm.", "recommendation": "Be lively.", "match": {"pattern": "Calm"}}]`}
)

func TestBacktest(t *testing.T) {
	url := history(t)
	t.Run("the config in force", func(t *testing.T) {
		r := compute(t, url, nil, nil)
		if r.Changed() != 0 || r.UnknownReviews() != 0 || len(r.Findings)+len(r.Failed) > 0 || r.Reviews < 7 {
			t.Errorf("it changes something:\n%s", backtest.Text(r))
		}
	})
	for name, c := range map[string]struct {
		files, against   map[string]string
		blocked, passing map[string]backtest.People
	}{
		"milder": {milder, nil, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleNothing,
		}},
		"stricter": {stricter, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleNothing, "acme/shop#4": backtest.PeopleMerged, "acme/shop#5": backtest.PeopleFixed,
		}, nil},
		"the one against the other": {stricter, milder, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleNothing,
			"acme/shop#4": backtest.PeopleMerged, "acme/shop#5": backtest.PeopleFixed,
		}, nil},
		"a config against itself": {stricter, stricter, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := compute(t, url, c.files, c.against)
			t.Log("\n" + backtest.Text(r))
			people := func(list []backtest.Change) map[string]backtest.People {
				out := map[string]backtest.People{}
				for _, x := range list {
					if _, later := out[x.Pull]; !later { // the first head is what the test is about
						out[x.Pull] = x.People
					}
				}
				return out
			}
			if diff := cmp.Diff(c.blocked, people(r.Blocked), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("newly blocked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.passing, people(r.Passing), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("newly passing (-want +got):\n%s", diff)
			}
		})
	}
	// What a proposal would decide does not depend on what it is compared with.
	t.Run("one after the other", func(t *testing.T) {
		alone, after := compute(t, url, stricter, nil), compute(t, url, stricter, milder)
		if diff := cmp.Diff(to(alone), to(after)); diff != "" {
			t.Errorf("(-alone +after another):\n%s", diff)
		}
	})
	// An agent that never ran may find anything: what passes without it is unknown, and what blocks
	// without it blocks.
	t.Run("an agent that never ran", func(t *testing.T) {
		r := compute(t, url, map[string]string{
			config.FileAgents: `[{"id": "scanner", "name": "Scanner", "kind": "code-scanning", "description": "Reads alerts."}]`,
			config.FileComposition: `[{"id": "scanned", "description": "All is scanned.", "priority": 50, "trigger": {"type": "always"},
				"dispatch": {"agents": ["scanner"]}}]`,
		}, nil)
		want := map[string]int{"unknown": 4, "needs_fixes": 3}
		if diff := cmp.Diff(want, to(r)); diff != "" || r.Changed() != 0 || len(r.Passing)+len(r.Blocked) > 0 || len(r.Unknown) != 1 || r.Unknown[0].Reviews != 7 {
			t.Errorf("(-want +got):\n%s\n%s", diff, backtest.Text(r))
		}
	})
	// A required agent that asks a model fails if the server has none.
	t.Run("an agent without a model", func(t *testing.T) {
		r := compute(t, url, map[string]string{
			config.FileAgents: `[{"id": "judge", "name": "Judge", "kind": "llm", "description": "Judges.", "llm": {"prompt": "build-reviewer"}}]`,
			config.FileComposition: `[{"id": "judged", "description": "All is judged.", "priority": 50, "trigger": {"type": "always"},
				"dispatch": {"agents": ["judge"], "required": true}}]`,
		}, nil)
		if got := to(r); got["needs_fixes"] != 7 || len(r.Unknown) > 0 {
			t.Errorf("%v, want all to block:\n%s", got, backtest.Text(r))
		}
	})
	t.Run("in JSON", func(t *testing.T) {
		if _, err := json.Marshal(compute(t, url, milder, nil)); err != nil {
			t.Error(err)
		}
	})
}

// to counts the decisions under the proposal.
func to(r *backtest.Report) map[string]int {
	out := map[string]int{}
	for _, d := range r.Decisions {
		out[string(d.To)] += d.Reviews
	}
	return out
}
