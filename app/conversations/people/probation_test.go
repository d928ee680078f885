package people

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// dropped is a shipped rule that gives a warning, and droppedError a file that breaks it.
const dropped = "build-go-drop-error-01"

func droppedError(name string) ghtest.Files {
	return ghtest.Files{"store/" + name + ".go": "package store\n\n// Close" + name + " ends it.\nfunc Close" + name + "() {\n\terr := end()\n\t_ = err\n}\n"}
}

// probing is a world whose App may write issues, and whose repository has the settings.
func probing(t *testing.T, settings string) *world {
	t.Helper()
	may := ghtest.DefaultPermissions()
	may["issues"] = "write"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: may, Events: append(ghtest.DefaultEvents(), "issues")})
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: settings}, "settings")
	return w
}

// proposed opens a pull request and waits for its review.
func (w *world) proposed(name string) *ghtest.PullRequest {
	w.Helper()
	pr := w.Another(name, droppedError(name))
	w.Idle()
	return pr
}

// judge writes logs of pull requests in which three people dismissed a finding of the rule as a false
// positive, each in a third of them. The pull requests are like that of pr, and forgotten by now.
func (w *world) judge(pr *ghtest.PullRequest, rule string, pulls int) {
	w.Helper()
	like, err := w.App.Inside().Store.Target(w.Context(), w.Key(pr))
	if err != nil {
		w.Fatal(err)
	}
	if err := w.Stop(); err != nil {
		w.Fatal(err)
	}
	s, err := store.Open(w.Context(), w.DB, store.Options{Log: zerolog.Nop(), Unsynced: true})
	if err != nil {
		w.Fatal(err)
	}
	for i := range pulls {
		g := like.Target
		g.Number, g.HeadSHA = 1000+i, fmt.Sprintf("%040x", i+1)
		w.judged(s, g, rule, fmt.Sprintf("person %d", i%3))
	}
	if err := s.Close(); err != nil {
		w.Fatal(err)
	}
	w.StartApp()
	w.Idle()
}

func (w *world) judged(s *store.Store, g ports.Target, rule, person string) {
	w.Helper()
	ctx, run := w.Context(), "run of "+g.Key()
	said := ports.Command{Place: ports.PlaceConversation, CommentID: int64(g.Number), Target: g, Sender: "ann", Author: "bob", Name: "dismiss"}
	f := learning.Finding{
		ID: fmt.Sprintf("%016x", g.Number), Agent: "build-reviewer", Rule: rule, Severity: pipeline.SeverityWarning, Gate: pipeline.SeverityWarning,
		Path: "store/old.go", First: 6, Status: learning.StatusOpen,
	}
	repository := g.Owner + "/" + g.Name
	if _, err := s.Accept(ctx, ports.Delivery{GUID: run, Event: "pull_request", Installation: g.Installation, RepoID: g.RepoID, Asks: []ports.Ask{ports.ReviewAsk{Target: g}, said}}); err != nil {
		w.Fatal(err)
	}
	held := func() ports.Lease {
		l, ok, err := s.Acquire(ctx, g.Key(), "test", time.Minute)
		if err != nil || !ok {
			w.Fatalf("take the lease: %t, %v", ok, err)
		}
		return l
	}
	review := ports.StoredReview{RunID: run, Key: g.Key(), Generation: 1, RepoID: g.RepoID, HeadSHA: g.HeadSHA, Entry: &learning.Entry{
		Event: run, Kind: learning.KindReview, Repository: repository, Number: g.Number,
		Review: &learning.Review{HeadSHA: g.HeadSHA, Findings: pipeline.List[learning.Finding]{f}},
	}}
	judged := learning.Entry{
		Event: "said", Kind: learning.KindJudged, At: time.Now(), Repository: repository, Number: g.Number,
		Judged: &learning.Judged{Findings: pipeline.List[string]{f.ID}, Verdict: learning.Dismissed, Class: learning.FalsePositive, Person: person},
	}
	if err := s.SaveReview(ctx, held(), review); err != nil {
		w.Fatal(err)
	}
	if err := s.MarkPublished(ctx, run); err != nil {
		w.Fatal(err)
	}
	if err := s.Obey(ctx, said, ports.Effect{Entry: &judged}, nil); err != nil {
		w.Fatal(err)
	}
	if err := s.ForgetTarget(ctx, held()); err != nil { // its log stays
		w.Fatal(err)
	}
}

// probe looks for rules and agents that people judge wrong too often.
func (w *world) probe() {
	w.Helper()
	w.Work(ports.JobProbation)
	w.Idle()
}

// proposal returns the App's one issue.
func (w *world) proposal() ghtest.Issue {
	w.Helper()
	all := slices.DeleteFunc(w.Repo.Issues.All(), func(i ghtest.Issue) bool { return i.Author != w.GH.AppLogin() })
	if len(all) != 1 {
		w.Fatalf("the App has %d issues, want 1: %+v", len(all), all)
	}
	return all[0]
}

// enforced reports whether a review has a finding of the rule.
func (w *world) enforced(pr *ghtest.PullRequest, rule string) bool {
	w.Helper()
	return slices.ContainsFunc(w.Stored(pr).Review.Report.Findings, func(f pipeline.Finding) bool { return f.RuleID == rule })
}

// wantsLine fails unless the check's summary names the rule as one in evaluation, or does not.
func (w *world) wantsLine(pr *ghtest.PullRequest, rule string, want bool) {
	w.Helper()
	line := "The rule `" + rule + "` is in evaluation, because people dismissed its findings as false positives too often."
	if summary := w.Check(pr).Summary; strings.Contains(summary, line) != want {
		w.Errorf("the summary has the line: %t, want %t\n%s", !want, want, summary)
	}
}

// A rule that people judge wrong too often becomes an issue with three samples and the patch. It goes
// on counting. The patch puts it in evaluation, and that closes the issue.
func TestRuleThatIsOftenWrongIsProposed(t *testing.T) {
	t.Parallel()
	w := probing(t, `{"issues": {"probation": true, "labels": ["learning"]}}`)
	first := w.proposed("first")
	w.probe()
	if n := len(w.Repo.Issues.All()); n != 0 {
		t.Errorf("%d issues before anybody judged", n)
	}
	w.judge(first, dropped, 20)
	w.probe()
	i := w.proposal()
	if i.State != "open" || i.Title != "Rule often wrong: "+dropped || !slices.Equal(i.Labels, []string{"learning"}) {
		t.Errorf("issue %+v", i)
	}
	for _, text := range []string{
		"<!-- reviewgate:probation ", "was right in 0 of the 20 pull requests in which it was judged. 3 people, none an author of the change, dismissed", "the bar is 50 %",
		"- #1019, `store/old.go:6`: dismissed as a false positive\n- #1018, ", "run `reviewgate config apply patch.json --file review-rules.json`. It changes `.github/reviewgate/review-rules.json`:",
	} {
		if !strings.Contains(i.Body, text) {
			t.Errorf("the issue lacks %q:\n%s", text, i.Body)
		}
	}
	w.probe()
	if again := w.proposal(); again.Body != i.Body {
		t.Errorf("the issue changed:\n%s", again.Body)
	}
	second := w.proposed("second")
	w.wantsLine(second, dropped, false)
	if !w.enforced(second, dropped) {
		t.Error("the rule does not count although it is only proposed")
	}

	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: patched(t, i.Body)}, "evaluate")
	w.Idle()
	third := w.proposed("third")
	w.wantsLine(third, dropped, false)
	if w.enforced(third, dropped) || w.Stored(third).Review.Report.Evaluation == nil {
		t.Error("the patch did not put the rule in evaluation")
	}
	w.probe()
	if i := w.proposal(); i.State != "closed" || !strings.Contains(i.Body, "**Settled**") {
		t.Errorf("the issue is %s:\n%s", i.State, i.Body)
	}
}

// patched applies the patch of an issue to a repository without the file.
func patched(t *testing.T, body string) string {
	t.Helper()
	_, text, _ := strings.Cut(body, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &ops); err != nil || len(ops) != 1 || ops[0].Op != "add" || ops[0].Path != "/items/-" {
		t.Fatalf("%v: patch %s", err, text)
	}
	return "[" + string(ops[0].Value) + "]"
}

// With the setting auto, the rule is in evaluation from the next review on, also after its judgements
// are too old to count. The check says so until a person answers.
func TestRuleThatIsOftenWrongIsPutInEvaluation(t *testing.T) {
	t.Parallel()
	w := probing(t, `{"probation": "auto", "issues": {"probation": true}}`)
	first := w.proposed("first")
	w.judge(first, dropped, 20)
	w.probe()
	if i := w.proposal(); !strings.Contains(i.Body, "reviewgate has put it in evaluation until you decide.") {
		t.Errorf("the issue does not say what was done:\n%s", i.Body)
	}
	second := w.proposed("second")
	w.wantsLine(second, dropped, true)
	w.WantsCheck(second, "success")
	report := w.Stored(second).Review.Report
	if w.enforced(second, dropped) || !slices.Equal(report.Probation, []string{dropped}) || report.Evaluation == nil || len(report.Evaluation.Findings) != 1 {
		t.Errorf("on probation %v, evaluation %+v", report.Probation, report.Evaluation)
	}
	if layers := w.Stored(second).Review.Facts.Config.Layers; !slices.ContainsFunc(layers, func(l pipeline.ConfigLayer) bool { return l.Name == config.LayerProbation && l.Used }) {
		t.Errorf("layers %+v", layers)
	}
	w.probe()
	if w.proposal().State != "open" {
		t.Error("nobody answered, and the issue is closed")
	}

	const keep = `[{"id": "` + dropped + `", "mode": "enforce"}]`
	asks := droppedError("asks")
	asks[apptest.RulesPath] = keep
	answer := w.Another("asks", asks)
	w.Idle()
	w.wantsLine(answer, dropped, true)
	if p := w.Stored(answer).Review.Report.ProposedConfig; p.FindingsNew != 1 || p.Decision != pipeline.DecisionPassWithWarnings {
		t.Errorf("the proposed answer would bring %d findings and %s", p.FindingsNew, p.Decision)
	}

	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: keep}, "keep it")
	w.Idle()
	third := w.proposed("third")
	w.wantsLine(third, dropped, false)
	if !w.enforced(third, dropped) {
		t.Error("a person kept the rule, and it does not count")
	}
	w.probe()
	if i := w.proposal(); i.State != "closed" {
		t.Errorf("the issue is still open:\n%s", i.Body)
	}
	w.computedAgain(keep)
}

// computedAgain ends the App. It replays the reviews, backtests them under config that enforces the rule,
// and counts what was evaluated: the rule was in evaluation in two pull requests.
func (w *world) computedAgain(keep string) {
	w.Helper()
	if err := w.Stop(); err != nil {
		w.Fatal(err)
	}
	reader, err := store.OpenReader(w.Context(), w.DB)
	if err != nil {
		w.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now})
	if err != nil {
		w.Fatal(err)
	}
	reviews := 0
	for r, err := range replay.New(runner).All(w.Context(), reader, ports.ReviewFilter{}) {
		if err != nil || !r.Identical {
			w.Errorf("the replay of %s differs: %v, %v", r.RunID, err, r.Differs)
		}
		reviews++
	}
	if reviews < 4 {
		w.Errorf("only %d reviews were replayed", reviews)
	}
	proposal := backtest.Proposal{Layer: config.LayerRepository, Files: []config.File{{Path: config.FileRules, Text: []byte(keep)}}}
	report, err := backtest.New(runner, proposal, nil).Run(w.Context(), reader, ports.ReviewFilter{})
	if err != nil {
		w.Fatal(err)
	}
	stored, err := backtest.Evaluate(w.Context(), reader, ports.ReviewFilter{})
	if err != nil {
		w.Fatal(err)
	}
	for what, found := range map[string]pipeline.List[backtest.Finding]{"backtest": report.Findings, "evaluation": stored.Evaluation.Findings} {
		if len(found) != 1 || found[0].Rule != dropped || found[0].Gained != 2 {
			w.Errorf("%s: %+v, want two new findings", what, found)
		}
	}
}

// Whatever is stored, nothing serious is put in evaluation: no rule that gives majors, nothing final,
// no secrets, no rule of the repository's own.
func TestOnlyMinorRulesOfTheDefaultsArePutInEvaluation(t *testing.T) {
	t.Parallel()
	const final = "build-go-context-todo-01"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Server = config.Layer{Name: config.LayerServer, Source: "test", Files: []config.File{
			{Path: config.FileSettings, Text: []byte(`{"probation": "auto"}`)},
			{Path: config.FileRules, Text: []byte(`[{"id": "` + final + `", "final": true}]`)},
		}}
	})
	own := strings.Replace(apptest.OwnRule("own-word", "frobnicate", ""), `"major"`, `"warning"`, 1)
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[" + own + "]"}, "rules")
	files := droppedError("all")
	files["store/insecure.go"] = apptest.Insecure
	files["store/rest.go"] = "package store\n\nimport \"context\"\n\n// frobnicate it.\nvar Ctx = context.TODO()\n"
	files["store/token.go"] = "package store\n\nconst token = \"" + apptest.Token + "\"\n"
	first := w.Another("first", files)
	w.Idle()
	before := w.Stored(first).Review.Report
	repo, err := w.App.Inside().Store.Target(t.Context(), w.Key(first))
	if err != nil {
		t.Fatal(err)
	}
	var rows []ports.Probation
	for _, f := range before.Findings {
		rows = append(rows, ports.Probation{Kind: ports.ProbationRule, ID: f.RuleID}, ports.Probation{Kind: ports.ProbationAgent, ID: f.Agent})
	}
	slices.SortFunc(rows, func(a, b ports.Probation) int { return strings.Compare(string(a.Kind)+a.ID, string(b.Kind)+b.ID) })
	rows = slices.CompactFunc(rows, func(a, b ports.Probation) bool { return a.Kind == b.Kind && a.ID == b.ID })
	if err := w.App.Inside().Store.SetProbations(t.Context(), repo.Target, rows, false); err != nil {
		t.Fatal(err)
	}
	second := w.Another("second", files)
	w.Idle()
	after := w.Stored(second).Review.Report
	if !slices.Equal(after.Probation, []string{dropped}) {
		t.Errorf("on probation %v, want only %s", after.Probation, dropped)
	}
	var lost []string
	for _, f := range before.Findings {
		if !slices.ContainsFunc(after.Findings, func(x pipeline.Finding) bool { return x.RuleID == f.RuleID && x.Path == f.Path }) {
			lost = append(lost, f.RuleID)
		}
	}
	if !slices.Equal(lost, []string{dropped}) || after.Decision != before.Decision || len(before.Findings) < 5 {
		t.Errorf("of %d findings, %q are gone; decision %s, before %s", len(before.Findings), lost, after.Decision, before.Decision)
	}
}
