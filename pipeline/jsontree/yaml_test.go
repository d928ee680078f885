package jsontree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func parseYAML(text string) (*Node, []string) {
	root, errs := ParseYAML(&Document{Name: "f.yaml"}, []byte(text))
	var said []string
	for _, e := range errs {
		said = append(said, e.Error())
	}
	return root, said
}

// A YAML text gives the tree of the same JSON.
func TestYAMLValues(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"\\u00e9\\n\"]\n":                              `{"a":1,"b":["x","y","é\n"]}`,
		"- no\n- on\n- off\n- y\n- Yes\n":                                  `["no","on","off","y","Yes"]`,
		"- true\n- False\n- ~\n-\n- null\n- 'true'\n":                      `[true,false,null,null,null,"true"]`,
		"- 1_000\n- 2026-01-01\n- 1:30\n- 1.2.3\n- 0b1\n- 12e\n":           `["1_000","2026-01-01","1:30","1.2.3","0b1","12e"]`,
		"- -1.5e3\n- 10\n- '10'\n- 0\n":                                    `[-1500,10,"10",0]`,
		"on: added\nmode: off\n":                                           `{"on":"added","mode":"off"}`,
		"text: |\n  one\n  two\nfolded: >-\n  one\n  two\n":                `{"text":"one\ntwo\n","folded":"one two"}`,
		"# only\n---\n{\"a\": [1, 2,], b: {c}} # after\n":                  `{"a":[1,2],"b":{"c":null}}`,
		"pattern: '\\bfoo\\s*\\('\r\nglobs: ['**/*.go', \"!x\"]\r\n":       `{"pattern":"\\bfoo\\s*\\(","globs":["**/*.go","!x"]}`,
		"\"<<\": 1\n'1': 2\n\"true\": '&a'\n? long\n: 3\nurl: http://x/#y": `{"<<":1,"1":2,"true":"&a","long":3,"url":"http://x/#y"}`,
	} {
		root, errs := parseYAML(text)
		if root == nil || len(errs) > 0 {
			t.Errorf("%q: %q", text, errs)
			continue
		}
		if got := string(root.AppendJSON(nil)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// Each mistake has its place and a remedy.
func TestYAMLErrors(t *testing.T) {
	for text, want := range map[string][]string{
		"a: &x 1\nb: *x\n": {
			"f.yaml:1:4: anchors are not allowed; write the value out, or put a text that starts with & or * in quotes",
			"f.yaml:2:4: aliases are not allowed; write the value out, or put a text that starts with & or * in quotes",
		},
		"a: *x\n":           {"f.yaml:1:1: aliases are not allowed; write the value out, or put a text that starts with & or * in quotes"},
		"a: !!str 1\n":      {"f.yaml:1:4: tags are not allowed; remove it, or put a text that starts with ! in quotes"},
		"a: ! 1\n":          {"f.yaml:1:4: tags are not allowed; remove it, or put a text that starts with ! in quotes"},
		"a: !own {b: 1}\n":  {"f.yaml:1:4: tags are not allowed; remove it, or put a text that starts with ! in quotes"},
		"é: 1\nb: {<<: 2}":  {"f.yaml:2:5: merge keys are not allowed; write the fields out"},
		"1: a\n":            {"f.yaml:1:1: an object's key is not a string; put the key in quotes"},
		"[a]: b\n":          {"f.yaml:1:1: an object's key is not a string; put the key in quotes"},
		"é: {b: 1, b: 2}\n": {`f.yaml:1:12: /é/b: "b" occurs twice in one object; keep one of them`},
		"a: 0o7\nb: 012\nc: .5\nd: +1\ne: .inf\nf: 0x1F\n": {
			"f.yaml:1:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
			"f.yaml:2:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
			"f.yaml:3:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
			"f.yaml:4:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
			"f.yaml:5:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
			"f.yaml:6:4: this number is not written as in JSON; write it in decimal digits without + and leading zeros, or put it in quotes if it is a text",
		},
		"a: 1e999\n":                   {"f.yaml:1:4: /a: the number is too long or too large; write it in at most 32 characters and with an exponent of at most 300"},
		"":                             {"f.yaml:1:1: the file is empty; remove it, or write an empty list or object into it"},
		"# nothing\n---\n":             {"f.yaml:1:1: the file is empty; remove it, or write an empty list or object into it"},
		"a: 1\n---\nb: 2\n":            {"f.yaml:2:1: a second document starts here; keep one document in the file and remove the rest"},
		"a: 1\n\tb: 2\n":               {"f.yaml:2:2: a tab indents this line; indent with spaces"},
		"a: b: c\n":                    {`f.yaml:1:1: there is a colon where no key can be; put a text with ": " in quotes, or check the indentation`},
		"a: x\nb: @c\n":                {"f.yaml:2:1: a value on this line starts with a character that YAML reserves; put the value in quotes"},
		"a: 1\nb: \"\\s\"\n":           {`f.yaml:2:1: a backslash on this line starts no escape; write patterns in single quotes, such as '\s'`},
		"a: 1\nb: [1\n":                {"f.yaml:2:1: a bracket on this line lacks a comma or its end; write a comma between entries, and close the bracket"},
		"a: 1\nb: \"x\n":               {"f.yaml:2:1: a quote that starts on this line is not closed; close it"},
		"\xef\xbb\xbfa: 1":             {"f.yaml:1:1: the file starts with a byte order mark; save it as UTF-8 without one"},
		"a: caf\xe9":                   {"f.yaml:1:7: the file is not valid UTF-8 here; save it as UTF-8"},
		"a: x\u2028b: y":               {"f.yaml:1:5: YAML reads the character U+2028 as a line break, but not everybody sees one; end lines with a line feed, or write the character as an escape in double quotes"},
		"a: x\rb: y":                   {"f.yaml:1:5: YAML reads the character U+000D as a line break, but not everybody sees one; end lines with a line feed, or write the character as an escape in double quotes"},
		"a: \x01":                      {"f.yaml:1:4: the control character U+0001 is not allowed in YAML; remove it, or write it as an escape in double quotes"},
		"../common/rules.yaml":         {"f.yaml:1:1: this is a symbolic link, or plain text instead of YAML; put the YAML file itself here: links are not followed"},
		"rules.yaml":                   {"f.yaml:1:1: this is a symbolic link, or plain text instead of YAML; put the YAML file itself here: links are not followed"},
		"b: 1\na:\n- 1\nc\n- 2\n":      {"f.yaml:4:1: a line here has no colon after its key; write key: value, or indent the line as part of the text above"},
		"b: 1\na:\n  - 1\n  c: 2\n":    {"f.yaml:3:3: this line, or one below it, does not fit the list that it is in; check the indentation, and begin each entry with a dash"},
		"b: 1\na:\n  c: 1\n   d: 2\n":  {`f.yaml:4:4: there is a colon where no key can be; put a text with ": " in quotes, or check the indentation`},
		"b: 1\na:\n    c: 1\n  d: 2\n": {"f.yaml:4:3: this line, or one below it, does not fit the object that it is in; check the indentation, and write key: value"},
		strings.Repeat("[", 40):        {"f.yaml:1:1: a bracket is not closed, or a value in it is missing; check the indentation, the quotes and the brackets here and on the line before"},
		strings.Repeat("[", 40) + strings.Repeat("]", 40): {"f.yaml:1:33: " + strings.Repeat("/0", 32) + ": values are nested more than 32 deep; nest them less deeply"},
		strings.Repeat("[", 20000):                        {"f.yaml:1:1: values are nested more than 32 deep; nest them less deeply"},
		"a: " + strings.Repeat("x", MaxBytes):             {"f.yaml:1:1: the file has more than 4194304 bytes; make it smaller"},
		"[" + strings.Repeat("0,", 200_000) + "]":         {"f.yaml:1:400001: the file may have more than 200000 values; make it smaller"},
	} {
		shown := text
		if len(shown) > 60 {
			shown = shown[:60]
		}
		if _, errs := parseYAML(text); !reflect.DeepEqual(errs, want) {
			t.Errorf("%q:\n%s\nwant\n%s", shown, strings.Join(errs, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A place in a string is where its byte is written, or the string's start.
func TestPlaceInYAML(t *testing.T) {
	root, _ := parseYAML("é: facts.x\nq: \"a b\"\nb: |\n  text\n")
	for _, tt := range []struct {
		key    string
		offset int
		want   string
	}{{"é", 6, "1:11"}, {"é", 99, "1:12"}, {"q", 2, "2:7"}, {"b", 2, "3:4"}} {
		p := root.Get(tt.key).PlaceIn(tt.offset)
		if got := fmt.Sprintf("%d:%d", p.Line, p.Column); got != tt.want {
			t.Errorf("byte %d of %s is at %s, want %s", tt.offset, tt.key, got, tt.want)
		}
	}
}

// The largest and most nested texts are read or refused in bounded time.
func TestHostileYAML(t *testing.T) {
	const size = MaxBytes / 8 // the largest takes eight times as long
	for name, text := range map[string]string{
		"deep sequences":   strings.Repeat("[", size/2),
		"deep mappings":    strings.Repeat("{a: ", size/4),
		"deep dashes":      strings.Repeat("- ", size/2),
		"question marks":   strings.Repeat("? ", size/2),
		"one-line mapping": "{" + strings.Repeat("é, ", size/22) + "}",
		"empty values":     strings.Repeat("-\n", size/22),
		"comments":         strings.Repeat("# c\n", size/4-2) + "a: 1",
		"comments between": strings.Repeat("- a # c\n# d\n\n", size/28),
		"one comment":      "a: 1 #" + strings.Repeat("x", size-10),
		"anchors":          strings.Repeat("- &a x\n", size/28),
		"aliases":          "- &a [x, x]\n" + strings.Repeat("- *a\n", size/28),
		"long plain":       "a: " + strings.Repeat("x y ", size/4-2),
		"long lines":       "a:\n" + strings.Repeat("  xy\n", size/5-2),
		"long quoted":      "a: \"" + strings.Repeat("\\x41", size/4-4) + "\"",
		"block":            "a: |\n" + strings.Repeat("  x\n", size/4-4),
		"spaces":           strings.Repeat(" ", size),
		"line breaks":      strings.Repeat("\n", size),
		"quotes":           strings.Repeat("'", size),
		"colons":           strings.Repeat("a:", size/2),
		"documents":        strings.Repeat("---\n", size/4),
		"tags":             strings.Repeat("- !!str x\n", size/28),
	} {
		start := time.Now()
		parseYAML(text)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s takes %v", name, d)
		}
	}
}

func TestJSONC(t *testing.T) {
	doc := &Document{Name: "f.jsonc"}
	root, errs := ParseJSONC(doc, []byte("// one\n{\n  \"a\": [1, 2,], // two\n  /* three\n  four */ \"b\": \"//\",\n}\n// end"))
	if len(errs) > 0 || string(root.AppendJSON(nil)) != `{"a":[1,2],"b":"//"}` {
		t.Fatalf("%v %v", root, errs)
	}
	if p := root.Get("b").Place(); p.Line != 5 || p.Column != 16 {
		t.Errorf("b is at %d:%d", p.Line, p.Column)
	}
	for text, want := range map[string]string{
		"{\"a\": 1 # x\n}":         "f.jsonc:1:9: JSON has no comments that begin with #; begin the comment with //",
		"{ /* x\n\"a\": 1}":        "f.jsonc:1:3: a comment that starts here is not closed; close it by */, or begin each line with //",
		"{\"a\": 1 // x\n\"b\":2}": "f.jsonc:2:1: a comma or a closing bracket is missing before this; write one after the previous value",
		"// only":                  "f.jsonc:1:1: the file is empty; remove it, or write an empty list or object into it",
	} {
		if _, errs := ParseJSONC(&Document{Name: "f.jsonc"}, []byte(text)); len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("%q: %v, want %s", text, errs, want)
		}
	}
}

// Whatever the text, reading it ends without a panic, and the tree is one of JSON with places in the
// text.
func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{"a: 1\nb: [x, {c: d}]", "- |\n  x\n# c\n- >-\n y", "? a\n: b", "a: &x 1\nb: *x", "é: \"\\u00e9\"", "a:\n  # x\n  - b\n # y\n- c", "--- !t\n...\n", "%YAML 1.2\n---\n'a'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := &Document{Name: "f.yaml"}
		root, errs := ParseYAML(doc, []byte(text))
		if root == nil && len(errs) == 0 {
			t.Fatal("neither a tree nor an error")
		}
		for _, e := range errs {
			if e.Line < 1 || e.Column < 1 {
				t.Errorf("%v", e)
			}
		}
		if root != nil {
			if !json.Valid(root.AppendJSON(nil)) {
				t.Errorf("the tree is not JSON: %s", root.AppendJSON(nil))
			}
			root.Place()
			root.PlaceIn(3)
		}
	})
}
