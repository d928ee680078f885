package policies

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

func testInput() Input {
	return Input{
		Facts: &pipeline.PRFacts{
			Author: pipeline.Author{Login: "kim", Type: "User", Association: "FIRST_TIME_CONTRIBUTOR"},
			Labels: pipeline.List[string]{"Security"},
			Files:  pipeline.List[pipeline.File]{{Path: "pricing/tax.ts"}, {Path: "pricing/total.ts"}, {Path: "ui/a.tsx"}},
		},
		Classification: &pipeline.Classification{
			Domains: pipeline.List[pipeline.Domain]{
				{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{
					{Path: "pricing/tax.ts", Mappings: pipeline.List[string]{"pricing/**"}},
					{Path: "pricing/total.ts", Mappings: pipeline.List[string]{"pricing/**"}}}},
				{ID: "ui", Files: pipeline.List[pipeline.DomainFile]{
					{Path: "ui/a.tsx", Mappings: pipeline.List[string]{"**/*.tsx", "ui/**"}}}},
			},
			Services: pipeline.List[pipeline.Service]{{ID: "shop", Files: pipeline.List[string]{"pricing/tax.ts"}}},
			Type:     "fix",
			Scope:    pipeline.Scope{Size: pipeline.SizeM, ChangedLines: 120},
			Risk:     pipeline.Risk{Score: 40, Level: pipeline.RiskMedium},
		},
	}
}

// evaluated returns the outcome of one trigger.
func evaluated(t *testing.T, trigger Trigger, in Input) Outcome {
	t.Helper()
	ts, err := CompileTriggers([]Trigger{trigger})
	if err != nil {
		t.Fatalf("%+v: %v", trigger, err)
	}
	return ts.Evaluate(in)[0]
}

func TestEvaluate(t *testing.T) {
	yes, no := true, false
	finance := Trigger{Type: TriggerDomain, Domains: []string{"finance"}}
	infra := Trigger{Type: TriggerDomain, Domains: []string{"infra"}}
	fix := Trigger{Type: TriggerChange, Types: []string{"fix"}}
	pricing := []string{"pricing/tax.ts", "pricing/total.ts"}
	whole := func(reason string) Outcome { return Outcome{Matched: true, Reason: reason, Whole: true} }
	tests := []struct {
		name    string
		trigger Trigger
		want    Outcome
	}{
		{"always", Trigger{Type: TriggerAlways}, whole("every change")},
		{"domain", finance, Outcome{Matched: true, Reason: "pricing/tax.ts is finance (pricing/**), and 1 more file", Files: pricing}},
		{"one file with two mappings", Trigger{Type: TriggerDomain, Domains: []string{"ui"}}, Outcome{Matched: true, Reason: "ui/a.tsx is ui (**/*.tsx, ui/**)", Files: []string{"ui/a.tsx"}}},
		{"domain missed", Trigger{Type: TriggerDomain, Domains: []string{"infra", "api"}}, fails("no file is infra or api")},
		{"all domains", Trigger{Type: TriggerDomain, Domains: []string{"ui", "finance"}, Match: "all"},
			Outcome{Matched: true, Reason: "pricing/tax.ts is finance (pricing/**), and 2 more files", Files: append(pricing[:2:2], "ui/a.tsx")}},
		{"all domains but one", Trigger{Type: TriggerDomain, Domains: []string{"ui", "infra"}, Match: "all"}, fails("no file is infra")},
		{"risk", Trigger{Type: TriggerRisk, AtLeast: "medium"}, whole("risk is medium (40 of 100)")},
		{"risk missed", Trigger{Type: TriggerRisk, AtLeast: "high"}, fails("risk is medium (40 of 100), below high")},
		{"type", fix, whole("type is fix")},
		{"type missed", Trigger{Type: TriggerChange, Types: []string{"docs", "test"}}, fails("type is fix, not docs or test")},
		{"path", Trigger{Type: TriggerPath, Globs: []string{"x", "**/*.tsx"}}, Outcome{Matched: true, Reason: "ui/a.tsx matches **/*.tsx", Files: []string{"ui/a.tsx"}}},
		{"several globs", Trigger{Type: TriggerPath, Globs: []string{"pricing/**", "ui/**", "**/tax.ts"}}, Outcome{Matched: true, Reason: "pricing/tax.ts matches pricing/**, and 2 more files", Files: append(pricing[:2:2], "ui/a.tsx")}},
		{"path missed", Trigger{Type: TriggerPath, Globs: []string{"a", "b", "c", "d", "e", "f"}}, fails("no file matches a, b, c, d or 2 others")},
		{"one more path missed", Trigger{Type: TriggerPath, Globs: []string{"a", "b", "c", "d", "e"}}, fails("no file matches a, b, c, d or e")},
		{"label in another case", Trigger{Type: TriggerLabel, Labels: []string{"x", "security"}}, whole("label is Security")},
		{"label missed", Trigger{Type: TriggerLabel, Labels: []string{"x"}}, fails("no label is x")},
		{"bot", Trigger{Type: TriggerAuthor, Bot: &yes}, fails("author is a person")},
		{"first-time person", Trigger{Type: TriggerAuthor, Bot: &no, FirstTime: &yes}, whole("author is a person, author contributes for the first time")},
		{"person", Trigger{Type: TriggerAuthor, Bot: &no}, whole("author is a person")},
		{"association missed", Trigger{Type: TriggerAuthor, Associations: []string{"OWNER"}}, fails("author is FIRST_TIME_CONTRIBUTOR, not OWNER")},
		{"service", Trigger{Type: TriggerService, Services: []string{"shop"}}, Outcome{Matched: true, Reason: "pricing/tax.ts belongs to the service shop", Files: pricing[:1]}},
		{"service missed", Trigger{Type: TriggerService, Services: []string{"mail"}}, fails("no file belongs to the service mail")},
		{"size", Trigger{Type: TriggerSize, AtLeast: "M"}, whole("size is M (changed lines: 120)")},
		{"size missed", Trigger{Type: TriggerSize, AtLeast: "L"}, fails("size is M (changed lines: 120), below L")},
		{"any", Trigger{Type: TriggerAny, Triggers: []Trigger{infra, finance, fix}},
			Outcome{Matched: true, Reason: "pricing/tax.ts is finance (pricing/**), and 1 more file", Files: pricing, Whole: true}},
		{"any, with the whole change first", Trigger{Type: TriggerAny, Triggers: []Trigger{fix, finance}}, Outcome{Matched: true, Reason: "type is fix", Files: pricing, Whole: true}},
		{"any of files", Trigger{Type: TriggerAny, Triggers: []Trigger{{Type: TriggerPath, Globs: []string{"ui/**"}}, finance, {Type: TriggerPath, Globs: []string{"**/tax.ts"}}}},
			Outcome{Matched: true, Reason: "ui/a.tsx matches ui/**", Files: append(pricing[:2:2], "ui/a.tsx")}},
		{"any of all domains", Trigger{Type: TriggerAny, Triggers: []Trigger{{Type: TriggerDomain, Domains: []string{"ui", "infra"}, Match: "all"}}}, fails("no file is infra")},
		{"any missed", Trigger{Type: TriggerAny, Triggers: []Trigger{infra, {Type: TriggerLabel, Labels: []string{"x"}}}}, fails("no file is infra, no label is x")},
		{"all", Trigger{Type: TriggerAll, Triggers: []Trigger{fix, finance}},
			Outcome{Matched: true, Reason: "type is fix; pricing/tax.ts is finance (pricing/**), and 1 more file", Files: pricing}},
		{"all of files", Trigger{Type: TriggerAll, Triggers: []Trigger{{Type: TriggerPath, Globs: []string{"ui/**"}}, {Type: TriggerPath, Globs: []string{"**/tax.ts"}}, {Type: TriggerPath, Globs: []string{"ui/*"}}}},
			Outcome{Matched: true, Reason: "ui/a.tsx matches ui/**; pricing/tax.ts matches **/tax.ts; ui/a.tsx matches ui/*", Files: []string{"pricing/tax.ts", "ui/a.tsx"}}},
		{"all missed", Trigger{Type: TriggerAll, Triggers: []Trigger{fix, infra, finance}}, fails("no file is infra")},
		{"expression", when("classification.risk.score > 39 &&\n  facts.files.size() == 3"), whole("classification.risk.score > 39 && facts.files.size() == 3")},
		{"expression missed", when(`facts.title == "x"`), fails(`facts.title == "x" does not hold`)},
		{"expression that is shown whole", when(`"` + strings.Repeat("a", 112) + `" != ""`), whole(`"` + strings.Repeat("a", 112) + `" != ""`)},
		{"long expression", when("true" + strings.Repeat(" || false", 20)), whole("true" + strings.Repeat(" || false", 12) + " || fal…")},
		{"expression that can't be evaluated", when(`facts.files[7].binary`), unknown("index out of bounds: 7")},
		{"not", Trigger{Type: TriggerNot, Triggers: []Trigger{infra}}, whole("no file is infra")},
		{"not missed", Trigger{Type: TriggerNot, Triggers: []Trigger{fix}}, fails("ruled out: type is fix")},
	}
	for _, tt := range tests {
		got := evaluated(t, tt.trigger, testInput())
		if len(got.Files) == 0 {
			got.Files = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAuthorWithoutAssociationIsUnknown(t *testing.T) {
	for _, first := range []bool{true, false} {
		in := testInput()
		in.Facts.Author.Association = ""
		if person := false; !evaluated(t, Trigger{Type: TriggerAuthor, Bot: &person}, in).Matched {
			t.Error("it is known that the author is a person")
		}
		if o := evaluated(t, Trigger{Type: TriggerAuthor, FirstTime: &first}, in); o.Matched || !strings.Contains(o.Reason, "not known") {
			t.Errorf("first_time %v = %+v, want no match because the association is not known", first, o)
		}
	}
}

func TestValidateTriggerPointsAtEachProblem(t *testing.T) {
	deep := Trigger{Type: TriggerAlways}
	for range maxTriggerDepth {
		deep = Trigger{Type: TriggerNot, Triggers: []Trigger{deep}}
	}
	tests := []struct {
		name     string
		trigger  Trigger
		pointers []string
	}{
		{"no type", Trigger{}, []string{"/type"}},
		{"field of another type", Trigger{Type: TriggerAlways, Globs: []string{"a"}}, []string{"/globs"}},
		{"no names", Trigger{Type: TriggerDomain, Match: "some"}, []string{"/domains", "/match"}},
		{"empty name", Trigger{Type: TriggerLabel, Labels: []string{"a", " "}}, []string{"/labels/1"}},
		{"bad globs", Trigger{Type: TriggerPath, Globs: []string{"/a", "b", ""}}, []string{"/globs/2", "/globs/0"}},
		{"a size in place of a risk", Trigger{Type: TriggerSize, AtLeast: "high"}, []string{"/at_least"}},
		{"author without a condition", Trigger{Type: TriggerAuthor}, []string{""}},
		{"unknown association", Trigger{Type: TriggerAuthor, Associations: []string{"FRIEND"}}, []string{"/associations/0"}},
		{"not with two triggers", Trigger{Type: TriggerNot, Triggers: []Trigger{{Type: TriggerAlways}, {Type: "x"}}}, []string{"/triggers", "/triggers/1/type"}},
		{"any without triggers", Trigger{Type: TriggerAny}, []string{"/triggers"}},
		{"too deep", deep, []string{strings.Repeat("/triggers/0", maxTriggerDepth)}},
		{"too many", Trigger{Type: TriggerAny, Triggers: make([]Trigger, 70)}, nil},
	}
	for _, tt := range tests {
		problems := ValidateTrigger(tt.trigger)
		var pointers []string
		for _, p := range problems {
			pointers = append(pointers, p.Pointer)
			if p.Problem == "" || p.Remedy == "" {
				t.Errorf("%s: %+v has no problem or no remedy", tt.name, p)
			}
		}
		if tt.pointers == nil {
			if len(problems) > maxTriggers {
				t.Errorf("%s: %d problems, want at most %d", tt.name, len(problems), maxTriggers)
			}
			continue
		}
		if diff := cmp.Diff(tt.pointers, pointers); diff != "" {
			t.Errorf("%s: pointers (-want +got):\n%s", tt.name, diff)
		}
		_, err := CompileTriggers([]Trigger{{Type: TriggerAlways}, tt.trigger})
		var refused *TriggerError
		if !errors.As(err, &refused) || refused.Index != 1 {
			t.Errorf("%s: CompileTriggers = %v, want an error about the second", tt.name, err)
		}
	}
}

func when(text string) Trigger { return Trigger{Type: TriggerExpression, When: text} }

// An unknown part does not make "any" fail and does not make "all" hold. It stays unknown under
// "not".
func TestUnknownIsPropagated(t *testing.T) {
	yes, no, open := when("true"), when("false"), when("facts.files[7].binary")
	finance := Trigger{Type: TriggerDomain, Domains: []string{"finance"}}
	of := func(kind TriggerType, parts ...Trigger) Trigger { return Trigger{Type: kind, Triggers: parts} }
	tests := []struct {
		name    string
		trigger Trigger
		want    string // yes, no or unknown
	}{
		{"any of unknown", of(TriggerAny, open), "unknown"},
		{"any of no and unknown", of(TriggerAny, no, open), "unknown"},
		{"any of unknown and no", of(TriggerAny, open, no), "unknown"},
		{"any of yes and unknown", of(TriggerAny, yes, open), "yes"},
		{"any of unknown and yes", of(TriggerAny, open, yes), "yes"},
		{"all of unknown", of(TriggerAll, open), "unknown"},
		{"all of yes and unknown", of(TriggerAll, yes, open), "unknown"},
		{"all of unknown and yes", of(TriggerAll, open, yes), "unknown"},
		{"all of no and unknown", of(TriggerAll, no, open), "no"},
		{"all of unknown and no", of(TriggerAll, open, no), "no"},
		{"not unknown", of(TriggerNot, open), "unknown"},
		{"not not unknown", of(TriggerNot, of(TriggerNot, open)), "unknown"},
		{"not any of yes and unknown", of(TriggerNot, of(TriggerAny, open, yes)), "no"},
		{"not all of no and unknown", of(TriggerNot, of(TriggerAll, open, no)), "yes"},
		{"any of all", of(TriggerAny, of(TriggerAll, yes, open), no), "unknown"},
		{"files and unknown", of(TriggerAll, finance, open), "unknown"},
	}
	for _, tt := range tests {
		o := evaluated(t, tt.trigger, testInput())
		got := "no"
		switch {
		case o.Unknown && o.Matched:
			t.Errorf("%s is unknown, but it matched: %+v", tt.name, o)
		case o.Unknown:
			got = "unknown"
		case o.Matched:
			got = "yes"
		}
		if got != tt.want || o.Reason == "" {
			t.Errorf("%s = %s (%q), want %s", tt.name, got, o.Reason, tt.want)
		}
	}
}

// If a part that is unknown might have held for the whole change, the agent must not get only a few
// files.
func TestUnknownBesideFilesCountsForTheWholeChange(t *testing.T) {
	got := evaluated(t, Trigger{Type: TriggerAny, Triggers: []Trigger{
		{Type: TriggerPath, Globs: []string{"ui/**"}}, when("facts.files[7].binary")}}, testInput())
	want := Outcome{Matched: true, Whole: true, Files: []string{"ui/a.tsx"},
		Reason: "ui/a.tsx matches ui/**; a part can't be evaluated: index out of bounds: 7, so it counts as holding"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	got = evaluated(t, Trigger{Type: TriggerAny, Triggers: []Trigger{{Type: TriggerAlways}, when("facts.files[7].binary")}}, testInput())
	if diff := cmp.Diff(holds("every change"), got); diff != "" {
		t.Errorf("beside the whole change (-want +got):\n%s", diff)
	}
}

// The reason names the first file of the first domain or service that has files.
func TestReasonsNameTheFirstFile(t *testing.T) {
	in := testInput()
	in.Classification.Domains = append(pipeline.List[pipeline.Domain]{{ID: "api"}}, in.Classification.Domains...)
	in.Classification.Services = pipeline.List[pipeline.Service]{{ID: "mail"}, {ID: "shop", Files: pipeline.List[string]{"pricing/tax.ts"}}, {ID: "web", Files: pipeline.List[string]{"ui/a.tsx"}}}
	for want, trigger := range map[string]Trigger{
		"pricing/tax.ts is finance (pricing/**), and 2 more files": {Type: TriggerDomain, Domains: []string{"ui", "api", "finance"}},
		"no file is api": {Type: TriggerDomain, Domains: []string{"api"}},
		"pricing/tax.ts belongs to the service shop, and 1 more file": {Type: TriggerService, Services: []string{"web", "mail", "shop"}},
		"no file matches a, b, c or d":                                {Type: TriggerPath, Globs: []string{"a", "b", "c", "d"}},
		"no file belongs to the service mail":                         {Type: TriggerService, Services: []string{"mail"}},
	} {
		if got := evaluated(t, trigger, in); got.Reason != want || got.Matched != (len(got.Files) > 0) {
			t.Errorf("%+v: %+v, want the reason %q", trigger, got, want)
		}
	}
}

// The cost of all triggers together is limited, and not only the cost of each.
func TestTriggersShareABudget(t *testing.T) {
	in := testInput()
	in.Facts.Files = make(pipeline.List[pipeline.File], 3000)
	cubed := when("facts.files.all(f, facts.files.all(g, facts.files.all(h, true)))")
	ts, err := CompileTriggers([]Trigger{cubed, cubed, cubed, cubed, cubed, when("facts.files.all(f, true)")})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range ts.Evaluate(in) {
		if !o.Unknown || strings.Contains(o.Reason, "together") != (i >= 4) {
			t.Errorf("trigger %d: %+v, want it to be unknown", i, o)
		}
	}
}

func TestTriggersThatReadLabels(t *testing.T) {
	label := Trigger{Type: TriggerLabel, Labels: []string{"x"}}
	kind := Trigger{Type: TriggerChange, Types: []string{"fix"}}
	tests := []struct {
		trigger Trigger
		labels  bool
		kind    bool
	}{
		{Trigger{Type: TriggerAlways}, false, false},
		{label, true, false},
		{Trigger{Type: TriggerNot, Triggers: []Trigger{label}}, true, false},
		{when(`"x" in facts.labels`), true, false},
		{Trigger{Type: TriggerAll, Triggers: []Trigger{{Type: TriggerAlways}, when(`facts.labels.size() > 1`)}}, true, false},
		{when(`facts.draft`), false, false},
		{kind, false, true},
		{Trigger{Type: TriggerAny, Triggers: []Trigger{{Type: TriggerAlways}, {Type: TriggerNot, Triggers: []Trigger{kind}}}}, false, true},
		{when(`classification.type == "fix" || facts.labels.size() > 1`), true, true},
	}
	for _, tt := range tests {
		ts, err := CompileTriggers([]Trigger{tt.trigger})
		if err != nil {
			t.Fatal(err)
		}
		if got := ts.ReadsLabels(); got != tt.labels {
			t.Errorf("%+v reads labels: %v, want %v", tt.trigger, got, tt.labels)
		}
		if got := ts.ReadsType(); got != tt.kind {
			t.Errorf("%+v reads the type: %v, want %v", tt.trigger, got, tt.kind)
		}
	}
}

func TestValidateTriggerPlacesProblemsOfExpressions(t *testing.T) {
	problems := ValidateTrigger(Trigger{Type: TriggerAny, Triggers: []Trigger{
		{Type: TriggerAlways, When: "true"},
		when("facts.draft &&\n facts.titel == 'x'"),
		when(""),
	}})
	want := []Problem{
		{"/triggers/0/when", `a trigger of type "always" does not read when`, `remove it, or use the type "expression"`},
		{"/triggers/1/when", `at 2:7 of the expression: facts has no field "titel"`, `did you mean "title"?`},
		{"/triggers/2/when", "the expression is empty", "write an expression that is true or false, such as classification.scope.changed_lines > 600"},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Triggers that are evaluated together match each path once, but each has its own outcome.
func TestTriggersSharePathsAndNotOutcomes(t *testing.T) {
	path := func(globs ...string) Trigger { return Trigger{Type: TriggerPath, Globs: globs} }
	list := []Trigger{
		path("ui/**"), path("**/*.ts", "ui/**"), path("x"), path("pricing/total.ts", "**/*.ts"),
		{Type: TriggerAll, Triggers: []Trigger{path("ui/**"), path("**/*.ts")}},
	}
	ts, err := CompileTriggers(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range ts.Evaluate(testInput()) {
		if diff := cmp.Diff(evaluated(t, list[i], testInput()), got); diff != "" {
			t.Errorf("trigger %d (-alone +together):\n%s", i, diff)
		}
	}
}
