package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// Field is a field that expressions can read, such as facts.files[].hunks[].lines[].text. [] stands
// for each element of a list.
type Field struct {
	Name string
	Type string // bool, int, string, object or list with its elements: list of string
}

// Function is a function that expressions can call.
type Function struct {
	Name        string
	Usage       string
	Description string
}

// Reference lists the fields in the order of the Go types, each parent before its children.
func Reference() ([]Field, error) {
	l, err := changes()
	if err != nil {
		return nil, err
	}
	return l.reference(), nil
}

func (l *language) reference() (list []Field) {
	for _, name := range l.variables {
		if st := l.types.variable(name); st != nil {
			list = l.types.list(append(list, Field{name, "object"}), name, st)
		}
	}
	return list
}

func (s *structTypes) list(list []Field, prefix string, st *structType) []Field {
	for _, f := range st.fields {
		name := prefix + "." + f.name
		inner := s.byName[f.typ.TypeName()]
		if f.typ.Kind() != types.ListKind {
			list = append(list, Field{name, kindName(f.typ)})
		} else {
			elem := f.typ.Parameters()[0]
			inner = s.byName[elem.TypeName()]
			list = append(list, Field{name, "list of " + kindName(elem)})
			name += "[]"
		}
		if inner != nil {
			list = s.list(list, name, inner)
		}
	}
	return list
}

func kindName(t *types.Type) string {
	if t.Kind() == types.StructKind {
		return "object"
	}
	return cel.FormatCELType(t)
}

// Functions lists the functions and loops, without operators.
func Functions() []Function {
	return []Function{
		{"exists", "list.exists(x, condition)", "whether the condition holds for an element x"},
		{"all", "list.all(x, condition)", "whether the condition holds for every element x"},
		{"exists_one", "list.exists_one(x, condition)", "whether the condition holds for exactly one element x"},
		{"filter", "list.filter(x, condition)", "the elements x for which the condition holds"},
		{"map", "list.map(x, value)", "the values for the elements x"},
		{"has", "has(facts.milestone)", "whether a field is not empty"},
		{"size", "list.size() or text.size()", "the length of a list, or of a text in characters"},
		{"contains", `text.contains("part")`, "whether the part stands in the text"},
		{"startsWith", `text.startsWith("start")`, "whether the text begins so"},
		{"endsWith", `text.endsWith("end")`, "whether the text ends so"},
		{"matches", `text.matches("^WIP")`, "whether the pattern, a constant in RE2 syntax, matches somewhere in the text"},
		{"glob", `glob(path, "src/**")`, "whether the glob, a constant, matches the whole path"},
		{"lowerAscii", "text.lowerAscii()", "the text with A to Z in lower case"},
		{"upperAscii", "text.upperAscii()", "the text with a to z in upper case"},
		{"trim", "text.trim()", "the text without white space at its ends"},
		{"split", `text.split("\n")`, "the parts of the text between separators"},
	}
}
