package comments

import (
	"strings"
	"testing"
)

// read returns the rest of a hunk's lines without what is certainly a comment.
func read(language, hunk string) string {
	r := NewReader(language)
	var out []string
	for line := range strings.SplitSeq(hunk, "\n") {
		out = append(out, line[r.Next(line):])
	}
	return strings.Join(out, "\n")
}

func TestComments(t *testing.T) {
	for language, hunks := range map[string][]string{
		"Go":         {"// a", "\t// a", "/* a */", "/*\n * a\n */", "/**\na\n\n*/"},
		"JavaScript": {"// a(x)", "/* a\n * b */", "/**\n * @param a\n */"},
		"TypeScript": {"// if (a) { b() }"},
		"Python":     {"# os.system(x)", "    # a"},
		"Shell":      {"# rm -rf x", "#!/bin/sh", "# cat <<EOF\n# a"},
		"YAML":       {"  # run: x"},
		"SQL":        {"-- drop", "--", "/* a\nb */"},
		"HTML":       {"<!-- a -->"},
		"PHP":        {"// a()", "# a()"},
		"HCL":        {"# a", "// a", "/* a */"},
	} {
		for _, h := range hunks {
			if got := strings.TrimSpace(read(language, h)); got != "" {
				t.Errorf("%s: %q is a comment, but %q counts as code", language, h, got)
			}
		}
	}
}

// After a heredoc, comments are comments again.
func TestCommentsAfterHeredocs(t *testing.T) {
	for language, hunk := range map[string]string{
		"Shell": "cat <<EOF > a\n# a\nEOF\n# b",
		"PHP":   "f(<<<EOT\n# a\n  EOT);\n# b",
		"HCL":   "x = <<-EOT\n# a\n  EOT\n# b",
	} {
		if got := read(language, hunk); !strings.Contains(got, "# a") || strings.Contains(got, "# b") {
			t.Errorf("%s: of %q %q is code", language, hunk, got)
		}
	}
	for _, hunk := range []string{"cat <<<EOF\n# b", "x=$((1 << n))\n# b"} {
		if got := read("Shell", hunk); strings.Contains(got, "# b") {
			t.Errorf("%q begins a text", hunk)
		}
	}
}

// A line begins a heredoc wherever it may, whatever else is on the line.
func TestHeredocsThatLinesBegin(t *testing.T) {
	for language, hunks := range map[string][]string{
		"Shell": {
			"cat <<EOF >d.bat # ((\n# & evil", "cat <<EOF; cat <<<x\n# evil", "cat <<<x; cat <<EOF\n# evil", "cat <<EOF >$((1 << 2))\n# evil", "echo \"((\"; cat <<EOF\n# evil",
			"((a)); cat <<EOF\n# evil", "(( a << X ))\ncat <<EOF\nX\n# evil", "cat <<A <<B\nB\nA\n# evil", "cat <<A; cat <<A\nA\n# evil", "cat <<!\n# evil", "cat <<E-F\nE\n# evil",
			"cat <<E'O'F\nE\n# evil", "cat <<\"A B\"\nA\n# evil", "a \"$(cat <<EOF\n# evil", "a \"$(cat <<EOF)\" b\n# evil", "cat << \\\nEOF\n# evil", "cat <<$'A'\nA\n# evil", "echo 'a\nb'; cat <<EOF >'d'\n# evil",
			"echo \\\" <<EOF\n# evil", "cat <<A 'x <<B'\n# evil\nA",
		},
		"Dockerfile": {"RUN <<EOF cat # ((\n# evil"},
		"YAML":       {"run: |\n  cat <<EOF >d.bat\n  # & evil", "run: |\n  <<: cat\n  # evil"},
		"HCL":        {"x = f((1), <<EOT\n//usr/bin/env evil", "x = f(<<A, \"<<<\")\n# evil", "x = <<A-B\nA\n# evil", "x = <<EOT\nEOT;\n# evil", "/* a */ x = <<EOT\n# evil"},
		"PHP":        {"f((1), <<<EOT\n# evil", "f(<<<A . <<<B\nA\n# evil", "f(<<<\u00e9\n# evil", "f(<<<A\u00e9\nA\n# evil"},
	} {
		for _, h := range hunks {
			if got := read(language, h); !strings.Contains(got, "evil") {
				t.Errorf("%s: %q counts as a comment", language, h)
			}
		}
	}
	for language, hunk := range map[string]string{
		"Shell": "echo \"a << b\" 'c << d' $((1 << n))\n# b", "YAML": "- <<: *a\n# b", "HCL": "a = \"<< b\"\n# b",
	} {
		if got := read(language, hunk); strings.Contains(got, "# b") {
			t.Errorf("%s: %q begins a text", language, hunk)
		}
	}
}

// Each last line runs in its language, or runs if the hunk starts inside a string, a template, a
// comment or markup.
func TestCodeThatLooksLikeAComment(t *testing.T) {
	for language, hunks := range map[string][]string{
		"JavaScript": {
			"--n; evil()", "# evil()", "* evil()", "*/ evil()", "/* */ evil()", "/*/ a */ evil()", "// ${evil()}", "// {evil()}", "<!-- evil()", "--> evil()",
			"/[/*]/; evil()", "\"/*\"\nevil()", "\"http://x\"\nevil()", "// a\u2028evil()", "// a\u2029evil()", "// a\revil()", "// */ evil()",
			"/* a\n</p>\n* evil()", "/*\n{\n* evil()", "// <% evil() %>", "// ` + evil()", "\"a\\\n// \"; evil()", "/* a */ + evil() /* b */", "`/*`\nevil()",
		},
		"TSX":    {"// </p>; evil()", "/*\n* {evil()}", "// < /p>; evil()", "/*\n< /p>; evil()", "/*\n<\n/p>; evil()"},
		"Go":     {"# evil()", "-- evil()", "* evil()", "<!-- evil()", "// ` + evil()", "/*` + evil()", "/*\n`; evil()", "// a\u0085evil()", "// a\vevil()", "// a\fevil()"},
		"Python": {"// evil()", "* evil()", "-- evil()", "/* evil()", "# \"\"\"; evil()", "# {evil()}", "# '''; evil()", "# a\revil()", "# a\fevil()", "\"\"\"evil()"},
		"C":      {"# evil()", "// \" evil()", "/* a */ evil()", "// a\\\n/*\nevil()", "// a ??/\n/*\nevil()", "\"a\\\n/*\\\n\"; evil()"},
		"Shell": {"${x#y}; evil", "// evil", "-- evil", "# $(evil)", "# '; evil", "# `evil`",
			"node <<EOF\n#a = evil()", "node << 'EOF'\n#a = evil()", "node <<\\EOF\n\tEOF\n EOF\nEOF;\n#a = evil()", "node <<-EOF\n EOF\n#a = evil()", "a <<A b <<B\nA\n#a = evil()", "node <<EOF\nEOF\r\n#a = evil()", "node <<EOF\r\nEOF\n#a = evil()", "x $(($((<<EOF\n#a = evil()", "node <<EOF\nx\\\nEOF\n#a = evil()", "node <\\\n<EOF\n#a = evil()", "node <<E\\\nOF\nE\n#a = evil()",
		},
		"Dockerfile":      {"# $(evil)", "-- evil", "RUN node <<EOF\n#a = evil()"},
		"Makefile":        {"\t# $(shell evil)"},
		"PHP":             {"?> // <?php evil()", "// ?> <?= evil()", "// <?php evil()", "#[evil()]", "// '; evil()", "$x = <<<EOT\n/*\n EOT . evil()", "$x = <<<'EOT'\n/*\nEOT;\nevil()", "$x = <<<\"A\"\n# A; evil()"},
		"Lua":             {"--[[ ]] evil()", "--[==[ ]==] evil()", "-- ]] evil()", "// evil()", "# evil()"},
		"SQL":             {"--1; evil", "/*! evil */", "/*M! evil */", "/*+ evil */", "# evil", "// evil", "-- '; evil", "-- $$; evil"},
		"YAML":            {"#evil()", "# ${{ evil }}", "// evil", "- run: \"x # y\"; evil", "# '; evil"},
		"HTML":            {"<!--[if IE]><script>evil()", "<!--> evil()", "<!---> evil()", "<!--\nevil()\n-->", "<!-- --> evil()", "<!-- --!> evil() <!-- -->", "// <script>evil()", "<!-- \" onclick=evil() \" -->"},
		"Vue":             {"// {{ evil() }}", "<!-- ${evil()} -->"},
		"Ruby":            {"# evil", "=begin\nevil", "// evil"},
		"Perl":            {"=pod\nevil", "# evil"},
		"C#":              {"// \"; evil()", "// {evil()}"},
		"Rust":            {"// \"; evil()"},
		"Kotlin":          {"// ${evil()}", "// \"\"\"; evil()"},
		"HCL":             {"# ${evil()}", "x = <<EOT\n/*\n  EOT\nevil = 1", "x = <<-EOT\n# evil"},
		"":                {"// evil", "# evil", "/* evil */"},
		"Brand New Thing": {"// evil", "# evil", "-- evil"},
	} {
		for _, h := range hunks {
			if got := read(language, h); !strings.Contains(got, "evil") {
				t.Errorf("%s: %q counts as a comment", language, h)
			}
		}
	}
}

// Possible comments, and strings elsewhere, excuse nothing.
func TestTextThatExcusesAMatch(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           bool
	}{
		{"Go", `call(x, Safe)`, true},
		{"Go", `call(x) // Safe`, false},
		{"Go", `call(x) /* Safe */`, false},
		{"Go", `call(x); y := Safe`, false},
		{"Go", `Safe(); call(x)`, false},
		{"Go", `call(x, "Safe")`, false},
		{"Go", `call("http://a", Safe)`, true},
		{"Go", "call(x) + `Safe`", false},
		{"JavaScript", `call(x, /"/, 1) // " Safe`, false},
		{"JavaScript", `call(x) // ' Safe`, false},
		{"Python", `call(x) # Safe`, false},
		{"Python", `call(x, Loader=Safe)`, true},
		{"Shell", `call x Safe`, true},
		{"Shell", `call x # Safe`, false},
		{"Shell", `call x; Safe`, false},
		{"Shell", `call x && Safe`, false},
		{"Shell", `call x "Safe"`, true},
		{"Shell", `call x | Safe`, false},
		{"Shell", `call '\'; Safe #'`, false},
		{"Shell", `Safe & call x`, false},
		{"Shell", `(Safe; call x)`, false},
		{"Shell", `call x 2>&1 Safe`, true},
		{"Shell", `call x &>a Safe`, true},
		{"JavaScript", `return /"/.test(a) && call(x) && /"/.test(Safe)`, true},
		{"JavaScript", `return /"/.test(a) && call(x) && "Safe" + /"/`, false},
		{"JavaScript", `if (a) /"/.test(a) && call(x) && "Safe" + /"/`, false},
		{"JavaScript", `call(x, a / 2, Safe)`, true},
		{"JavaScript", `call(x, a / 2, "b", Safe)`, true},
		{"JavaScript", `call(x, f(a) / 2, "b", Safe)`, false},
		{"", `call(x, "Safe")`, false},
		{"", `call(x, Safe)`, true},
		{"SQL", `call x -- Safe`, false},
		{"HTML", `call x <!-- Safe -->`, false},
	} {
		from := strings.Index(c.text, "call")
		parts, _ := Statements(c.language, Bare(c.language, c.text), from, from+4, true)
		if got := strings.Contains(strings.Join(parts, ""), "Safe"); got != c.want {
			t.Errorf("%s: in %s the word excuses: %t", c.language, c.text, got)
		}
	}
}

// A match that spans the end of a statement is not excused by one of the statements alone.
func TestStatementsOfAMatch(t *testing.T) {
	for _, c := range []struct {
		language, text, parts string
		sure                  bool
	}{
		{"Shell", "a; m b; c n; d", "m b| c n", true},
		{"Shell", "m b && c n", "m b | c n", true},
		{"Shell", "m b | c n | d", "m b | c n ", true},
		{"Shell", "m $(b && c) n", "m $(b | c) n", false},
		{"Shell", "m 'b && c' n && d", "m 'b && c' n ", true},
		{"Shell", "m ' && c n", "m ' | c n", false},
		{"Go", "m(a; b); c(n)", "m(a; b)| c(n)", true},
		{"JavaScript", "m(f(a) / b, 'c', n)", "m(f(a) / b, 'c', n ", false},
	} {
		parts, sure := Statements(c.language, c.text, strings.Index(c.text, "m"), strings.LastIndex(c.text, "n")+1, true)
		if got := strings.TrimLeft(strings.Join(parts, "|"), " "); got != c.parts || sure != c.sure {
			t.Errorf("%s: %q in %q, sure: %t", c.language, got, c.text, sure)
		}
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"a":                       "",
		"a\u2028b\u2029c":         "a|b|c",
		"a\rb\vc\fd\u0085e":       "a|b|c|d|e",
		"a\x1cb\x1dc\x1ed\x1fe":   "a|b|c|d\x1fe", // as in pip, without \x1f
		"é\u00a0":                 "",
		"\u2028":                  "|",
		strings.Repeat("\r", 5e3): strings.Repeat("|", maxLines) + strings.Repeat("\r", 5e3-maxLines),
	} {
		if got := strings.Join(Lines(text), "|"); got != want {
			t.Errorf("%.20q is the lines %.40q", text, got)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("JavaScript", "/* a\n*/ b // c\u2028d")
	f.Add("PHP", "# a ?> b")
	f.Fuzz(func(t *testing.T, language, hunk string) {
		r := NewReader(language)
		for line := range strings.SplitSeq(hunk, "\n") {
			n := r.Next(line)
			if n < 0 || n > len(line) {
				t.Fatalf("%d bytes of %q are a comment", n, line)
			}
			bare := Bare(language, line)
			if len(bare) != len(line) {
				t.Fatalf("%q is bare %q", line, bare)
			}
			if parts, _ := Statements(language, bare, n, len(line), true); len(strings.Join(parts, "")) > len(line) {
				t.Fatalf("%q are the statements of %q", parts, line)
			}
			Lines(line)
		}
	})
}
