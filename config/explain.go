package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// leaves returns the errors that have no causes of their own. The other errors only say that
// something below them failed.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if _, choice := e.ErrorKind.(*kind.AnyOf); choice || len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

// explain turns one error of the schema library into a problem with a place and a remedy. The
// schema says which values are right.
func (s *schemaSet) explain(e *jsonschema.ValidationError, root *jsontree.Node, p *problems) {
	n := root.At(e.InstanceLocation...)
	schema := s.lookup(e.SchemaURL)
	field := fieldName(e.InstanceLocation, schema)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		if allowed, ok := schema["enum"].([]any); ok && k.Got == "null" {
			p.of(n, field+" is null", "use "+choices(values(allowed)))
			return
		}
		p.of(n, fmt.Sprintf("%s is %s, but must be %s", field, typeWords[k.Got], choices(words(k.Want))), typeRemedies[k.Want[0]])
	case *kind.Enum:
		remedy := "use " + choices(values(k.Want))
		if schema["title"] == "kind of agent" {
			if problem, remedy := refusedKind(k.Got, p.layer); problem != "" {
				p.of(n, problem, remedy)
				return
			}
			remedy = "use " + kindNames(p.layer)
		}
		p.of(n, fmt.Sprintf("%s is not %s", shownValue(k.Got), article(noun(schema, "value of "+field))), remedy)
	case *kind.Pattern:
		if field == "an entry of override_teams" {
			p.of(n, shown(k.Got)+" is not a team", "write the team as organisation/team-slug")
			return
		}
		got := shown(k.Got)
		if schema["writeOnly"] == true { // the value may be a secret
			got = field
		}
		p.of(n, fmt.Sprintf("%s is not %s", got, article(noun(schema, "value of "+field))), "use "+sentenceTail(schema["description"]))
	case *kind.Required:
		for _, missing := range k.Missing {
			p.of(n, fmt.Sprintf("%q is missing", missing), fmt.Sprintf("add %q", missing))
		}
	case *kind.AnyOf:
		if fields := oneOfFields(schema); len(fields) > 0 {
			p.of(n, field+" does not say what to look for", "add "+choices(fields))
			return
		}
		p.doesNotFit(n, field, e)
	case *kind.AdditionalProperties:
		if whole, _, inCase := strings.Cut(e.SchemaURL, "/allOf/"); inCase {
			explainMisplaced(k.Properties, n, schema, s.lookup(whole), p)
			return
		}
		explainUnknown(k.Properties, n, schema, p)
	case *kind.MinProperties:
		p.of(n, fmt.Sprintf("%s has only a type", field), "add "+choices(ownFields(schema)))
	case *kind.MinLength:
		p.of(n, field+" is empty", "write something, or remove the entry")
	case *kind.MaxLength:
		p.of(n, fmt.Sprintf("%s has %d characters, more than the limit of %d", field, k.Got, k.Want), "shorten it")
	case *kind.MinItems:
		p.of(n, field+" is empty", "name at least one")
	case *kind.MaxItems:
		p.of(n, fmt.Sprintf("%s has %d entries, more than the limit of %d", field, k.Got, k.Want), "remove some")
	case *kind.Minimum, *kind.Maximum:
		remedy := fmt.Sprintf("use a number of at least %v", schema["minimum"])
		if schema["maximum"] != nil {
			remedy = fmt.Sprintf("use a number from %v to %v", schema["minimum"], schema["maximum"])
		}
		if field == "max_fix_iterations" || field == "fix_timeout_turns" {
			p.of(n, fmt.Sprintf("%s must be %v-%v, and is %s", field, schema["minimum"], schema["maximum"], n.Text), remedy)
			return
		}
		p.of(n, fmt.Sprintf("%s is %s, which is out of range", field, n.Text), remedy)
	default:
		p.doesNotFit(n, field, e)
	}
}

func (p *problems) doesNotFit(n *jsontree.Node, field string, e *jsonschema.ValidationError) {
	p.of(n, fmt.Sprintf("%s does not fit the schema (%s)", field, strings.Join(e.ErrorKind.KeywordPath(), "/")), "see the description of the field in the schema")
}

// oneOfFields returns the fields of which a schema requires at least one.
func oneOfFields(schema map[string]any) (fields []string) {
	alternatives, _ := schema["anyOf"].([]any)
	for _, a := range alternatives {
		if alternative, ok := a.(map[string]any); ok {
			required, _ := alternative["required"].([]any)
			fields = append(fields, values(required)...)
		}
	}
	return fields
}

// fieldName returns the name of a value in messages: the name of its field, the name of the list
// that it is in, or else the schema's title.
func fieldName(location []string, schema map[string]any) string {
	for i := len(location) - 1; i >= 0; i-- {
		if _, err := strconv.Atoi(location[i]); err == nil {
			continue
		}
		if i < len(location)-1 {
			return "an entry of " + location[i]
		}
		return location[i]
	}
	return "the " + noun(schema, "entry")
}

// noun returns the schema's title, or else another word for the value.
func noun(schema map[string]any, other string) string {
	if title, ok := schema["title"].(string); ok {
		return title
	}
	return other
}

func sentenceTail(description any) string {
	text, _ := description.(string)
	text = strings.TrimSuffix(text, ".")
	if text == "" {
		return "another value"
	}
	return strings.ToLower(text[:1]) + text[1:]
}

var typeWords = map[string]string{
	"null":    "null",
	"boolean": "true or false",
	"number":  "a number",
	"integer": "a whole number",
	"string":  "a string",
	"array":   "a list",
	"object":  "an object",
}

var typeRemedies = map[string]string{
	"boolean": "write true or false, without quotes",
	"number":  "write a number such as 0.5, without quotes",
	"integer": "write a number such as 10, without quotes and fraction",
	"string":  "write it in double quotes",
	"array":   "put it in square brackets: [...]",
	"object":  `write an object: {"field": ...}`,
}

func words(types []string) []string {
	var list []string
	for _, t := range types {
		list = append(list, typeWords[t])
	}
	return list
}

func shownValue(v any) string {
	if s, ok := v.(string); ok {
		return shown(s)
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > 60 {
		return "the value"
	}
	return string(b)
}

func values(list []any) []string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// explainUnknown reports fields that the schema does not know, at most maxProblems of them.
func explainUnknown(unknown []string, n *jsontree.Node, schema map[string]any, p *problems) {
	known := propertyNames(schema)
	for _, m := range membersNamed(n, unknown) {
		remedy := "use " + choices(known)
		if near := nearest(m.Key, known); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		p.at(m.KeyPlace(), fmt.Sprintf("%s is not a field of %s", shown(m.Key), article(noun(schema, "object"))), remedy)
	}
}

// explainMisplaced reports fields that belong to another type of entry or trigger. explainUnknown
// reports those that belong to no type.
func explainMisplaced(misplaced []string, n *jsontree.Node, schema, whole map[string]any, p *problems) {
	known := propertyNames(whole)
	misplaced = slices.DeleteFunc(misplaced, func(name string) bool { return !slices.Contains(known, name) })
	remedy := "remove it"
	if own := ownFields(schema); len(own) > 0 {
		remedy += ", or use " + choices(own)
	}
	for _, m := range membersNamed(n, misplaced) {
		p.at(m.KeyPlace(), fmt.Sprintf("%s does not belong to type %s", shown(m.Key), shown(n.At("type").Text)), remedy)
	}
}

// membersNamed returns the members with these names in the order of the text, at most maxProblems
// of them.
func membersNamed(n *jsontree.Node, names []string) []jsontree.Member {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var found []jsontree.Member
	for _, m := range n.Members {
		if wanted[m.Key] && len(found) < maxProblems {
			found = append(found, m)
		}
	}
	return found
}

func propertyNames(schema map[string]any) []string {
	properties, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// ownFields lists the fields besides "type" that a type of entry or trigger reads.
func ownFields(schema map[string]any) []string {
	return slices.DeleteFunc(propertyNames(schema), func(s string) bool { return s == "type" })
}

// nearest returns the name that differs from the word by a few typing errors, or "". It allows one
// error for each four characters, and at most three.
func nearest(word string, names []string) string {
	return spelling.Nearest(word, names, min(len(word)/4, 3))
}
