package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/learning"
)

func onProbation(kind ports.ProbationKind, id string) ports.Probation {
	return ports.Probation{
		Kind: kind, ID: id, Judged: 25, People: 4, Precision: 0.2, High: 0.391, Blocks: kind == ports.ProbationAgent,
		Samples: []ports.ProbationSample{{Number: 3, Path: "a.go", Line: 7, Outcome: learning.OutcomeDismissed}, {Number: 2, Outcome: learning.OutcomeFixed}},
	}
}

// probe puts rules and agents on probation.
func probe(t *testing.T, f *fixture, tell bool, all ...ports.Probation) {
	t.Helper()
	if err := f.SetProbations(f.ctx, pull(9, "aaa"), all, tell); err != nil {
		t.Fatal(err)
	}
}

func wantProbations(t *testing.T, f *fixture, want ...ports.Probation) {
	t.Helper()
	got, err := f.OnProbation(f.ctx, repoID)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v: on probation (-want +got):\n%s", err, diff)
	}
}

func wantLogged(t *testing.T, f *fixture, since time.Time, want ...ports.Target) {
	t.Helper()
	got, err := f.LoggedRepositories(f.ctx, since)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v: repositories (-want +got):\n%s", err, diff)
	}
}

var probationTests = map[string]func(*testing.T, *fixture){
	"rows are replaced, and keep the time of the first": func(t *testing.T, f *fixture) {
		wantProbations(t, f)
		rule, agent := onProbation(ports.ProbationRule, "x"), onProbation(ports.ProbationAgent, "x")
		probe(t, f, false, rule, agent)
		rule.Since, agent.Since = f.clock.Now(), f.clock.Now()
		wantProbations(t, f, agent, rule)
		f.clock.pass(time.Hour)
		next := onProbation(ports.ProbationRule, "y")
		rule.Judged, rule.Samples = 26, nil
		for range 2 {
			probe(t, f, false, next, rule)
		}
		next.Since = f.clock.Now()
		wantProbations(t, f, rule, next)
		probe(t, f, false)
		wantProbations(t, f)
		f.wantJobs(t, 0, "nothing was to be told")
	},
	"the job for the issues comes with the rows": func(t *testing.T, f *fixture) {
		probe(t, f, true, onProbation(ports.ProbationRule, "x"))
		f.wantJobs(t, 1, "the rows were stored")
		probe(t, f, true)
		f.wantJobs(t, 2, "the first job may have read the rows already")
	},
	"repositories with news in their logs": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("d1", g))
		shop := pull(0, "")
		wantLogged(t, f, time.Time{})
		probe(t, f, false, onProbation(ports.ProbationRule, "x"))
		wantLogged(t, f, time.Time{}, shop)
		wantLogged(t, f, f.clock.Now())
		probe(t, f, false)
		at := f.clock.Now()
		if err := f.Obey(f.ctx, f.acceptedCommand(t, 6, g), ports.Effect{Entry: entry("judged", at)}, nil); err != nil {
			t.Fatal(err)
		}
		wantLogged(t, f, time.Time{}, shop)
		wantLogged(t, f, at, shop)
		wantLogged(t, f, at.Add(time.Second))
	},
	"rows go with the repository": func(t *testing.T, f *fixture) {
		probe(t, f, false, onProbation(ports.ProbationRule, "x"))
		if err := f.ForgetRepository(f.ctx, repoID); err != nil {
			t.Fatal(err)
		}
		wantProbations(t, f)
	},
}
