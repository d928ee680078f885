package comments

// language is the part of a language's syntax that is needed to find comments.
type language struct {
	line        []string // start comments that end with their line
	blank       bool     // a space or the end of the line must follow that start
	apart       bool     // a space or the start of the line must come before it
	open, close string   // of comments that may span lines
	oneLine     bool     // such a comment is certain only if it ends on its line
	never       []string // look like a comment's start but may run
	// ends are what could end a string, a template or a tag around a line, or put code into it. A
	// line with one is not certainly a comment.
	ends []string
	// holes says that braces put code into the text around them, as in JSX.
	holes   bool
	raw     string // quotes between which a backslash escapes nothing
	regex   bool   // there are regular expressions between slashes
	words   bool   // words need no quotes, and && and || end a statement
	heredoc string // begins a heredoc; the name that ends it follows
	block   bool   // contains indented programs
}

var (
	cLike     = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"`, "??/"}}
	goLike    = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{"`"}, raw: "`"}
	jsLike    = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{"`", "</", "/>", "<%"}, holes: true, regex: true}
	tsLike    = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{"`", "${"}, regex: true}
	javaLike  = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"""`, "${", `\(`, `\u`}}
	csLike    = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"`, "{"}}
	groovy    = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"""`, "'''", "${", "/"}, regex: true}
	dartLike  = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"""`, "'''", "${"}}
	rustLike  = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"`}}
	phpLike   = &language{line: []string{"//", "#"}, open: "/*", close: "*/", never: []string{"#["}, ends: []string{`"`, "'", "`", "?>", "<?", "{$", "${"}, heredoc: "<<<"}
	plainLike = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{`"`}}
	cssLike   = &language{open: "/*", close: "*/", ends: []string{"<", "{{", "${", "`"}}
	scssLike  = &language{line: []string{"//"}, open: "/*", close: "*/", ends: []string{"<", "{", "`"}}
	python    = &language{line: []string{"#"}, ends: []string{`"""`, "'''", "{"}}
	shell     = &language{line: []string{"#"}, apart: true, ends: []string{`"`, "'", "`", "$(", "${"}, words: true, raw: "'", heredoc: "<<"}
	powerOf   = &language{line: []string{"#"}, apart: true, open: "<#", close: "#>", oneLine: true, ends: []string{`"`, "'", "$("}}
	docker    = &language{line: []string{"#"}, apart: true, ends: []string{`"`, "'", "`", "$("}, words: true, raw: "'", heredoc: "<<"}
	makefile  = &language{line: []string{"#"}, ends: []string{`"`, "'", "`", "$(", "${"}, words: true, raw: "'"}
	yaml      = &language{line: []string{"#"}, blank: true, apart: true, ends: []string{`"`, "'", "`", "{{", "$("}, words: true, raw: "'", heredoc: "<<", block: true}
	toml      = &language{line: []string{"#"}, ends: []string{`"""`, "'''"}}
	ini       = &language{line: []string{"#", ";"}, apart: true, ends: []string{`"`}}
	hcl       = &language{line: []string{"#", "//"}, open: "/*", close: "*/", ends: []string{"${", "%{"}, heredoc: "<<"}
	sql       = &language{line: []string{"--"}, blank: true, open: "/*", close: "*/", never: []string{"/*!", "/*M!", "/*+"}, ends: []string{`"`, "'", "`", "$"}}
	lua       = &language{line: []string{"--"}, never: []string{"--["}, ends: []string{"]"}}
	markup    = &language{
		line: []string{"//"}, open: "<!--", close: "-->", oneLine: true, never: []string{"<!-->", "<!--->", "<!--["},
		ends: []string{`"`, "'", "`", "{", "}", "<", ">", "*/", "--!"}, regex: true,
	}
	xml = &language{open: "<!--", close: "-->", oneLine: true, never: []string{"<!-->", "<!--->", "<!--["}, ends: []string{`"`, "'", "<", ">", "--"}}
)

// HasRegexps reports whether a language has regular expressions between slashes.
func HasRegexps(name string) bool { l := languages[name]; return l != nil && l.regex }

// languages are the known languages, by the names that GitHub shows. Ruby and Perl are not known:
// any character may end a string there.
var languages = map[string]*language{
	"C": cLike, "C++": cLike, "Objective-C": cLike, "Objective-C++": cLike,
	"Go": goLike, "Go Module": goLike, "Go Workspace": goLike,
	"JavaScript": jsLike, "TSX": jsLike, "TypeScript": tsLike,
	"Java": javaLike, "Kotlin": javaLike, "Gradle Kotlin DSL": javaLike, "Scala": javaLike, "Swift": javaLike,
	"C#": csLike, "Groovy": groovy, "Gradle": groovy, "Dart": dartLike, "Rust": rustLike, "PHP": phpLike,
	"Protocol Buffer": plainLike, "CSS": cssLike, "SCSS": scssLike, "Less": scssLike,
	"Python": python, "Shell": shell, "PowerShell": powerOf, "Dockerfile": docker, "Makefile": makefile,
	"YAML": yaml, "TOML": toml, "INI": ini, "NPM Config": ini, "Pip Requirements": ini, "Git Config": ini, "SSH Config": ini,
	"HCL": hcl, "SQL": sql, "PLpgSQL": sql, "PLSQL": sql, "TSQL": sql, "Lua": lua,
	"HTML": markup, "Vue": markup, "Svelte": markup, "Astro": markup, "XML": xml,
}
