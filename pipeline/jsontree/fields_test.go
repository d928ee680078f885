package jsontree

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	read := map[string]func(*Fields) any{
		"text":   func(f *Fields) any { return f.Text("x") },
		"needed": func(f *Fields) any { return f.Needed("x") },
		"given":  func(f *Fields) any { return f.Given("x") },
		"one of": func(f *Fields) any { return f.OneOf("x", "a", "b", "c") },
		"bool":   func(f *Fields) any { return f.Bool("x") },
		"share":  func(f *Fields) any { return f.Share("x") },
		"count":  func(f *Fields) any { return f.Count("x", 10) },
		"list":   func(f *Fields) any { return len(f.List("x")) },
		"a list": func(f *Fields) any { return len(f.NeededList("x")) },
		"texts":  func(f *Fields) any { return strings.Join(f.Texts("x"), "+") },
		"within": func(f *Fields) any { w := f.Within("x"); f.Take(w); return w.Text("y") },
	}
	const missing = `0: "x" is missing; add "x"`
	for _, tt := range []struct{ how, text, want, wrong string }{
		{"text", `{"x": "v"}`, "v", ""},
		{"text", `{"x": null}`, "", ""},
		{"text", `{}`, "", ""},
		{"text", `{"x": 1}`, "", "6: x is a number, but must be a string; write it in double quotes"},
		{"text", `[]`, "", "0: a thing is a list, but must be an object; write it in { }"},
		{"needed", `{"x": "v"}`, "v", ""},
		{"needed", `{"x": " "}`, "", "6: x is empty; write something"},
		{"needed", `{"x": null}`, "", missing},
		{"needed", `{}`, "", missing},
		{"needed", `[]`, "", "0: a thing is a list, but must be an object; write it in { }"},
		{"given", `{"x": ""}`, "", ""},
		{"given", `{}`, "", missing},
		{"one of", `{"x": "c"}`, "c", ""},
		{"one of", `{"x": ""}`, "", ""},
		{"one of", `{"x": "C"}`, "", `6: "C" is not a x; use a, b or c`},
		{"bool", `{"x": true}`, "true", ""},
		{"bool", `{"x": false}`, "false", ""},
		{"bool", `{}`, "false", ""},
		{"bool", `{"x": "true"}`, "false", "6: x is a string, but must be true or false; write true or false without quotes"},
		{"share", `{"x": 0}`, "0", ""},
		{"share", `{"x": 1e0}`, "1", ""},
		{"share", `{"x": -0.0}`, "0", ""},
		{"share", `{"x": 1.0000001}`, "0", "6: x is 1.0000001; write a number from 0 to 1, without quotes"},
		{"share", `{"x": -1e-9}`, "0", "6: x is -1e-9; write a number from 0 to 1, without quotes"},
		{"share", `{}`, "0", missing},
		{"share", `{"x": "0.5"}`, "0", "6: x is a string, but must be a number; write a number from 0 to 1, without quotes"},
		{"count", `{"x": 10.0}`, "10", ""},
		{"count", `{"x": 0}`, "0", ""},
		{"count", `{}`, "0", ""},
		{"count", `{"x": 11}`, "0", "6: x is 11; write a whole number from 0 to 10, without quotes"},
		{"count", `{"x": -1}`, "0", "6: x is -1; write a whole number from 0 to 10, without quotes"},
		{"count", `{"x": 1.5}`, "0", "6: x is 1.5; write a whole number from 0 to 10, without quotes"},
		{"list", `{"x": [1, 2]}`, "2", ""},
		{"list", `{}`, "0", ""},
		{"list", `{"x": {}}`, "0", "6: x is an object, but must be a list; write it in [ ]"},
		{"a list", `{"x": []}`, "0", ""},
		{"a list", `{}`, "0", missing},
		{"texts", `{"x": ["a", 1, "b"]}`, "a+b", "12: x[1] is a number, but must be a string; write it in double quotes"},
		{"within", `{"x": {"y": "v"}}`, "v", ""},
		{"within", `{}`, "", missing},
		{"within", `{"x": true}`, "", "6: x is true or false, but must be an object; write it in { }"},
	} {
		root, errs := Parse(&Document{Name: "f"}, []byte(tt.text))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		f := FieldsOf(root, "a thing")
		got := fmt.Sprint(read[tt.how](f))
		var wrong []string
		for _, e := range f.Wrong {
			wrong = append(wrong, fmt.Sprintf("%d: %s; %s", e.Column-1, e.Problem, e.Remedy))
		}
		if problems := strings.Join(wrong, " | "); got != tt.want || problems != tt.wrong {
			t.Errorf("%s of %s: %s, wrong %q; want %s, %q", tt.how, tt.text, got, problems, tt.want, tt.wrong)
		}
	}
	root, _ := Parse(&Document{}, []byte(`{"x": -0.0}`))
	if math.Signbit(FieldsOf(root, "a thing").Share("x")) {
		t.Error("a share is -0")
	}
}

func TestMost(t *testing.T) {
	root, _ := Parse(&Document{}, []byte(`{"a": 1, "b": 2}`))
	f := FieldsOf(root, "a thing")
	f.Most = 1
	got := f.Text("b") + f.Needed("c") + f.Text("a") + f.Needed("d")
	if got != "" || len(f.Wrong) != 1 || f.Wrong[0].Pointer != "/b" {
		t.Errorf("%q, wrong %v; want what is wrong with b alone", got, f.Wrong)
	}
	if f.Add(f.Wrong[0], f.Wrong[0]); len(f.Wrong) != 1 {
		t.Errorf("%d errors, want the first alone", len(f.Wrong))
	}
}

func TestRefuseAndUnknown(t *testing.T) {
	root, _ := Parse(&Document{}, []byte(`{"a": 1, "b": 2, "c": 3}`))
	f := FieldsOf(root, "a thing")
	f.Refuse("b", "bad", "mend it")
	f.Refuse("d", "bad", "mend it") // d is missing
	if len(f.Wrong) != 1 || f.Wrong[0].Pointer != "/b" {
		t.Errorf("refused %v", f.Wrong)
	}
	if u := f.Unknown("a", "c"); len(u) != 1 || u[0].Key != "b" || u[0].KeyPlace().Column != 10 {
		t.Errorf("unknown %+v", u)
	}
	if n := len(FieldsOf(root.Get("a"), "a thing").Unknown()); n != 0 {
		t.Errorf("a number has %d unknown fields", n)
	}
}
