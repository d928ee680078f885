package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyKind lists the kinds of agent by name.
func everyKind() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// The schema has the same kinds and sections as the code, describes each kind, and has the same
// defaults for their fields.
func TestKindsAgreeWithTheSchema(t *testing.T) {
	agents := schemaBase + "review-agents.json#/$defs/"
	kind := allSchemas().lookup(agents + "agent/properties/kind")
	var sections []string
	for _, k := range Kinds() {
		if !strings.Contains(kind["description"].(string), k.Name+": ") {
			t.Errorf("the schema does not describe the kind %s", k.Name)
		}
		if k.section.name == "" {
			continue
		}
		sections = append(sections, k.section.name)
		fields := allSchemas().lookup(agents + k.section.name)["properties"].(map[string]any)
		for name, of := range fields {
			field := k.section.name + "." + name
			inSchema, want := of.(map[string]any)["default"], k.section.defaults[field]
			if _, known := k.section.defaults[field]; known && fmt.Sprint(inSchema) != fmt.Sprint(want) {
				t.Errorf("the default of %s is %v in the code and %v in the schema", field, want, inSchema)
			}
		}
		for field := range k.section.defaults {
			if fields[strings.TrimPrefix(field, k.section.name+".")] == nil {
				t.Errorf("the schema has no field %s", field)
			}
		}
		for field := range k.section.stricter {
			if fields[strings.TrimPrefix(field, k.section.name+".")] == nil {
				t.Errorf("the schema has no field %s", field)
			}
		}
	}
	if diff := cmp.Diff(fmt.Sprint(everyKind()), fmt.Sprint(kind["enum"])); diff != "" {
		t.Errorf("kinds (-code +schema):\n%s", diff)
	}
	var there []string
	for name, of := range allSchemas().lookup(agents + "agent")["properties"].(map[string]any) {
		if ref, _ := of.(map[string]any)["$ref"].(string); strings.HasPrefix(ref, "#/") {
			there = append(there, name)
		}
	}
	slices.Sort(sections)
	slices.Sort(there)
	if diff := cmp.Diff(sections, there); diff != "" {
		t.Errorf("sections (-code +schema):\n%s", diff)
	}
}

func TestKindsInWords(t *testing.T) {
	if names := kindNames(LayerServer); !strings.HasPrefix(names, "rules, secrets, ") || strings.Count(names, ", ") != len(kinds)-2 || !strings.HasSuffix(names, "llm or webhook") {
		t.Error(names)
	}
	if names := kindNames(LayerRepository); !strings.HasSuffix(names, "code-scanning or llm") {
		t.Error(names)
	}
}
