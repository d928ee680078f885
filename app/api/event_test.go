package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The use case gets what the agent wrote, for the token's repository and agent.
func TestEvent(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.want(w.event(`{"id": "a/b:1@c_d.e-f", "pr": 104, "type": "request_review", "agent": "claude", "summary": "Line 1\n\tline 2 ✓",
		"files": ["a.go", "dir/b c.go"], "focus_areas": ["security"], "max_words": 20}`), http.StatusAccepted)
	w.want(w.event(`{"id": "2", "pr": 1.0, "kind": "blocker", "summary": "Stuck.", "agent": null, "max_words": null, "files": null}`), http.StatusAccepted)
	t104, t1 := shop, shop
	t104.Number, t1.Number = 104, 1
	want := []ports.SessionEvent{
		{ID: "a/b:1@c_d.e-f", Kind: "request_review", Target: t104, Agent: "claude", Summary: "Line 1\n\tline 2 ✓", Files: []string{"a.go", "dir/b c.go"}, FocusAreas: []string{"security"}, MaxWords: 20},
		{ID: "2", Kind: "blocker", Target: t1, Agent: "claude", Summary: "Stuck."},
	}
	if !reflect.DeepEqual(w.events, want) {
		t.Errorf("got\n%+v, want\n%+v", w.events, want)
	}
}

// A duplicate is accepted and says so.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *Config) { c.PublicURL = "" })
	w.speak = func(context.Context, ports.SessionEvent) (ports.Spoken, error) {
		return ports.Spoken{Known: true, Cycle: 2}, nil
	}
	w.want(w.event(goodEvent), http.StatusAccepted, `{"id":"m-1","cycle":2,"duplicate":true,"status_url":"/api/v1/pulls/acme/shop/104"}`)
}

func TestDecodeEventRefuses(t *testing.T) {
	t.Parallel()
	with := func(field, value string) string {
		e := map[string]json.RawMessage{"id": []byte(`"1"`), "pr": []byte("1"), "kind": []byte(`"milestone"`), "summary": []byte(`"s"`)}
		if e[field] = []byte(value); value == "" {
			delete(e, field)
		}
		return string(jsonOf(t, e))
	}
	list := func(n int, s string) string { return string(jsonOf(t, slices.Repeat([]string{s}, n))) }
	for _, one := range []struct{ text, pointer, words string }{
		{`[]`, "", "the event is a list, but must be an object; write it in { }"},
		{with("id", ""), "", `"id" is missing; add "id"`},
		{with("id", `""`), "/id", "id is empty"},
		{with("id", `"`+strings.Repeat("x", 201)+`"`), "/id", "write 1 to 200 letters, digits and . _ : / @ -"},
		{with("id", `"a\nb"`), "/id", "id is not a valid id"},
		{with("pr", `0`), "/pr", "pr is 0"},
		{with("pr", `"104"`), "/pr", "pr is a string, but must be a number"},
		{with("pr", `1.5`), "/pr", "write a whole number"},
		{with("pr", `2147483648`), "/pr", "write a whole number from 0 to 2147483647"},
		{with("kind", ""), "", `"kind" is missing`},
		{with("kind", `"fallback"`), "/kind", "use milestone, blocker or request_review"},
		{with("kind", `7`), "/kind", "must be a string"},
		{with("type", `"milestone"`), "/type", "both kind and type are given; keep only kind"},
		{with("agent", `"a b"`), "/agent", "agent is not a valid id"},
		{with("agent", `""`), "/agent", "agent is empty"},
		{with("summary", ""), "", `"summary" is missing`},
		{with("summary", `" "`), "/summary", "summary is empty"},
		{with("summary", `"`+strings.Repeat("é", ports.MaxSessionSummary+1)+`"`), "/summary", "more than 4000 characters; shorten it"},
		{with("summary", `"a\u0000b"`), "/summary", "control characters"},
		{with("files", list(101, "a")), "/files", "more than 100 entries"},
		{with("files", `["a", ""]`), "/files/1", "this is not a valid file"},
		{with("files", `["a\nb"]`), "/files/0", "without control characters"},
		{with("files", list(1, strings.Repeat("x", 501))), "/files/0", "1 to 500 characters"},
		{with("files", `[7]`), "/files/0", "write a string"},
		{with("files", `"a"`), "/files", "write it in [ ]"},
		{with("focus_areas", list(11, "a")), "/focus_areas", "more than 10 entries"},
		{with("focus_areas", list(1, strings.Repeat("x", 101))), "/focus_areas/0", "1 to 100 characters"},
		{with("max_words", `19`), "/max_words", "max_words is 19; write a whole number from 20 to 1000"},
		{with("max_words", `1001`), "/max_words", "from 0 to 1000"},
		{with("verdict", `"approved"`), "/verdict", "an event has no such field; remove it; the fields are id, pr, kind"},
		{`{"id": "1", "pr": 1, "kind": "milestone", "summary": "s", "id": "2"}`, "/id", `line 1, column 59: "id" occurs twice`},
	} {
		_, p := decodeEvent([]byte(one.text))
		switch {
		case p == nil:
			t.Errorf("%.100s is an event", one.text)
		case p.Status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Pointer != one.pointer || !strings.Contains(p.Errors[0].Detail, one.words):
			t.Errorf("%.100s: %d %q, want at %s %q", one.text, p.Status, p.Errors, one.pointer, one.words)
		}
	}
	for _, text := range []string{`{`, `{"id": "1",}`, "\xff", "\xef\xbb\xbf{}", `{} {}`, `// no`, strings.Repeat("[", 100), `{"id": 1e999999999}`, fmt.Sprintf("[%s0]", strings.Repeat("0,", 5000))} {
		if _, p := decodeEvent([]byte(text)); p == nil || p.Status != http.StatusBadRequest || len(p.Errors) == 0 || strings.Contains(p.Errors[0].Detail, "the file") {
			t.Errorf("%.50s: %+v", text, p)
		}
	}
}

// The bounds themselves are allowed.
func TestDecodeEventAccepts(t *testing.T) {
	t.Parallel()
	text := jsonOf(t, map[string]any{
		"id": strings.Repeat("x", 200), "pr": maxPull, "kind": "milestone", "agent": strings.Repeat("y", 200), "summary": strings.Repeat("é", ports.MaxSessionSummary),
		"files": slices.Repeat([]string{strings.Repeat("é", 500)}, 100), "focus_areas": slices.Repeat([]string{strings.Repeat("é", 100)}, 10), "max_words": 1000,
	})
	e, p := decodeEvent(text)
	if p != nil || e.pull != maxPull || len(e.files) != 100 || len(e.focus) != 10 || e.words != 1000 {
		t.Errorf("%+v, %+v", e, p)
	}
}

// An accepted event is within the bounds, and a refusal lists the mistakes.
func FuzzDecodeEvent(f *testing.F) {
	f.Add([]byte(goodEvent))
	f.Add([]byte(`{"id": "1", "type": "blocker", "summary": "é", "files": ["a"], "focus_areas": [], "max_words": 20, "pr": 1e2}`))
	f.Add([]byte(`{"id": "1", "id": "2", "x": {"y": [1]}, "kind": null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, p := decodeEvent(text)
		if p != nil {
			if p.Status != http.StatusBadRequest && p.Status != http.StatusUnprocessableEntity || len(p.Errors) == 0 || len(p.Errors) > maxMistakes {
				t.Fatalf("%d with %d mistakes", p.Status, len(p.Errors))
			}
			return
		}
		if !ports.IsSessionName(e.id) || e.agent != "" && !ports.IsSessionName(e.agent) || e.pull < 0 || e.pull > maxPull || e.summary == "" || len(e.files) > ports.MaxSessionFiles ||
			len(e.focus) > ports.MaxSessionFocus || e.words != 0 && (e.words < ports.MinSessionWords || e.words > ports.MaxSessionWords) {
			t.Fatalf("%s is read as %+v", text, e)
		}
	})
}
