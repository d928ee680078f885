package pulls

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A line that only looks like a comment is code, wherever the author puts its
// file.
func TestFormHidesNothing(t *testing.T) {
	t.Parallel()
	const tls = "rejectUnauthorized: false"
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
	})
	w.Idle()
	for _, path := range []string{"a/minus.js", "a/times.js", "a/ended.js", "a/private.js", "a/separator.js", "a/regexp.js", "a/template.js", "a/floor.py",
		"testdata/client.js", "spec/client.js", "examples/client.js", "src/client.test.js", "vendor/client.test.js"} {
		w.Wants(pr, "action_required", path+":2")
	}
}
