package memory

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// found is a model's finding that the records of the tests are about.
func found() pipeline.Finding {
	return pipeline.Finding{
		Agent: "quality", Model: "m", Title: "Blocking call in the reactive pipeline", Category: "performance", Path: "svc/a/b.go", Severity: pipeline.SeverityWarning,
	}
}

// taught is a record about it.
func taught() pipeline.FalsePositive {
	return pipeline.FalsePositive{Record: "M-1", Agent: "quality", Category: "performance", Title: "Reactive pipelines with a blocking call", Reason: "it has threads of its own"}
}

func TestMatches(t *testing.T) {
	type (
		record  = pipeline.FalsePositive
		finding = pipeline.Finding
	)
	var stuffed []string
	for i := range 100 {
		stuffed = append(stuffed, fmt.Sprintf("word%d", i))
	}
	for _, tt := range []struct {
		name   string
		record func(*record)
		change func(*finding)
		want   bool
	}{
		{"agent, category and words agree", nil, nil, true},
		{"another agent", func(r *record) { r.Agent = "spec" }, nil, false},
		{"any agent", func(r *record) { r.Agent = "" }, nil, true},
		{"another category", func(r *record) { r.Category = "security" }, nil, false},
		{"a category in other letters", func(r *record) { r.Category = "Performance" }, nil, true},
		{"a record without a category", func(r *record) { r.Category = "" }, nil, true},
		{"a finding without a category", nil, func(f *finding) { f.Category = "" }, true},
		{"another title", func(r *record) { r.Title = "Missing index on the table of orders" }, nil, false},
		{"one word in common", func(r *record) { r.Title = "Blocking lock" }, nil, false},
		{"one word, and equal", func(r *record) { r.Title = "Overflow" }, func(f *finding) { f.Title = "Overflow" }, false},
		{"one word twice", func(r *record) { r.Title = "Call of calls" }, nil, false},
		{"only stop words", func(r *record) { r.Title = "What is it" }, func(f *finding) { f.Title = "What is it" }, false},
		{"only punctuation", func(r *record) { r.Title = "== !=" }, func(f *finding) { f.Title = "== !=" }, false},
		{"no title", func(r *record) { r.Title = "" }, func(f *finding) { f.Title = "" }, false},
		{"a title stuffed with words", func(r *record) { r.Title += strings.Join(stuffed, " ") }, nil, false},
		{"a finding stuffed with words", nil, func(f *finding) { f.Title += strings.Join(stuffed, " ") }, false},
		{"not a model's", nil, func(f *finding) { f.Model = "" }, false},

		{"a rule", func(r *record) { *r = record{Rule: "r1"} }, func(f *finding) { f.RuleID = "r1" }, true},
		{"a rule: words don't count", func(r *record) { r.Rule, r.Agent, r.Category, r.Title = "r1", "spec", "x", "y" }, func(f *finding) { f.RuleID = "r1" }, true},
		{"another rule, although the words agree", func(r *record) { r.Rule = "r1" }, func(f *finding) { f.RuleID = "r2" }, false},
		{"a rule, and a finding without one", func(r *record) { r.Rule = "r1" }, nil, false},
		{"a rule of an agent without a model", func(r *record) { r.Rule = "r1" }, func(f *finding) { f.RuleID, f.Model = "r1", "" }, false},

		{"its service", func(r *record) { r.Service = "a" }, nil, true},
		{"another service", func(r *record) { r.Service = "c" }, nil, false},
		{"another service, by rule", func(r *record) { *r = record{Rule: "r1", Service: "c"} }, func(f *finding) { f.RuleID = "r1" }, false},
		{"its files", func(r *record) { r.Globs = pipeline.List[string]{"docs/**", "svc/**"} }, nil, true},
		{"other files", func(r *record) { r.Globs = pipeline.List[string]{"docs/**"} }, nil, false},
		{"other files, by rule", func(r *record) { *r = record{Rule: "r1", Globs: pipeline.List[string]{"docs/**"}} }, func(f *finding) { f.RuleID = "r1" }, false},
		{"files, and a finding without one", func(r *record) { r.Globs = pipeline.List[string]{"**"} }, func(f *finding) { f.Path = "" }, false},
		{"any file, and a finding without one", nil, func(f *finding) { f.Path = "" }, true},
		{"a glob that is not valid", func(r *record) { r.Globs = pipeline.List[string]{"svc/**", "["} }, nil, false},
	} {
		r, f := taught(), found()
		if tt.record != nil {
			tt.record(&r)
		}
		if tt.change != nil {
			tt.change(&f)
		}
		if got := matches(&r, &f, []string{"a", "b"}); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestLike(t *testing.T) {
	type record = pipeline.FalsePositive
	for _, tt := range []struct {
		name string
		a, b func(*record)
		want bool
	}{
		{"words agree", nil, func(r *record) { r.Title = "A call blocks the pipeline: blocking calls" }, true},
		{"another reason, record and order of globs", func(r *record) { r.Globs = pipeline.List[string]{"a", "b"} }, func(r *record) { r.Record, r.Reason, r.Globs = "M-2", "no", pipeline.List[string]{"b", "a"} }, true},
		{"a glob twice", func(r *record) { r.Globs = pipeline.List[string]{"a"} }, func(r *record) { r.Globs = pipeline.List[string]{"a", "a"} }, true},
		{"other words", nil, func(r *record) { r.Title = "Missing index on orders" }, false},
		{"too few words", func(r *record) { r.Title = "Overflow" }, func(r *record) { r.Title = "Overflow" }, false},
		{"another agent", nil, func(r *record) { r.Agent = "spec" }, false},
		{"another category", nil, func(r *record) { r.Category = "security" }, false},
		{"another service", nil, func(r *record) { r.Service = "a" }, false},
		{"other files", nil, func(r *record) { r.Globs = pipeline.List[string]{"a"} }, false},
		{"one rule", func(r *record) { r.Rule = "r1" }, func(r *record) { *r = record{Rule: "r1"} }, true},
		{"another rule", func(r *record) { r.Rule = "r1" }, func(r *record) { r.Rule = "r2" }, false},
		{"a rule and words", func(r *record) { r.Rule = "r1" }, nil, false},
	} {
		a, b := taught(), taught()
		if tt.a != nil {
			tt.a(&a)
		}
		if tt.b != nil {
			tt.b(&b)
		}
		if got, back := Like(&a, &b), Like(&b, &a); got != tt.want || back != got {
			t.Errorf("%s: %v, the other way round %v", tt.name, got, back)
		}
	}
}

// A set finds exactly the records that match one by one, in their order.
func TestSetMatchesOneByOne(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"cache", "of", "users", "orders", "slow", "missing", "lock", "", "==", "Locks"})
		title := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 5).Draw(t, "words"), " ") })
		records := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pipeline.FalsePositive {
			return pipeline.FalsePositive{
				Rule: rapid.SampledFrom([]string{"", "", "r1", "r2"}).Draw(t, "rule"), Title: title.Draw(t, "title"),
				Agent: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "agent"), Service: rapid.SampledFrom([]string{"", "s"}).Draw(t, "service"),
				Globs: rapid.SampledFrom([]pipeline.List[string]{nil, {"a.go"}, {"["}}).Draw(t, "globs"),
			}
		}), 0, 8).Draw(t, "records")
		f := pipeline.Finding{Agent: "x", Model: "m", Path: "a.go", Title: title.Draw(t, "of the finding"), RuleID: rapid.SampledFrom([]string{"", "r1"}).Draw(t, "its rule")}
		services := rapid.SampledFrom([][]string{nil, {"s"}}).Draw(t, "services")
		var want []*pipeline.FalsePositive
		for i := range records {
			if matches(&records[i], &f, services) {
				want = append(want, &records[i])
			}
		}
		got := New(records).Matching(&f, services)
		if len(got) != len(want) {
			t.Fatalf("%d records match, one by one %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("record %d differs", i)
			}
		}
	})
}

// matches reports whether a record is about a finding.
func matches(fp *pipeline.FalsePositive, f *pipeline.Finding, services []string) bool {
	return len(New([]pipeline.FalsePositive{*fp}).Matching(f, services)) > 0
}
