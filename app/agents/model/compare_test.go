package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// comparedPairs are two pairs of findings.
func comparedPairs() []aggregate.Pair {
	pair := func(n int) aggregate.Pair {
		return aggregate.Pair{
			One:    pipeline.Finding{Path: "shop/cart.go", StartLine: 3, EndLine: 4, Title: fmt.Sprintf("one %d", n), Message: "says \"one\"\nand ghp_secret", Evidence: pipeline.List[string]{"a line of the change"}},
			Other:  pipeline.Finding{Section: "title", Title: fmt.Sprintf("other %d\u202e", n), Message: strings.Repeat("long ", 500)},
			OneKey: fmt.Sprintf("a%d", n), OtherKey: fmt.Sprintf("b%d", n),
		}
	}
	return []aggregate.Pair{pair(1), pair(2)}
}

func compareTask() dispatch.Task {
	return dispatch.Task{Entry: pipeline.ManifestEntry{Agent: pipeline.Matcher}, Model: modelName}
}

// The question shows what each reviewer says, on a line for each pair. It contains no secrets
// and no line of the change.
func TestCompareQuestion(t *testing.T) {
	m := &scripted{answer: `{"pairs": [{"pair": 1, "one": "x", "other": "y", "same": true}, {"pair": 2, "one": "x", "other": "y", "same": false}]}`}
	o := testOptions(m)
	var used []pipeline.ModelUse
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "ghp_secret", "[redacted]") }
	o.Used = func(u pipeline.ModelUse) { used = append(used, u) }
	got, note, err := NewComparer(o).Compare(t.Context(), compareTask(), comparedPairs())
	if err != nil || note != "" {
		t.Fatal(note, err)
	}
	want := []pipeline.Comparison{{One: "a1", Other: "b1", Same: true}, {One: "a2", Other: "b2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	q := m.asked[0]
	if strings.Contains(q.System, "Look at it.") || strings.Contains(q.System, "rule-1") || strings.Contains(q.Text, "a line of the change") || strings.Contains(q.Text, "ghp_secret") || strings.Contains(q.Text, "\u202e") {
		t.Errorf("%q\n%q", q.System, q.Text)
	}
	lines := strings.Split(strings.TrimSpace(q.Text), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), q.Text)
	}
	var first comparedPair
	if err := json.Unmarshal([]byte(lines[1]), &first); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(comparedFinding{Lines: "3 to 4", Title: "one 1", Message: `says "one" and [redacted]`}, first.One); diff != "" || first.Place != "shop/cart.go" || len([]rune(first.Other.Message)) > maxComparedMessage+30 {
		t.Errorf("%+v: %s", first, diff)
	}
	if len(used) != 1 || used[0].Agent != pipeline.Matcher {
		t.Errorf("%+v", used)
	}
}

func TestCompareAnswers(t *testing.T) {
	entry := func(pair, same string) string {
		return fmt.Sprintf(`{"pair": %s, "one": "", "other": "", "same": %s}`, pair, same)
	}
	for _, tt := range []struct {
		name, answer string
		want         string // the results for pairs 1 and 2
		note         string
	}{
		{"both", `{"pairs": [` + entry("2", "true") + "," + entry("1", "false") + `]}`, "different same", ""},
		{"fenced", "```json\n" + `{"pairs": [` + entry("1", "true") + "," + entry("2", "true") + `]}` + "\n```", "same same", ""},
		{"one left out", `{"pairs": [` + entry("1", "true") + `]}`, "same unknown", "compared 1 of 2 pairs"},
		{"the same entry twice", `{"pairs": [` + entry("1", "true") + "," + entry("1", "true") + `]}`, "same unknown", "compared 1 of 2 pairs"},
		{"two different entries for a pair", `{"pairs": [` + entry("1", "true") + "," + entry("1", "false") + "," + entry("2", "true") + `]}`, "unknown same", "compared 1 of 2 pairs"},
		{"pairs that were not asked about", `{"pairs": [` + entry("0", "true") + "," + entry("3", "true") + "," + entry("2", "false") + `]}`, "unknown different", "compared 1 of 2 pairs"},
		{"no verdict", `{"pairs": [{"pair": 1, "one": "", "other": ""},` + entry("2", "true") + `]}`, "unknown same", "compared 1 of 2 pairs"},
		{"a word", `{"pairs": [` + entry("1", `"true"`) + "," + entry("2", "true") + `]}`, "unknown same", "compared 1 of 2 pairs"},
		{"nothing", `{"pairs": []}`, "malformed", ""},
		{"findings", `{"findings": []}`, "malformed", ""},
		{"prose", "They are the same.", "malformed", ""},
	} {
		got, note, err := NewComparer(testOptions(&scripted{answer: tt.answer})).Compare(t.Context(), compareTask(), comparedPairs())
		var malformed *dispatch.MalformedError
		said := "malformed"
		if !errors.As(err, &malformed) {
			words := map[string]string{"a1": "unknown", "a2": "unknown"}
			for _, c := range got {
				words[c.One] = map[bool]string{true: "same", false: "different"}[c.Same]
			}
			said = words["a1"] + " " + words["a2"]
		}
		if said != tt.want || note != tt.note {
			t.Errorf("%s: %s, %q, %v; want %s, %q", tt.name, said, note, err, tt.want, tt.note)
		}
	}
}

func FuzzComparisons(f *testing.F) {
	f.Add(`{"pairs": [{"pair": 1, "one": "", "other": "", "same": true}]}`)
	f.Add(`{"pairs": [{"pair": 1e9, "same": 1}, []]}`)
	pairs := comparedPairs()
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := comparisons(answer, pairs)
		if err == nil && (len(got) == 0 || len(got) > len(pairs)) {
			t.Errorf("%d comparisons of %d pairs", len(got), len(pairs))
		}
	})
}
