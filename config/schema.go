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

// These are the schemas of the data that flows through the pipeline, for ValidateData. The schemas
// of the config files have the names of the files, without ".json".
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
	SchemaPolicyTest       = "policy-test"
)

// schemaBase is the URL under which the schemas are published, so that editors find them.
const schemaBase = "https://raw.githubusercontent.com/reviewgate/reviewgate/main/config/schemas/"

//go:embed schemas/*.json
var schemaFiles embed.FS

// SchemaURL returns the URL under which a schema is published.
func SchemaURL(name string) string { return schemaBase + name + ".json" }

// openAPI is the name of the OpenAPI document of the server's API. It is beside the schemas, but is not one.
const openAPI = "openapi"

// SchemaNames lists the schemas, sorted. "common" has only definitions.
func SchemaNames() []string {
	return slices.DeleteFunc(embedded(schemaFiles, "schemas", ".json"), func(name string) bool { return name == openAPI })
}

// OpenAPI returns the OpenAPI document of the server's API.
func OpenAPI() []byte {
	text, err := SchemaText(openAPI)
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

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

// SchemaText returns the text of a schema as it is published, or an error if there is no schema
// with this name.
func SchemaText(name string) ([]byte, error) {
	text, err := schemaFiles.ReadFile("schemas/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("find the schema %q: %w", name, err)
	}
	return text, nil
}

// ValidateData checks JSON against the named schema. The error joins everything that is wrong, one
// line each.
func ValidateData(name string, data []byte) error {
	if !slices.Contains(SchemaNames(), name) {
		return fmt.Errorf("there is no schema %q", name)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the %s as JSON: %w", name, err)
	}
	err = allSchemas().schema(name, "").Validate(value)
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

// schemaSet is a set of compiled schemas and their documents. Messages look up titles and
// descriptions in the documents.
type schemaSet struct {
	compiled map[string]*jsonschema.Schema // by URL
	docs     map[string]any                // by URL without fragment
}

// entrySchemas are the definitions that merged entries must satisfy. The entries of a single layer
// may leave fields out.
var entrySchemas = map[string]string{
	FileRules:       "/$defs/completeRule",
	FileComposition: "/$defs/completePolicy",
	FileAgents:      "/$defs/completeAgent",
	FileDomains:     "/$defs/completeItem",
	FileSettings:    "/$defs/completeSettings",
}

// schemas compiles the schemas of the config files, once. allSchemas also compiles those of the
// pipeline's data; a server never needs them, and they would cost it 2 MB. A binary whose schemas
// don't compile is broken, and the tests check that they do.
var (
	schemas = sync.OnceValue(func() *schemaSet {
		names := []string{"common"}
		for _, file := range FileNames() {
			names = append(names, strings.TrimSuffix(file, ".json"))
		}
		return mustCompile(names)
	})
	allSchemas = sync.OnceValue(func() *schemaSet { return mustCompile(SchemaNames()) })
)

func mustCompile(names []string) *schemaSet {
	s, err := compileSchemas(names)
	if err != nil {
		panic(err)
	}
	return s
}

func compileSchemas(names []string) (*schemaSet, error) {
	s := &schemaSet{compiled: map[string]*jsonschema.Schema{}, docs: map[string]any{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is read from the network
	var urls []string
	for _, name := range names {
		text, err := SchemaText(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read the schema %s: %w", name, err)
		}
		url := SchemaURL(name)
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
	url := SchemaURL(strings.TrimSuffix(name, ".json"))
	if definition != "" {
		url += "#" + definition
	}
	compiled := s.compiled[url]
	if compiled == nil {
		panic("there is no schema " + url)
	}
	return compiled
}

// lookup returns the schema object that a URL with a JSON Pointer as its fragment leads to.
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

// check validates a value against a schema, adds the problems to p, and returns the paths from n to
// the wrong values.
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
		// An error that explain can't turn into a problem is still an error.
		p.of(n, "this does not fit the schema: "+invalid.Error(), "see the schema of the file")
	}
	return wrong
}
