package layers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// Problems quote the config but never a secret in it, whether it is plain, cut, escaped or
// split.
func TestProblemsOfConfigShowNoSecret(t *testing.T) {
	t.Parallel()
	w := start(t)
	const start, end = "gh" + "p_1fKq8ZrT5wYv3Nc", "Xb7LmJd9PsHg2RtUaWe4Q"
	long := strings.Repeat("x", 30)
	const rules, settings = ".github/reviewgate/review-rules.json", apptest.SettingsPath
	for i, c := range [][2]string{
		{rules, `[{"id": "a ` + start + "\u200b" + end + `", "enabled": false}]`},
		{rules, `[{"id": "` + long + ` ` + start + end + `", "enabled": false}]`},
		{rules, `[{"id": "a", "` + long + start + end + `": false}]`},
		{rules, `[{"id": "a", "severity": "` + long + " " + start + end + `"}]`},
		{rules, `[{"id": "a", "match": {"on": "` + start + `\" + \"` + end + `"}}]`},
		{settings, `{"mode": "` + start + `\u200b` + end + `"}`},
		{settings, `{"` + long + "." + start + end + `": 1}`},
		{settings, `{"mode": "enforce", "` + start + end + `"`},
	} {
		shown := func(pr *ghtest.PullRequest, what string) {
			t.Helper()
			var all strings.Builder
			for _, comment := range pr.Comments() {
				all.WriteString(comment.Body)
			}
			for _, run := range pr.CheckRuns() {
				fmt.Fprint(&all, run.Title, run.Summary, run.Text, run.Annotations)
			}
			text := all.String()
			if !strings.Contains(text, c[0][strings.LastIndexByte(c[0], '/')+1:]) {
				t.Errorf("%d: the %s config is not named as broken: %s", i, what, text)
			}
			if strings.Contains(text, start) || strings.Contains(text, end) {
				t.Errorf("%d: the secret in the %s config is shown", i, what)
			}
		}
		pr := w.Another(fmt.Sprint("proposes", i), ghtest.Files{c[0]: c[1] + "\n"})
		w.Idle()
		shown(pr, "proposed")
		pr.Close() // a push to main would review open pull requests again
		w.Repo.Commit("main", ghtest.Files{c[0]: c[1] + "\n"}, "config")
		w.Idle()
		pr = w.Another(fmt.Sprint("plain", i), ghtest.Files{fmt.Sprint("a", i, ".md"): "a\n"})
		w.Idle()
		shown(pr, "base's")
		pr.Close()
		w.Repo.Commit("main", ghtest.Files{c[0]: "{}\n"}, "config")
		w.Idle()
	}
}
