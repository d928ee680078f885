package rules_test

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

const (
	sqlPy, shellPy, pathJS, tls = "sec-sql-py-01", "sec-shell-py-01", "sec-path-js-01", "sec-tls-verify-01"
	sqlText                     = "select * from t where a = '%s'"
)

// Rules read a line together with the next line that continues it, even if the continuation is
// hidden.
func TestHiddenContinuations(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 5000)
	for name, cases := range map[string][]struct{ path, text, rule string }{
		"brackets in strings": {
			{"a.py", "c.execute(\"" + sqlText + " and b = ':)' and id='%s'\"\n    % x)\n", sqlPy},
			{"a.py", "c.execute('" + strings.ReplaceAll(sqlText, "'", `\'`) + " ])'\n    % x)\n", sqlPy},
			{"a.py", "subprocess.run(f\"echo :) {x}\",\n    shell=True)\n", shellPy},
			{"a.py", "subprocess.run(f'echo :) {x[\"a\"]}',\n    shell=True)\n", shellPy},
			{"a.js", "path.join(\":)\",\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(`:)`,\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(`${\")\"}`,\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(`${`)`}`,\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(/[)]/,\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(/\\)\"/, ')',\n  req.query.f)\n", pathJS},
			{"a.js", "x) || path.join(a,\n  req.query.f)\n", pathJS},
			{"A.java", "st.executeQuery(\"SELECT ':)' FROM t \"\n    + \"WHERE id=\" + id);\n", "sec-sql-java-01"},
		},
		"ends within strings and blocks": {
			{"a.py", "c.execute(\"\"\"\nSELECT 1;\n" + sqlText + "\n\"\"\" % x)\n", sqlPy},
			{"a.py", "c.execute('''\nSELECT 1; -- :)\n" + sqlText + "\n''' % x)\n", sqlPy},
			{"a.py", "c.execute(\"\"\"\n# " + sqlText + "\n\"\"\" % x)\n", sqlPy},
			{"a.js", "path.join(`\na;\n`, req.query.f)\n", pathJS},
			{"a.js", "path.join(`\n) {\n`, req.query.f)\n", pathJS},
			{"a.js", "path.join(\"a\\\n;\",\n req.query.f)\n", pathJS},
			{"a.js", "path.join(a, () => {\n  return 1;\n}, req.query.f)\n", pathJS},
			{"a.js", "path.join(a, () =>{\n  return 1;\n}, req.query.f)\n", pathJS},
			{"a.js", "path.join(a, function () {\n  if (a) {\n    b();\n  }\n  return 1\n}, req.query.f)\n", pathJS},
			{"a.js", "path.join(a, b(function () {\n  return \":)\";\n}, c),\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(a, function ()\n{\n  return 1;\n}, req.query.f)\n", pathJS},
			{"a.js", "path.join(a, () => {\n" + strings.Repeat("  b();\n", 40) + "}, req.query.f)\n", pathJS},
			{"a.js", "f(() => {\n  path.join(a,\n    req.query.f);\n})\n", pathJS},
		},
		"starts without a space": {
			{"a.js", "rejectUnauthorized\n:false\n", tls},
			{"a.js", "process.env.NODE_TLS_REJECT_UNAUTHORIZED\n='0'\n", tls},
			{"a.js", "el.innerHTML\n=location.hash\n", "sec-dom-xss-01"},
			{"a.js", "el.innerHTML\n\n// a\n/* b */ =location.hash\n", "sec-dom-xss-01"},
			{"a.js", "path\n[\"join\"](a, req.query.f)\n", pathJS},
			{"a.js", "path\n[ 'join'\n](a, req.query.f)\n", pathJS},
			{"a.js", "path\n/**/.join(a, req.query.f)\n", pathJS},
		},
		"not a comment": {
			{"a.js", "#f = path.join(a,\n  req.query.f)\n", pathJS},
			{"a.js", "* f(x) { path.join(a,\n  req.query.f)\n", pathJS},
			{"a.ts", "/**/ path.join(a,\n  req.query.f)\n", pathJS},
			{"a.js", "/**/db.query(\"select '//' from t where id = \"\n  + id)\n", "sec-sql-js-01"},
			{"a.js", "path.join(/'/, \"//\",\n  req.query.f)\n", pathJS},
			{"a.js", "path.join(`${\"//\"}`, '//',\n  req.query.f)\n", pathJS},
		},
		"words that mean nothing alone": {
			{"A.java", "File f = new\n    File(r.getParameter(\"x\"));\n", "sec-path-java-01"},
			{"a.js", "const a = await\n  fs.readFile(req.query.f)\n", pathJS},
		},
		"angle brackets in attributes": {
			{"a.html", "<script data-a=\">\"\n  src=\"http://evil.example/a.js\"></script>\n", "sec-mixed-content-01"},
			{"a.html", "<script data-a='<b>'\n  src=\"http://evil.example/a.js\"></script>\n", "sec-mixed-content-01"},
		},
		"long lines": {
			{"a.py", "c.execute(\"" + sqlText + long + "\"\n    % x)\n", sqlPy},
			{"a.py", "c.execute(\"" + long[:2500] + " " + sqlText + long[:500] + "\"\n    % x[\"" + long[:2500] + "\"])\n", sqlPy},
			{"a.js", "path.join(\"" + long + "\",\n  req.query.f)\n", pathJS},
		},
	} {
		for _, c := range cases {
			if got := shippedOn(t, c.path, c.text); !got[c.rule] {
				t.Errorf("%s: %s does not find %.200q in %s, only %v", name, c.rule, c.text, c.path, got)
			}
		}
	}
}

// A statement is new if a removed line completes it.
func TestStatementsCompletedByARemoval(t *testing.T) {
	_, engine := shipped(t)
	for _, c := range []struct {
		lines []string
		want  int
	}{
		{[]string{" c.execute(\"" + sqlText + "\"", "-, (1)", " % x)"}, 2},
		{[]string{" c.execute(\"" + sqlText + "\"", "-, (1)", "+", " % x)"}, 3},
		{[]string{" c.execute(\"" + sqlText + "\"", "-    , (1)", " % x,", "+ 1)"}, 2},
		{[]string{" c.execute(\"" + sqlText + "\"", "-    # a", " % x)"}, 0},
		{[]string{" c.execute(\"" + sqlText + "\"", " % x,", "+ 1)"}, 0},
	} {
		f := with(file("a.py", c.lines...), func(f *pipeline.File) { f.Language = "Python" })
		got := 0
		for _, r := range results(review(t, engine.Scan(&pipeline.PRFacts{Files: []pipeline.File{f}}, classification), "security-reviewer")) {
			if r.Rule == sqlPy {
				got = r.Line
			}
		}
		if got != c.want {
			t.Errorf("%q is found at %d, want %d", c.lines, got, c.want)
		}
	}
}

// Statements end where they should if nothing is hidden.
func TestStatementsEnd(t *testing.T) {
	for _, c := range []struct {
		language string
		lines    []string
		want     string
	}{
		{"JavaScript", []string{"+f(\"a\");", "+g(b)"}, ""},
		{"JavaScript", []string{"+const a = b / c;", "+g(b)"}, ""},
		{"JavaScript", []string{"+f(() => {", "+  g(b);", "+  h(c);", "+});"}, "f(() => { });"},
		{"JavaScript", []string{"+if (a(\"b\")) {", "+  g(b)"}, ""},
		{"Python", []string{"+a = \"it's\"", "+b = f(\"c\")"}, ""},
		{"Go", []string{"+a := f(\"(\\\"\")", "+b"}, "a := f(\"(\\\"\") b"}, // a bracket in a string may count
		{"TOML", []string{"+a = 1", "+[b]"}, ""},
		{"Go", []string{"+// a (", "+b"}, ""},
	} {
		wantStatements(t, c.language, c.lines, c.want)
	}
}

// wantStatements fails unless these are the statements that span several of the lines, separated by
// |.
func wantStatements(t *testing.T, language string, lines []string, want string) {
	t.Helper()
	var texts []string
	f := file("a", lines...)
	for _, s := range rules.Statements(language, 0, &f.Hunks[0]) {
		texts = append(texts, s.Texts[0])
	}
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("%s: %q is the statement %q, want %q", language, lines, got, want)
	}
}
