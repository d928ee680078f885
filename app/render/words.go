package render

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

//go:embed wording.tmpl
var wording string

var words = template.Must(template.New("wording").Funcs(template.FuncMap{
	"n": count, "num": grouped, "when": when, "list": list, "cell": cell,
}).Parse(wording))

// say executes a template of wording.tmpl. It panics if the template does not fit its
// data, or if the type of the data can hold a text that no pen has made safe. These are
// mistakes in this package and do not depend on untrusted text.
func say(name string, data any) safe {
	if t := reflect.TypeOf(data); t != nil && !onlySafe(t) {
		panic(fmt.Sprintf("render: template %q gets a plain string in %s", name, t))
	}
	var b strings.Builder
	if err := words.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("render: %v", err))
	}
	return safe(b.String())
}

// safeTypes caches the answers of onlySafe by reflect.Type.
var safeTypes sync.Map

// onlySafe reports whether all strings in a type are of type safe or word.
func onlySafe(t reflect.Type) bool {
	if ok, known := safeTypes.Load(t); known {
		return ok.(bool)
	}
	ok := true
	switch t.Kind() {
	case reflect.String:
		ok = t == reflect.TypeFor[safe]() || t == reflect.TypeFor[word]()
	case reflect.Pointer, reflect.Slice:
		ok = onlySafe(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			ok = ok && onlySafe(t.Field(i).Type)
		}
	case reflect.Bool, reflect.Int:
	default:
		ok = false
	}
	safeTypes.Store(t, ok)
	return ok
}

// count returns "1 warning" or "2 warnings", and "" for 0.
func count(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return strings.TrimSpace("1 " + one)
	}
	return strings.TrimSpace(grouped(n) + " " + many)
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func when(cond bool, text string) string {
	if cond {
		return text
	}
	return ""
}

// cell keeps a code span from ending the table cell around it.
func cell(s safe) safe { return safe(strings.ReplaceAll(string(s), "|", `\|`)) }

// list joins the items that are not empty. An item may be a list.
func list(sep string, items ...any) (safe, error) {
	var parts []string
	for _, item := range items {
		switch v := item.(type) {
		case string: // the result of n or when, or a literal in the template
			parts = append(parts, v)
		case safe:
			parts = append(parts, string(v))
		case word:
			parts = append(parts, string(v))
		case []safe:
			for _, s := range v {
				parts = append(parts, string(s))
			}
		default:
			return "", fmt.Errorf("list: cannot join a %T", item)
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return safe(strings.Join(parts, sep)), nil
}
