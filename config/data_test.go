package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

func someFacts(t *testing.T) (pipeline.PRFacts, string) {
	facts := pipeline.PRFacts{
		SchemaVersion: 1, Number: 7, Title: "t", Head: pipeline.Head{SHA: "abc"}, Config: pipeline.ConfigInForce{Version: "v"},
		Files: pipeline.List[pipeline.File]{{Path: "a.go", Status: pipeline.FileAdded, Additions: 3}}, ObservedAt: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	}
	b, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	return facts, string(b)
}

func TestDecodeData(t *testing.T) {
	facts, text := someFacts(t)
	var got pipeline.PRFacts
	for _, form := range []string{text, strings.Replace(text, `"number":7`, `"number":7.0`, 1)} {
		if problems := DecodeData(SchemaPRFacts, "facts.json", []byte(form), jsontree.Options{}, &got); len(problems) > 0 {
			t.Fatalf("problems: %v", problems)
		}
		before, _ := json.Marshal(facts)
		after, _ := json.Marshal(got)
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
	}
}

func TestDecodeDataReportsAllProblems(t *testing.T) {
	_, text := someFacts(t)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"not JSON", `{`, []string{`facts.json:1:2: the file ends in the middle of a value; close every string, bracket and brace`}},
		{"a duplicate key", `{"title": 1, "title": 2}`, []string{`facts.json:1:14: /title: "title" occurs twice in one object; keep one of them`}},
		{"several problems", strings.NewReplacer(`"number":7`, `"number":"7"`, `"additions":3`, `"additions":-3`, `"title"`, `"mood":1,"title"`).Replace(text), []string{
			`facts.json:1:102: /number: number is a string, but must be a whole number; `,
			`facts.json:1:106: /mood: "mood" is not a field of a PRFacts; `,
			`facts.json:1:398: /files/0/additions: additions is -3, which is out of range; use a number of at least 0`,
		}},
		{"a time in another format", strings.Replace(text, "2026-01-31T12:00:00Z", "today", 1), []string{`facts.json:1:1: this is not a pr-facts: `}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got pipeline.PRFacts
			problems := DecodeData(SchemaPRFacts, "facts.json", []byte(test.text), jsontree.Options{}, &got)
			if len(problems) != len(test.want) {
				t.Errorf("%d problems, want %d", len(problems), len(test.want))
			}
			for i, p := range problems {
				if i < len(test.want) && !strings.HasPrefix(FormatProblem(p), test.want[i]) {
					t.Errorf("problem: %s\nwant:    %s", FormatProblem(p), test.want[i])
				}
			}
		})
	}
}
