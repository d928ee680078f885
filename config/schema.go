package config

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The schemas of the data that flows through the pipeline, for ValidateData.
// Those of the config files are called like the files, without ".json".
const (
	SchemaPRFacts          = "pr-facts"
	SchemaFile             = "file"
	SchemaClassification   = "classification"
	SchemaAgentManifest    = "agent-manifest"
	SchemaGapLogEntry      = "gap-log-entry"
	SchemaReviewFinding    = "review-finding"
	SchemaAgentOutput      = "agent-output"
	SchemaReviewReport     = "review-report"
	SchemaReviewReportData = "review-report-data"
	SchemaGateDecision     = "gate-decision"
	SchemaReviewResult     = "review-result"
	SchemaFourRules        = "four-rules-decision"
)

// schemaBase is where the schemas are published, so that editors find them.
const schemaBase = "https://raw.githubusercontent.com/reviewgate/reviewgate/main/config/schemas/"

//go:embed schemas/*.json
var schemaFiles embed.FS

// SchemaNames lists the schemas, sorted. "common" holds only definitions.
func SchemaNames() []string { return embedded(schemaFiles, "schemas", ".json") }

// embedded lists the files of an embedded directory without their extension, sorted.
func embedded(files embed.FS, dir, extension string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(fmt.Errorf("read the embedded %s: %w", dir, err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), extension))
	}
	return names
}

// SchemaText returns a schema as it is published, or an error if there is none
// of the name.
func SchemaText(name string) ([]byte, error) {
	text, err := schemaFiles.ReadFile("schemas/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("find the schema %q: %w", name, err)
	}
	return text, nil
}

// ValidateData checks JSON against the schema of the name. The error joins
// everything that is wrong, one line each.
func ValidateData(name string, data []byte) error {
	if !slices.Contains(SchemaNames(), name) {
		return fmt.Errorf("find the schema %q: there is none of that name", name)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the %s as JSON: %w", name, err)
	}
	err = schemas().schema(name, "").Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var lines []error
	for _, leaf := range leaves(invalid) {
		lines = append(lines, fmt.Errorf("%s: %w", name, leaf))
	}
	slices.SortFunc(lines, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(lines...)
}

// schemaSet is all schemas, compiled, and their documents, in which messages
// look up titles and descriptions.
type schemaSet struct {
	compiled map[string]*jsonschema.Schema // by URL
	docs     map[string]any                // by URL without fragment
}

// entrySchemas are the definitions that merged entries must satisfy. Those of
// a single layer may leave fields out.
var entrySchemas = map[string]string{
	FileRules:       "/$defs/completeRule",
	FileComposition: "/$defs/completePolicy",
	FileAgents:      "/$defs/completeAgent",
	FileDomains:     "/$defs/completeItem",
	FileSettings:    "/$defs/completeSettings",
}

// schemas compiles the embedded schemas once. That they compile is tested; a
// binary in which they do not is broken.
var schemas = sync.OnceValue(func() *schemaSet {
	s, err := compileSchemas()
	if err != nil {
		panic(err)
	}
	return s
})

func compileSchemas() (*schemaSet, error) {
	s := &schemaSet{compiled: map[string]*jsonschema.Schema{}, docs: map[string]any{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is read from the network
	var urls []string
	for _, name := range SchemaNames() {
		text, err := SchemaText(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read the schema %s: %w", name, err)
		}
		url := schemaBase + name + ".json"
		if err := c.AddResource(url, doc); err != nil {
			return nil, fmt.Errorf("add the schema %s: %w", name, err)
		}
		s.docs[url] = doc
		urls = append(urls, url)
	}
	for file, definition := range entrySchemas {
		urls = append(urls, schemaBase+file+"#"+definition)
	}
	for _, url := range urls {
		compiled, err := c.Compile(url)
		if err != nil {
			return nil, fmt.Errorf("compile the schema %s: %w", url, err)
		}
		s.compiled[url] = compiled
	}
	return s, nil
}

func (s *schemaSet) schema(name, definition string) *jsonschema.Schema {
	url := schemaBase + strings.TrimSuffix(name, ".json") + ".json"
	if definition != "" {
		url += "#" + definition
	}
	return s.compiled[url]
}

// lookup returns the schema object that a URL with a JSON Pointer as fragment
// leads to.
func (s *schemaSet) lookup(url string) map[string]any {
	base, fragment, _ := strings.Cut(url, "#")
	v := s.docs[base]
	for _, step := range strings.Split(strings.TrimPrefix(fragment, "/"), "/") {
		if step == "" {
			continue
		}
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		}
	}
	m, _ := v.(map[string]any)
	return m
}

// check validates a value against a schema, adds what is wrong to p, and
// returns the paths from n to what is wrong.
func (s *schemaSet) check(schema *jsonschema.Schema, n *jsontree.Node, p *problems) (wrong [][]string) {
	var invalid *jsonschema.ValidationError
	if !errors.As(schema.Validate(n.Value()), &invalid) {
		return nil
	}
	before := len(p.list)
	for _, leaf := range leaves(invalid) {
		s.explain(leaf, n, p)
		wrong = append(wrong, leaf.InstanceLocation)
	}
	if len(p.list) == before {
		// What cannot be explained is wrong all the same.
		p.of(n, "this does not fit the schema: "+invalid.Error(), "see the schema of the file")
	}
	return wrong
}
