package normalize

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

func TestAttributes(t *testing.T) {
	for _, tt := range []struct{ text, path, attribute, want string }{
		{"*.pb.go linguist-generated", "a/b.pb.go", attrGenerated, "set"},
		{"*.pb.go linguist-generated=true", "b.pb.go", attrGenerated, "set"},
		{"*.pb.go -linguist-generated", "b.pb.go", attrGenerated, "unset"},
		{"*.pb.go linguist-generated=false", "b.pb.go", attrGenerated, "unset"},
		{"*.pb.go linguist-generated=maybe", "b.pb.go", attrGenerated, ""},
		{"*.pb.go linguist-generated", "b.go", attrGenerated, ""},
		{"third/** linguist-vendored", "third/a/b.c", attrVendored, "set"},
		{"/third/** linguist-vendored", "third/a.c", attrVendored, "set"},
		{"third/** linguist-vendored", "x/third/a.c", attrVendored, ""},
		{"third/ linguist-vendored", "third/a.c", attrVendored, ""},
		{"third linguist-vendored", "third/a.c", attrVendored, ""},
		{"vendor/** linguist-vendored\nvendor/ours/** -linguist-vendored", "vendor/ours/a.go", attrVendored, "unset"},
		{"vendor/ours/** -linguist-vendored\nvendor/** linguist-vendored", "vendor/ours/a.go", attrVendored, "set"},
		{"docs/*.py linguist-documentation eol=lf", "docs/a.py", attrDocumentation, "set"},
		{"docs/*.py linguist-documentation", "docs/a/b.py", attrDocumentation, ""},
		{"*.dat binary", "a.dat", attrText, "unset"},
		{"*.dat -text", "a.dat", attrText, "unset"},
		{"*.dat -diff", "a.dat", attrText, ""},
		{"*.dat -binary", "a.dat", attrText, "set"},
		{"*.dat binary\na.dat text", "a.dat", attrText, "set"},
		{`"a b.dat" binary`, "a b.dat", attrText, "unset"},
		{`"a b.dat binary`, "a b.dat", attrText, ""},
		{"# *.dat binary", "a.dat", attrText, ""},
		{"!*.dat binary", "a.dat", attrText, ""},
		{"[attr]x binary", "x", attrText, ""},
		{"*.{a,b} binary", "x.a", attrText, ""},
		{"*.{a,b} binary", "x.{a,b}", attrText, "unset"},
		{"*.[ab] binary", "x.a", attrText, "unset"},
		{"\ufeff*.dat binary\r\n", "a.dat", attrText, "unset"},
		{"*.dat\tbinary", "a.dat", attrText, "unset"},
	} {
		a, why := readAttributes([]byte(tt.text))
		if why != "" {
			t.Fatalf("%q: %s", tt.text, why)
		}
		set, sets := a.of(tt.path, tt.attribute)
		if got := map[bool]string{true: map[bool]string{true: "set", false: "unset"}[set]}[sets]; got != tt.want {
			t.Errorf("%q: %s of %s is %q, want %q", tt.text, tt.attribute, tt.path, got, tt.want)
		}
	}
}

// Attributes of the base count whether they set or unset something. A file that is too large does
// not count, and is named.
func TestAttributesOfTheBaseCount(t *testing.T) {
	read := func(attributes string) pipeline.PRFacts {
		return build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{
			{Path: "gen/a.go", Status: pipeline.FileModified, Additions: 1, Patch: "@@ -0,0 +1 @@\n+x"},
			{Path: "vendor/ours/a.go", Status: pipeline.FileModified, Additions: 1, Patch: "@@ -0,0 +1 @@\n+x"},
			{Path: "model.json", Status: pipeline.FileAdded, Binary: true},
			{Path: "deploy.sh", Status: pipeline.FileAdded, Binary: true},
		}}, raw.Commits{}, []byte(attributes))
	}
	f := read("gen/** linguist-generated\nvendor/ours/** -linguist-vendored\n*.json binary\n")
	at := map[string]pipeline.File{}
	for _, file := range f.Files {
		at[file.Path] = file
	}
	if !at["gen/a.go"].GeneratedByPath || !at["gen/a.go"].Generated || at["vendor/ours/a.go"].Vendored || !at["gen/a.go"].ByBase || at["vendor/ours/a.go"].ByBase {
		t.Errorf("%+v", f.Files)
	}
	gates := map[string]bool{}
	for _, i := range f.Incomplete {
		gates[i.Path] = i.Gating
	}
	if gates["model.json"] || !gates["deploy.sh"] {
		t.Errorf("%+v", f.Incomplete)
	}
	var many strings.Builder
	for i := range maxAttributeLines + 1 {
		fmt.Fprintf(&many, "a%d binary\n", i)
	}
	for _, text := range []string{strings.Repeat("#", MaxAttributes+1), many.String() + "*.json binary\n"} {
		f := read(text)
		last := f.Incomplete[len(f.Incomplete)-1]
		if last.Path != AttributesFile || last.Gating || f.Files[0].Generated {
			t.Errorf("%d bytes: %+v", len(text), f.Incomplete)
		}
	}
}

// Only what the base has can be left out by the base: the author chooses the path of a new file.
func TestAttributesLeaveOutOnlyFilesOfTheBase(t *testing.T) {
	a, why := readAttributes([]byte("gen/** linguist-generated\nthird/** linguist-vendored\ngen/ours.go -linguist-generated\n"))
	if why != "" {
		t.Fatal(why)
	}
	for _, tt := range []struct {
		path, previous string
		status         pipeline.FileStatus
		want           bool
	}{
		{"gen/a.go", "", pipeline.FileModified, true},
		{"third/a.go", "", pipeline.FileModified, true},
		{"gen/a.go", "", pipeline.FileRemoved, true},
		{"gen/a.go", "", pipeline.FileAdded, false},
		{"gen/b.go", "gen/a.go", pipeline.FileCopied, false},
		{"gen/b.go", "gen/a.go", pipeline.FileRenamed, true},
		{"gen/b.go", "third/a.go", pipeline.FileRenamed, true},
		{"gen/b.go", "src/b.go", pipeline.FileRenamed, false},
		{"src/b.go", "gen/b.go", pipeline.FileRenamed, false},
		{"gen/ours.go", "", pipeline.FileModified, false},
		{"src/a.go", "", pipeline.FileModified, false},
	} {
		f := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: tt.path, PreviousPath: tt.previous, Status: tt.status}}}
		if a.apply(&f); f.Files[0].ByBase != tt.want {
			t.Errorf("%s %s, before %q: left out %t, want %t", tt.status, tt.path, tt.previous, f.Files[0].ByBase, tt.want)
		}
	}
}

func FuzzAttributes(f *testing.F) {
	f.Add("*.pb.go linguist-generated\n\"a b\" binary\n", "a/b.pb.go")
	f.Add("[a-\\] -text\n** binary\n{a binary", "{a")
	f.Fuzz(func(t *testing.T, text, path string) {
		a, why := readAttributes([]byte(text))
		if set, sets := a.of(path, attrText); why != "" && (set || sets) {
			t.Errorf("a file that does not count sets an attribute")
		}
	})
}

// The same characters separate words in a line as in git.
func TestSeparatorsOfAttributesAsInGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	for _, blank := range []string{" ", "\t", "\r", "\r \t", "\v", "\f", "\u0085", "\u00a0", "\u2028"} {
		for _, line := range []string{"a.dat" + blank + "binary", blank + "a.dat binary", "a.dat binary" + blank, "a.dat x" + blank + "binary", `"a.dat"` + blank + "binary"} {
			if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(git("check-attr", "text", "--", "a.dat")) == "a.dat: text: unset"
			a, why := readAttributes([]byte(line + "\n"))
			set, sets := a.of("a.dat", attrText)
			if got := sets && !set; got != want || why != "" {
				t.Errorf("%q: binary %v, but in git %v %s", line, got, want, why)
			}
		}
	}
}

// Patterns match as in git. Where that is impossible, a file may get an encoding that it does not
// have in git, but it never lacks one that it has.
func TestPatternsOfAttributesAsInGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "core.ignoreCase=false"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	paths := []string{"y.sh", "a.sh", "x/y.sh", "ä.sh", "äy.sh", `"y.sh`, "]y.sh", "^y.sh", "!y.sh", "-y.sh", "{y,z}.sh", "y z.sh", "x/z/y.sh", "y\t.sh", "[attr].sh", "A.sh"}
	const set = " working-tree-encoding=IBM037"
	for _, tt := range []struct {
		text  string
		exact bool // whether ours agrees with git on every path
	}{
		{"*.sh" + set, true},
		{"[[:alpha:]].sh" + set, false},
		{"[[:alpha:]]*.sh" + set + "\n", false},
		{`"\171.sh"` + set, true},
		{`"\303\244.sh"` + set, true},
		{`"\x79.sh"` + set, false},
		{`"\18.sh"` + set, false},
		{`"\777.sh"` + set, false},
		{`"y\t.sh"` + set, false},
		{`"y z.sh"` + set, true},
		{`"y.sh"working-tree-encoding=IBM037`, true},
		{`"y.sh working-tree-encoding=IBM037`, false},
		{`"[attr]m"` + set + "\ny.sh m", true},
		{"[attr]m" + set + "\ny.sh m", true},
		{"[attr]m" + set + "\n[attr]m -working-tree-encoding +\ny.sh m", true},
		{"[attr]binary" + set + "\n*.sh binary", true},
		{"[attr] x" + set, false},
		{"[attr]" + set, false},
		{"?.sh" + set, false},
		{"??.sh" + set, false},
		{"[!a].sh" + set, false},
		{"[^a].sh" + set, false},
		{"[]y].sh" + set, false},
		{"[y-].sh" + set, false},
		{"[^y].sh" + set, false},
		{"[\\]y]y.sh" + set, false},
		{"[x-z].sh" + set, false},
		{"[a" + set, false},
		{`\y.sh` + set, false},
		{`\!y.sh` + set, false},
		{"!y.sh" + set, true},
		{"{y,z}.sh" + set, true},
		{"/y.sh" + set, true},
		{"x/*.sh" + set, true},
		{"x/**/y.sh" + set, true},
		{"**/y.sh" + set, true},
		{"x**y.sh" + set, false},
		{"**" + set, true},
		{"x/" + set, true},
		{"x/**" + set, true},
		{"*.sh" + set + "\ny.sh -working-tree-encoding", true},
		{"*.sh" + set + "\ny.sh !working-tree-encoding", true},
		{"*.sh" + set + "\ny.sh working-tree-encoding=UTF-8", true},
		{"*.sh" + set + "\ny.sh -working-tree-encoding -- ", true},
		{"*.sh" + set + "\ny.sh -working-tree-encoding a+b", true},
		{"*.sh" + set + "\ny.sh -working-tree-encoding builtin_x", false},
		{"*.sh" + set + "\n[[:alpha:]].sh -working-tree-encoding", false},
		{"*.sh" + set + "\n?.sh -working-tree-encoding", false},
		{"*.sh" + set + "\n??.sh -working-tree-encoding", false},
		{"*.sh" + set + "\n*.sh -working-tree-encoding " + strings.Repeat("x", 3000), false},
		{"*.sh" + set + "\x00\n*.sh -working-tree-encoding", false},
		{"*.sh" + set + "\x00 -working-tree-encoding", true},
		{"\ufeff*.sh" + set, true},
	} {
		if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(tt.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		a, why := readAttributes([]byte(tt.text + "\n"))
		if why != "" {
			t.Fatalf("%q: %s", tt.text, why)
		}
		answers := strings.Split(git(append([]string{"check-attr", "-z", "working-tree-encoding", "--"}, paths...)...), "\x00")
		for i, path := range paths {
			want, got := answers[3*i+2] == "IBM037", a.encodingOf(path) != 0
			if want && !got || tt.exact && got != want {
				t.Errorf("%.99q: %s is encoded %v, but in git %v", tt.text, path, got, want)
			}
		}
	}
}

// A file that does not count may still set encodings.
func TestEncodingsOfAttributesThatDoNotCount(t *testing.T) {
	for _, text := range []string{
		"*.sh working-tree-encoding=IBM037\n" + strings.Repeat("#", MaxAttributes),
		"*.sh working-tree-encoding=IBM037\n" + strings.Repeat("a binary\n", maxAttributeLines),
		strings.Repeat("[[:x:]] working-tree-encoding=IBM037\n", maxAttributeLines+1),
	} {
		if a, why := readAttributes([]byte(text)); why == "" || a.encodingOf("y.sh") == 0 {
			t.Errorf("%.40q: %q, but no encoding is set", text, why)
		}
	}
}
