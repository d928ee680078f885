package memory

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// summarised lists the records of notes.
func summarised(all []Notes) (out []string) {
	for _, n := range all {
		text := n.Service + ":"
		for _, f := range n.FalsePositives {
			text += " " + f.Record
		}
		for _, r := range n.Recurring {
			text += fmt.Sprintf(" %s x%d", r.Title, r.Frequency)
		}
		out = append(out, text)
	}
	return out
}

// The files of each service have the notes on that service, and the files of none have those on the
// repository.
func TestNotesOn(t *testing.T) {
	services := []pipeline.Service{
		{ID: "api", Files: pipeline.List[string]{"api/a.go", "lib/both.go"}}, {ID: "web", Files: pipeline.List[string]{"lib/both.go", "web/a.ts"}},
	}
	m := &pipeline.Memory{
		FalsePositives: pipeline.List[pipeline.FalsePositive]{
			{Record: "M-30", Service: "api"}, {Record: "M-4", Service: "api", Globs: pipeline.List[string]{"x/**", "lib/*.go"}},
			{Record: "M-5", Service: "web"}, {Record: "M-6", Service: "web", Globs: pipeline.List[string]{"lib/*.go", "["}},
			{Record: "M-7"}, {Record: "M-8", Globs: pipeline.List[string]{"*.md"}}, {Record: "M-9", Service: "mail"}, {Record: "M-10", Blocked: true}, // models are not told about findings that blocked
		},
		Recurring: pipeline.List[pipeline.RecurringFinding]{
			{Service: "api", Title: "rare", Severity: "critical", Frequency: 1}, {Service: "api", Title: "b", Severity: "info", Frequency: 12},
			{Service: "api", Title: "a", Severity: "info", Frequency: 19}, {Service: "api", Title: "bad", Severity: "major", Frequency: 11},
			{Service: "api", Title: "ruled", Rule: "r", Severity: "info", Frequency: 10}, {Title: "none", Frequency: 0}, {Title: "often", Frequency: 99_999},
		},
	}
	const api = " a x10 b x10 bad x10 ruled x10"
	for name, test := range map[string]struct {
		paths, want []string
	}{
		"one service":         {[]string{"api/a.go"}, []string{"api: M-30" + api}},
		"a file of two":       {[]string{"lib/both.go"}, []string{"api: M-4 M-30" + api, "web: M-5"}},
		"a file of none":      {[]string{"main.go"}, []string{": M-7 often x5000"}},
		"one that globs name": {[]string{"README.md", "main.go"}, []string{": M-7 M-8 often x5000"}},
		"all":                 {[]string{"api/a.go", "main.go", "web/a.ts"}, []string{"api: M-30" + api, "web: M-5", ": M-7 often x5000"}},
		"no files":            {nil, nil},
	} {
		for range 2 {
			if diff := cmp.Diff(test.want, summarised(NotesOn(m, services, test.paths))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			slices.Reverse(m.FalsePositives)
			slices.Reverse(m.Recurring)
		}
	}
}

// What each review changes about a pattern is not part of the notes, and memory stays as it is.
func TestNotesHaveNothingThatEachReviewChanges(t *testing.T) {
	m := &pipeline.Memory{Recurring: pipeline.List[pipeline.RecurringFinding]{{Title: "t", Severity: "info", Frequency: 7, LastSeen: time.Unix(1, 0), Example: "a.go:1"}}}
	got := NotesOn(m, nil, []string{"a.go"})[0].Recurring[0]
	if want := (pipeline.RecurringFinding{Title: "t", Frequency: 5}); got != want {
		t.Errorf("%+v", got)
	}
	if m.Recurring[0].Frequency != 7 || m.Recurring[0].Example == "" {
		t.Errorf("memory is now %+v", m.Recurring[0])
	}
}

func TestStep(t *testing.T) {
	for n, want := range map[int]int{3: 3, 4: 3, 5: 5, 9: 5, 10: 10, 19: 10, 20: 20, 49: 20, 50: 50, 99: 50, 100: 100, 999: 500, 5000: 5000, 1 << 40: 5000} {
		if got := step(n); got != want {
			t.Errorf("step(%d) = %d, want %d", n, got, want)
		}
	}
}
