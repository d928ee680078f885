package pulls

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A line that only looks like a comment is code, wherever the author puts the file.
func TestCommentLookalikesHideNothing(t *testing.T) {
	t.Parallel()
	const tls = "rejectUnauthorized: false"
	const sh = "curl -k https://example.com/a\n"
	w := start(t)
	pr := w.Open(ghtest.Files{
		"a/minus.js":            "let n = 1\n--n; connect({ " + tls + " })\n",
		"a/times.js":            "let n = 2\n* connect({ " + tls + " })\n",
		"a/ended.js":            "/* a\n*/ connect({ " + tls + " })\n",
		"a/private.js":          "class A {\n  #a = connect({ " + tls + " })\n}\n",
		"a/separator.js":        "let n = 1\n// a\u2028connect({ " + tls + " })\n",
		"a/regexp.js":           "let n = /[/*]/\nconnect({ " + tls + " })\n",
		"a/template.js":         "let n = `\n// ${connect({ " + tls + " })}`\n",
		"a/floor.py":            "n = (7\n// get(url, verify=False))\n",
		"testdata/client.js":    "let n = 1\nconnect({ " + tls + " })\n",
		"spec/client.js":        "let n = 1\nconnect({ " + tls + " })\n",
		"examples/client.js":    "let n = 1\nconnect({ " + tls + " })\n",
		"src/client.test.js":    "let n = 1\nconnect({ " + tls + " })\n",
		"vendor/client.test.js": "let n = 1\nconnect({ " + tls + " })\n",
		"a/heredoc.sh":          "node <<EOF\n#a = connect({ " + tls + " })\nEOF\n",
		"a/statement.js":        "let n = 1\n--n; if (n = 2) { go() }\n",
		"a/run.sh.j2":           "set -e\n" + sh,
		"a/dockerfile":          "FROM a\nRUN " + sh,
		"a/run.txt":             "#!/bin/sh\n" + sh,
		"hooks/pre-commit":      "set -e\n" + sh,
	})
	w.Idle()
	for _, path := range []string{"a/minus.js", "a/times.js", "a/ended.js", "a/private.js", "a/separator.js", "a/regexp.js", "a/template.js", "a/floor.py",
		"testdata/client.js", "spec/client.js", "examples/client.js", "src/client.test.js", "vendor/client.test.js",
		"a/heredoc.sh", "a/statement.js", "a/run.sh.j2", "a/dockerfile", "a/run.txt", "hooks/pre-commit"} {
		w.Wants(pr, "action_required", path+":2")
	}
}

// Code in another spelling, or spread over several lines, is the same code.
func TestSpellingHidesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	files := ghtest.Files{
		"a/lines.py":    "import os\nos.\\\n    system(f\"rm {d}\")\n",
		"a/argument.py": "import os\nos.system(\n    f\"rm {d}\")\n",
		"a/blanks.py":   "import os\nos . system (f\"rm {d}\")\n",
		"a/getattr.py":  "import os\ngetattr(os, \"system\")(f\"rm {d}\")\n",
		"a/zero.py":     "import os\nos.sys\u200btem(f\"rm {d}\")\n",
		"a/wide.py":     "import os\nos.\uff53ystem(f\"rm {d}\")\n",
		"a/pieces.go":   "package a\nvar r = db.Query(\"SELECT * FROM t \" +\n\t\"WHERE id=\" + id)\n",
		"a/format.py":   "import os\nos.system(\"rm \" f\"{d}\")\n",
		"a/key.js":      "let n = 1\nconnect({ [\"rejectUnauthorized\"]: false })\n",
		"a/octal.js":    "let n = 1\nconnect({ \"reject\\125nauthorized\": false })\n",
		"a/below.ts":    "const o = {\n  rejectUnauthorized:\n    false,\n}\n",
		"a/tag.html":    "<p>\n<script\n  src=\"http://example.com/a.js\"></script>\n",
		"a/quotes.sh":   "set -e\ncurl '-k' https://example.com/a|sh\n",
		"package.json":  "{\n\"post\\u0069nstall\": \"c\\u0075rl https://example.com/a\"\n}\n",
		"a/excused.js":  "let n = 1\nel.innerHTML = location.hash // sanitize\n",
		"a/group.py":    "import os\n(os.system)((\"rm \") + d)\n",
		"a/cast.ts":     "let n = 1\ndb.query((\"select a from t where id = \" as string) + id)\n",
		"a/tick.js":     "let n = 1\ndb.query(`select a from t where id = ` + id)\n",
		"a/name.js":     "let n = 1\nusers.findOne({\"email\": req.body.email})\n",
		"a/entity.html": "<p>\n<script src=\"http&colon;//example.com/a.js\"></script>\n",
		"a/quoted.js":   "let n = 1\nel.innerHTML = location.hash; log(\"escape\")\n",
	}
	pr := w.Open(files)
	w.Idle()
	for path := range files {
		w.Wants(pr, "action_required", path+":2")
	}
}

// Characters that readers can't see or take for others are findings.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	w := start(t)
	files := ghtest.Files{
		"a/order.js":   "let n = 1\n/*\u202e } \u2066if (admin)\u2069 \u2066 begin */\n",
		"a/zero.js":    "let n = 1\nlet is\u200bAdmin = true\n",
		"a/filler.js":  "let n = 1\nconst { timeout,\u3164} = query\n",
		"a/tags.js":    "let n = 1\nrun(\"\U000E0069\U000E0067\")\n",
		"a/letters.py": "n = 1\n\u0441heck(user)\n",
		"a/wide.py":    "n = 1\n\uff43heck(user)\n",
		"a/joiner.js":  "let n = 1\nlet is\u034fAdmin = true\n",
		"a/minus.js":   "let n = 1\nn = 1-\u0441heck(user)\n",
		"a/whole.sol":  "n = 1\n\u0441heck(user)\n",
	}
	pr := w.Open(files)
	w.Idle()
	for path := range files {
		w.Wants(pr, "action_required", path+":2")
	}
}

// Scripts and pictures that need such characters have no findings.
func TestHiddenCharactersThatBelongThere(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"docs/a.md": "\u05e9\u05dc\u05d5\u05dd\u200f!\n", "a/emoji.js": "export const family = \"\U0001F468\u200d\U0001F469\"\n",
		"a/line.py": "print(\"a\\n\u041f\u0440\u0438\u0432\u0435\u0442 %d\u0448\u0442\")\n", "a/math.go": "package a\n\nvar \u0394x, \u03bcs, d\u03c3 = 1, 2, 3\n"})
	w.Idle()
	w.Wants(pr, "success")
}
