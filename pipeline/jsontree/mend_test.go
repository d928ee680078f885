package jsontree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problems returns the errors of a text without their remedies.
func problems(errs []Error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Problem))
	}
	return out
}

// A text whose meaning is clear is read and its errors are reported.
func TestMended(t *testing.T) {
	const (
		comment = "JSON has no comments"
		last    = "there is a comma after the last entry"
		missing = "a comma or a closing bracket is missing before this"
		single  = "JSON has no single quotes"
		escape  = "the backslash before this starts no JSON escape"
	)
	tests := []struct {
		name, text, want string
		errors           []string
	}{
		{"last commas", "{\"a\": [1, 2,], \"b\": {\"c\": 3,\n}, }", `{"a":[1,2],"b":{"c":3}}`, []string{"1:12 " + last, "1:28 " + last, "2:2 " + last}},
		{"comments", "// a\n[1, /* b\n c */ 2] # é\n", `[1,2]`, []string{"1:1 " + comment, "2:5 " + comment, "3:10 " + comment}},
		{"a comment after the last comma", "[1, // one\n]", `[1]`, []string{"1:5 " + comment, "1:3 " + last}},
		{"not a comment", `["// a", "#b", "/* c */"]`, `["// a","#b","/* c */"]`, nil},
		{"missing commas between lines", "{\"a\": \"x\"\n \"b\": true\n \"c\": [\"x\"\n\"y\"\n{}\n[]]}", `{"a":"x","b":true,"c":["x","y",{},[]]}`, []string{"2:2 " + missing, "3:2 " + missing, "4:1 " + missing, "5:1 " + missing, "6:1 " + missing}},
		{"missing commas on a line", `[{"a": 1 "b": 2}{}[] {}, 1 "x"]`, `[{"a":1,"b":2},{},[],{},1,"x"]`, []string{"1:10 " + missing, "1:17 " + missing, "1:19 " + missing, "1:22 " + missing, "1:28 " + missing}},
		{"single quotes", `{'a': 'it is', "b": ['/*']}`, `{"a":"it is","b":["/*"]}`, []string{"1:2 " + single}},
		{"escapes", `["\s+\.\"\u00e9\\d", "\d"]`, `["\\s+\\.\"é\\d","\\d"]`, []string{"1:4 " + escape, "1:24 " + escape}},
		{"several", "[\n  'a', // one\n  \"\\d\"\n  \"c\",\n]", `["a","\\d","c"]`, []string{"2:3 " + single, "2:8 " + comment, "3:5 " + escape, "4:3 " + missing, "4:6 " + last}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, errs := Parse(&Document{Name: "a.json"}, []byte(test.text))
			if diff := cmp.Diff(test.errors, problems(errs)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			for _, e := range errs {
				if !e.Mended {
					t.Errorf("not mended: %v", e)
				}
			}
			if n == nil {
				t.Fatal("there is no tree")
			}
			if got := string(n.AppendJSON(nil)); got != test.want {
				t.Errorf("read %s, want %s", got, test.want)
			}
		})
	}
}

// An ambiguous error is reported and ends the reading. Errors corrected before it are reported
// first.
func TestNotMended(t *testing.T) {
	tests := []struct {
		name, text string
		errors     []string
	}{
		{"two commas", `[1,, 2]`, []string{"1:4 this is not JSON: invalid character ',' looking for beginning of value"}},
		{"a comma alone", `[,]`, []string{"1:2 this is not JSON: invalid character ',' looking for beginning of value"}},
		{"a quote without its backslash", `{"a": "say "b": c"}`, []string{"1:13 a comma or a closing bracket is missing before this"}},
		{"an array that was not closed", "{\"a\": [\"x\"\n \"b\": 1}", []string{"2:2 a comma or a closing bracket is missing before this"}},
		{"an object that was not closed", "[{\"a\": 1\n {\"a\": 2}]", []string{"2:2 a comma or a closing bracket is missing before this"}},
		{"the wrong bracket", `[{"a": 1],]`, []string{"1:9 a comma or a closing bracket is missing before this"}},
		{"an apostrophe", `['it's']`, []string{"1:2 JSON has no single quotes"}},
		{"quotes in quotes", `['say "a"']`, []string{"1:2 JSON has no single quotes"}},
		{"a comment without end", `[1] /* a`, []string{"1:5 there is something after the end of the JSON value"}},
		{"only a comment", "// a\n", []string{"1:1 JSON has no comments", "1:1 the file is empty"}},
		{"an error before it", "[1,\n // a\n \"\\d\n\"]", []string{"2:2 JSON has no comments", "3:4 the backslash before this starts no JSON escape", "3:5 a string contains a line break or a control character"}},
		{"the end after a corrected error", `["\d", `, []string{"1:4 the backslash before this starts no JSON escape", "1:8 the file ends in the middle of a value"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, errs := Parse(&Document{Name: "a.json"}, []byte(test.text))
			if diff := cmp.Diff(test.errors, problems(errs)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if n != nil {
				t.Errorf("read %s", n.AppendJSON(nil))
			}
		})
	}
}

// Places are those in the original text.
func TestPlacesInMendedText(t *testing.T) {
	n, _ := Parse(&Document{Name: "a.json"}, []byte("[{\"p\": \"\\d\\s(\"}{'q': 1},\n // c\n [\"\\d\" ,],]"))
	if n == nil {
		t.Fatal("there is no tree")
	}
	for _, test := range []struct{ path, want string }{
		{"0 p", "1:8 /0/p"}, {"1", "1:16 /1"}, {"1 q", "1:22 /1/q"}, {"2", "3:2 /2"}, {"2 0", "3:3 /2/0"},
	} {
		if got := place(n.At(strings.Fields(test.path)...).Place()); got != test.want {
			t.Errorf("%s stands at %s, want %s", test.path, got, test.want)
		}
	}
	for offset, want := range []string{"1:9", "1:10", "1:11", "1:12", "1:13", "1:14"} {
		if got := place(n.At("0", "p").PlaceIn(offset)); got != want+" /0/p" {
			t.Errorf("byte %d of the pattern stands at %s, want %s", offset, got, want)
		}
	}
}

// A text with endless errors is abandoned quickly after the first of them.
func TestMendingIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("//\n", MaxBytes/3),
		"[" + strings.Repeat("[1,],", MaxBytes/5-1) + "1]",
		"[" + strings.Repeat("{}", MaxBytes/2-1) + "]",
		"[" + strings.Repeat("\n\"a\"", MaxBytes/4-1) + "]",
		`["` + strings.Repeat(`\d`, MaxBytes/2-2) + `"]`,
		strings.Repeat("[", MaxBytes),
		strings.Repeat("/*", MaxBytes/2),
		"[" + strings.Repeat("'", MaxBytes-1),
	} {
		d := &Document{Name: "a.json"}
		n, errs := Parse(d, []byte(text))
		if n != nil || len(errs) == 0 || len(errs) > maxMended+1 || len(d.text) > len(text)+maxInserted {
			t.Errorf("%.20s...: a tree %v, %d errors, %d bytes", text, n != nil, len(errs), len(d.text))
		}
	}
}

// Each comma that is missing, or is doubled before a closing bracket, is reported and changes
// nothing else.
func TestCommasAreMended(t *testing.T) {
	const text = "[\n{\"a\": 1,\n\"b\": [true,\nnull,\n\"x\"],\n\"c\": {}},\n{\"d\": \"y\",\n\"e\": -1.5}\n]"
	want := string(parse(t, text).AppendJSON(nil))
	for i := range text {
		var spoilt string
		switch {
		case text[i] == ',' && !strings.HasPrefix(text[i:], ",\nnull"): // config has only lists of strings and objects
			spoilt = text[:i] + text[i+1:]
		case (text[i] == ']' || text[i] == '}') && text[i-1] != '{':
			spoilt = text[:i] + "," + text[i:]
		default:
			continue
		}
		n, errs := Parse(&Document{Name: "a.json"}, []byte(spoilt))
		if n == nil || len(errs) != 1 || string(n.AppendJSON(nil)) != want {
			t.Errorf("%q: errors %v", spoilt, errs)
		}
		if json.Valid([]byte(spoilt)) {
			t.Errorf("%q is not spoilt", spoilt)
		}
	}
}
