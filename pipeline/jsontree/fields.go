package jsontree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fields reads the members of an untrusted object one by one, and collects their errors in Wrong. A
// member that is null counts as missing. For a wrong value, the zero value is returned.
type Fields struct {
	Wrong []Error
	// Most bounds the errors that are kept, for readers of very many values. 0 means all.
	Most int

	node *Node
}

// FieldsOf reads n, which errors call what, such as "a finding". If n is not an object, that is the
// only error.
func FieldsOf(n *Node, what string) *Fields {
	f := &Fields{node: n}
	if n.Kind != Object {
		f.add(n, fmt.Sprintf("%s is %s, but must be an object", what, kindWords[n.Kind]), "write it in { }")
		f.node = nil
	}
	return f
}

var kindWords = map[Kind]string{
	Null: "null", Bool: "true or false", Number: "a number", String: "a string", Array: "a list", Object: "an object",
}

// Text is an optional string.
func (f *Fields) Text(key string) string {
	if n := f.get(key, String, "write it in double quotes"); n != nil {
		return n.Text
	}
	return ""
}

// Needed is a required string that must not be empty.
func (f *Fields) Needed(key string) string {
	if f.missing(key) {
		return ""
	}
	n := f.get(key, String, "write it in double quotes")
	if n == nil {
		return ""
	}
	if strings.TrimSpace(n.Text) == "" {
		f.add(n, key+" is empty", "write something")
		return ""
	}
	return n.Text
}

// Given is a required string that may be empty.
func (f *Fields) Given(key string) string {
	if f.missing(key) {
		return ""
	}
	return f.Text(key)
}

// OneOf is an optional string from a fixed set, or "" if it is missing or empty.
func (f *Fields) OneOf(key string, set ...string) string {
	if f.node.Get(key) == nil {
		return "" // early, since listing the choices in words is as slow as reading a member
	}
	n := f.get(key, String, "use "+choices(set))
	if n == nil || n.Text == "" {
		return ""
	}
	if !slices.Contains(set, n.Text) {
		f.add(n, fmt.Sprintf("%s is not %s %s", quoted(n.Text), articleOf(key), key), "use "+choices(set))
		return ""
	}
	return n.Text
}

// Bool is an optional true or false.
func (f *Fields) Bool(key string) bool {
	n := f.get(key, Bool, "write true or false without quotes")
	return n != nil && n.Text == "true"
}

// NeededBool is a required true or false.
func (f *Fields) NeededBool(key string) bool { return !f.missing(key) && f.Bool(key) }

// Share is a required number from 0 to 1.
func (f *Fields) Share(key string) float64 {
	if f.missing(key) {
		return 0
	}
	const remedy = "write a number from 0 to 1, without quotes"
	n := f.get(key, Number, remedy)
	if n == nil {
		return 0
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || v < 0 || v > 1 {
		f.add(n, fmt.Sprintf("%s is %s", key, n.Text), remedy)
		return 0
	}
	return v + 0 // -0 becomes 0
}

// Count is an optional whole number from 0 to limit.
func (f *Fields) Count(key string, limit int) int {
	remedy := fmt.Sprintf("write a whole number from 0 to %d, without quotes", limit)
	n := f.get(key, Number, remedy)
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(plainNumber(n.Text))
	if err != nil || v < 0 || v > limit {
		f.add(n, fmt.Sprintf("%s is %s", key, n.Text), remedy)
		return 0
	}
	return v
}

// List is an optional list.
func (f *Fields) List(key string) []*Node {
	if n := f.get(key, Array, "write it in [ ]"); n != nil {
		return n.Elems
	}
	return nil
}

// NeededList is a required list that may be empty.
func (f *Fields) NeededList(key string) []*Node {
	if f.missing(key) {
		return nil
	}
	return f.List(key)
}

// Texts is an optional list of strings.
func (f *Fields) Texts(key string) []string {
	var out []string
	for i, n := range f.List(key) {
		if n.Kind != String {
			f.add(n, fmt.Sprintf("%s[%d] is %s, but must be a string", key, i, kindWords[n.Kind]), "write it in double quotes")
			continue
		}
		out = append(out, n.Text)
	}
	return out
}

// Within reads the object of a required member.
func (f *Fields) Within(key string) *Fields {
	if f.missing(key) {
		return &Fields{}
	}
	w := FieldsOf(f.node.Get(key), key)
	w.Most = f.Most
	return w
}

// Take adds the errors of a member's own fields.
func (f *Fields) Take(within *Fields) { f.Add(within.Wrong...) }

// Add adds errors that the caller found.
func (f *Fields) Add(errs ...Error) {
	if f.Most > 0 {
		errs = errs[:min(len(errs), max(0, f.Most-len(f.Wrong)))]
	}
	f.Wrong = append(f.Wrong, errs...)
}

// Full reports whether no more errors are kept.
func (f *Fields) Full() bool { return f.Most > 0 && len(f.Wrong) >= f.Most }

// Refuse reports a member whose value its reader can't use. A member that is missing or has the
// wrong type is not reported again.
func (f *Fields) Refuse(key, problem, remedy string) {
	if n := f.node.Get(key); n != nil {
		f.add(n, problem, remedy)
	}
}

// Unknown returns the members with other keys than these.
func (f *Fields) Unknown(keys ...string) []Member {
	if f.node == nil {
		return nil
	}
	var out []Member
	for _, m := range f.node.Members {
		if !slices.Contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out
}

// missing reports a required member that is missing.
func (f *Fields) missing(key string) bool {
	if f.node == nil {
		return true // already reported
	}
	if n := f.node.Get(key); n != nil && n.Kind != Null {
		return false
	}
	if !f.Full() {
		f.add(f.node, fmt.Sprintf("%q is missing", key), fmt.Sprintf("add %q", key))
	}
	return true
}

// get is a member of the given type, or nil.
func (f *Fields) get(key string, kind Kind, remedy string) *Node {
	n := f.node.Get(key)
	if n == nil || n.Kind == Null {
		return nil
	}
	if n.Kind != kind {
		f.add(n, fmt.Sprintf("%s is %s, but must be %s", key, kindWords[n.Kind], kindWords[kind]), remedy)
		return nil
	}
	return n
}

func (f *Fields) add(n *Node, problem, remedy string) {
	if f.Full() {
		return
	}
	f.Wrong = append(f.Wrong, *n.Error(problem, remedy))
}

// quoted quotes a value. It does not show a part of a long one: whoever shows the message replaces
// secrets in it, and half of a secret can't be recognised.
func quoted(s string) string {
	if len(s) > 60 {
		return "this"
	}
	return strconv.Quote(s)
}

func choices(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// articleOf is the article before a word.
func articleOf(word string) string {
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}
