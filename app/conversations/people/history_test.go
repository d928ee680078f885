package people

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestFixedAndBroughtBack(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()

	fix := pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")

	pr.Push(ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}, "feat: stock")
	w.Idle()
	w.Wants(pr, "success")

	pr.Push(ghtest.Files{"store/client.go": apptest.Moved}, "feat: a timeout")
	w.Idle()
	back := "was fixed in `" + fix[:7] + "`, is back"
	w.Wants(pr, "action_required", "1 new (fixed before)", back)
	w.WantsCheck(pr, "action_required", back)

	// Another review of the same head shows the same.
	before := w.Comment(pr)
	pr.Comment("alice", "/review")
	w.Idle()
	if now := w.Comment(pr); now.Edits != before.Edits {
		t.Errorf("a second review of the same head has another comment:\n%s", now.Body)
	}

	pr.Push(ghtest.Files{"store/stock.go": "package store\n\n// Stock is what is left.\nvar Stock int\n"}, "docs: stock")
	w.Idle()
	w.Wants(pr, "action_required", "1 still open")
	w.WantsNot(pr, back)
}

// The head goes back to an older commit, and that commit's findings are back.
func TestOlderHeadIsPushedAgain(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	fix := pr.ForcePush(apptest.Tested(ghtest.Files{"store/client.go": apptest.Secure}), "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")
	pr.ForcePush(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), "feat: as it was")
	w.Idle()
	w.Wants(pr, "action_required", "was fixed in `"+fix[:7]+"`, is back")
}

// A finding that stays is open wherever its code moves. It is not resolved and reported as
// new.
func TestFindingStaysTheSame(t *testing.T) {
	t.Parallel()
	for name, move := range sample.Map(t, 2, map[string]func(w *world, pr *ghtest.PullRequest){
		"its lines shift": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": apptest.Moved}, "feat: a timeout")
		},
		"its white space changes": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": strings.ReplaceAll(apptest.Insecure, "\treturn", "\t\t\n\t\treturn ")}, "style: format")
		},
		"its file is renamed, which the change itself adds": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": ghtest.Gone, "store/client_test.go": ghtest.Gone, "store/http.go": apptest.Insecure, "store/http_test.go": "package store\n"}, "refactor: rename")
		},
		"it is rebased": func(w *world, pr *ghtest.PullRequest) {
			w.Repo.Commit("main", ghtest.Files{"store/b.go": "package store\n"}, "meanwhile")
			pr.ForcePush(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), "feat: read stock from the warehouse")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
			w.Idle()
			move(w, pr)
			w.Idle()
			w.Wants(pr, "action_required", "1 still open")
			w.WantsNot(pr, "1 new")
			w.WantsNot(pr, "resolved")
		})
	}
}

// A file of the base is renamed, and its finding stays the same.
func TestFindingInARenamedFile(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"}, "feat: a client")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	pr.Push(ghtest.Files{"store/client.go": ghtest.Gone, "store/http.go": apptest.Insecure}, "refactor: rename")
	w.Idle()
	w.Wants(pr, "action_required", "store/http.go", "1 still open")
	w.WantsNot(pr, "1 new")

	fix := pr.Push(ghtest.Files{"store/http.go": apptest.Secure}, "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")
	pr.Push(ghtest.Files{"store/http.go": apptest.Insecure}, "feat: as it was")
	w.Idle()
	w.Wants(pr, "action_required", "was fixed in `"+fix[:7]+"`, is back")
}

// Two agents demand opposite changes of one line, and the comment shows both.
func TestTwoAgentsContradictEachOther(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-rules.json": `[
		{"id": "team-flag-off", "name": "Legacy stock flag in use", "severity": "warning", "agent": "build-reviewer", "category": "team",
		 "description": "The flag is two years old.", "detection": "The flag's name.", "recommendation": "Remove the flag.", "match": {"literal": "legacyStock"}},
		{"id": "team-flag-on", "name": "Legacy stock flag in use", "severity": "info", "agent": "security-reviewer", "category": "team",
		 "description": "The flag is how an attack is stopped.", "detection": "The flag's name.", "recommendation": "Keep the flag.", "match": {"literal": "legacyStock"}}
	]`}, "config")
	files := apptest.Tested(ghtest.Files{"store/client.go": strings.Replace(apptest.Secure, "// Client", "var legacyStock = true\n\n// Client", 1)})
	pr := w.Open(files)
	w.Idle()
	w.Wants(pr, "neutral", "Trade-off: Legacy stock flag in use", "build-reviewer", "security-reviewer", "Remove the flag.", "Keep the flag.")
	w.WantsCheck(pr, "neutral", "Trade-off: Legacy stock flag in use")

	// The contradiction stays the same after lines shift, and ends with its line.
	files["store/client.go"] = strings.Replace(files["store/client.go"], "var legacy", "// Old.\nvar legacy", 1)
	pr.Push(files, "docs: say what it is")
	w.Idle()
	w.Wants(pr, "neutral", "1 still open")
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "refactor: no flag")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")
}
