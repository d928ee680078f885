package normalize

import (
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/linguist"
)

// interpreters are the languages of programs that a script's first line names, for programs that
// GitHub's classifier doesn't know or knows as something else.
var interpreters = map[string][]string{
	"python": {"Python"}, "pypy": {"Python"}, "pythonw": {"Python"}, "ipython": {"Python"}, "pipx": {"Python"}, "poetry": {"Python"},
	"pdm": {"Python"}, "hatch": {"Python"}, "uvx": {"Python"}, "micropython": {"Python"}, "jython": {"Python"}, "graalpy": {"Python"},
	"node": {"JavaScript"}, "bun": {"JavaScript", "TypeScript"}, "bunx": {"JavaScript", "TypeScript"}, "deno": {"TypeScript", "JavaScript"},
	"tsx": {"TypeScript", "JavaScript"}, "ts-node": {"TypeScript", "JavaScript"}, "ts-node-esm": {"TypeScript"}, "ts-node-script": {"TypeScript"},
	"ts-script": {"TypeScript"}, "zx": {"JavaScript"}, "npx": {"JavaScript", "TypeScript"}, "nodemon": {"JavaScript"}, "esno": {"TypeScript"}, "jiti": {"TypeScript"},
	"ruby": {"Ruby"}, "truffleruby": {"Ruby"}, "bundle": {"Ruby"}, "perl": {"Perl"}, "php": {"PHP"}, "php-cgi": {"PHP"}, "hhvm": {"PHP"},
	"lua": {"Lua"}, "texlua": {"Lua"}, "groovy": {"Groovy"}, "kotlin": {"Kotlin"}, "kotlinc": {"Kotlin"}, "kscript": {"Kotlin"},
	"scala": {"Scala"}, "scala-cli": {"Scala"}, "amm": {"Scala"}, "java": {"Java"}, "jbang": {"Java"}, "swift": {"Swift"}, "cargo": {"Rust"}, "go": {"Go"}, "gorun": {"Go"},
	"yash": {"Shell"}, "posh": {"Shell"}, "rbash": {"Shell"}, "bats": {"Shell"}, "powershell": {"PowerShell"}, "make": {"Makefile"}, "gmake": {"Makefile"}, "bmake": {"Makefile"},
	"expect": {"Tcl"}, "r": {"R"}, "rscript": {"R"}, "littler": {"R"}, "dotnet": {"C#"}, "dotnet-script": {"C#"}, "csi": {"C#", "Scheme"}, "psql": {"SQL", "PLpgSQL"}, "ansible-playbook": {"YAML"}, "terraform": {"HCL"},
}

// launchers start the program that follows them.
var launchers = map[string]bool{
	"env": true, "sudo": true, "doas": true, "busybox": true, "toybox": true, "nice": true, "nohup": true, "time": true, "exec": true, "stdbuf": true, "setsid": true, "ionice": true, "command": true,
}

// interpreterLine reads the first line of a script. named reports whether the line names an
// interpreter. languages are the interpreter's languages. They are empty if nobody knows it, or if
// the line also names an interpreter of another language.
func interpreterLine(line string) (named bool, languages []string) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "\ufeff"), "#!")
	if !ok || strings.HasPrefix(strings.TrimLeft(rest, " \t"), "[") { // a Rust attribute
		return false, nil
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t\r\v\f\"'", r) })
	if len(words) == 0 {
		return true, nil
	}
	program := words[0]
	for words = words[1:]; launchers[nameOf(program)]; {
		if program, words = launched(words); program == "" {
			return true, nil
		}
	}
	languages = languagesOf(nameOf(program))
	for _, w := range words { // such as uv run bash
		if other := languagesOf(nameOf(w)); len(other) > 0 && !slices.ContainsFunc(other, func(l string) bool { return slices.Contains(languages, l) }) {
			return true, nil
		}
	}
	return true, languages
}

// launched returns the program in a launcher's arguments, and the words after it. The argument of
// -S may be in the same word.
func launched(words []string) (program string, rest []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-u" || w == "-C" || w == "--unset" || w == "--chdir" || w == "-n":
			i++
		case strings.HasPrefix(w, "--split-string="):
			return strings.TrimPrefix(w, "--split-string="), words[i+1:]
		case strings.HasPrefix(w, "--"):
		case strings.HasPrefix(w, "-"):
			if _, text, ok := strings.Cut(w, "S"); ok && text != "" {
				return text, words[i+1:]
			}
		case strings.Contains(w, "="):
		default:
			return w, words[i+1:]
		}
	}
	return "", nil
}

// nameOf is the name of a program without its directory and in lower case.
func nameOf(program string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/"))), ".exe")
}

// languagesOf are the languages of an interpreter. Its name may end in its version.
func languagesOf(name string) []string {
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.-")} {
		if l := interpreters[n]; l != nil {
			return l
		}
		if l := linguist.LanguagesByInterpreter(n); l != nil {
			return l
		}
	}
	return nil
}
