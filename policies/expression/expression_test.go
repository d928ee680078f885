package expression

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func small() Input {
	return Input{
		Facts: &pipeline.PRFacts{
			Title: "WIP: Überweisung", Body: "\n", Number: 7,
			Author: pipeline.Author{Login: "kim", Type: "User"},
			Head:   pipeline.Head{Fork: true},
			Labels: pipeline.List[string]{"security"},
			Files: pipeline.List[pipeline.File]{
				{Path: "db/migrate/1.sql", Status: pipeline.FileAdded, Additions: 3, Language: "SQL", Hunks: pipeline.List[pipeline.Hunk]{
					{Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: "drop table users;"}}}}},
				{Path: "web/app.ts", Status: pipeline.FileModified, Test: true},
			},
			RootFiles: pipeline.List[string]{"CHANGELOG.md", "go.mod"},
		},
		Classification: &pipeline.Classification{
			Domains: pipeline.List[pipeline.Domain]{{ID: "data", Files: pipeline.List[pipeline.DomainFile]{{Path: "db/migrate/1.sql"}}}},
			Type:    "fix", Scope: pipeline.Scope{Size: pipeline.SizeS, ChangedLines: 40},
			Risk: pipeline.Risk{Score: 30, Level: pipeline.RiskMedium},
		},
	}
}

func TestHolds(t *testing.T) {
	tests := map[string]bool{
		`true`:                                     true,
		`classification.scope.size == "S"`:         true,
		`classification.risk.score >= 31`:          false,
		`facts.author.type == "Bot"`:               false,
		`facts.head.fork && facts.number % 2 == 1`: true,
		`facts.files.size() == 2`:                  true,
		`facts.files[1].path == "web/app.ts"`:      true,
		`facts.files.all(f, f.binary)`:             false,
		`facts.files.exists_one(f, f.test)`:        true,
		`facts.files.filter(f, f.status == "added").map(f, f.path) == ["db/migrate/1.sql"]`:                               true,
		`facts.files.exists(f, f.language in ["SQL", "Go"])`:                                                              true,
		`facts.files.exists(f, glob(f.path, "db/{migrate,seed}/**"))`:                                                     true,
		`facts.files.exists(f, glob(f.path, "migrate/**"))`:                                                               false,
		`facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.op == "+" && l.text.matches(r"\bdrop\s+table\b"))))`: true,
		`facts.title.matches("^[A-Z]+:")`:                                                                                 true,
		`facts.title.startsWith("WIP") && facts.title.endsWith("ung") && facts.title.contains(": ")`:                      true,
		`facts.title.size() == 16`:                                                                                        true, // counts characters, not bytes
		`facts.title.lowerAscii() == "wip: Überweisung" && facts.title.upperAscii().startsWith("WIP: ÜBER")`:              true,
		`facts.body.trim() == ""`:                                                                                         true,
		`facts.title.split(": ")[1] == "Überweisung"`:                                                                     true,
		`"CHANGELOG.md" in facts.root_files`:                                                                              true,
		`has(facts.milestone)`:                                                                                            false,
		`has(facts.title) && has(facts.files)`:                                                                            true,
		`facts.labels == [] || classification.unclassified == []`:                                                         true,
		`[] == [] && [[]] != [["a"]]`:                                                                                     true,
		`facts.commits.size() == 0 && facts.redactions.all(r, false)`:                                                     true, // absent lists are empty
		`classification.domains.exists(d, d.id == "data" && d.files.exists(f, f.path.startsWith("db/")))`:                 true,
		`classification.unclassified.size() + 1 > 0 ? facts.number == 7 : false`:                                          true,
		`facts.title + "!" == "WIP: Überweisung!"`:                                                                        true,
		`facts.files[9].binary || true`:                                                                                   true,
	}
	for text, want := range tests {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("Compile(%s): %v", text, err)
			continue
		}
		if got, err := e.Holds(small()); err != nil || got != want {
			t.Errorf("%s = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestCompileErrorsHaveAPlaceAndARemedy(t *testing.T) {
	tests := []struct {
		text         string
		line, column int
		problem      string
		remedy       string
	}{
		{`facts.fils.size() > 0`, 1, 6, `facts has no field "fils"`, `did you mean "files"?`},
		{`facts.titel == ""`, 1, 6, `facts has no field "titel"`, `did you mean "title"?`},
		{`facts.files.exists(f, f.pth == "a")`, 1, 24, `a file has no field "pth"`, `did you mean "path"?`},
		{`classification.changed_lines > 3`, 1, 15, `classification has no field "changed_lines"`, `did you mean "classification.scope.changed_lines"?`},
		{`facts.observed_at > 3`, 1, 6, `facts has no field "observed_at"`, `its fields are repository, number, title`},
		{`facts.config.version == ""`, 1, 6, `facts has no field "config"`, `its fields are`},
		{`fact.draft`, 1, 1, `there is nothing called "fact"`, `did you mean "facts"?`},
		{`files.size() > 0`, 1, 1, `there is nothing called "files"`, `did you mean "facts.files"?`},
		{`facts.title.startswith("a")`, 1, 23, `there is nothing called "startswith"`, `did you mean "startsWith"?`},
		{`now() > 3`, 1, 4, `there is nothing called "now"`, `expressions read facts, classification, exists`},
		{"facts.draft &&\n  facts.title > 3", 2, 15, `> can't be used on a text and a number`, `two texts or two whole numbers`},
		{`facts.title.matches(3)`, 1, 20, `matches can't be used on a text and a number`, `write it as text.matches("^WIP")`},
		{`facts.title[0] == "a"`, 1, 12, `[ ] can't be used on a text and a number`, `a list`},
		{`!facts.title`, 1, 1, `! can't be used on a text`, `a condition`},
		{`"a" in facts.files`, 1, 5, `in can't be used on a text and a list of files`, `a list of such`},
		{`facts.draft ? 1 : "a"`, 1, 13, `? : can't be used on`, `two values of one type`},
		{`facts.title.x == "a"`, 1, 12, `a text has no fields`, `size()`},
		{`facts.title.exists(c, true)`, 1, 6, `only lists can be looped over, and this is a text`, `facts.files`},
		{`facts.files.exists(1, true)`, 1, 20, `a loop has no name for its elements`, `facts.files.exists(f, f.binary)`},
		{`has(facts)`, 1, 5, `has looks for a field`, `has(facts.milestone)`},
		{`[1, "a"].size() > 1`, 1, 5, `this is a text where a number is needed`, `write a number`},
		{`facts.files.size()`, 1, 17, `the expression is a number, not true or false`, `> 0`},
		{`facts.title`, 1, 6, `the expression is a text, not true or false`, `== "text"`},
		{`facts.title ==`, 1, 15, `the expression ends too early`, `close what is open`},
		{`(facts.draft`, 1, 13, `the expression ends too early`, `put a ")" before it`},
		{`facts.draft and facts.draft`, 1, 13, `"and" is not expected here`, `&& for and`},
		{`facts.title = "a"`, 1, 13, `"=" means nothing here`, `== for equal`},
		{`facts.title == "a`, 1, 16, `the text that starts here is not closed`, `close it with "`},
		{`facts.title.matches("\d")`, 1, 21, `an escape that does not exist`, `r"..."`},
		{``, 0, 0, `the expression is empty`, `true or false`},
		{strings.Repeat("ä", 2001), 0, 0, `the expression is 2001 characters long, at most 2000 are allowed`, `split it`},
		{strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), 0, 0, `nested more than 60 deep`, `split it`},
		{`facts.title` + strings.Repeat(`+"a"`, 100) + ` == ""`, 0, 0, `nested more than 60 deep`, `split it`},
		{`facts.title` + strings.Repeat(`.trim()`, 100) + ` == ""`, 0, 0, `nested more than 60 deep`, `split it`},
		{strings.Repeat(`[].all(a,a)&&`, 153) + `true`, 0, 0, `more than 1500 parts`, `split it`},
		{strings.Repeat(`[1].all(a, `, 7) + `true` + strings.Repeat(`)`, 7), 1, 74, `more than 6 loops`, `filter`},
		{`facts == facts`, 1, 7, `facts can't be compared as a whole`, `compare one of its fields`},
		{`facts.commits == []`, 1, 15, `a list of commits can't be compared as a whole`, `size()`},
		{`facts.files.exists(f, f in facts.files)`, 1, 25, `a file can't be compared as a whole`, `compare one of its fields`},
		{`(facts.labels + ["a"]).size() > 1`, 1, 15, `lists can't be added`, `||`},
		{`[facts.labels].all(l, (l + ["a"]).size() > 1)`, 0, 0, `lists can't be added`, `||`},
		{`[{"a": 1}].size() > 1`, 1, 2, `makes a value of named parts`, `read fields`},
		{`pipeline.File{}.path == ""`, 1, 14, `makes a value of named parts`, `read fields`},
		{`facts.title.matches(facts.body)`, 1, 26, `the pattern of matches is not a constant`, `facts.title.matches("^WIP")`},
		{`facts.title.matches("(")`, 1, 21, `the pattern does not compile: missing closing )`, `RE2`},
		{`facts.title.matches("(a{100}){10}b")`, 1, 21, `the pattern expands to about 2022 instructions, at most 1000`, `smaller repetition counts`},
		{`glob(facts.title, facts.title)`, 1, 24, `the pattern of glob is not a constant`, `glob(f.path, "src/**")`},
		{`glob(facts.title, "/a")`, 1, 19, `the glob is refused: pattern starts with "/"`, `leave it out`},
		{`timestamp("2026-01-01T00:00:00Z").getFullYear("Europe/Paris") == 2026`, 1, 10, `there is nothing called "timestamp"`, ``},
	}
	for _, tt := range tests {
		_, err := Compile(tt.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Compile(%.80s) = %v, want an *Error", tt.text, err)
			continue
		}
		if (tt.line > 0 || tt.text == "") && (e.Line != tt.line || e.Column != tt.column) {
			t.Errorf("%.80s: at %d:%d, want %d:%d (%v)", tt.text, e.Line, e.Column, tt.line, tt.column, e)
		}
		if !strings.Contains(e.Problem, tt.problem) || !strings.Contains(e.Remedy, tt.remedy) || e.Remedy == "" {
			t.Errorf("%.80s:\n  %s: %s\nwant\n  %s: %s", tt.text, e.Problem, e.Remedy, tt.problem, tt.remedy)
		}
		for _, foreign := range []string{"ANTLR", "expecting {", "overload", "container", "dyn"} {
			if strings.Contains(err.Error(), foreign) {
				t.Errorf("%.80s: the message %v contains %q", tt.text, err, foreign)
			}
		}
	}
}

func TestExpressionsThatCannotBeEvaluated(t *testing.T) {
	tests := map[string]string{
		`facts.files[9].binary`:                       "index out of bounds: 9",
		`facts.labels[9] == "a"`:                      "9",
		`facts.number / facts.commits.size() > 1`:     "zero",
		`facts.title.split(":")[facts.number] == "a"`: "7",
		`facts.number * 9223372036854775807 > 1`:      "overflow",
	}
	for text, want := range tests {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("Compile(%s): %v", text, err)
			continue
		}
		if got, err := e.Holds(small()); got || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %v, %v, want an error with %q", text, got, err, want)
		}
	}
}

// Costs are counted, so an evaluation is stopped at the same point on every machine.
// BenchmarkHostile measures the times.
func TestExpensiveExpressionsAreStopped(t *testing.T) {
	in := large()
	for _, name := range sample.Of(t, 4, slices.Sorted(maps.Keys(hostile))) {
		e, err := Compile(hostile[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		start := time.Now()
		if _, err := e.Holds(in); err == nil || !strings.Contains(err.Error(), "looks at too much") {
			t.Errorf("%s: %v, want it to be stopped", name, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	for name, text := range usual {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := e.Holds(in); err != nil {
			t.Errorf("%s on a change of 3,000 files and 100,000 lines: %v", name, err)
		}
	}
}

// Each of many expressions may cost as much as the limit for one, but not all of them on one
// change.
func TestExpressionsShareABudget(t *testing.T) {
	e, err := Compile(hostile["constant loop"])
	if err != nil {
		t.Fatal(err)
	}
	cheap, err := Compile(usual["files"])
	if err != nil {
		t.Fatal(err)
	}
	in := large()
	in.Budget = NewBudget()
	for range maxTotal / maxCost {
		if _, err := cheap.Holds(small()); err != nil {
			t.Fatalf("with its own budget: %v", err)
		}
		if _, err := e.Holds(in); err == nil {
			t.Fatal("the hostile expression was not stopped")
		}
	}
	if _, err := cheap.Holds(in); err == nil || !strings.Contains(err.Error(), "together") {
		t.Errorf("with the budget used up: %v, want an error", err)
	}
}

func TestReadsLabels(t *testing.T) {
	tests := map[string]bool{
		`facts.labels.size() > 0`:                                true,
		`facts.files.exists(f, "x" in facts.labels)`:             true,
		`has(facts.labels)`:                                      true,
		`[facts].exists(f, f.title == "x")`:                      true, // the facts are passed on whole, so it may read them
		`(facts.draft ? facts : facts).title == "x"`:             true,
		`facts.title == "labels"`:                                false,
		`classification.type == "fix" && facts.files.size() > 1`: false,
	}
	for text, want := range tests {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("Compile(%s): %v", text, err)
		} else if e.ReadsLabels() != want {
			t.Errorf("%s reads labels: %v, want %v", text, !want, want)
		}
	}
}

func TestReadsType(t *testing.T) {
	tests := map[string]bool{
		`classification.type == "fix"`:                                    true,
		`facts.files.exists(f, f.test && classification.type in ["fix"])`: true,
		`classification.type_source.contains("label")`:                    true,
		`[classification].exists(c, c.risk.score > 50)`:                   true, // the facts are passed on whole, so it may read them
		`(facts.draft ? classification : classification).risk.score > 50`: true,
		`classification.risk.score > 50 && facts.title == "type"`:         false,
		`facts.author.type == "Bot"`:                                      false,
	}
	for text, want := range tests {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("Compile(%s): %v", text, err)
		} else if e.ReadsType() != want {
			t.Errorf("%s reads the type: %v, want %v", text, !want, want)
		}
	}
}

func TestExpressionIsSafeForConcurrentUse(t *testing.T) {
	e, err := Compile(usual["files matched"])
	if err != nil {
		t.Fatal(err)
	}
	in := small()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if held, err := e.Holds(in); held || err != nil {
					t.Errorf("holds = %v, %v", held, err)
				}
			}
		})
	}
	group.Wait()
}

// Everything in the reference compiles: each field outside lists can be read by its name, and the
// usage of each function is a valid call.
func TestReferenceCompiles(t *testing.T) {
	fields, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"string": ` == ""`, "int": " == 0", "bool": ""}
	seen := map[string]string{}
	for _, f := range fields {
		seen[f.Name] = f.Type
		if end, ok := values[f.Type]; ok && !strings.Contains(f.Name, "[]") {
			if _, err := Compile(f.Name + end); err != nil {
				t.Errorf("%s is in the reference, but does not compile: %v", f.Name, err)
			}
		}
	}
	for name, want := range map[string]string{
		"facts": "object", "facts.files": "list of object", "facts.files[].hunks[].lines[].text": "string",
		"facts.labels": "list of string", "facts.root_files": "list of string", "classification.scope.changed_lines": "int",
	} {
		if seen[name] != want {
			t.Errorf("%s is %q in the reference, want %q", name, seen[name], want)
		}
	}
	for _, f := range Functions() {
		usage := strings.NewReplacer("list.", "facts.files.", "text.", "facts.title.", "condition", "x.binary", "value", "x.path", "path,", "facts.title,").Replace(f.Usage)
		for usage := range strings.SplitSeq(usage, " or ") {
			if _, err := Compile("[" + usage + "].size() > 0"); err != nil {
				t.Errorf("the usage %s in the reference does not compile: %v", usage, err)
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range usual {
		f.Add(text)
	}
	for _, text := range hostile {
		f.Add(text)
	}
	for _, text := range []string{`facts.title == "`, `((((`, `a.b.c(d)`, `has(facts.x)`, `facts.files[0].hunks[0].lines[0].text.split("")[0] in ["a"]`, `r"\d" + 'a'`} {
		f.Add(text)
	}
	in := small()
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		e, err := Compile(text)
		if err != nil {
			var problem *Error
			if !errors.As(err, &problem) || problem.Problem == "" || problem.Remedy == "" {
				t.Fatalf("Compile(%q) = %v, want an *Error with problem and remedy", text, err)
			}
		} else {
			first, err1 := e.Holds(in)
			again, err2 := e.Holds(in)
			if first != again || (err1 == nil) != (err2 == nil) {
				t.Fatalf("%q = %v, %v and then %v, %v", text, first, err1, again, err2)
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Fatalf("%q took %v", text, took)
		}
	})
}
