package layers

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// tried is the rule of stricter, in evaluation.
var tried = map[string]string{config.FileRules: strings.Replace(stricter[config.FileRules], `"severity"`, `"mode": "evaluate", "severity"`, 1)}

func server(files map[string]string) config.Layer {
	return config.Layer{Name: config.LayerServer, Source: "test", Files: proposal(files).Files}
}

// What was evaluated on a server is what a backtest says afterwards: of a rule in evaluation, as if
// it had been enforced, and of a shadow config, as if it had been in force.
func TestEvaluated(t *testing.T) {
	t.Parallel()
	url := history(t, func(w *apptest.World) { w.Server, w.Shadow = server(tried), server(aWarning) })
	reader, _ := reading(t, url)
	got, err := backtest.Evaluate(t.Context(), reader, ports.ReviewFilter{})
	if err != nil {
		t.Fatal(err)
	}
	enforced := compute(t, url, map[string]string{config.FileRules: `[{"id": "no-calm", "mode": "enforce"}]`}, nil)
	if diff := cmp.Diff(enforced, got.Evaluation, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(backtest.Change{}, "Because")); diff != "" {
		t.Errorf("what is in evaluation (-backtest +stored):\n%s", diff)
	}
	if n := len(got.Evaluation.Blocked); n != 3 || got.Evaluation.Findings[0].LaterChanged != 1 {
		t.Errorf("%d reviews are blocked in evaluation:\n%s", n, backtest.EvaluatedText(got))
	}
	shadow := compute(t, url, aWarning, nil)
	if diff := cmp.Diff(shadow, got.Shadow, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(backtest.Report{}, "Evaluated")); diff != "" {
		t.Errorf("the shadow config (-backtest +stored):\n%s", diff)
	}
	if got.Reviews < got.Shadow.Reviews || len(got.Shadow.Passing) != 4 {
		t.Errorf("%d of %d reviews pass under the shadow config", len(got.Shadow.Passing), got.Reviews)
	}
	text := backtest.EvaluatedText(got)
	for _, want := range []string{
		"What is in evaluation, if it had been enforced\n\nOf 8 reviews, this changes 3 decisions: 3 newly blocked, 0 newly passing.",
		"acme/shop#5 head ", "no-calm", "The server's shadow config, if it had been in force\n\nOf 8 reviews, this changes 4 decisions: 0 newly blocked, 4 newly passing (people overrode 1 of them).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// A rule in evaluation leaves the check green, asks for nothing, and is listed in the check.
func TestCheckOnWhatIsInEvaluation(t *testing.T) {
	t.Parallel()
	w := apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.Server = server(tried) })
	pr := w.Open(ghtest.Files{"store/calm.go": calm})
	w.Idle()
	w.Wants(pr, "success", "No findings", "### In evaluation", "no-calm",
		"It does not count towards the decision. If it did, the change would have failed, because `critical > 0` would be true.")
	if c := w.Check(pr); len(c.Annotations) > 0 {
		t.Errorf("annotations: %+v", c.Annotations)
	}
}

// Repositories and their authors can't put into evaluation what the server made final.
func TestFinalCannotBePutInEvaluation(t *testing.T) {
	t.Parallel()
	w := apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Server = server(map[string]string{config.FileRules: `[{"id": "sec-tls-verify-01", "final": true}]`})
	})
	w.Repo.Commit("main", ghtest.Files{
		config.RepositoryDir + "/" + config.FileRules:       `[{"id": "sec-tls-verify-01", "mode": "evaluate"}]`,
		config.RepositoryDir + "/" + config.FileAgents:      `[{"id": "security-reviewer", "mode": "evaluate"}]`,
		config.RepositoryDir + "/" + config.FileComposition: `[{"id": "universal", "mode": "evaluate"}]`,
	}, "evaluate everything")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Wants(pr, "action_required", "mode can't be set to this", `"sec-tls-verify-01" is final in the server's layer`, "TLS certificates aren't verified")
	if e := w.Stored(pr).Review.Report.Evaluation; e != nil {
		t.Errorf("something is in evaluation: %+v", e)
	}
}

// A shadow config changes nothing that people see, whatever it says; a shadow that can't be computed
// is a note in the stored review.
func TestShadowAffectsNothing(t *testing.T) {
	t.Parallel()
	seen := func(shadow config.Layer) (comment, check string, stored *pipeline.Shadow) {
		w := apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.Shadow = shadow })
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
		w.Idle()
		r := w.Stored(pr)
		comment = strings.ReplaceAll(w.Comment(pr).Body, r.RunID, "RUN")
		for _, vary := range []string{`\d+(\.\d+)? m?s · run`, `"execution_timestamp": "[^"]*"`} {
			comment = regexp.MustCompile(vary).ReplaceAllString(comment, "")
		}
		return comment, w.Check(pr).Conclusion, r.Review.Shadow
	}
	wantComment, wantCheck, none := seen(config.Layer{})
	if none != nil {
		t.Errorf("there is a shadow without a shadow config: %+v", none)
	}
	organisation := `[{"id": "x", "name": "X", "kind": "rules", "description": "d", "final": true}]`
	for name, shadow := range map[string]map[string]string{
		"milder": noGate, "stricter": stricter, "not valid": {config.FileAgents: organisation, config.FileRules: "["},
	} {
		comment, check, stored := seen(server(shadow))
		if diff := cmp.Diff(wantComment, comment); diff != "" || check != wantCheck {
			t.Errorf("%s: the check is %s, want %s, and the comment differs (-without +with):\n%s", name, check, wantCheck, diff)
		}
		if stored == nil || (stored.Note != "") != (name == "not valid") {
			t.Errorf("%s: the shadow is %+v", name, stored)
		}
	}
}
