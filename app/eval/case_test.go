package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodCase = `{
  "title": "feat: a", "body": "", "language": "Go",
  "defects": [{"path": "a.go", "quotes": ["var x"], "category": "correctness", "severity": "major", "what": "x is wrong", "words": ["wrong"]}]
}`

// writeCase creates a directory of cases that contains one case.
func writeCase(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	cases, err := Load(writeCase(t, map[string]string{
		"b-clean/case.json": `{"title": "t", "body": "b", "language": "SQL", "clean": true}`,
		"b-clean/base/a":    "1\n", "b-clean/head/a": "2\n",
		"a/case.json": goodCase, "a/head/a.go": "package a\n\nvar x = 1\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 || cases[0].Name != "a" || cases[1].Name != "b-clean" {
		t.Fatalf("cases %+v, want a and b-clean", cases)
	}
	if a := cases[0]; a.Clean() || a.Defects[0].Lines[0].First != 3 || a.Head["a.go"] == "" || len(a.Base) != 0 {
		t.Errorf("case a is %+v", a)
	}
	if b := cases[1]; !b.Clean() || b.Base["a"] != "1\n" || b.Head["a"] != "2\n" {
		t.Errorf("case b-clean is %+v", b)
	}
}

func TestLoadRefuses(t *testing.T) {
	with := func(from, to string) map[string]string {
		return map[string]string{"a/case.json": strings.Replace(goodCase, from, to, 1), "a/head/a.go": "package a\n\nvar x = 1\n"}
	}
	tests := map[string]struct {
		files map[string]string
		says  []string
	}{
		"no case":                            {map[string]string{}, []string{"has no cases"}},
		"a file":                             {map[string]string{"notes.md": "x"}, []string{`notes.md" is not a case`}},
		"a name":                             {map[string]string{"Go Race/case.json": "{}"}, []string{`Go Race" is not a case`}},
		"no case.json":                       {map[string]string{"a/head/a.go": "x"}, []string{"case.json"}},
		"no head":                            {map[string]string{"a/case.json": goodCase, "a/base/a.go": "x"}, []string{"head"}},
		"something else":                     {map[string]string{"a/case.json": goodCase, "a/head/a.go": "var x", "a/diff.patch": "x"}, []string{`diff.patch" has no place`}},
		"a name that git quotes":             {map[string]string{"a/case.json": goodCase, `a/head/a b.go`: "var x"}, []string{"a b.go", "characters"}},
		"a name with control characters":     {map[string]string{"\x1b[2J/case.json": "{}"}, []string{`\x1b[2J" is not a case`}},
		"a file as head":                     {map[string]string{"a/case.json": goodCase, "a/head": "var x"}, []string{"head is not a directory"}},
		"a language with control characters": {with(`"Go"`, `"\u001b[31m"`), []string{"a/case.json:2:47: /language", `"\x1b[31m" is not the name of a language`}},
		"a large set":                        {largeSet(), []string{"have more than 16 MiB"}},
		"no JSON":                            {with(goodCase, "{"), []string{"a/case.json:1:"}},
		"an unknown field":                   {with(`"language"`, `"languages": [], "language"`), []string{`a/case.json:2:35`, `"languages" is not known`, "use title, body"}},
		"an unknown field of a defect":       {with(`"category"`, `"line": 3, "category"`), []string{"/defects/0/line", `"line" is not known`}},
		"no title":                           {with(`"feat: a"`, `""`), []string{"/title", "title is empty"}},
		"another severity":                   {with(`"major"`, `"P1"`), []string{"/defects/0/severity", "critical, major, warning or info"}},
		"clean with a defect":                {with(`"body"`, `"clean": true, "body"`), []string{"clean is true, and there are 1 defects"}},
		"neither":                            {map[string]string{"a/case.json": `{"title": "t", "body": "", "language": "Go"}`, "a/head/a": "x"}, []string{"clean is false, and there are 0 defects"}},
		"no quote":                           {with(`["var x"]`, `[]`), []string{"/defects/0", "no line is quoted"}},
		"an empty quote":                     {with(`["var x"]`, `[""]`), []string{`"" stands in 0 lines`}},
		"a quote from no line":               {with(`["var x"]`, `["var y"]`), []string{`"var y" stands in 0 lines of a.go`}},
		"a quote from two lines":             {with(`["var x"]`, `["a"]`), []string{`"a" stands in 2 lines of a.go`}},
		"no such file":                       {with(`"a.go"`, `"b.go"`), []string{"/defects/0/path", "the head has no such file"}},
		"a word in capitals":                 {with(`["wrong"]`, `["Wrong"]`), []string{`"Wrong" is not a word to look for`}},
		"a large case.json":                  {with(`"x is wrong"`, `"`+strings.Repeat("x", maxCaseBytes)+`"`), []string{"case.json is too large"}},
		"a large tree":                       {map[string]string{"a/case.json": goodCase, "a/head/a.go": strings.Repeat("x", maxTreeBytes), "a/head/b.go": "x"}, []string{"is too large"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(writeCase(t, tt.files))
			if err == nil {
				t.Fatal("the cases were loaded")
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
}

// largeSet contains cases that are each small enough, and together too large.
func largeSet() map[string]string {
	files := map[string]string{}
	for i := range maxSetBytes/maxTreeBytes + 1 {
		name := fmt.Sprintf("a%02d", i)
		files[name+"/case.json"] = `{"title": "t", "body": "", "language": "Go", "clean": true}`
		files[name+"/head/a"] = strings.Repeat("x", maxTreeBytes)
	}
	return files
}

func TestLoadReportsProblemsUpToALimit(t *testing.T) {
	files := map[string]string{}
	for i := range maxProblems + 5 {
		files["case-"+strings.Repeat("x", i+1)+"/case.json"] = "{"
	}
	_, err := Load(writeCase(t, files))
	if err == nil {
		t.Fatal("the cases were loaded")
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != maxProblems+1 || !strings.HasSuffix(err.Error(), "and 5 more") {
		t.Errorf("%d lines of problems, want %d and how many are left:\n%v", lines, maxProblems, err)
	}
}

// A link could lead out of the case, and reading a pipe could last forever.
func TestLoadReadsFilesOnly(t *testing.T) {
	for _, at := range []string{"case.json", "head/hosts", "head", "base"} {
		dir := writeCase(t, map[string]string{"a/case.json": goodCase, "a/head/a.go": "var x"})
		name := filepath.Join(dir, "a", filepath.FromSlash(at))
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(t.TempDir(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), at+" is not a ") {
			t.Errorf("error %v, want one about the link %s", err, at)
		}
	}
}
