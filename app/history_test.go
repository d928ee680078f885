package app

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// tested is what a change brings besides the client, so that nothing else is
// found in it.
func tested(files ghtest.Files) ghtest.Files {
	files["store/client_test.go"] = "package store\n"
	return files
}

// moved is the insecure client, further down in its file.
var moved = strings.Replace(insecure, "// Client talks", "// Timeout is in seconds.\nconst Timeout = 5\n\n// Client talks", 1)

// wantsNot fails if the comment has the text.
func (w *world) wantsNot(pr *ghtest.PullRequest, text string) {
	w.Helper()
	if body := w.comment(pr).Body; strings.Contains(body, text) {
		w.Errorf("the comment has %q:\n%s", text, body)
	}
}

func TestFixedAndBroughtBack(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()

	fix := pr.Push(ghtest.Files{"store/client.go": secure}, "fix: verify certificates")
	w.idle()
	w.wants(pr, "success", "1 resolved")

	pr.Push(ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}, "feat: stock")
	w.idle()
	w.wants(pr, "success")

	pr.Push(ghtest.Files{"store/client.go": moved}, "feat: a timeout")
	w.idle()
	back := "was fixed in `" + fix[:7] + "`, is back"
	w.wants(pr, "action_required", "1 new (fixed before)", back)
	w.wantsCheck(pr, "action_required", back)

	// A second look at the same head says the same.
	before := w.comment(pr)
	pr.Comment("alice", "/review")
	w.idle()
	if now := w.comment(pr); now.Edits != before.Edits {
		t.Errorf("a second review of the same head says something else:\n%s", now.Body)
	}

	pr.Push(ghtest.Files{"store/stock.go": "package store\n\n// Stock is what is left.\nvar Stock int\n"}, "docs: stock")
	w.idle()
	w.wants(pr, "action_required", "1 still open")
	w.wantsNot(pr, back)
}

// The head goes back to an older commit: what that commit had is back.
func TestOlderHeadIsPushedAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	fix := pr.ForcePush(tested(ghtest.Files{"store/client.go": secure}), "fix: verify certificates")
	w.idle()
	w.wants(pr, "success", "1 resolved")
	pr.ForcePush(tested(ghtest.Files{"store/client.go": insecure}), "feat: as it was")
	w.idle()
	w.wants(pr, "action_required", "was fixed in `"+fix[:7]+"`, is back")
}

// What stays is open, and not resolved and new, wherever the code goes.
func TestFindingStaysTheSame(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(w *world, pr *ghtest.PullRequest){
		"its lines shift": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": moved}, "feat: a timeout")
		},
		"its white space changes": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": strings.ReplaceAll(insecure, "\treturn", "\t\t\n\t\treturn ")}, "style: format")
		},
		"its file is renamed, which the change itself adds": func(_ *world, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{"store/client.go": ghtest.Gone, "store/client_test.go": ghtest.Gone, "store/http.go": insecure, "store/http_test.go": "package store\n"}, "refactor: rename")
		},
		"it is rebased": func(w *world, pr *ghtest.PullRequest) {
			w.repo.Commit("main", ghtest.Files{"store/b.go": "package store\n"}, "meanwhile")
			pr.ForcePush(tested(ghtest.Files{"store/client.go": insecure}), "feat: read stock from the warehouse")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
			w.idle()
			move(w, pr)
			w.idle()
			w.wants(pr, "action_required", "1 still open")
			w.wantsNot(pr, "1 new")
			w.wantsNot(pr, "resolved")
		})
	}
}

// A file that the base has is renamed, and what was found in it stays the same.
func TestFindingInARenamedFile(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{"store/client.go": secure, "store/client_test.go": "package store\n"}, "feat: a client")
	w.idle()
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	pr.Push(ghtest.Files{"store/client.go": ghtest.Gone, "store/http.go": insecure}, "refactor: rename")
	w.idle()
	w.wants(pr, "action_required", "store/http.go", "1 still open")
	w.wantsNot(pr, "1 new")

	fix := pr.Push(ghtest.Files{"store/http.go": secure}, "fix: verify certificates")
	w.idle()
	w.wants(pr, "success", "1 resolved")
	pr.Push(ghtest.Files{"store/http.go": insecure}, "feat: as it was")
	w.idle()
	w.wants(pr, "action_required", "was fixed in `"+fix[:7]+"`, is back")
}

// Two agents want opposite things of one line: the comment shows both sides.
func TestTwoAgentsContradictEachOther(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{".github/reviewgate/review-rules.json": `[
		{"id": "team-flag-off", "name": "Legacy stock flag in use", "severity": "warning", "agent": "build-reviewer", "category": "team",
		 "description": "The flag is two years old.", "detection": "The flag's name.", "recommendation": "Remove the flag.", "match": {"literal": "legacyStock"}},
		{"id": "team-flag-on", "name": "Legacy stock flag in use", "severity": "info", "agent": "security-reviewer", "category": "team",
		 "description": "The flag is how an attack is stopped.", "detection": "The flag's name.", "recommendation": "Keep the flag.", "match": {"literal": "legacyStock"}}
	]`}, "config")
	files := tested(ghtest.Files{"store/client.go": strings.Replace(secure, "// Client", "var legacyStock = true\n\n// Client", 1)})
	pr := w.open(files)
	w.idle()
	w.wants(pr, "neutral", "Trade-off: Legacy stock flag in use", "build-reviewer", "security-reviewer", "Remove the flag.", "Keep the flag.")
	w.wantsCheck(pr, "neutral", "Trade-off: Legacy stock flag in use")

	// The dispute is the same one after lines shifted, and gone with its line.
	files["store/client.go"] = strings.Replace(files["store/client.go"], "var legacy", "// Old.\nvar legacy", 1)
	pr.Push(files, "docs: say what it is")
	w.idle()
	w.wants(pr, "neutral", "1 still open")
	pr.Push(ghtest.Files{"store/client.go": secure}, "refactor: no flag")
	w.idle()
	w.wants(pr, "success", "1 resolved")
}
