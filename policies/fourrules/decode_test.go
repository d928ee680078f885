package fourrules

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

const whole = `{
  "type": "review_result",
  "reviewer": "codex",
  "timestamp": "2026-01-31T12:00:00+01:00",
  "payload": {
    "verdict": "concerns",
    "summary": "Auth logic looks solid, but missing salt in hash.",
    "issues": [
      {"severity": "high", "description": "Password hashing is using MD5, must use Argon2.", "file": "auth_controller.py"},
      {"severity": "P3", "description": "Name it."}
    ]
  }
}`

func TestDecode(t *testing.T) {
	want := Result{
		Type: TypeResult, Reviewer: "codex", Timestamp: time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC),
		Payload: Payload{
			Verdict: Concerns, Summary: "Auth logic looks solid, but missing salt in hash.",
			Issues: pipeline.List[Issue]{
				{pipeline.SeverityMajor, "Password hashing is using MD5, must use Argon2.", "auth_controller.py", 0},
				{pipeline.SeverityInfo, "Name it.", "", 0},
			},
		},
	}
	for text, n := range map[string]int{whole: 1, "[" + whole + "," + whole + "]": 2, "[]": 0} {
		d, errs := Decode("a.json", []byte(text))
		if len(errs) > 0 || len(d.Unknown) > 0 || len(d.Results) != n {
			t.Fatalf("%d results, %v, %v", len(d.Results), d.Unknown, errs)
		}
		for _, r := range d.Results {
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	edit := func(old, now string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the example has no %q to edit", old)
		}
		return strings.Replace(whole, old, now, 1)
	}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"no JSON", `verdict: approved`, []string{"a.json:1:1: this is not JSON; write a list or an object"}},
		{"a string", `"approved"`, []string{"a.json:1:1: a review result is a string, but must be an object; write it in { }"}},
		{"one of a list", "[" + whole + ",\n 1]", []string{"a.json:14:2: /1: a review result is a number, but must be an object; write it in { }"}},
		{"empty", `{}`, []string{
			`a.json:1:1: "type" is missing; add "type"`, `a.json:1:1: "reviewer" is missing; add "reviewer"`,
			`a.json:1:1: "timestamp" is missing; add "timestamp"`, `a.json:1:1: "payload" is missing; add "payload"`,
		}},
		{"another type", edit("review_result", "review_request"), []string{`a.json:2:11: /type: this is not a review_result; name files of the type "review_result" only`}},
		{"no reviewer", edit(`"codex"`, `" "`), []string{`a.json:3:15: /reviewer: reviewer is empty; write something`}},
		{"a long name", edit(`codex`, strings.Repeat("x", 201)), []string{`a.json:3:15: /reviewer: the reviewer's name has 201 bytes, more than the limit of 200; shorten it`}},
		{"no time", edit("2026-01-31T12", "..."), []string{`a.json:4:16: /timestamp: the timestamp is not in RFC 3339 form; write it as 2026-01-31T12:00:00Z`}},
		{"a number as time", edit(`"2026-01-31T12:00:00+01:00"`, `1769857200`), []string{`a.json:4:16: /timestamp: timestamp is a number, but must be a string; write it in double quotes`}},
		{"another verdict", edit(`"concerns"`, `"approved | concerns"`), []string{`a.json:6:16: /payload/verdict: "approved | concerns" is not a verdict; use approved, concerns or blocker`}},
		{"an empty verdict", edit(`"concerns"`, `""`), []string{`a.json:6:16: /payload/verdict: verdict is empty; write something`}},
		{"a verdict in capitals", edit(`"concerns"`, `"Approved"`), []string{`a.json:6:16: /payload/verdict: "Approved" is not a verdict; use approved, concerns or blocker`}},
		{"no verdict", edit(`"verdict": "concerns",`, ``), []string{`a.json:5:14: /payload: "verdict" is missing; add "verdict"`}},
		{"a null verdict", edit(`"concerns"`, `null`), []string{`a.json:5:14: /payload: "verdict" is missing; add "verdict"`}},
		{"a list as payload", `{"type": "review_result", "reviewer": "a", "timestamp": "2026-01-31T12:00:00Z", "payload": []}`, []string{`a.json:1:92: /payload: payload is a list, but must be an object; write it in { }`}},
		{"an object as issues", edit(`"issues": [`, `"issues": {}, "more": [`), []string{`a.json:8:15: /payload/issues: issues is an object, but must be a list; write it in [ ]`}},
		{"an issue as a string", edit(`{"severity": "P3", "description": "Name it."}`, `"Name it."`), []string{`a.json:10:7: /payload/issues/1: an issue is a string, but must be an object; write it in { }`}},
		{"an unknown severity", edit(`"high"`, `"huge"`), []string{`a.json:9:20: /payload/issues/0/severity: this is not a severity; use critical, major, warning or info, or high, medium or low`}},
		{"an issue without a description", edit(`"description": "Name it."`, `"file": 7`), []string{
			`a.json:10:7: /payload/issues/1: "description" is missing; add "description"`, `a.json:10:34: /payload/issues/1/file: file is a number, but must be a string; write it in double quotes`,
		}},
		{"no reason", `{"type": "review_result", "reviewer": "a", "timestamp": "2026-01-31T12:00:00", "payload": {"verdict": "blocker", "summary": " "}}`, []string{`a.json:1:103: /payload/verdict: the verdict has no reason; say why in "summary", or list "issues"`}},
		{"a key twice", edit(`"reviewer": "codex"`, `"reviewer": "codex", "reviewer": "claude"`), []string{`a.json:3:24: /reviewer: "reviewer" occurs twice in one object; keep one of them`}},
		{"not UTF-8", edit("codex", "c\xffdex"), []string{`a.json:3:17: the file is not valid UTF-8 here; save it as UTF-8`}},
		{"endless nesting", strings.Repeat("[", 100_000), []string{"a.json:1:33: " + strings.Repeat("/0", 32) + ": values are nested more than 32 deep; nest them less deeply"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, errs := Decode("a.json", []byte(test.text))
			var got []string
			for _, e := range errs {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if len(d.Results) > 0 {
				t.Errorf("%d results count although the text has errors", len(d.Results))
			}
		})
	}
}

func TestDecodeCountsUnknownFields(t *testing.T) {
	text := strings.NewReplacer(`"type"`, `"mood": 1, "type"`, `"verdict"`, `"tone": {}, "verdict"`, `"severity": "P3"`, `"column": 3, "severity": "P3"`).Replace(whole)
	d, errs := Decode("a.json", []byte(text))
	var got []string
	for _, p := range d.Unknown {
		got = append(got, p.Pointer)
	}
	if diff := cmp.Diff([]string{"/payload/issues/1/column", "/mood", "/payload/tone"}, got); diff != "" || len(errs) > 0 {
		t.Errorf("unknown (-want +got):\n%s%v", diff, errs)
	}
}

func TestDecodeOne(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"one":             {whole, ""},
		"a list of one":   {"[" + whole + "]", ""},
		"an empty list":   {"[]", "a.json:1:1: this is a list of 0 entries, but must be one review result; send one"},
		"a list of two":   {"[" + whole + "," + whole + "]", "a.json:1:1: this is a list of 2 entries, but must be one review result; send one"},
		"too large":       {strings.Repeat(" ", maxBytesOne) + whole, "a.json:1:1: the file has more than 1048576 bytes; make it smaller"},
		"no such verdict": {strings.Replace(whole, `"concerns"`, `"perhaps"`, 1), `a.json:6:16: /payload/verdict: "perhaps" is not a verdict; use approved, concerns or blocker`},
	} {
		one, errs := DecodeOne("a.json", []byte(tt.text))
		var got string
		if len(errs) > 0 {
			got = errs[0].Error()
		}
		if got != tt.want || (one.Reviewer == "codex") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	one, _ := DecodeOne("a.json", []byte(whole))
	for key, want := range map[string]string{"reviewer": "a.json:3:15: /reviewer: wrong; mend it", "id": "a.json:1:1: wrong; mend it"} {
		if err := one.Refuse(key, "wrong", "mend it"); err.Error() != want {
			t.Errorf("%s: %q, want %q", key, err.Error(), want)
		}
	}
}

// A hostile text costs little memory, even if each of its values is wrong.
func TestDecodeIsBounded(t *testing.T) {
	var unknown strings.Builder
	for i := range 4_900 {
		fmt.Fprintf(&unknown, `"key %d": 1,`, i)
	}
	for name, text := range map[string]string{
		"objects":  "[" + strings.Repeat("{},", 199_000) + "{}]",
		"issues":   strings.Replace(whole, `"issues": [`, `"issues": [`+strings.Repeat("{},", 199_000), 1),
		"few":      "[" + strings.Repeat("{},", 4_900) + "{}]",
		"strings":  strings.Replace(whole, `"issues": [`, `"issues": [`+strings.Repeat(`"",`, 4_900), 1),
		"repeated": strings.Replace(whole, `{`, `{`+strings.Repeat(`"a": 1,`, 4_900), 1),
		"unknown":  strings.Replace(whole, `{`, `{`+unknown.String(), 1), // accepted
	} {
		for one, read := range map[bool]func() int{
			false: func() int { _, errs := Decode("a.json", []byte(text)); return len(errs) },
			true:  func() int { _, errs := DecodeOne("a.json", []byte(text)); return len(errs) },
		} {
			most, limit := 1000, uint64(100<<20)
			if one {
				most, limit = 20, 8<<20
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := read()
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; (n == 0) != (name == "unknown") || n > most || used > limit {
				t.Errorf("%s, one %t: %d errors, %d MB", name, one, n, used>>20)
			}
		}
	}
}

// Decode accepts any bytes. The results that it accepts fit the schema, and so does the decision.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{whole, "[" + whole + "]", "[]", `{"type": "review_result"}`, `[1]`, `{"payload": {"issues": [{}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, errs := Decode("a.json", text)
		if one, refused := DecodeOne("a.json", text); len(refused) == 0 && (len(d.Results) != 1 || !reflect.DeepEqual(one.Result, d.Results[0])) {
			t.Fatalf("one result is %+v, and the list %+v", one.Result, d.Results)
		}
		if len(errs) > 0 {
			if len(d.Results) > 0 {
				t.Fatal("there are both results and errors")
			}
			return
		}
		for _, r := range d.Results {
			fits(t, config.SchemaReviewResult, r)
		}
		fits(t, config.SchemaFourRules, Decide(d.Results, nil))
	})
}

func fits(t *testing.T, schema string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData(schema, b); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
}
