package rules_test

import "testing"

// Rare spellings that mean the same in the language are found too.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, rule string }{
		// spaces inside calls
		{"a.go", `os.Open(r.URL.Query( ).Get("f"))`, "sec-path-go-01"},
		{"a.go", `exec.Command("sh" , "-c" , "ls "+x)`, "sec-shell-go-01"},
		{"a.go", `exec.Command( "sh", "-c", "ls "+x)`, "sec-shell-go-01"},
		{"a.go", `exec.Command("sh" ,"-c" ,"ls "+x)`, "sec-shell-go-01"},
		{"a.java", `new ProcessBuilder("sh" , "-c" , "ls " + x)`, "sec-shell-java-01"},
		{"a.java", `new File(r.getQueryString( ))`, "sec-path-java-01"},
		{"a.go", `rsa.GenerateKey(rand.Reader , 1024)`, "sec-key-size-01"},
		// the comma
		{"a.js", `fs.readFile((0, req.query).f)`, "sec-path-js-01"},
		// unpacked keywords
		{"a.py", `requests.get(u, **dict(verify=False))`, "sec-tls-verify-01"},
		// assignments
		{"a.py", `s.verify: bool = False`, "sec-tls-verify-01"},
		{"a.py", `s.verify = s.x = False`, "sec-tls-verify-01"},
		{"a.js", `el.innerHTML ||= location.hash`, "sec-dom-xss-01"},
		{"a.js", `el.innerHTML ??= location.hash`, "sec-dom-xss-01"},
		// triple-quoted strings
		{"a.py", `os.system("""a "b" """ + x)`, "sec-shell-py-01"},
		{"a.py", "os.system(\"\"\"\nls \"\n\"\"\" + x)", "sec-shell-py-01"},
		{"a.py", "subprocess.run('''\nls '\n''' + x, shell=True)", "sec-shell-py-01"},
		// prefixes
		{"a.py", `os.system(rb"ls " + x)`, "sec-shell-py-01"},
		{"a.py", `os.system(Rb'ls ' + x)`, "sec-shell-py-01"},
		{"a.py", `cur.execute(br"select a from t where id = " + x)`, "sec-sql-py-01"},
		// values of the % operator
		{"a.py", `cur.execute("select a from t where id = %(n)s" % {"n": x})`, "sec-sql-py-01"},
		{"a.py", `cur.execute("select a from t where id = %s" % [x])`, "sec-sql-py-01"},
		{"a.py", `cur.execute('select a from t where id = %(n)s' % {"n": x})`, "sec-sql-py-01"},
		// first arguments
		{"a.go", `db.QueryContext(context.WithValue(ctx, a, b), "select a from t where id = "+id)`, "sec-sql-go-01"},
		{"a.go", `db.QueryContext(c("a"), "select a from t where id = "+id)`, "sec-sql-go-01"},
		{"a.go", `exec.CommandContext(context.WithValue(ctx, a, b), "sh", "-c", "ls "+x)`, "sec-shell-go-01"},
		{"a.go", `exec.Command("sh", "-c", f("a")+dir)`, "sec-shell-go-01"},
		{"a.go", `http.NewRequest(method("a", "b"), r.FormValue("u"), nil)`, "sec-ssrf-go-01"},
		{"a.go", `rsa.GenerateKey(reader(a, b), 1024)`, "sec-key-size-01"},
		// the first words of SQL
		{"a.py", `cur.execute(f"(SELECT a FROM t WHERE id = {x})")`, "sec-sql-py-01"},
		{"a.py", `cur.execute(f"/* a */ SELECT a FROM t WHERE id = {x}")`, "sec-sql-py-01"},
		{"a.js", `db.query("(SELECT a FROM t WHERE id = " + id)`, "sec-sql-js-01"},
		{"a.js", "db.query(`; SELECT a FROM t WHERE id = ${id}`)", "sec-sql-js-01"},
		{"a.js", "db.query(`-- a\nSELECT a FROM t WHERE id = ${id}`)", "sec-sql-js-01"},
		{"a.js", `db.query({name: "x", text: "SELECT a FROM t WHERE id = " + id})`, "sec-sql-js-01"},
		{"a.go", `db.Query("(SELECT a FROM t WHERE id = "+id)`, "sec-sql-go-01"},
		{"a.go", `db.Query(fmt.Sprintf("(SELECT a FROM t WHERE id = %s", id))`, "sec-sql-go-01"},
		{"a.java", `st.executeQuery("(SELECT a FROM t WHERE id = " + id);`, "sec-sql-java-01"},
		// Java and Kotlin
		{"a.java", `st.executeQuery("SELECT a FROM t WHERE id = " + $x);`, "sec-sql-java-01"},
		{"a.java", `st.executeQuery("SELECT a FROM t WHERE id = " + '"' + x);`, "sec-sql-java-01"},
		{"a.java", `st.executeQuery("SELECT a FROM t WHERE id = %s".formatted(x));`, "sec-sql-java-01"},
		{"a.java", `rt.exec("ls %s".formatted(x));`, "sec-shell-java-01"},
		{"a.kt", `st.executeQuery("SELECT a FROM t WHERE id = $x")`, "sec-sql-java-01"},
		{"a.kt", `st.executeQuery("SELECT a FROM t WHERE id = ${x.y}")`, "sec-sql-java-01"},
		{"a.kt", `rt.exec("ls $x")`, "sec-shell-java-01"},
		{"a.java", `new java.io.File(r.getParameter("f"))`, "sec-path-java-01"},
		{"a.java", `new java . io . FileReader(r.getParameter("f"))`, "sec-path-java-01"},
		{"a.kt", `File(r.getParameter("f"))`, "sec-path-java-01"},
		// PHP
		{"a.php", `$db->query("SELECT a FROM t WHERE id = '$x'");`, "sec-sql-quoted-02"},
		{"a.php", `$db->query("SELECT a FROM t WHERE id = '{$x->y}'");`, "sec-sql-quoted-02"},
		{"a.php", `$db->query("SELECT a FROM t WHERE id = '" . ($x) . "'");`, "sec-sql-quoted-02"},
		// Terraform
		{"a.tf", `"min_tls_version" = "TLS1_0"`, "sec-tls-version-01"},
		{"a.tf", `{ min_tls_version : "TLS1_0" }`, "sec-tls-version-01"},
		{"a.tf", `min_tls_version = "${"TLS1_0"}"`, "sec-tls-version-01"},
		// options of pip
		{"requirements.txt", `ctx (==0.1.2)`, "dep-known-bad-01"},
		{"requirements.txt", `ctx!=1,==0.1.2`, "dep-known-bad-01"},
		{"requirements.txt", `ultralytics (==8.3.41)`, "dep-known-bad-01"},
		// words of the shell
		{"a.sh", `curl {-k,https://a.example}`, "sec-tls-curl-01"},
		{"a.sh", `curl >|x -k https://a.example`, "sec-tls-curl-01"},
		{"a.sh", `echo 'deb [trusted="yes"] http://a.example /' > x`, "infra-unsigned-package-01"},
		{"a.sh", `apt-get install {--allow-unauthenticated,x}`, "infra-unsigned-package-01"},
		// HTML
		{"a.html", `<script a="b"src="http:evil.example/a.js">`, "sec-mixed-content-01"},
		{"a.html", "<script src=\"ht\ttp://evil.example/a.js\">", "sec-mixed-content-01"},
		{"a.html", "<script src=\"ht\ntp://evil.example/a.js\">", "sec-mixed-content-01"},
		{"a.html", `<link href="http://evil.example/a.css" rel="stylesheet">`, "sec-mixed-content-01"},
		{"a.html", `<link rel=stylesheet href=http://evil.example/a.css>`, "sec-mixed-content-01"},
		{"a.html", `<link href=http://evil.example/a.css rel=stylesheet>`, "sec-mixed-content-01"},
		{"a.html", `<link rel = 'preload stylesheet' href=http://evil.example/a.css>`, "sec-mixed-content-01"},
	} {
		if got := shippedOn(t, c.path, c.text); !got[c.rule] {
			t.Errorf("%s: %v is found in %s, want %s", c.path, got, c.text, c.rule)
		}
	}
}

// Code that looks like such a spelling but does no harm is not found.
func TestHarmlessSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, rule string }{
		{"a.html", `<link rel="icon" href="http://a.example/a.ico">`, "sec-mixed-content-01"},
		{"a.html", `<link href="https://a.example/a.css" rel="stylesheet">`, "sec-mixed-content-01"},
		{"a.html", `<link href="/a.css" rel="stylesheet"><a href="http://a.example">`, "sec-mixed-content-01"},
		{"a.html", `<link rel="alternate" title="stylesheet" href="http://a.example">`, "sec-mixed-content-01"},
		{"a.html", `<script src="/http/a.js"></script>`, "sec-mixed-content-01"},
		{"a.java", `st.executeQuery("SELECT a FROM t WHERE id = $1");`, "sec-sql-java-01"},
		{"a.java", `st.executeQuery("SELECT a FROM t " + "WHERE id = 1");`, "sec-sql-java-01"},
		{"a.kt", `st.executeQuery("SELECT a FROM $TABLE")`, "sec-sql-java-01"},
		{"a.kt", `rt.exec("ls $HOME")`, "sec-shell-java-01"},
		{"a.kt", `File(name, r.header("a"))`, "sec-path-java-01"},
		{"a.php", `$db->query("SELECT a FROM t WHERE id = '$1'");`, "sec-sql-quoted-02"},
		{"a.go", `db.QueryContext(context.WithValue(ctx, a, b), "select a from t where id = $1", "a"+id)`, "sec-sql-go-01"},
		{"a.go", `rsa.GenerateKey(reader(a, 1024), 4096)`, "sec-key-size-01"},
		{"a.py", `cur.execute("select a from t where id = %(n)s", {"n": x})`, "sec-sql-py-01"},
		{"a.py", `cur.execute("""select "a" from t where id = %s""", [x + 1])`, "sec-sql-py-01"},
		{"a.py", `os.system("""ls "a" """)`, "sec-shell-py-01"},
		{"a.py", `s.verify: bool = True`, "sec-tls-verify-01"},
		{"a.sh", `curl {https://a.example,https://b.example}/-k`, "sec-tls-curl-01"},
		{"a.tf", `"min_tls_version" = "TLS1_2"`, "sec-tls-version-01"},
		{"a.py", `x = f(**{"a": verify, "b": False})`, "sec-tls-verify-01"},
		{"a.py", `x = {"verify": False} | 2 ** {1: 2}[1]`, "sec-tls-verify-01"},
		{"a.py", `getattr(os, name)("ls " + x)`, "sec-shell-py-01"},
		{"a.js", `fs.readFile((req, res).locals.f)`, "sec-path-js-01"},
		{"a.js", `require("./fs").readFile(req.query.f)`, "sec-path-js-01"},
		{"a.js", `myrequire("fs").readFile(req.query.f)`, "sec-path-js-01"},
		{"a.ts", `if (db.query < a && b > ("select a from t where id = " + id)) {}`, "sec-sql-js-01"},
		{"a.sh", `curl "a"b https://a.example/$X-k`, "sec-tls-curl-01"},
		{"a.sh", `curl a-$X-k`, "sec-tls-curl-01"},
		{"requirements.txt", `--index-url "h"ttps://a.example`, "dep-plain-http-01"},
		{"requirements.txt", `ctx!=0.1.2`, "dep-known-bad-01"},
		{"requirements.txt", `ctx (>=0.3)`, "dep-known-bad-01"},
	} {
		if got := shippedOn(t, c.path, c.text); got[c.rule] {
			t.Errorf("%s: %s is found in %s", c.path, c.rule, c.text)
		}
	}
}

// A spelling can hide code from a rule, but the line's other forms show it.
func TestSpellingsThatFormsUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, rule string }{
		// names at the end, after a dot and a space
		{"a.js", `el.innerHTML = document. cookie`, "sec-dom-xss-01"},
		{"a.js", `el.innerHTML = document. cookie;`, "sec-dom-xss-01"},
		{"a.js", "el.innerHTML = document.\n  cookie", "sec-dom-xss-01"},
		{"a.py", `ctx.verify_mode = ssl. CERT_NONE`, "sec-tls-verify-01"},
		{"a.py", `f(ssl. PROTOCOL_TLSv1, a)`, "sec-tls-version-01"},
		// dots after strings
		{"a.py", `os.system("ls {}". format(x))`, "sec-shell-py-01"},
		{"a.js", `db.query("select a from t where id = " . concat(x))`, "sec-sql-js-01"},
		// other white space
		{"a.py", "os\f.system(\"ls \" + x)", "sec-shell-py-01"},
		{"a.js", "fs\v.readFile(req.query.f)", "sec-path-js-01"},
		{"a.js", "fs.readFile(req\u2028.query.f)", "sec-path-js-01"},
		{"a.js", "fs.readFile(req\r.query.f)", "sec-path-js-01"},
		{"a.js", "fs.readFile(\n  req\f.query.f)", "sec-path-js-01"},
		// casts before dots, with functions, unions and constructors
		{"a.ts", `fs.readFile((req as (A)).query.d)`, "sec-path-js-01"},
		{"a.ts", `fs.readFile((req as new () => A).query.d)`, "sec-path-js-01"},
		{"a.ts", `fs.readFile((req as | A | B).query.d)`, "sec-path-js-01"},
		{"a.ts", `fs.readFile((req satisfies (A)).query.d)`, "sec-path-js-01"},
		// generic calls
		{"a.ts", `db.query <User> ("select a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.ts", `db.query<(a) => b>("select a from t where id = " + id)`, "sec-sql-js-01"},
		{"a.ts", `fs.readFile<(a) => b>(req.query.d)`, "sec-path-js-01"},
		{"a.ts", `db.query<Array<() => void>>("select a from t where id = " + id)`, "sec-sql-js-01"},
		// the comma
		{"a.js", `(1,fs.readFile)(req.query.f)`, "sec-path-js-01"},
		{"a.js", `(null, fs.readFile)(req.query.f)`, "sec-path-js-01"},
		{"a.js", `fs.readFile((1,req).query.f)`, "sec-path-js-01"},
		// getattr of an expression
		{"a.py", `getattr(self.db.cursor(), "execute")("select a from t where id = " + x)`, "sec-sql-py-01"},
		{"a.py", `getattr(c[0], "execute")("select a from t where id = " + x)`, "sec-sql-py-01"},
		{"a.py", `getattr(__import__("os"), "system")("ls " + x)`, "sec-shell-py-01"},
		// unpacked keywords
		{"a.py", `requests.get(u, **{"verify": False})`, "sec-tls-verify-01"},
		{"a.py", `os.system(**{"command": "ls " + x})`, "sec-shell-py-01"},
		{"a.py", `subprocess.run("ls " + x, **{"check": True, "shell": True})`, "sec-shell-py-01"},
		// PHP
		{"a.php", `$db->query("SEL"."ECT a FROM t WHERE id = '" . $x . "'");`, "sec-sql-quoted-02"},
		// options of pip
		{"requirements.txt", `--index-url "h"ttp://evil.example`, "dep-plain-http-01"},
		{"requirements.txt", `--extra-index-"url" http://evil.example`, "dep-plain-http-01"},
		{"requirements.txt", `-"i" http://evil.example`, "dep-plain-http-01"},
		{"requirements.txt", `--trusted-"host" evil.example`, "dep-plain-http-01"},
		// words of the shell
		{"a.sh", `curl $X-k https://a.example`, "sec-tls-curl-01"},
		{"a.sh", `curl $(:)-k https://a.example`, "sec-tls-curl-01"},
		{"a.sh", `cu"r"l -k https://a.example`, "sec-tls-curl-01"},
		{"a.sh", `c${X}url -k https://a.example`, "sec-tls-curl-01"},
		{"a.sh", `apt-get install --allow"-unauthenticated" x`, "infra-unsigned-package-01"},
		// inline modules
		{"a.js", `require("fs").readFile(req.query.f)`, "sec-path-js-01"},
		{"a.js", `require('fs').promises.readFile(req.query.f)`, "sec-path-js-01"},
		{"a.js", `require("node:fs/promises").readFile(req.query.f)`, "sec-path-js-01"},
		{"a.js", `(await import("fs")).readFile(req.query.f)`, "sec-path-js-01"},
		{"a.js", `require("axios").get(req.query.f)`, "sec-ssrf-js-01"},
		{"a.py", `__import__("os").system("ls " + x)`, "sec-shell-py-01"},
	} {
		if got := shippedOn(t, c.path, c.text); !got[c.rule] {
			t.Errorf("%s: %v is found in %s, want %s", c.path, got, c.text, c.rule)
		}
	}
}
