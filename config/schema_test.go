package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/fourrules"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// The schemas agree with the Go types: both have the same fields with the same JSON types, at every
// level.
func TestSchemasAgreeWithTypes(t *testing.T) {
	tests := []struct {
		url   string
		value any
		// fields that only the schema has, removed before decoding
		extra []string
	}{
		{"review-rules.json#/$defs/rule", Rule{}, nil},
		{"review-composition.json#/$defs/policy", Policy{}, nil},
		{"review-agents.json#/$defs/agent", Agent{}, nil},
		{"review-settings.json", Settings{}, []string{"$schema"}},
		{"pr-facts.json", pipeline.PRFacts{}, nil},
		{"file.json", pipeline.File{}, nil},
		{"classification.json", pipeline.Classification{}, nil},
		{"agent-manifest.json", pipeline.AgentManifest{}, nil},
		{"gap-log-entry.json", pipeline.GapLogEntry{}, nil},
		{"review-finding.json", pipeline.Finding{}, nil},
		{"agent-output.json", pipeline.AgentOutput{}, nil},
		{"review-report.json", pipeline.Report{}, nil},
		{"review-report-data.json", reviewreport.Record{}, nil},
		{"gate-decision.json", pipeline.DecisionPass, nil},
		{"review-result.json", fourrules.Result{}, nil},
		{"four-rules-decision.json", fourrules.Decision{}, nil},
	}
	for _, test := range tests {
		t.Run(test.url, func(t *testing.T) {
			a := agreement{t: t, seen: map[reflect.Type]bool{}}
			file, _, _ := strings.Cut(test.url, "#")
			a.compare(file, test.url, allSchemas().lookup(schemaBase+test.url), reflect.TypeOf(test.value), test.extra...)
		})
	}
}

// The types of entries in review-domains.json share one schema. Each type reads the fields in its
// case of the schema.
func TestSchemaCasesAgreeWithTypes(t *testing.T) {
	types := map[string]any{"domain": DomainMapping{}, "service": ServiceMapping{}, "risk": RiskFactor{}, "signal": Signal{}}
	item := allSchemas().lookup(schemaBase + "review-domains.json#/$defs/item")
	for _, c := range item["allOf"].([]any) {
		name := c.(map[string]any)["if"].(map[string]any)["properties"].(map[string]any)["type"].(map[string]any)["const"].(string)
		want := append(slices.Collect(maps.Keys(fieldsOf(reflect.TypeOf(types[name])))), "type")
		slices.Sort(want)
		if diff := cmp.Diff(want, propertyNames(c.(map[string]any)["then"].(map[string]any))); diff != "" {
			t.Errorf("fields of %s (-type +schema):\n%s", name, diff)
		}
		a := agreement{t: t, seen: map[reflect.Type]bool{}}
		for field, goType := range fieldsOf(reflect.TypeOf(types[name])) {
			a.compare("review-domains.json", name+"."+field, item["properties"].(map[string]any)[field].(map[string]any), goType)
		}
		delete(types, name)
	}
	if len(types) > 0 {
		t.Errorf("types without a case: %v", types)
	}
}

type agreement struct {
	t    *testing.T
	seen map[reflect.Type]bool
}

func fieldsOf(goType reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range goType.NumField() {
		if goType.Field(i).Anonymous {
			maps.Copy(fields, fieldsOf(goType.Field(i).Type))
			continue
		}
		name, _, _ := strings.Cut(goType.Field(i).Tag.Get("json"), ",")
		if name != "-" {
			fields[name] = goType.Field(i).Type
		}
	}
	return fields
}

// compare compares a schema in a file with a type.
func (a agreement) compare(file, where string, schema map[string]any, goType reflect.Type, extra ...string) {
	a.t.Helper()
	file, schema = a.resolved(file, schema)
	want := map[reflect.Kind]string{
		reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array", reflect.String: "string",
		reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number",
	}
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
		if either, ok := schema["anyOf"].([]any); ok { // null, or the value
			file, schema = a.resolved(file, either[1].(map[string]any))
		}
	}
	if goType == reflect.TypeFor[time.Time]() || goType == reflect.TypeFor[pipeline.Reason]() { // texts in JSON
		goType = reflect.TypeFor[string]()
	}
	if goType.Kind() == reflect.Interface {
		return // any value
	}
	if goType == reflect.TypeOf(reviewreport.Degree(0)) {
		if diff := cmp.Diff([]any{"boolean", "number"}, schema["type"]); diff != "" {
			a.t.Errorf("%s: %s", where, diff)
		}
		return
	}
	if _, constant := schema["const"]; constant {
		return
	}
	if got := schema["type"]; got != want[goType.Kind()] {
		a.t.Errorf("%s: the schema says %v, the type is %s", where, got, goType)
		return
	}
	switch goType.Kind() {
	case reflect.Slice:
		a.compare(file, where+"[]", schema["items"].(map[string]any), goType.Elem())
	case reflect.Struct:
		if a.seen[goType] {
			return
		}
		a.seen[goType] = true
		a.compareFields(file, where, schema, goType, extra)
	}
}

func (a agreement) compareFields(file, where string, schema map[string]any, goType reflect.Type, extra []string) {
	fields := fieldsOf(goType)
	want := append(slices.Collect(maps.Keys(fields)), extra...)
	slices.Sort(want)
	if diff := cmp.Diff(want, propertyNames(schema)); diff != "" {
		a.t.Errorf("%s: fields (-type +schema):\n%s", where, diff)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if property, ok := schema["properties"].(map[string]any)[name].(map[string]any); ok {
			a.compare(file, where+"."+name, property, fields[name])
		}
	}
}

// resolved follows references and returns the file that it ends in. Keywords beside a reference
// only narrow it.
func (a agreement) resolved(file string, schema map[string]any) (string, map[string]any) {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return file, schema
		}
		if target, fragment, _ := strings.Cut(ref, "#"); target != "" {
			file, ref = target, "#"+fragment
		}
		if schema = allSchemas().lookup(schemaBase + file + ref); schema == nil {
			a.t.Fatalf("%s%s leads nowhere", file, ref)
		}
	}
}

// The closed sets of values in the schemas equal the constants of the code.
func TestSchemaEnums(t *testing.T) {
	tests := []struct {
		url  string
		want []any
	}{
		{"common.json#/$defs/severity", enum(pipeline.Severities()...)},
		{"common.json#/$defs/decision", enum(pipeline.DecisionFail, pipeline.DecisionNeedsFixes, pipeline.DecisionPassWithWarnings, pipeline.DecisionPass)},
		{"gate-decision.json", enum(pipeline.DecisionFail, pipeline.DecisionNeedsFixes, pipeline.DecisionPassWithWarnings, pipeline.DecisionPass)},
		{"common.json#/$defs/onFailure", enum(pipeline.OnFailureBlock, pipeline.OnFailureWarn)},
		{"common.json#/$defs/size", enum(pipeline.SizeXS, pipeline.SizeS, pipeline.SizeM, pipeline.SizeL, pipeline.SizeXL)},
		{"common.json#/$defs/riskLevel", enum(pipeline.RiskLow, pipeline.RiskMedium, pipeline.RiskHigh, pipeline.RiskCritical)},
		{"review-rules.json#/$defs/match/properties/on", enum(OnAdded, OnRemoved, OnFile, OnTitle, OnBody, OnCommitMessage, OnPath)},
		{"review-composition.json#/$defs/dispatch/properties/scope", enum(ScopeAll, ScopeMatched)},
		{"review-composition.json#/$defs/trigger/properties/type", enum(
			policies.TriggerAlways, policies.TriggerDomain, policies.TriggerRisk, policies.TriggerChange, policies.TriggerPath, policies.TriggerLabel,
			policies.TriggerAuthor, policies.TriggerService, policies.TriggerSize, policies.TriggerExpression, policies.TriggerAny, policies.TriggerAll, policies.TriggerNot)},
		{"review-agents.json#/$defs/scanning/properties/filter", enum(FilterAdded, FilterContext, FilterFile, FilterNone)},
		{"review-agents.json#/$defs/agent/properties/scale", enum(ScaleSeverity, ScalePassWarnFail)},
		{"review-domains.json#/$defs/item/properties/factor", enum(
			RiskChangedLines, RiskDomains, RiskSensitivePath, RiskWorkflow, RiskDependencies, RiskDeletedTests, RiskSourceWithoutTest, RiskFirstTimeAuthor, RiskFork)},
		{"review-settings.json#/properties/mode", enum(ModeEnforce, ModeAdvisory, ModeOff)},
		{"review-settings.json#/properties/drafts", enum(DraftsReview, DraftsSkip)},
		{"review-settings.json#/$defs/comment/properties/when", enum(CommentAlways, CommentFindings, CommentNever)},
		{"review-settings.json#/$defs/comment/properties/inline", enum(InlineNone, InlineBlocking, InlineAll)},
		{"review-settings.json#/$defs/comment/properties/sections/items", enum(SectionCoverage, SectionGaps, SectionReport)},
		{"review-settings.json#/$defs/synthesis/properties/inline_ignore", enum(IgnoreNotCritical, IgnoreAll, IgnoreBaseOnly, IgnoreNone)},
		{"review-settings.json#/$defs/commands/properties/self_judgement", enum(SelfJudgementMaintainers, SelfJudgementNever)},
		{"review-report.json#/$defs/proposedConfig/properties/changes/items/properties/change", enum(pipeline.ChangeAdded, pipeline.ChangeRemoved, pipeline.ChangeChanged)},
		{"file.json#/properties/status", enum(pipeline.FileAdded, pipeline.FileModified, pipeline.FileRemoved, pipeline.FileRenamed, pipeline.FileCopied, pipeline.FileChanged, pipeline.FileUnchanged)},
		{"pr-facts.json#/$defs/redaction/properties/source", enum(pipeline.RedactedLine, pipeline.RedactedTitle, pipeline.RedactedBody, pipeline.RedactedCommitMessage)},
		{"pr-facts.json#/$defs/layer/properties/name", enum(LayerDefaults, LayerServer, LayerOrganisation, LayerRepository)},
		{"review-finding.json#/$defs/action", enum("", pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep, pipeline.ActionChange, pipeline.ActionNone)},
		{"review-settings.json#/$defs/modelEndpoint/properties/api", enum(APIAnthropic, APIOpenAI)},
		{"review-settings.json#/$defs/fixLoop/properties/when", enum(FixLoopModels, FixLoopAlways, FixLoopNever)},
		{"review-agents.json#/$defs/llm/properties/stage", enum(pipeline.ReviewStageSpec, pipeline.ReviewStageQuality)},
		{"review-finding.json#/properties/autofix_class", enum("", pipeline.AutofixAuto, pipeline.AutofixPresent)},
		{"review-finding.json#/properties/finding_type", enum("", pipeline.FindingError, pipeline.FindingOmission)},
		{"review-finding.json#/properties/opinions/items/properties/verdict", enum(pipeline.OpinionConfirmed, pipeline.OpinionRefuted)},
		{"review-finding.json#/properties/state", enum("", pipeline.StateNew, pipeline.StateOpen, pipeline.StateResolved, pipeline.StateDismissed, pipeline.StateSuppressed, pipeline.StateNotRaised)},
		{"review-report.json#/$defs/coverage/properties/status", enum(pipeline.AgentOK, pipeline.AgentFailed, pipeline.AgentTimedOut, pipeline.AgentMalformed, pipeline.AgentSkipped, pipeline.AgentDiscarded)},
		{"review-result.json#/properties/payload/properties/verdict", enum(fourrules.Approved, fourrules.Concerns, fourrules.Blocker)},
		{"four-rules-decision.json#/properties/action", enum(fourrules.StopAndEscalate, fourrules.PauseAndClarify, fourrules.LogAndContinue, fourrules.Continue)},
		{"four-rules-decision.json#/properties/status", enum(fourrules.Paused, fourrules.Running)},
		{"review-report.json#/$defs/sessionStatus", enum(pipeline.SessionPaused, pipeline.SessionRunning)},
		{"review-report.json#/$defs/sessionReviewer/properties/state", enum(pipeline.AskedWaiting, pipeline.AskedAnswered, pipeline.AskedMissing)},
		{"review-report.json#/$defs/sessionReviewer/properties/verdict", enum(pipeline.SessionApproved, pipeline.SessionConcerns, pipeline.SessionBlocker)},
		{"review-report.json#/$defs/session/properties/action", enum("", fourrules.StopAndEscalate, fourrules.PauseAndClarify, fourrules.LogAndContinue, fourrules.Continue)},
		{"review-report.json#/$defs/verdict", enum(pipeline.VerdictNone, pipeline.VerdictPass, pipeline.VerdictFail, pipeline.VerdictUnknown)},
		{"review-report.json#/$defs/models/properties/auto_decision", enum(pipeline.AutoApprove, pipeline.AutoApproveWithNotes, pipeline.AutoReject, pipeline.AutoHuman)},
		{"review-report.json#/$defs/reportOutcome/properties/phase", enum(pipeline.PhaseSpec, pipeline.PhasePlan)},
		{"review-report.json#/$defs/reportOutcome/properties/readiness", enum(pipeline.NotReady, pipeline.Conditional, pipeline.Ready)},
		{"agent-manifest.json#/properties/entries/items/properties/added_by", enum(pipeline.AddedByPolicy, pipeline.AddedByGapDetect)},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, allSchemas().lookup(schemaBase + test.url)["enum"]); diff != "" {
			t.Errorf("%s (-code +schema):\n%s", test.url, diff)
		}
	}
}

func enum[T ~string](values ...T) []any {
	var out []any
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// Messages use the title of a closed set as its name.
func TestEnumsHaveTitles(t *testing.T) {
	for url, doc := range allSchemas().docs {
		walkSchema(doc, func(schema map[string]any) {
			if _, ok := schema["enum"].([]any); ok && schema["type"] != nil && schema["title"] == nil {
				t.Errorf("%s: enum %v has no title", url, schema["enum"])
			}
		})
	}
}

// Config is strict: an object with known fields allows no others.
func TestConfigSchemasAreStrict(t *testing.T) {
	for _, name := range append(FileNames(), "pr-facts.json", "file.json", "classification.json", "agent-manifest.json", "gap-log-entry.json", "review-report.json", "four-rules-decision.json") {
		walkSchema(allSchemas().docs[schemaBase+name], func(schema map[string]any) {
			if _, ok := schema["properties"]; ok && schema["type"] == "object" && schema["additionalProperties"] != false {
				t.Errorf("%s: %v allows other fields", name, propertyNames(schema))
			}
		})
	}
}

func walkSchema(v any, visit func(map[string]any)) {
	switch x := v.(type) {
	case map[string]any:
		visit(x)
		for _, sub := range x {
			walkSchema(sub, visit)
		}
	case []any:
		for _, sub := range x {
			walkSchema(sub, visit)
		}
	}
}

func TestValidateData(t *testing.T) {
	finding := pipeline.Finding{Title: "t", Severity: pipeline.SeverityMajor, Message: "m", Confidence: 0.9, Path: "a.go"}
	full := finding
	full.ID, full.Agent, full.Reviewers = "0123456789abcdef", "build-reviewer", pipeline.List[string]{"build-reviewer"}
	full.Action, full.AutofixClass, full.FindingType = pipeline.ActionNone, pipeline.AutofixPresent, pipeline.FindingError
	full.GateSeverity, full.State = pipeline.SeverityMajor, pipeline.StateNew
	report := pipeline.Report{
		SchemaVersion: 1, HeadSHA: "abc", ConfigVersion: "v", Decision: pipeline.DecisionPass,
		Gate:     pipeline.Gate{Condition: "no condition held", Metrics: map[string]float64{"critical": 0}},
		Findings: pipeline.List[pipeline.Finding]{full},
	}
	half := report
	half.Findings = pipeline.List[pipeline.Finding]{finding}
	noPlace := finding
	noPlace.Path = ""
	tests := []struct {
		name   string
		schema string
		value  any
		want   []string // texts that the error must contain
	}{
		{"finding", SchemaReviewFinding, finding, nil},
		{"finding without a place", SchemaReviewFinding, noPlace, []string{"/path", "/section"}},
		{"finding, unknown field", SchemaReviewFinding, json.RawMessage(`{"title": "t", "severity": "info", "message": "m", "confidence": 1, "path": "p", "mood": "good"}`), nil},
		{"finding, wrong fields", SchemaReviewFinding, json.RawMessage(`{"title": "", "severity": "P1", "confidence": 2, "path": "p"}`), []string{"message", "/title", "/severity", "/confidence"}},
		{"output", SchemaAgentOutput, pipeline.AgentOutput{Agent: "a", Findings: pipeline.List[pipeline.Finding]{finding}}, nil},
		{"output without agent", SchemaAgentOutput, pipeline.AgentOutput{}, []string{"/agent"}},
		{"report", SchemaReviewReport, report, nil},
		{"report with a finding that is not filled in", SchemaReviewReport, half, []string{"/findings/0/state", "/findings/0/gate_severity", "/findings/0/id"}},
		{"decision", SchemaGateDecision, pipeline.DecisionNeedsFixes, nil},
		{"wrong decision", SchemaGateDecision, "reject", []string{"gate-decision"}},
		{"manifest", SchemaAgentManifest, pipeline.AgentManifest{}, nil},
		{"null list", SchemaAgentManifest, json.RawMessage(`{"entries": null, "skipped": []}`), []string{"/entries"}},
		{"a schema that does not exist", "nonsense", 1, []string{"nonsense"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := json.Marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			err = ValidateData(test.schema, data)
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("error: %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(fmt.Sprint(err), part) {
					t.Errorf("%q is not in the error:\n%v", part, err)
				}
			}
		})
	}
	if err := ValidateData(SchemaGateDecision, []byte(`"pass" "fail"`)); err == nil {
		t.Error("data after the value is accepted")
	}
}

// The schemas are valid schemas themselves.
func TestSchemasAreValid(t *testing.T) {
	const draft = "https://json-schema.org/draft/2020-12/schema"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // the library has the draft's own schema
	meta, err := c.Compile(draft)
	if err != nil {
		t.Fatal(err)
	}
	for url, doc := range allSchemas().docs {
		if err := meta.Validate(doc); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if own := doc.(map[string]any); own["$id"] != url || own["$schema"] != draft {
			t.Errorf("%s has the $id %v and the $schema %v", url, own["$id"], own["$schema"])
		}
	}
}

// Every field of a config file, and every field that an expression can read, has a description.
func TestFieldsHaveDescriptions(t *testing.T) {
	for _, name := range append(FileNames(), "pr-facts.json", "file.json", "classification.json") {
		walkSchema(allSchemas().docs[schemaBase+name], func(schema map[string]any) {
			if schema["type"] == nil {
				return // it narrows another schema, which has the descriptions
			}
			properties, _ := schema["properties"].(map[string]any)
			for field, property := range properties {
				p, ok := property.(map[string]any)
				if !ok {
					continue
				}
				_, target := agreement{t: t}.resolved(name, p)
				if p["description"] == nil && target["description"] == nil {
					t.Errorf("%s: %s has no description", name, field)
				}
			}
		})
	}
}

// The default of a setting in a schema equals the embedded default. The default of an entry's field
// equals what leaving the field out means.
func TestSchemaDefaults(t *testing.T) {
	var settings map[string]any
	decode := json.NewDecoder(bytes.NewReader(encoded(mustLoad(t).Settings)))
	decode.UseNumber() // otherwise large numbers are shown as 2e+06
	if err := decode.Decode(&settings); err != nil {
		t.Fatal(err)
	}
	root := allSchemas().lookup(schemaBase + FileSettings)
	found := 0
	var compare func(where string, schema map[string]any, value any)
	compare = func(where string, schema map[string]any, value any) {
		_, schema = agreement{t: t}.resolved(FileSettings, schema)
		if want, ok := schema["default"]; ok {
			found++
			if fmt.Sprint(want) != fmt.Sprint(value) {
				t.Errorf("%s is %v, the schema says %v", where, value, want)
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		fields, _ := value.(map[string]any)
		for name, property := range properties {
			if v, there := fields[name]; there {
				compare(where+"/"+name, property.(map[string]any), v)
			}
		}
	}
	compare("", root, settings)
	if found < 12 {
		t.Errorf("only %d settings have a default", found)
	}
	for url, want := range map[string]any{
		"common.json#/$defs/enabled":                                  newEntry(FileRules, "").(*Rule).Enabled,
		"common.json#/$defs/final":                                    newEntry(FileRules, "").(*Rule).Final,
		"review-rules.json#/$defs/match/properties/on":                withDefault("match.on", reflect.ValueOf("")),
		"review-rules.json#/$defs/match/properties/tests":             withDefault("match.tests", reflect.ValueOf((*bool)(nil))),
		"review-composition.json#/$defs/dispatch/properties/scope":    withDefault("dispatch.scope", reflect.ValueOf("")),
		"review-composition.json#/$defs/dispatch/properties/required": Dispatch{}.Required,
		"review-agents.json#/$defs/agent/properties/scale":            withDefault("scale", reflect.ValueOf("")),
		"review-rules.json#/$defs/match/properties/max_per_file":      "0",
		"review-composition.json#/$defs/trigger/properties/match":     "any",
	} {
		if got := allSchemas().lookup(schemaBase + url)["default"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the default of %s is %v, want %v", url, got, want)
		}
	}
}
