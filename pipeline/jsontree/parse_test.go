package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) *Node {
	t.Helper()
	n, errs := Parse(&Document{Name: "a.json"}, []byte(text))
	if len(errs) > 0 {
		t.Fatalf("parse %q: %v", text, errs)
	}
	return n
}

func place(p Place) string { return fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Pointer) }

func TestPlaces(t *testing.T) {
	n := parse(t, "{\n  \"a/b\": [1, {\"~\": true}],\r\n\t\"é\" : null, \"z\": \"\\u00e9\"\n}")
	tests := []struct {
		path []string
		want string
	}{
		{nil, "1:1 "},
		{[]string{"a/b"}, "2:10 /a~1b"},
		{[]string{"a/b", "0"}, "2:11 /a~1b/0"},
		{[]string{"a/b", "1", "~"}, "2:20 /a~1b/1/~0"},
		{[]string{"é"}, "3:9 /é"},
		{[]string{"z"}, "3:20 /z"},
		// The place of a missing value is that of its nearest parent.
		{[]string{"a/b", "7"}, "2:10 /a~1b"},
		{[]string{"none", "of", "it"}, "1:1 "},
	}
	for _, test := range tests {
		if got := place(n.At(test.path...).Place()); got != test.want {
			t.Errorf("place of %q is %s, want %s", test.path, got, test.want)
		}
	}
	if got := place(n.Members[1].KeyPlace()); got != "3:2 /é" {
		t.Errorf("place of the key is %s", got)
	}
	if got := n.Get("z").Text; got != "é" {
		t.Errorf("text %q", got)
	}
}

// Places within a string are those in the text, with or without escapes.
func TestPlacesInStrings(t *testing.T) {
	for _, text := range []string{`"abc"`, `"é\n\"x"`, `"\u00e9x"`, `"\ud83d\ude00xyz"`, `"\ud83dx"`, `"\ude00\ud83d\u0041x"`, `"😀\tx\\"`, `""`} {
		n := parse(t, " "+text)
		for offset := range n.Text {
			var rest string
			at := n.PlaceIn(offset)
			if err := json.Unmarshal([]byte(`"`+(" " + text)[at.Column-1:]), &rest); err != nil || rest != n.Text[offset:] {
				t.Errorf("from column %d of %s there is %q, %v, want %q", at.Column, text, rest, err, n.Text[offset:])
			}
		}
		if got := n.PlaceIn(1000).Column; got != len(text)+1 {
			t.Errorf("the end of %s is at column %d", text, got)
		}
	}
}

func TestOverlay(t *testing.T) {
	base, _ := Parse(&Document{Name: "base"}, []byte(`{"a": 1, "deep": {"x": 1, "y": 2}, "flat": {"x": 1}}`))
	over, _ := Parse(&Document{Name: "over"}, []byte("{\"flat\": {\"z\": 3},\n \"deep\": {\"y\": 9}, \"new\": 1.0}"))
	n := over.Overlay(base, "deep")
	if got, want := string(n.AppendJSON(nil)), `{"a":1,"deep":{"x":1,"y":9},"flat":{"z":3},"new":1}`; got != want {
		t.Errorf("overlay is %s, want %s", got, want)
	}
	for _, test := range []struct{ path, want string }{
		{"a", "base 1:7 /a"},
		{"deep x", "base 1:24 /deep/x"},
		{"deep y", "over 2:16 /deep/y"},
		{"new", "over 2:27 /new"},
	} {
		p := n.At(strings.Fields(test.path)...).Place()
		if got := p.Document.Name + " " + place(p); got != test.want {
			t.Errorf("%s stands at %s, want %s", test.path, got, test.want)
		}
	}
	if got, want := string(base.AppendJSON(nil)), `{"a":1,"deep":{"x":1,"y":2},"flat":{"x":1}}`; got != want {
		t.Errorf("the base became %s", got)
	}
}

func TestWholeNumbers(t *testing.T) {
	n := parse(t, `[1, 1.0, 1e2, 120e-1, 1.5, -0.0, 9007199254740993, 1e300]`)
	if got, want := string(n.AppendJSON(nil)), `[1,1,100,12,1.5,0,9007199254740993,1e300]`; got != want {
		t.Errorf("numbers are %s, want %s", got, want)
	}
}

// Texts that would take much time or memory are rejected.
func TestBounds(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"size", strings.Repeat(" ", MaxBytes) + "1", "a.json:1:1: the file has more than 4194304 bytes; make it smaller"},
		{"depth", strings.Repeat("[", 33) + strings.Repeat("]", 33), "a.json:1:33: " + strings.Repeat("/0", 32) + ": values are nested more than 32 deep; nest them less deeply"},
		{"great depth", strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "a.json:1:161: " + strings.Repeat("/a", 32) + ": values are nested more than 32 deep; nest them less deeply"},
		{"values", "[0" + strings.Repeat(",0", 200_000) + "]", "a.json:1:400000: /199999: the file has more than 200000 values; make it smaller"},
		{"digits", "[" + strings.Repeat("9", 33) + "]", "a.json:1:2: /0: the number is too long or too large; write it in at most 32 characters and with an exponent of at most 300"},
		{"key", `{"` + strings.Repeat("k", 1001) + `": 1}`, "a.json:1:2: a key is longer than 1000 bytes; write a shorter one"},
		{"exponent", "1e-999999999", "a.json:1:1: the number is too long or too large; write it in at most 32 characters and with an exponent of at most 300"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, errs := Parse(&Document{Name: "a.json"}, []byte(test.text))
			var got []string
			for _, e := range errs {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff([]string{test.want}, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// Lines are counted from the nearest mark before a position.
func TestPlacesInLongTexts(t *testing.T) {
	var text strings.Builder
	var want []Place
	text.WriteString("[\n0")
	for i := range 4000 {
		text.WriteString(",")
		// Lines of none to thousands of bytes, with line breaks at the ends of blocks.
		text.WriteString([]string{"\n", "\n\n\n", " ", strings.Repeat(" ", lineBlock-text.Len()%lineBlock-1) + "\n", "\r\n\t"}[i*i%5])
		so := text.String()
		want = append(want, Place{Line: strings.Count(so, "\n") + 1, Column: len(so) - strings.LastIndex(so, "\n")})
		text.WriteString("7")
	}
	n, errs := Options{MaxBytes: 8 << 20}.Parse(&Document{Name: "a.json"}, []byte(text.String()+"]"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i, w := range want {
		if got := n.Elems[i+1].Place(); got.Line != w.Line || got.Column != w.Column {
			t.Fatalf("value %d stands at %d:%d, want %d:%d", i, got.Line, got.Column, w.Line, w.Column)
		}
	}
}

// Elements that are taken leave the tree and don't count. The others know their places.
func TestTake(t *testing.T) {
	var taken []string
	o := Options{MaxValues: 9, Take: func(n *Node) (bool, *Error) {
		if n.Parent().Pointer() != "/list" {
			return false, nil
		}
		taken = append(taken, place(n.Place())+" "+string(n.AppendJSON(nil)))
		if n.Kind == String {
			return false, n.Error("a string", "write none")
		}
		return n.Kind == Object, nil
	}}
	n, errs := o.Parse(&Document{Name: "a.json"}, []byte(`{"list": [{"a": [1]}, {"a": [2]}, 3, {"a": [4, 5]}], "other": [{}]}`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := []string{`1:11 /list/0 {"a":[1]}`, `1:23 /list/1 {"a":[2]}`, `1:35 /list/2 3`, `1:38 /list/3 {"a":[4,5]}`}
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	if got := string(n.AppendJSON(nil)); got != `{"list":[3],"other":[{}]}` {
		t.Errorf("kept %s", got)
	}
	if got := place(n.Get("list").Elems[0].Place()); got != "1:35 /list/2" {
		t.Errorf("the kept element is at %s", got)
	}
	o.MaxValues = 6
	if _, errs = o.Parse(&Document{Name: "a.json"}, []byte(`{"list": [{"a": [1]}, {"a": [1, 2, 3]}]}`)); len(errs) != 1 || errs[0].Pointer != "/list/1/a/2" {
		t.Errorf("an element that is too large alone: %v", errs)
	}
	if n, errs = o.Parse(&Document{Name: "a.json"}, []byte(`{"list": [{}, "x", {}]}`)); n != nil || len(errs) != 1 || errs[0].Error() != "a.json:1:15: /list/1: a string; write none" {
		t.Errorf("an element that can't be taken: %v", errs)
	}
}

// However many keys are repeated, the list of errors stays short.
func TestManyRepeatedKeys(t *testing.T) {
	_, errs := Parse(&Document{Name: "a.json"}, []byte("{"+strings.Repeat(`"a": 1,`, 100_000)+`"a": 1}`))
	if len(errs) != maxErrors {
		t.Errorf("%d errors", len(errs))
	}
}

// Parse accepts any bytes. If it returns a tree, encoding/json reads the same in the same text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{"a": [1, -2.5e3, "x\n\u00e9", true, {}]}`, `{"a": 1, "a": 2}`, `[1,]`, `// x`, `{'a': 1}`, "[1, /* x */ '\\d',\n]", "{\"a\": \"\\s\"\n\"b\": [{}{}]}", `"\ud800"`, "\xef\xbb\xbf1", `1e999`, `[[[[`, `{"a" 1}`, "\x00", `{"":{"":{"":0}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, errs := Parse(&Document{Name: "a.json"}, text)
		for _, e := range errs {
			if e.Line < 1 || e.Column < 1 || e.Problem == "" || e.Remedy == "" {
				t.Fatalf("error without place or words: %+v", e)
			}
		}
		if n != nil && !json.Valid(n.AppendJSON(nil)) {
			t.Fatalf("read %q from %q", n.AppendJSON(nil), text)
		}
		if len(errs) > 0 {
			return
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if got := n.Value(); !reflect.DeepEqual(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
	})
}

// Common mistakes are named even where nothing is corrected.
func TestFaultsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"[1, // a\n 2]":    "1:5 JSON has no comments",
		"[1, # a\n 2]":     "1:5 JSON has no comments",
		`['a']`:            "1:2 JSON has no single quotes",
		`[1, ]`:            "1:3 there is a comma after the last entry",
		`{"a": 1, }`:       "1:8 there is a comma after the last entry",
		`[1 2]`:            "1:4 a comma or a closing bracket is missing before this",
		`{"a": 1 "b": 2}`:  "1:9 a comma or a closing bracket is missing before this",
		`["\d"]`:           "1:4 the backslash before this starts no JSON escape",
		"[\"a\nb\"]":       "1:4 a string contains a line break or a control character",
		`[1`:               "1:3 the file ends in the middle of a value",
		`[1] 2`:            "1:5 there is something after the end of the JSON value",
		`../other/a.json`:  "1:1 this is a symbolic link, or plain text instead of JSON",
		`settings.json`:    "1:1 this is a symbolic link, or plain text instead of JSON",
		`mode: advisory`:   "1:1 this is not JSON",
		"mode: x\na: b\n":  "1:1 this is not JSON",
		`advisory`:         "1:1 this is not JSON",
		"\xef\xbb\xbf[]":   "1:1 the file starts with a byte order mark",
		"[\"a\xff\"]":      "1:4 the file is not valid UTF-8 here",
		" \n":              "1:1 the file is empty",
		`{"a": 1, "a": 2}`: `1:10 "a" occurs twice in one object`,
		`[1e301]`:          "1:2 the number is too long or too large",
		`[1e-301]`:         "1:2 the number is too long or too large",
	} {
		_, errs := Options{}.Parse(&Document{Name: "a.json"}, []byte(text))
		if got := problems(errs); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n, errs := (Options{}).Parse(&Document{}, []byte("[1e300, 1e-300]")); n == nil || len(errs) > 0 {
		t.Errorf("the largest exponents: %v", errs)
	}
}
