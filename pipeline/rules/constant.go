package rules

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// constant removes the matches of rules on SQL in Go whose statements consist of constants and
// placeholders of parameters, as far as the diff shows. It trusts no name of a variable: the lines from
// its declaration to its use must show what it holds.
func (p *pass) constant(facts *pipeline.PRFacts) {
	asked, left := 0, maxParsed
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		if f.path == "" || f.rule.Match == nil || !f.rule.Match.Constant {
			return false
		}
		if asked++; asked > maxConstant || p.ctx.Err() != nil {
			return false
		}
		return f.rule.isConstant(facts, f.path, f.line, &left)
	})
}

// isConstant reports whether all that the rule matches in a line of a Go file is made of constants. It
// takes the bytes that it parses from left, and no longer knows when none are left.
func (r *rule) isConstant(facts *pipeline.PRFacts, path string, line int, left *int) bool {
	for i := range facts.Files {
		f := &facts.Files[i]
		if f.Path != path || f.Language != "Go" {
			continue
		}
		for h := range f.Hunks {
			var lines []string
			at := -1
			for j := range f.Hunks[h].Lines {
				l := &f.Hunks[h].Lines[j]
				if l.Op == pipeline.LineRemoved {
					continue
				}
				if l.New == line {
					at = len(lines)
				}
				lines = append(lines, l.Text)
			}
			if at >= 0 {
				code := readGo(lines, at, left)
				return code != nil && code.allConstant(r, constantsOf(f))
			}
		}
	}
	return false
}

// topConstant matches the declaration of a text as a constant outside of functions.
var topConstant = regexp.MustCompile("^const\\s+(\\w+)(?:\\s+string)?\\s*=\\s*[\"`]")

// constantsOf lists the constants that the diff of a file shows outside of functions.
func constantsOf(f *pipeline.File) map[string]bool {
	names := map[string]bool{}
	for h := range f.Hunks {
		for i := range f.Hunks[h].Lines {
			if m := topConstant.FindStringSubmatch(f.Hunks[h].Lines[i].Text); m != nil && f.Hunks[h].Lines[i].Op != pipeline.LineRemoved {
				names[m[1]] = true
			}
		}
	}
	return names
}

// The bounds of the code that is read: how many matches of a change, how many lines before a match and
// from it on, and how many bytes at once and in all. Code that does not parse is tried from many lines.
const (
	maxConstant  = 100
	maxLeading   = 40
	maxFollowing = 30
	maxFunction  = 32 << 10
	maxParsed    = 8 << 20
)

// goCode is a part of a Go function, from its first line or a later one to the end of a statement.
type goCode struct {
	text  string
	file  *token.File
	tree  *ast.File
	line  int  // of the match, in the text
	whole bool // it begins with the function's first line, which names its parameters
	// constants are declared outside of functions. open are the names whose values are being looked up.
	constants, open map[string]bool
}

// readGo reads the code around a line. It returns nil if the lines can't be read.
func readGo(lines []string, at int, left *int) *goCode {
	first := at
	for first >= 0 && !strings.HasPrefix(lines[first], "func ") {
		if strings.HasPrefix(lines[first], "}") {
			first = -1
			break
		}
		first--
	}
	if first >= 0 {
		return parseGo("package p\n", lines, first, at, true, left)
	}
	for first = max(0, at-maxLeading); first <= at; first++ {
		if code := parseGo("package p\nfunc _() {\n", lines, first, at, false, left); code != nil {
			return code
		}
	}
	return nil
}

// parseGo reads the lines from the first to the end of the statement at a line.
func parseGo(head string, lines []string, first, at int, whole bool, left *int) *goCode {
	for end := at; end < min(len(lines), at+maxFollowing); end++ {
		text := head + strings.Join(lines[first:end+1], "\n") + "\n"
		if *left -= len(text); *left < 0 || len(text) > maxFunction {
			return nil
		}
		braces, ok := openBraces(text)
		if !ok {
			continue
		}
		text += strings.Repeat("}\n", braces)
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		return &goCode{text: text, file: files.File(tree.Pos()), tree: tree, line: strings.Count(head, "\n") + at - first + 1, whole: whole, open: map[string]bool{}}
	}
	return nil
}

// openBraces counts the braces that a text leaves open. It fails if the text leaves another bracket open
// or closes one that it does not open.
func openBraces(text string) (n int, ok bool) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	var open []token.Token
	for {
		switch _, t, _ := s.Scan(); t {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) == 0 {
				return 0, false
			}
			open = open[:len(open)-1]
		case token.EOF:
			return len(open), s.ErrorCount == 0 && !slices.ContainsFunc(open, func(t token.Token) bool { return t != token.LBRACE })
		}
	}
}

// allConstant reports whether the rule matches a call in the line or its statement, and each such call
// only gets SQL that is made of constants.
func (c *goCode) allConstant(r *rule, constants map[string]bool) bool {
	c.constants = constants
	found, all := false, true
	var above []ast.Node
	ast.Inspect(c.tree, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		above = append(above, n)
		if _, labelled := n.(*ast.LabeledStmt); labelled {
			all = false // the code may run in another order
		}
		call, is := n.(*ast.CallExpr)
		if !is || c.file.Line(call.End()) < c.line {
			return true
		}
		method, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		from := c.file.Offset(method.Sel.Pos()) - 1
		if m := r.pattern.Get().FindStringIndex(c.text[from:c.file.Offset(call.End())]); m == nil || m[0] > 0 {
			return true
		}
		found = true
		queries := slices.DeleteFunc(slices.Clone(call.Args), func(arg ast.Expr) bool { return !c.holdsSQL(arg) })
		all = all && len(queries) > 0 && !slices.ContainsFunc(queries, func(arg ast.Expr) bool { return !c.constant(arg, slices.Clone(above)) })
		return true
	})
	return found && all
}

var sqlStart = regexp.MustCompile("(?i)^[`\"][\\s(;]*(?:--.*\\s)*(?:explain\\b.*\\s)?(?:select|insert|update|delete|with|replace|merge)\\b")

// holdsSQL reports whether an expression holds a string that begins as a statement of SQL.
func (c *goCode) holdsSQL(e ast.Expr) (holds bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		text, is := n.(*ast.BasicLit)
		holds = holds || is && text.Kind == token.STRING && sqlStart.MatchString(text.Value)
		return !holds
	})
	return holds
}

// constant reports whether an expression is made of constants, placeholders and numbers that the program
// counts. The nodes above it decide what its names mean.
func (c *goCode) constant(e ast.Expr, above []ast.Node) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return c.constant(e.X, above)
	case *ast.BinaryExpr:
		return c.constant(e.X, above) && c.constant(e.Y, above)
	case *ast.SliceExpr:
		return c.constant(e.X, above)
	case *ast.IndexExpr:
		return c.constant(e.X, above)
	case *ast.CompositeLit:
		list, is := e.Type.(*ast.ArrayType)
		return is && isNamed(list.Elt, "string") && !slices.ContainsFunc(e.Elts, func(x ast.Expr) bool { return !c.constant(x, above) })
	case *ast.Ident:
		return c.holdsConstant(e.Name, above)
	case *ast.CallExpr:
		return c.callsConstant(e, above)
	}
	return false
}

func isNamed(e ast.Expr, name string) bool {
	id, is := e.(*ast.Ident)
	return is && id.Name == name
}

// placeholderCall matches the names of functions that write a placeholder, such as $1 or ?.
var placeholderCall = regexp.MustCompile(`(?i)placeholder|bind_?var`)

// textCalls are functions whose result holds only the text of their first arguments, as many as are
// given. Their other arguments are numbers.
var textCalls = map[string]int{
	"strings.Repeat": 1, "strings.Join": 2, "strings.Trim": 1, "strings.TrimLeft": 1, "strings.TrimRight": 1, "strings.TrimSpace": 1,
	"strings.TrimPrefix": 1, "strings.TrimSuffix": 1, "strings.ToUpper": 1, "strings.ToLower": 1, "strings.ReplaceAll": 3, "strings.Replace": 3,
}

func (c *goCode) callsConstant(call *ast.CallExpr, above []ast.Node) bool {
	name := calledName(call)
	if pkg, _, qualified := strings.Cut(name, "."); qualified && (pkg == "strings" || pkg == "strconv" || pkg == "fmt") && c.declares(pkg) {
		return false
	}
	if n, listed := textCalls[name]; listed {
		return len(call.Args) >= n && !slices.ContainsFunc(call.Args[:n], func(x ast.Expr) bool { return !c.constant(x, above) })
	}
	switch name {
	case "len", "cap", "make", "strconv.Itoa", "strconv.FormatInt":
		return !c.declares(name)
	case "append":
		return !c.declares(name) && !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !c.constant(x, above) })
	case "fmt.Sprintf":
		return c.formatsConstant(call, above)
	}
	return placeholderCall.MatchString(name[strings.LastIndexByte(name, '.')+1:]) && len(call.Args) > 0 &&
		!slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !isNumber(x) })
}

// calledName is the name of the function that is called, or of a method with the name of its object.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, is := f.X.(*ast.Ident); is {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// isNumber reports whether an expression is certainly a number.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.INT
	case *ast.ParenExpr:
		return isNumber(e.X)
	case *ast.CallExpr:
		return isNamed(e.Fun, "len")
	case *ast.BinaryExpr: // Go adds a number only to numbers
		return isNumber(e.X) || isNumber(e.Y)
	}
	return false
}

var verb = regexp.MustCompile(`%[-+# 0]*\d*(.?)`)

// formatsConstant reports whether a format and what it formats as text are constants. %d formats numbers.
func (c *goCode) formatsConstant(call *ast.CallExpr, above []ast.Node) bool {
	if len(call.Args) == 0 || !c.constant(call.Args[0], above) || call.Ellipsis.IsValid() {
		return false
	}
	format, is := call.Args[0].(*ast.BasicLit)
	if !is {
		return false
	}
	text, err := strconv.Unquote(format.Value)
	if err != nil {
		return false
	}
	next := 1
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[1] == "%" {
			continue
		}
		if next >= len(call.Args) || !strings.Contains("dsvq", m[1]) || m[1] == "" || m[1] != "d" && !c.constant(call.Args[next], above) {
			return false
		}
		next++
	}
	return next == len(call.Args)
}

// declares reports whether the code declares a name of the language or of a package anew.
func (c *goCode) declares(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	found := false
	ast.Inspect(c.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return isNamed(x, name) })
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(x *ast.Ident) bool { return x.Name == name })
		case *ast.Field:
			found = found || slices.ContainsFunc(n.Names, func(x *ast.Ident) bool { return x.Name == name })
		}
		return !found
	})
	return found
}

// holdsConstant reports whether a name holds only constants where it is used: the code declares it, and
// all uses before assign constants to it, or leave it as it is. A loop or function around its use must
// hold its declaration too, since the code after the use is not read. A name that the function does not
// declare may be a constant of the file.
func (c *goCode) holdsConstant(name string, use []ast.Node) bool {
	if c.open[name] {
		return true // the other assignments decide
	}
	c.open[name] = true
	defer delete(c.open, name)
	declared, all, anew := token.NoPos, true, false
	var above []ast.Node
	ast.Inspect(c.tree, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if id, is := n.(*ast.Ident); is && id.Name == name && all {
			declares, harmless := c.uses(id, above)
			if all = harmless; declares && inScope(above, use) && !declared.IsValid() {
				declared = id.Pos()
			}
			anew = anew || declares
		}
		above = append(above, n)
		return true
	})
	if !all || !declared.IsValid() {
		return all && !anew && c.whole && c.constants[name]
	}
	for _, n := range use {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			if declared < n.Pos() {
				return false
			}
		}
	}
	return true
}

// inScope reports whether a use lies in the scope of a declaration, by the nodes above them.
func inScope(declaration, use []ast.Node) bool {
	for _, n := range slices.Backward(declaration) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.FuncLit:
			return slices.Contains(use, n)
		}
	}
	return false
}

// uses reports what a use of a name does: whether it declares the name, and whether the name still holds
// only constants then.
func (c *goCode) uses(id *ast.Ident, above []ast.Node) (declares, harmless bool) {
	var child ast.Node = id
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.IndexExpr, *ast.SliceExpr, *ast.ParenExpr:
			child = n
			continue
		case *ast.SelectorExpr:
			return false, n.Sel == id
		case *ast.AssignStmt:
			at := slices.IndexFunc(n.Lhs, func(x ast.Expr) bool { return x == child })
			if at < 0 || len(n.Lhs) != len(n.Rhs) {
				return false, false // an alias, or a result of a function
			}
			return n.Tok == token.DEFINE && child == id, c.constant(n.Rhs[at], above[:i])
		case *ast.ValueSpec:
			at := slices.IndexFunc(n.Names, func(x *ast.Ident) bool { return x == id })
			if at < 0 {
				return false, false
			}
			return true, len(n.Values) == 0 || len(n.Values) == len(n.Names) && c.constant(n.Values[at], above[:i])
		case *ast.CallExpr:
			name := calledName(n)
			_, text := textCalls[name]
			return false, text || slices.Contains([]string{"len", "append", "fmt.Sprintf"}, name)
		case *ast.BinaryExpr, *ast.IfStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.ReturnStmt:
			return false, true
		case *ast.RangeStmt:
			return false, n.X == child
		}
		return false, false
	}
	return false, false
}
