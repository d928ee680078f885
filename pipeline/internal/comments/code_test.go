package comments

import "testing"

func TestCode(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"JavaScript", `a = "b(" + c`, `a = "  " + c`},
		{"JavaScript", "a = `b(${c(d)}e(`", "a = `  ${c(d)}  `"},
		{"JavaScript", "a = `${b(`c(${d}`)}`", "a = `${b(`  ${d}`)}`"},
		{"JavaScript", `a = "${b(" + c`, `a = "    " + c`},
		{"JavaScript", `a = b.replace(/"/g, "c(") + d("e")`, `a = b.replace(/"/g, "  ") + d(" ")`},
		{"JavaScript", `a = b / c + "d(" / 2`, `a = b / c + "  " / 2`},
		{"Python", `f"a({b(c)}{{d("`, `f"  {b(c)}    "`},
		{"Python", `f"a\{b(c)}\\{d(e)}\"f("`, `f"  {b(c)}  {d(e)}    "`},
		{"Python", `f"a\{{b(c)}}"`, `f"          "`},
		{"Python", `"a({b(c)}"`, `"        "`},
		{"Python", `f"""a("{b(c)}"""`, `f"""   {b(c)}"""`},
		{"Kotlin", `"a(${b(c)}"`, `"  ${b(c)}"`},
		{"Go", `a("b\"c(" + d)`, `a("     " + d)`},
		{"Go", `it's a(b`, `it's a(b`},
		{"Go", "a(`\\` + b(`\\c(`))", "a(` ` + b(`   `))"},
		{"JavaScript", "a(`\\` + b(`\\c(`))", "a(`       `\\c(`))"},
		{"Shell", `echo "a("`, `echo "a("`},
		{"", `a "b("`, `a "  "`},
	} {
		if got := Code(tt.language, tt.text); got != tt.want {
			t.Errorf("%s: Code(%q) = %q, want %q", tt.language, tt.text, got, tt.want)
		}
	}
}

func FuzzCode(f *testing.F) {
	f.Add("JavaScript", "a = `b(${c(`d`)}` + /[/\"]/ + 'e\\'")
	f.Add("Python", `f"{a['b']}" 'c`)
	f.Fuzz(func(t *testing.T, language, text string) {
		if got := Code(language, text); len(got) != len(text) {
			t.Errorf("%d bytes of %d", len(got), len(text))
		}
	})
}
