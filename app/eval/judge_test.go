package eval

import (
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func aRace() Defect {
	return Defect{
		Path: "rates.go", Quotes: []string{"c.entries[pair] = entry", "c.mu.RLock()"}, Lines: []Range{{51, 51}, {42, 42}},
		Category: "concurrency", Words: []string{"race", "write lock"}, Rules: []string{"go-map-race"},
	}
}

func TestNamedBy(t *testing.T) {
	at := func(line, end int, f pipeline.Finding) pipeline.Finding {
		f.Path, f.StartLine, f.EndLine = "rates.go", line, end
		return f
	}
	tests := map[string]struct {
		finding pipeline.Finding
		want    bool
	}{
		"the line and a word":                {at(51, 51, pipeline.Finding{Title: "Data race on entries"}), true},
		"the other line":                     {at(42, 0, pipeline.Finding{Message: "There is a RACE."}), true},
		"three lines before":                 {at(39, 0, pipeline.Finding{Title: "race"}), true},
		"four lines before":                  {at(38, 0, pipeline.Finding{Title: "race"}), false},
		"three lines after":                  {at(54, 60, pipeline.Finding{Title: "race"}), true},
		"four lines after":                   {at(55, 60, pipeline.Finding{Title: "race"}), false},
		"a range around it":                  {at(1, 80, pipeline.Finding{Title: "race"}), true},
		"by category":                        {at(51, 51, pipeline.Finding{Title: "Careful", Category: "Concurrency "}), true},
		"by rule":                            {at(51, 51, pipeline.Finding{Title: "Careful", RuleID: "go-map-race"}), true},
		"in the recommendation":              {at(51, 51, pipeline.Finding{Title: "Careful", Recommendation: "Take the write\n lock."}), true},
		"in why it matters":                  {at(51, 51, pipeline.Finding{Title: "Careful", WhyItMatters: "Races crash the process."}), true},
		"another finding at the same place":  {at(51, 51, pipeline.Finding{Title: "The name is too short", Category: "style"}), false},
		"a word in another word":             {at(51, 51, pipeline.Finding{Title: "The trace is lost"}), false},
		"by evidence, without line":          {at(0, 0, pipeline.Finding{Title: "race", Evidence: []string{"  c.entries[pair]  = entry\n"}}), true},
		"by evidence, elsewhere":             {at(3, 3, pipeline.Finding{Title: "race", Evidence: []string{"c.mu.RLock()\n\tdefer c.mu.RUnlock()"}}), true},
		"by a part of the line":              {at(0, 0, pipeline.Finding{Title: "race", Evidence: []string{"entries[pair]"}}), true},
		"evidence that could be anywhere":    {at(0, 0, pipeline.Finding{Title: "race", Evidence: []string{"c.mu", "", "entry"}}), false},
		"evidence of another place":          {at(0, 0, pipeline.Finding{Title: "race", Evidence: []string{"rate, err := c.source.Rate"}}), false},
		"the whole file":                     {at(0, 0, pipeline.Finding{Title: "race"}), false},
		"another file":                       {pipeline.Finding{Path: "other.go", StartLine: 51, Title: "race"}, false},
		"the change as a whole, by rule":     {pipeline.Finding{Section: pipeline.SectionChange, RuleID: "go-map-race"}, true},
		"the change as a whole, by words":    {pipeline.Finding{Section: pipeline.SectionChange, Title: "race", Category: "concurrency"}, false},
		"the change as a whole, and no rule": {pipeline.Finding{Section: pipeline.SectionChange, RuleID: ""}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := aRace()
			if got := judge([]Defect{d}, []pipeline.Finding{tt.finding})[0] == 0; got != tt.want {
				t.Errorf("named: %t, want %t", got, tt.want)
			}
		})
	}
}

// Two defects are on neighbouring lines, and some findings would match both.
func TestAFindingNamesOneDefect(t *testing.T) {
	defects := []Defect{
		{Path: "a.ts", Quotes: []string{"first line"}, Lines: []Range{{10, 10}}, Category: "secrets", Words: []string{"key"}},
		{Path: "a.ts", Quotes: []string{"second line"}, Lines: []Range{{11, 11}}, Category: "secrets", Words: []string{"key", "timing"}},
	}
	key := pipeline.Finding{Path: "a.ts", StartLine: 10, Title: "The key is bad"}
	timing := pipeline.Finding{Path: "a.ts", StartLine: 11, Title: "The timing tells"}
	above := pipeline.Finding{Path: "a.ts", StartLine: 7, Title: "The key is bad"} // near the first defect only
	other := pipeline.Finding{Path: "a.ts", StartLine: 11, Title: "Long"}
	tests := map[string]struct {
		findings []pipeline.Finding
		want     []int
	}{
		"none":              {nil, []int{}},
		"one":               {[]pipeline.Finding{key}, []int{0}},
		"the same twice":    {[]pipeline.Finding{key, key}, []int{0, 1}},
		"more than defects": {[]pipeline.Finding{key, key, key}, []int{0, 1, 0}},
		"one makes room":    {[]pipeline.Finding{key, above}, []int{1, 0}},
		"none makes room":   {[]pipeline.Finding{above, above, timing}, []int{0, 0, 1}},
		"in order":          {[]pipeline.Finding{other, timing, key}, []int{none, 1, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := judge(defects, tt.findings); !slices.Equal(got, tt.want) {
				t.Errorf("named %v, want %v", got, tt.want)
			}
		})
	}
	if got := judge(nil, []pipeline.Finding{key}); !slices.Equal(got, []int{none}) {
		t.Errorf("a clean case: named %v", got)
	}
}
