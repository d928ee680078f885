package layers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
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
func history(t *testing.T, change ...func(*apptest.World)) string {
	t.Helper()
	w := apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change...)
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
	dismissed := open("dismissed", ghtest.Files{"store/dismissed.go": apptest.Insecure}) // #3
	w.Says(dismissed, "/review dismiss "+w.Stored(dismissed).Review.Report.Findings[0].ID[:8]+" only the test server")
	open("waits", ghtest.Files{"store/waits.go": apptest.Insecure}) // #4
	merged := open("merged", ghtest.Files{"store/merged.go": calm}) // #5
	later := open("later", ghtest.Files{"store/later.go": calm})    // #6
	later.Push(ghtest.Files{"store/later.go": "package store\n"}, "fix: less")
	w.Idle()
	w.Repo.MergeGroup(merged) // its review counts nowhere, because that of #5 does
	w.Idle()
	merged.Merge()
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	return w.DB
}

// reading opens a database to read, with a runner for what is read.
func reading(t testing.TB, url string) (*store.Reader, *run.Runner) {
	t.Helper()
	reader, err := store.OpenReader(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() }) // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return reader, runner
}

// compute computes the reviews of a database under a repository's config.
func compute(t *testing.T, url string, files map[string]string, against map[string]string) *backtest.Report {
	t.Helper()
	reader, runner := reading(t, url)
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

// scanned asks an agent that never ran.
var scanned = map[string]string{
	config.FileAgents: `[{"id": "scanner", "name": "Scanner", "kind": "code-scanning", "description": "Reads alerts."}]`,
	config.FileComposition: `[{"id": "scanned", "description": "All is scanned.", "priority": 50, "trigger": {"type": "always"},
		"dispatch": {"agents": ["scanner"]}}]`,
}

// The rule that blocks Insecure is off, and another one finds the word calm.
var (
	aWarning = map[string]string{config.FileRules: `[{"id": "sec-tls-verify-01", "severity": "info"}]`}
	noGate   = map[string]string{config.FileSettings: `{"gate": {"conditions": []}}`}
	milder   = map[string]string{config.FileRules: `[{"id": "sec-tls-verify-01", "enabled": false}]`}
	stricter = map[string]string{config.FileRules: `[{"id": "no-calm", "name": "Calm code", "severity": "critical", "agent": "build-reviewer", "category": "style",
		"description": "Calm code is boring.", "detection": "The word Calm.", "recommendation": "Be lively.", "match": {"pattern": "Calm"}}]`}
)

func TestBacktest(t *testing.T) {
	t.Parallel()
	url := history(t)
	t.Run("a rule in evaluation", func(t *testing.T) {
		r := compute(t, url, tried, nil)
		if r.Changed() != 0 || len(r.Findings) > 0 || !slices.Equal(r.Evaluated, []string{"no-calm"}) || !strings.Contains(backtest.Text(r), "not counted:\n\n  no-calm\n") {
			t.Errorf("%v in evaluation:\n%s", r.Evaluated, backtest.Text(r))
		}
	})
	t.Run("the config in force", func(t *testing.T) {
		r := compute(t, url, nil, nil)
		if r.Changed() != 0 || r.UnknownReviews() != 0 || len(r.Findings)+len(r.Failed) > 0 || r.Reviews != 8 {
			t.Errorf("it changes something:\n%s", backtest.Text(r))
		}
	})
	for name, c := range map[string]struct {
		files, against   map[string]string
		blocked, passing map[string]backtest.People
	}{
		"milder": {milder, nil, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleDismissed, "acme/shop#4": backtest.PeopleNothing,
		}},
		"a milder severity": {aWarning, nil, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleDismissed, "acme/shop#4": backtest.PeopleNothing,
		}},
		"a gate without conditions": {noGate, nil, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleDismissed, "acme/shop#4": backtest.PeopleNothing,
		}},
		"stricter": {stricter, nil, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleNothing, "acme/shop#5": backtest.PeopleMerged, "acme/shop#6": backtest.PeopleFixed,
		}, nil},
		"the one against the other": {stricter, milder, map[string]backtest.People{
			"acme/shop#1": backtest.PeopleFixed, "acme/shop#2": backtest.PeopleOverrode, "acme/shop#3": backtest.PeopleDismissed, "acme/shop#4": backtest.PeopleNothing,
			"acme/shop#5": backtest.PeopleMerged, "acme/shop#6": backtest.PeopleFixed,
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
			for _, x := range slices.Concat(r.Blocked, r.Passing) {
				if !strings.Contains(x.Because, "at store/") {
					t.Errorf("%s: %q does not name the finding that decides", x.Pull, x.Because)
				}
			}
			if text := backtest.Text(r); strings.Contains(text, "by hand") || r.UnknownReviews() > 0 {
				t.Errorf("a person's decision counts, or something is unknown:\n%s", text)
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
		r := compute(t, url, scanned, nil)
		want := map[string]int{"unknown": 4, "needs_fixes": 4}
		if diff := cmp.Diff(want, to(r)); diff != "" || r.Changed() != 0 || len(r.Passing)+len(r.Blocked) > 0 || len(r.Unknown) != 1 || r.Unknown[0].Reviews != 8 {
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
		if got := to(r); got["needs_fixes"] != 8 || len(r.Unknown) > 0 {
			t.Errorf("%v, want all to block:\n%s", got, backtest.Text(r))
		}
	})
	// Settings that no rule reads make no rule's findings unknown.
	t.Run("other settings", func(t *testing.T) {
		r := compute(t, url, map[string]string{config.FileSettings: `{"thresholds": {"max_major_issues": 5}, "models": {"hold_for_person": "never", "people": ["wes"]}}`}, nil)
		if r.Changed() != 0 || len(r.Unknown) > 0 || len(r.Findings) > 0 {
			t.Errorf("they change something:\n%s", backtest.Text(r))
		}
	})
	// What another version would find differently is not what the config changes.
	t.Run("reviews of another version", func(t *testing.T) {
		reader, runner := reading(t, url)
		runner.Version = "newer"
		for name, files := range map[string]map[string]string{"the config in force": nil, "milder": milder} {
			r, err := backtest.New(runner, proposal(files), nil).Run(t.Context(), reader, ports.ReviewFilter{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(compute(t, url, files, nil), r, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-same version +newer):\n%s", name, diff)
			}
		}
	})
	t.Run("a cancelled backtest", func(t *testing.T) {
		reader, runner := reading(t, url)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			which := ports.ReviewFilter{Concerns: func(string) bool {
				cancel()
				return false
			}}
			if r, err := backtest.New(runner, proposal(milder), nil).Run(ctx, reader, which); !errors.Is(err, context.Canceled) {
				t.Fatalf("report %v, error %v, want that it was cancelled", r, err)
			}
		}
	})
	t.Run("what is unknown, compared", func(t *testing.T) {
		r := compute(t, url, stricter, scanned)
		if r.Changed() != 0 || r.UnknownReviews() != 4 || len(r.Unknown) != 1 {
			t.Errorf("%d changed, %d unknown:\n%s", r.Changed(), r.UnknownReviews(), backtest.Text(r))
		}
	})
	t.Run("in JSON", func(t *testing.T) {
		text, err := json.Marshal(compute(t, url, nil, nil))
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%v, or an empty list is null: %s", err, text)
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
