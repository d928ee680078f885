package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// A schema is reduced to the keywords that both APIs enforce:
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs and
// https://developers.openai.com/api/docs/guides/structured-outputs. They refuse a
// request with anything else in its schema.
var known = []string{"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items", "properties", "required", "title", "type"}

// maxDepth limits how deep a schema may be nested. OpenAI accepts ten levels.
const maxDepth = 16

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Reduced returns the schema in the form that APIs accept. The error names what they would
// refuse.
func (s Schema) Reduced() (json.RawMessage, error) {
	if !schemaName.MatchString(s.Name) {
		return nil, fmt.Errorf("APIs don't accept the schema's name %q", s.Name)
	}
	var text bytes.Buffer
	if json.Compact(&text, s.JSON) != nil {
		return nil, errors.New("the schema is not JSON")
	}
	all, err := members(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	if kind, _ := get(all, "type"); string(kind) != `"object"` {
		return nil, errors.New("the schema is not of an object")
	}
	return reduce(text.Bytes(), 0)
}

// member is one member of an object. Objects are lists here, because models fill in
// properties in the order of the schema.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object from valid JSON.
func members(text json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("an object is missing")
	}
	var all []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		all = append(all, member{key: name, value: value})
	}
	return all, nil
}

func get(all []member, key string) (json.RawMessage, bool) {
	i := slices.IndexFunc(all, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil, false
	}
	return all[i].value, true
}

// join writes members as an object.
func join(all []member) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}'), nil
}

// reduce removes unknown keywords from a schema and the schemas in it.
func reduce(text json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, errors.New("the schema is nested too deep")
	}
	all, err := members(text)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	all = slices.DeleteFunc(all, func(m member) bool { return !slices.Contains(known, m.key) })
	if err := strict(all); err != nil {
		return nil, err
	}
	for i, m := range all {
		switch m.key {
		case "properties", "$defs":
			all[i].value, err = reduceNamed(m.value, depth)
		case "items":
			all[i].value, err = reduce(m.value, depth+1)
		case "anyOf":
			all[i].value, err = reduceListed(m.value, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return join(all)
}

func reduceNamed(text json.RawMessage, depth int) (json.RawMessage, error) {
	named, err := members(text)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	for i, m := range named {
		if named[i].value, err = reduce(m.value, depth+1); err != nil {
			return nil, err
		}
	}
	return join(named)
}

func reduceListed(text json.RawMessage, depth int) (json.RawMessage, error) {
	var listed []json.RawMessage
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, errors.New("the schema: anyOf is not a list")
	}
	for i, one := range listed {
		var err error
		if listed[i], err = reduce(one, depth+1); err != nil {
			return nil, err
		}
	}
	return json.Marshal(listed)
}

// strict refuses an object that allows other properties, or that does not require all of its
// own.
func strict(schema []member) error {
	properties, ok := get(schema, "properties")
	if !ok {
		return nil
	}
	if more, _ := get(schema, "additionalProperties"); string(more) != "false" {
		return errors.New(`the schema has an object without "additionalProperties": false`)
	}
	var required []string
	if text, ok := get(schema, "required"); ok && json.Unmarshal(text, &required) != nil {
		return errors.New("the schema: required is not a list of names")
	}
	named, err := members(properties)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	for _, p := range named {
		if !slices.Contains(required, p.key) {
			return fmt.Errorf("the schema does not require %q: let it be null instead", p.key)
		}
	}
	return nil
}
