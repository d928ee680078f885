package model

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
)

// asked are the fields of a finding that a model fills in, in the order in which
// models write them: proof and reasons come before the judgement.
var asked = []string{
	"path", "start_line", "end_line", "evidence", "message", "why_it_matters", "recommendation", "suggested_fix", "auto_claim", "citation",
	"action", "finding_type", "rule_id", "category", "title", "severity", "blocking", "confidence",
}

// categoryIDs are those of the closed list.
func categoryIDs() []string {
	var ids []string
	for _, c := range config.Categories() {
		ids = append(ids, c.ID)
	}
	return ids
}

// sections are the places in words that may be named where words are shown.
var sections = []string{"", inTitle, inDescription, inCommits, inIssues}

// schema is that of the answer: the same in both stages, as what an API keeps of a question
// is worth nothing with another schema.
func schema() llm.Schema { return llm.Schema{Name: "review_findings", JSON: answerSchema()} }

// answerSchema is made of the finding's schema, in the part of JSON Schema that
// both APIs hold a model to: types, enums, all fields required, no others. Bounds
// are left to whoever reads the answer.
var answerSchema = sync.OnceValue(func() json.RawMessage {
	known := definitions("review-finding.json")["properties"].(map[string]any)
	var fields []field
	for _, name := range asked {
		schema := simple("review-finding.json", known[name].(map[string]any))
		if name == "category" {
			schema["enum"] = categoryIDs()
		}
		fields = append(fields, field{name, schema})
		if name == "path" {
			fields = append(fields, field{"section", map[string]any{"type": "string", "enum": sections}})
		}
	}
	return encoded(object{{"findings", map[string]any{"type": "array", "items": object(fields)}}})
})

// object is the schema of one: its fields, in their order.
type object []field

type field struct {
	name   string
	schema any
}

// MarshalJSON keeps the order of the fields, which a map would not.
func (o object) MarshalJSON() ([]byte, error) {
	var names, members []string
	for _, f := range o {
		names = append(names, f.name)
		members = append(members, string(encoded(f.name))+":"+string(encoded(f.schema)))
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`, strings.Join(members, ","), encoded(names)), nil
}

// encoded is the JSON of a schema, or of a part of one, which always has some.
func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("write the answer's schema: %w", err))
	}
	return text
}

// simple is what both APIs understand of a schema, with references followed.
func simple(file string, s map[string]any) map[string]any {
	out := map[string]any{}
	if ref, ok := s["$ref"].(string); ok {
		at, pointer, _ := strings.Cut(ref, "#/$defs/")
		if at == "" {
			at = file
		}
		out = simple(at, definitions(at)["$defs"].(map[string]any)[pointer].(map[string]any))
	}
	for _, key := range []string{"type", "description", "enum"} {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		out["items"] = simple(file, items)
	}
	return out
}

// definitions is a schema that ships. That those which are asked for can be read
// is tested.
func definitions(file string) map[string]any {
	text, err := config.SchemaText(strings.TrimSuffix(path.Base(file), ".json"))
	if err != nil {
		panic(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		panic(fmt.Errorf("read the schema %s: %w", file, err))
	}
	return s
}
