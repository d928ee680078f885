package expression

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/reviewgate/reviewgate/pipeline"
)

// structType is one of the glossary's structs as expressions see it, with the names of its JSON.
// cel-go's own NativeTypes looks a field up by its tags at each read, and can't leave a field out.
type structType struct {
	cel    *types.Type
	shown  string // for messages: facts, file, domain file
	fields []*structField
	byName map[string]*structField
}

type structField struct {
	name  string
	typ   *types.Type
	index int
	read  func(reflect.Value) ref.Val
}

// structTypes has the types that can be reached from facts and classification. It does not change
// after newStructTypes.
type structTypes struct {
	types.Provider // for all other types: CEL's own types only
	types.Adapter

	byGo   map[reflect.Type]*structType
	byName map[string]*structType

	// missing is called for fields that are asked for and don't exist.
	missing func(*structType, string)
}

// left lists the facts that expressions can't read. They are not about the change, and the clock
// would make each answer different.
var left = map[string]bool{"schema_version": true, "config": true, "observed_at": true}

func newStructTypes() (*structTypes, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("make a registry of types: %w", err)
	}
	s := &structTypes{Provider: registry, Adapter: registry, byGo: map[reflect.Type]*structType{}, byName: map[string]*structType{}}
	for _, t := range []reflect.Type{reflect.TypeFor[pipeline.PRFacts](), reflect.TypeFor[pipeline.Classification]()} {
		if _, err := s.of(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// of returns the type of a struct, and makes it at the first call.
func (s *structTypes) of(t reflect.Type) (*structType, error) {
	if known := s.byGo[t]; known != nil {
		return known, nil
	}
	name := "pipeline." + t.Name()
	st := &structType{cel: types.NewObjectType(name), shown: words(t.Name()), byName: map[string]*structField{}}
	s.byGo[t], s.byName[name] = st, st
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if left[name] && t == reflect.TypeFor[pipeline.PRFacts]() {
			continue
		}
		f, err := s.field(t.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", name, st.shown, err)
		}
		f.name, f.index = name, i
		st.fields = append(st.fields, f)
		st.byName[name] = f
	}
	return st, nil
}

// words returns a Go type's name in plain words.
func words(name string) string {
	if name == "PRFacts" {
		return "facts"
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (s *structTypes) field(t reflect.Type) (*structField, error) {
	switch t.Kind() {
	case reflect.Bool:
		return &structField{typ: cel.BoolType, read: func(v reflect.Value) ref.Val { return types.Bool(v.Bool()) }}, nil
	case reflect.Int:
		return &structField{typ: cel.IntType, read: func(v reflect.Value) ref.Val { return types.Int(v.Int()) }}, nil
	case reflect.String:
		return &structField{typ: cel.StringType, read: func(v reflect.Value) ref.Val { return types.String(v.String()) }}, nil
	case reflect.Struct:
		st, err := s.of(t)
		if err != nil {
			return nil, err
		}
		return &structField{typ: st.cel, read: func(v reflect.Value) ref.Val { return &object{typ: st, value: v} }}, nil
	case reflect.Slice:
		return s.listField(t)
	}
	return nil, fmt.Errorf("expressions know no type for %s", t)
}

func (s *structTypes) listField(t reflect.Type) (*structField, error) {
	if texts := reflect.TypeFor[[]string](); t.ConvertibleTo(texts) {
		return &structField{typ: cel.ListType(cel.StringType), read: func(v reflect.Value) ref.Val {
			list, _ := reflect.TypeAssert[[]string](v.Convert(texts))
			return types.NewStringList(s, list)
		}}, nil
	}
	if t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("expressions know no type for %s", t)
	}
	st, err := s.of(t.Elem())
	if err != nil {
		return nil, err
	}
	return &structField{typ: cel.ListType(st.cel), read: func(v reflect.Value) ref.Val { return &objects{elem: st, value: v} }}, nil
}

// FindStructType returns the type of an operand. The checker calls it.
func (s *structTypes) FindStructType(name string) (*types.Type, bool) {
	if st := s.byName[name]; st != nil {
		return types.NewTypeTypeWithParam(st.cel), true
	}
	return nil, false
}

// FindStructFieldNames lists the fields of a type.
func (s *structTypes) FindStructFieldNames(name string) ([]string, bool) {
	st := s.byName[name]
	if st == nil {
		return nil, false
	}
	var names []string
	for _, f := range st.fields {
		names = append(names, f.name)
	}
	return names, true
}

// FindStructFieldType returns a field of a type. The checker and the planner call it.
func (s *structTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	st := s.byName[name]
	if st == nil {
		return nil, false
	}
	f := st.byName[field]
	if f == nil {
		if s.missing != nil {
			s.missing(st, field)
		}
		return nil, false
	}
	return &types.FieldType{
		Type: f.typ,
		IsSet: func(target any) bool {
			o, ok := target.(*object)
			return ok && !o.value.Field(f.index).IsZero()
		},
		GetFrom: func(target any) (any, error) {
			o, ok := target.(*object)
			if !ok {
				return nil, fmt.Errorf("read %s of %T", f.name, target)
			}
			return f.read(o.value.Field(f.index)), nil
		},
	}, true
}

// variable returns the type of a variable, or nil if it is not a struct.
func (s *structTypes) variable(name string) *structType {
	switch name {
	case "facts":
		return s.byName["pipeline.PRFacts"]
	case "classification":
		return s.byName["pipeline.Classification"]
	}
	return nil
}

// value returns the value of a struct variable, which expressions can't change.
func (s *structTypes) value(pointer any) ref.Val {
	v := reflect.ValueOf(pointer).Elem()
	return &object{typ: s.byGo[v.Type()], value: v}
}

var errOpaque = errors.New("facts as a whole are not compared or converted")

// opaque refuses the operations that CEL requires of every value, but that a checked expression
// never uses.
type opaque struct{}

func (opaque) ConvertToNative(reflect.Type) (any, error) { return nil, errOpaque }
func (opaque) ConvertToType(ref.Type) ref.Val            { return types.WrapErr(errOpaque) }
func (opaque) Equal(ref.Val) ref.Val                     { return types.WrapErr(errOpaque) }

// object is a struct. Expressions can only read its fields.
type object struct {
	opaque
	typ   *structType
	value reflect.Value
}

func (o *object) Type() ref.Type { return o.typ.cel }
func (o *object) Value() any     { return o }

// objects is a list of structs, which are not copied.
type objects struct {
	opaque
	elem  *structType
	value reflect.Value
}

var _ traits.Lister = (*objects)(nil)

func (l *objects) Contains(ref.Val) ref.Val { return types.WrapErr(errOpaque) }
func (l *objects) Add(ref.Val) ref.Val      { return types.WrapErr(errOpaque) }
func (l *objects) Type() ref.Type           { return types.ListType }
func (l *objects) Value() any               { return l }
func (l *objects) Size() ref.Val            { return types.Int(l.value.Len()) }
func (l *objects) at(i int) ref.Val         { return &object{typ: l.elem, value: l.value.Index(i)} }

// Get returns the element at an index.
func (l *objects) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	if i < 0 || int64(i) >= int64(l.value.Len()) {
		return types.NewErr("index %d is outside a list of %d", int64(i), l.value.Len())
	}
	return l.at(int(i))
}

// Iterator returns an iterator over the elements in their order.
func (l *objects) Iterator() traits.Iterator { return &iterator{list: l} }

type iterator struct {
	opaque
	list *objects
	next int
}

func (it *iterator) Type() ref.Type   { return types.IteratorType }
func (it *iterator) Value() any       { return it }
func (it *iterator) HasNext() ref.Val { return types.Bool(it.next < it.list.value.Len()) }

func (it *iterator) Next() ref.Val {
	it.next++
	return it.list.at(it.next - 1)
}
