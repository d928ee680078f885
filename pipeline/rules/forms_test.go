package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Other spellings of a line are the same code.
func TestForms(t *testing.T) {
	for _, text := range []string{
		"os . system (x)", "os.\tsystem(x)", "os\u200b.sys\u200dtem(x)", "\uff4f\uff53.\uff53ystem(x)", "os.\U0001d42c\U0001d432\U0001d42c\U0001d42d\U0001d41e\U0001d426(x)",
		`os["system"](x)`, `os['system'](x)`, "os[`system`](x)", `getattr(os, "system")(x)`, `getattr(os,'system')(x)`, `os?.system(x)`, `\u006fs.system(x)`, `os.sys\u{74}em(x)`, `os["\x73ystem"](x)`, "os.`system`(x)", "os.&#115;ystem(x)", "os.system&#x28;x)", `os.system\u0028x\uu0029`,
		"os.system/* a */(x)", "os/**/.system(x)", "os!.system(x)", "(os).system(x)", "(os as any).system(x)", "os.system?.(x)",
		`os[ "system" ](x)`, `os ["system"] (x)`, `os["sys" + "tem"](x)`, `os['sys'+"tem"](x)`, `os["sys" "tem"](x)`, `getattr(os, "sys" + "tem")(x)`, `os["\163ystem"](x)`, `os["\U00000073ystem"](x)`,
		"a\u2028os.system(x)", "// a\ros.system(x)", "a\u0085os.system(x)", "os.sys\u00adtem(x)", "os.sys\U000E0041tem(x)", "os.sys\uFE00tem(x)", "os.sys\u3164tem(x)",
	} {
		if !slices.Contains(append(rules.Forms(text), ""), "os.system(x)") {
			t.Errorf("%+q reads as %+q", text, rules.Forms(text))
		}
	}
	for _, text := range []string{"if (a) {", "a.b(c)", "a[0] + b", "x := f(y, z)", `"a" + b + ""`, `["a", "b"]`, `return [ "a" ]`, `s.replace(/(a)\1/, "\0")`, "func (r *T) m() {}"} {
		if got := rules.Forms(text); slices.ContainsFunc(got, func(s string) bool { return s != text && text[0] != 'f' }) {
			t.Errorf("%q reads as %q", text, got)
		}
	}
}

// Strings in pieces become one. If a piece is a format string, so is the result.
func TestPieces(t *testing.T) {
	for text, want := range map[string]string{
		`f("a" + "b" + c)`: `f("ab" + c)`, `f("a" 'b' % c)`: `f("ab" % c)`, `f("" + 'a"' + "b")`: `f("" + 'a"b')`, `f("a" f"{b}")`: `f(f"a{b}")`, `f("a" f"{b}" + F'{c}')`: `f(f"a{b}{c}")`,
		`f(F"a" rf'{b}')`: `f(F"a{b}")`, `f("""a""" % b)`: `f("a" % b)`, `f((("a" + b)))`: `f("a" + b)`, `f((("a" + b`: `f("a" + b`, `{["a"]: b}`: `{a: b}`, `{ [ 'a' ] : b}`: `{ a : b}`,
	} {
		if !slices.Contains(rules.Forms(text), want) {
			t.Errorf("%s reads as %q, want %s", text, rules.Forms(text), want)
		}
	}
}

// A character that stands for a sentence does not make a text much longer.
func TestFormsStayShort(t *testing.T) {
	for c := rune(0x80); c < 0x20000; c++ {
		text := strings.Repeat(string(c), 100)
		for _, form := range rules.Forms(text) {
			if len(form) > 2*len(text) {
				t.Errorf("%d bytes of U+%04X become %d", len(text), c, len(form))
			}
		}
	}
	if forms := rules.Forms("\uff4f\uff53.\ufb01le(\u2474)"); !slices.Contains(forms, "os.file((1))") {
		t.Errorf("letters of other styles are read as %q", forms)
	}
}

// Rules find code despite parentheses, casts, quotes and escapes that make no difference.
func TestFormsHideNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, rule string }{
		{"a.js", `db.query(("select a from t where id = ") + id)`, "sec-sql-js-01"},
		{"a.js", `db.query((("select a from t where id = " + id)), cb)`, "sec-sql-js-01"},
		{"a.js", `db.query({ text: ("select a from t where id = " + id) })`, "sec-sql-js-01"},
		{"a.py", `cur.execute(("select a from t where id = ") + x)`, "sec-sql-py-01"},
		{"a.go", `db.Query(("select a from t where id = ") + id)`, "sec-sql-go-01"},
		{"a.java", `st.executeQuery(("select a from t where id = ") + id);`, "sec-sql-java-01"},
		{"a.java", `st.executeQuery((String) "select a from t where id = " + id);`, "sec-sql-java-01"},
		{"a.py", `os.system(("ls ") + x)`, "sec-shell-py-01"},
		{"a.py", `os.system((f"ls {x}"))`, "sec-shell-py-01"},
		{"a.py", `(os.system)("ls " + x)`, "sec-shell-py-01"},
		{"a.py", `y = ( ( os ) . system )("ls " + x)`, "sec-shell-py-01"},
		{"a.js", `(fs.readFile)(req.query.name, cb)`, "sec-path-js-01"},
		{"a.js", `await(fs.readFile)(req.query.name)`, "sec-path-js-01"},
		{"a.js", `(0, fs.readFile)(req.query.name)`, "sec-path-js-01"},
		{"a.js", `fs.readFile(((req)).query.name)`, "sec-path-js-01"},
		{"a.js", `fs?.["readFile"](req.query.name)`, "sec-path-js-01"},
		{"a.js", `(require("child_process")).exec("ls " + req.query.x)`, "sec-shell-request-01"},
		{"a.py", `requests.get(u, verify=(False))`, "sec-tls-verify-01"},
		{"a.js", `connect({ rejectUnauthorized: (!1) })`, "sec-tls-verify-01"},
		{"a.ts", `db.query("select a from t where id = "! + id)`, "sec-sql-js-01"},
		{"a.ts", `db.query(("select a from t where id = " as string) + id)`, "sec-sql-js-01"},
		{"a.ts", `db.query(("select a from t where id = " as unknown as string) + id)`, "sec-sql-js-01"},
		{"a.ts", `db.query(("select a from t where id = " satisfies string) + id)`, "sec-sql-js-01"},
		{"a.ts", `db.query(<string>"select a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.ts", `users.find(req.body as Record<string, any>)`, "sec-nosql-js-01"},
		{"a.ts", `users.find(req.body!)`, "sec-nosql-js-01"},
		{"a.js", "db.query(`select a from t where id = ` + id)", "sec-sql-js-01"},
		{"a.js", "jwt.verify(t, k, { algorithms: [`none`] })", "sec-jwt-unverified-01"},
		{"a.js", "crypto.createCipheriv(`aes-128-ecb`, k, iv)", "sec-cipher-01"},
		{"a.js", `crypto.createCipheriv("aes-128-\ecb", k, iv)`, "sec-cipher-01"},
		{"a.js", `db.query("\n select a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.js", `db.query("\tselect a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.js", `db.query("\x0aselect a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.py", `cur.execute("select a from t\nwhere id = " + x)`, "sec-sql-py-01"},
		{"a.html", `<script src="http&colon;//example.com/a.js"></script>`, "sec-mixed-content-01"},
		{"a.html", `<script src="https://polyfill&period;io/v3/a.js"></script>`, "sec-polyfill-io-01"},
		{"a.html", `<a onclick="document&period;write(location)">`, "sec-dom-xss-01"},
		{"a.js", `load("https:\/\/polyfill.io\/v3")`, "sec-polyfill-io-01"},
		{"a.js", `users.findOne({"email": req.body.email})`, "sec-nosql-js-01"},
		{"a.js", `users.findOne({` + "\n" + `"email": req.body.email})`, "sec-nosql-js-01"},
		{"a.js", `  "nodeIntegration": true,`, "sec-electron-01"},
		{"a.js", `  "modulusLength": 1024,`, "sec-key-size-01"},
		{"a.js", `app.use(session({"secret": "abcdefgh"}))`, "sec-hardcoded-key-01"},
	} {
		if got := shippedOn(t, c.path, c.text); !got[c.rule] {
			t.Errorf("%s: %v is found in %s, want %s", c.path, got, c.text, c.rule)
		}
	}
	for _, text := range []string{"return (a + b) * c", "if (x) { y() }", "const f = (a) => a.b", "(int) price", "useEffect(() => { x() })", `{"a": "b c", "d": ["e"]}`, "tag`text`", "&lt;b&gt;", `"a\n"`, "x := `{}`", "import { a } from 'b'"} {
		if got := rules.Forms(text); len(got) > 0 {
			t.Errorf("%s reads as %q", text, got)
		}
	}
}

// A statement that spans several lines is found at its first added line.
func TestStatements(t *testing.T) {
	r := rule(config.Match{Pattern: `os\.system\(x`, Comments: new(bool)})
	r.Severity = pipeline.SeverityMajor
	for _, c := range []struct {
		lines []string
		want  int
	}{
		{[]string{"+os.", "+  system(x)"}, 1},
		{[]string{"+os", "+  .system(x)"}, 1},
		{[]string{"+os.system(", "+  x)"}, 1},
		{[]string{"+os.system(", "+", "+  # a", "+  x)"}, 1},
		{[]string{"+os.\\", "+system(x)"}, 1},
		{[]string{"+os. # a", "+  system(x)"}, 1},
		{[]string{" os.", "-  popen(x)", "+  system(x)"}, 2},
		{[]string{"+f(os.", "+  system(", "+    x))"}, 1},
		{append(append([]string{"+f("}, slices.Repeat([]string{"+  1,"}, 30)...), "+  os.", "+  system(x))"), 30},
		{[]string{" os.", " system(x)", "+, 1"}, 0},
		{[]string{"+os", "+system(x)"}, 0},
		{[]string{"+os.sys\\", "+tem(x)"}, 1},
		{[]string{"+os[", "+  \"system\"", "+](x)"}, 1},
		{[]string{"+os[\"sys\" +", "+  \"tem\"](x)"}, 1},
		{[]string{"+os\u200b.", "+  sys\u200btem(x)"}, 1},
		{[]string{"+os[\"sys\"", "+  + \"tem\"](x)"}, 1},
		{[]string{"+os['sys' \\", "+  'tem'](x)"}, 1},
		{[]string{"+os['sys'  # a", "+  'tem'](x)"}, 1},
		{[]string{"+os.\\u0073ys\\", "+tem(x)"}, 1},
		{[]string{"+os.system(" + strings.Repeat(" ", 5000), "+  x)"}, 1},
		{[]string{"+os.system(  # " + strings.Repeat("a", 5000), "+  x)"}, 1},
		{[]string{"+os." + strings.Repeat(" ", 5000) + "\\", "+system(x)"}, 1},
		{[]string{" os[\"sys\" +", " \"tem\"](x,", "+ 1)"}, 0},
	} {
		got := results(findings(t, []config.Rule{r}, &pipeline.PRFacts{Files: []pipeline.File{with(file("a.py", c.lines...), func(f *pipeline.File) { f.Language = "Python" })}}, "agent"))
		switch {
		case c.want == 0 && len(got) > 0, c.want > 0 && len(got) != 1, c.want == 30 && got[0].Line < 20, c.want < 30 && c.want > 0 && got[0].Line != c.want:
			t.Errorf("%q is found at %v, want %d", c.lines, got, c.want)
		}
	}
}

// The end of a statement depends on the language.
func TestStatementsOfLanguages(t *testing.T) {
	for _, c := range []struct {
		language string
		lines    []string
		want     string
	}{
		{"Go", []string{"+a:", "+\tb,"}, "a: b,"},
		{"Go", []string{"+a: /*", "+*/ b,"}, "a: */ b,|a: b,"}, // the marks may be in a string
		{"Go", []string{"+a: /*", "+\tc", "+d /* */ b,"}, "a: c|a: b,"},
		{"Go", []string{"+a: b /* c */ +", "+\td /* e */,"}, "a: b         + d        ,"},
		{"Go", []string{"+a(b +", "+\t\"*/\","}, "a(b + \"*/\","},
		{"HTML", []string{"+a =", "+  b + '-->'"}, "a = b + '-->'"},
		{"Go", []string{"+a( /*", "+*/ b + \"*/\",", "+\tc + \"*/\")"}, "a(*/ b + \"*/\", c + \"*/\")|a(b + \"*/\", c + \"*/\")"},
		{"TypeScript", []string{"+a", "+  : b"}, "a : b"},
		{"Python", []string{"+if a:", "+  b"}, ""},
		{"YAML", []string{"+a:", "+  - b"}, ""},
		{"YAML", []string{"+  curl", "+  --insecure a"}, "curl --insecure a"},
		{"HCL", []string{"+a = [", "+  \"b\","}, "a = [ \"b\","},
		{"HCL", []string{"+a = [\"b\",", "+  \"c\"]"}, "a = [\"b\", \"c\"]"},
		{"HTML", []string{"+<a", "+  b=c", "+  d>"}, "<a b=c d>"},
		{"HTML", []string{"+<a b>", "+c"}, ""},
		{"C", []string{"+for (; a <b; ) {", "+c"}, ""},
		{"Shell", []string{"+cu\\", "+rl"}, "curl"},
		{"SQL", []string{"+a", "+= b"}, "a = b"},
	} {
		wantStatements(t, c.language, c.lines, c.want)
	}
}

// Rules find a statement despite a mark that ends a comment, whether or not a comment is open.
func TestEndsOfCommentsHideNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, rule string }{
		{"a.js", "child_process.exec(\n  \"ls \" + req.query.dir,\n  cb)\n", "sec-shell-request-01"},
		{"a.js", "child_process.exec(\n  \"ls \" + req.query.dir + \"*/\",\n  cb)\n", "sec-shell-request-01"},
		{"a.js", "child_process.exec(\n  `ls */ ${req.query.dir}`,\n  cb)\n", "sec-shell-request-01"},
		{"a.js", "child_process.exec( /* a\n  */ \"ls \" + req.query.dir + \"*/\",\n  cb)\n", "sec-shell-request-01"},
		{"a.js", "child_process.exec( /* a\n b) /*\n  */ \"ls \" + req.query.dir,\n  cb)\n", "sec-shell-request-01"},
		{"a.ts", "child_process.exec(\n  \"ls \" + req.query.dir + '*/',\n  cb)\n", "sec-shell-request-01"},
		{"a.go", "cmd := exec.Command(\"sh\", \"-c\",\n\t\"ls \"+r.FormValue(\"dir\")+\"*/\",\n)\n", "sec-shell-go-01"},
		{"a.html", "<script>\nel.innerHTML =\n  location.hash + '-->'\n</script>\n", "sec-dom-xss-01"},
	} {
		if got := shippedOn(t, c.path, c.text); !got[c.rule] {
			t.Errorf("%s: %v is found in %q, want %s", c.path, got, c.text, c.rule)
		}
	}
}

// The work for lines that nearly match grows linearly with their length.
func TestStatementsAreBounded(t *testing.T) {
	r := rule(config.Match{Pattern: `os\.system\(x`})
	r.Severity = pipeline.SeverityMajor
	for _, line := range []string{"+os.", "+(", "+[", "+\\", "+ ", "+#", "-os.", "+<a", "+a:", "+\"+", "+-a", "+/*", "+*/", "+(*/", "+( /*"} {
		for _, language := range sample.Of(t, 1, []string{"Python", "JavaScript"}) {
			facts := &pipeline.PRFacts{Files: []pipeline.File{file("a", slices.Repeat([]string{line}, 100_000)...)}}
			n := 0
			for i := range facts.Files[0].Hunks {
				for _, s := range rules.Statements(language, 0, &facts.Files[0].Hunks[i]) {
					n += len(strings.Join(s.Texts, ""))
				}
			}
			if n > 40*100_000 {
				t.Errorf("%d bytes of statements of %s for lines %q", n, language, line)
			}
		}
	}
	if got := rules.Forms(strings.Repeat("\r", 1<<20)); len(got) > 2000 {
		t.Errorf("one line has %d forms", len(got))
	}
}

func FuzzForms(f *testing.F) {
	f.Add("getattr(os, 'a')(b) \\u{65} c [\"d\"] ?.")
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range rules.Forms(text) {
			if len(form) > 20*len(text)+20 {
				t.Fatalf("%q has the form %q", text, form)
			}
		}
	})
}
