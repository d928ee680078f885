package people

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/analytics"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// summary is what analytics say of everything so far.
func (w *world) summary() *analytics.Summary {
	w.Helper()
	s, err := analytics.Summarise(w.Context(), w.App.Inside().Store.Logs(w.Context(), ports.LogFilter{}), analytics.Options{})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// services is a config with one service.
const services = `[{"id": "warehouse", "type": "service", "service": "warehouse", "description": "d", "globs": ["store/**"]}]`

// In ten pull requests, people dismiss, accept, override, merge and reopen. The figures that analytics
// show are counted here by hand, memory hides what carol judged wrong, and a backtest says what the
// rule's removal would have changed.
func TestTenPullRequests(t *testing.T) {
	t.Parallel()
	const title = "The request can't be cancelled"
	both := false // models find it, and hold it to be grave
	_, change := apptest.WithModels(t, `{}`, func(r *llmtest.Request) llmtest.Reply {
		switch {
		case apptest.IsSpec(r) || !strings.Contains(r.Text, "DefaultClient.Get"):
			return apptest.Found("major")
		case both:
			return apptest.Found("major", title)
		case r.Model == "big-1":
			return apptest.Found("major")
		}
		return apptest.FoundWith(0.75, "warning", title)
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	w.Repo.Grant("carol", "maintain")
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/" + config.FileDomains: services}, "chore: services")
	w.Idle()
	number := 0
	opened := func(text string) *ghtest.PullRequest {
		t.Helper()
		number++
		text = strings.NewReplacer("func Client", fmt.Sprint("func Client", number), "func Stock", fmt.Sprint("func Stock", number)).Replace(text)
		name := fmt.Sprint("client", number)
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: " + name, Body: apptest.GoodBody, Head: name, Files: ghtest.Files{"store/client.go": text, "store/client_test.go": "package store\n"}})
		w.Idle()
		return pr
	}
	say := func(pr *ghtest.PullRequest, command string) {
		t.Helper()
		f := w.Stored(pr).Review.Report.Findings
		if len(f) != 1 {
			t.Fatalf("#%d has %d findings", pr.Number, len(f))
		}
		w.Says(pr, strings.Replace(command, "ID", f[0].ID[:8], 1))
	}
	end := func(pr *ghtest.PullRequest, how func()) {
		how()
		w.Idle()
	}

	one := opened(apptest.Insecure) // fixed
	one.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify")
	w.Idle()
	end(one, func() { one.Close() })
	two := opened(apptest.Insecure)
	w.Says(two, "/review override the warehouse is closed today")
	end(two, func() { two.Merge() })
	w.Repo.Commit("main", ghtest.Files{"store/client.go": ghtest.Gone, "store/client_test.go": ghtest.Gone}, "revert: client")
	three := opened(apptest.Insecure)
	say(three, "/review dismiss ID false_positive the warehouse has its own certificate")
	end(three, func() { three.Close() })
	four := opened(apptest.Insecure)
	say(four, "/review accept ID")
	five := opened(apptest.Insecure)
	end(five, func() { five.Close() })
	six := opened(apptest.Insecure)
	end(six, func() { six.Close() })
	end(six, func() { six.Reopen() })
	seven := opened(apptest.Unbounded)
	end(seven, func() { seven.Merge() })
	w.Repo.Commit("main", ghtest.Files{"store/client.go": ghtest.Gone, "store/client_test.go": ghtest.Gone}, "revert: client")
	eight := opened(apptest.Unbounded)
	say(eight, "/review dismiss ID false_positive the warehouse answers within a second")
	w.Wants(eight, "success", "M-2")
	nine := opened(apptest.Unbounded) // the like, which memory hides
	w.Wants(nine, "success", "idden by", "M-2", "the warehouse answers within a second")
	both = true
	ten := opened(apptest.Unbounded) // both models find it, so that it blocks
	w.Wants(ten, "action_required", "dismissed similar findings as false positives", "M-2")

	s := w.summary()
	t.Log("\n" + analytics.Text(s))
	totals := s.Totals
	if n := totals.PullRequests; n != 10 {
		t.Errorf("%d pull requests", n)
	}
	if diff := cmp.Diff(analytics.Outcomes{Fixed: 1, Overridden: 1, Dismissed: 2, Accepted: 1, Closed: 1, MergedOpen: 1, Open: 2}, totals.Findings.Outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if totals.Findings.Shown != 9 || totals.Findings.Unshown != 1 || totals.Findings.Dismissals != (analytics.Dismissals{FalsePositive: 2}) || totals.Human.Override != 1 {
		t.Errorf("%+v", totals)
	}
	rows := map[string]analytics.Row{}
	for _, table := range s.Tables {
		for _, r := range table.Rows {
			rows[string(table.By)+" "+r.Name] = r
		}
	}
	rule, small := rows["rule sec-tls-verify-01"], rows["model small"]
	if rule.Shown != 6 || rule.Blocking.Shown != 6 || rule.Blocking.Judged != 3 || rule.Blocking.Right != 2 || rule.Other.Shown != 0 || rule.Addressed() != 2 {
		t.Errorf("the rule: %+v", rule)
	}
	if small.Shown != 3 || small.Unshown != 1 || small.Other.Shown != 2 || small.Other.Judged != 1 || small.Other.Right != 0 || small.Blocking.Shown != 1 {
		t.Errorf("the model: %+v", small)
	}
	if len(s.Probation) != 0 {
		t.Errorf("on probation after three judgements: %+v", s.Probation)
	}
	w.memoryAfterTen()
	w.backtestAfterTen()
	w.Says(six, "/review status")
	w.Wants(six, "action_required", "10 pull requests", "9 findings")
}

// memoryAfterTen compares memory with what carol taught: a record about the rule, which only a config
// patch could follow, and one about what models say.
func (w *world) memoryAfterTen() {
	w.Helper()
	all, err := w.App.Inside().Store.MemoryRecords(w.Context(), ports.MemoryFilter{RepoID: w.Repo.ID()})
	if err != nil {
		w.Fatal(err)
	}
	var got []string
	for _, r := range all {
		w.Logf("memory: %+v", r)
		got = append(got, fmt.Sprintf("%s %s %s %q hits %d", r.Name(), r.State, r.About.Service, r.About.Rule, r.Hits))
	}
	want := []string{`M-1 proposed warehouse "sec-tls-verify-01" hits 0`, `M-2 active warehouse "" hits 1`}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("memory (-want +got):\n%s", diff)
	}
}

// backtestAfterTen says what would have changed without the rule.
func (w *world) backtestAfterTen() {
	w.Helper()
	proposal := backtest.Proposal{Layer: config.LayerRepository, Files: []config.File{
		{Path: config.FileRules, Text: []byte(`[{"id": "sec-tls-verify-01", "enabled": false}]`)}, {Path: config.FileDomains, Text: []byte(services)},
	}}
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now})
	if err != nil {
		w.Fatal(err)
	}
	report, err := backtest.New(runner, proposal, nil).
		Run(w.Context(), w.App.Inside().Store.Archive, ports.ReviewFilter{})
	if err != nil {
		w.Fatal(err)
	}
	w.Log("\n" + backtest.Text(report))
	if len(report.Blocked)+len(report.Other) != 0 || len(report.Passing) != 6 || report.PassingOverridden != 1 {
		w.Errorf("%d newly blocked, %d newly passing, %d overridden: %+v", len(report.Blocked), len(report.Passing), report.PassingOverridden, report)
	}
	people := map[backtest.People]int{}
	for _, c := range report.Passing {
		people[c.People]++
	}
	want := map[backtest.People]int{pipeline.PeopleFixed: 1, pipeline.PeopleOverrode: 1, pipeline.PeopleDismissed: 1, pipeline.PeopleAccepted: 1, pipeline.PeopleClosed: 1, pipeline.PeopleNothing: 1}
	if diff := cmp.Diff(want, people); diff != "" {
		w.Errorf("what people did (-want +got):\n%s", diff)
	}
}
