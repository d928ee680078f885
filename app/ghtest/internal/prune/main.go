// Command prune cuts GitHub's OpenAPI description (13 MB) down to the routes
// that the stand-in answers and the webhooks of which it has no example, with
// what they refer to and without prose, so that it can be kept beside the tests
// that hold the stand-in against it.
//
//	npm pack @octokit/openapi@23.0.2 && tar -xzf octokit-openapi-23.0.2.tgz
//	go run ./app/ghtest/internal/prune package/generated/api.github.com.json > app/ghtest/testdata/openapi/github.json
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: prune api.github.com.json > github.json")
		os.Exit(2)
	}
	if err := prune(os.Args[1], ghtest.Routes(), webhooks, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "prune:", err)
		os.Exit(1)
	}
}

type object = map[string]any

// webhooks are the events, with their actions, whose payloads are held against
// the description.
var webhooks = []string{
	"check-suite-completed", "code-scanning-alert-appeared-in-branch", "code-scanning-alert-closed-by-user", "code-scanning-alert-fixed",
	"check-suite-requested", "check-suite-rerequested",
	"installation-repositories-added", "installation-repositories-removed",
	"pull-request-review-edited", "pull-request-review-submitted",
	"pull-request-review-comment-created", "pull-request-review-comment-edited",
	"repository-archived", "repository-deleted", "repository-privatized", "repository-publicized",
	"repository-renamed", "repository-transferred", "repository-unarchived",
}

// prune writes what the routes and webhooks need of the description.
func prune(path string, routes, webhooks []string, w io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the description: %w", err)
	}
	var whole object
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("read the description %s: %w", path, err)
	}
	p := pruner{whole: whole, components: object{}}
	paths := object{}
	for _, route := range routes {
		method, template, _ := strings.Cut(route, " ")
		operation, ok := dig(whole, "paths", template, strings.ToLower(method)).(object)
		if !ok {
			return fmt.Errorf("the description has no %s", route)
		}
		item, ok := paths[template].(object)
		if !ok {
			item = object{}
			paths[template] = item
		}
		item[strings.ToLower(method)] = p.strip(operation)
	}
	for _, webhook := range webhooks {
		name := "webhook-" + webhook
		if dig(whole, "components", "schemas", name) == nil {
			return fmt.Errorf("the description has no %s", name)
		}
		p.collect("#/components/schemas/" + name)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(object{
		"openapi":    whole["openapi"],
		"info":       object{"title": dig(whole, "info", "title"), "version": dig(whole, "info", "version"), "license": dig(whole, "info", "license")},
		"paths":      paths,
		"components": p.components,
	})
}

// pruner strips prose, and collects what is referred to on the way.
type pruner struct {
	whole, components object
}

// prose are the keywords that no validation reads.
var prose = map[string]bool{"description": true, "summary": true, "example": true, "examples": true, "externalDocs": true, "tags": true, "title": true, "deprecated": true}

// strip copies a part of the description without prose. Under "properties" and
// its like, keys are names and all stay.
func (p *pruner) strip(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = p.strip(item)
		}
		return out
	case object:
		out := object{}
		for key, value := range v {
			switch {
			case key == "$ref":
				p.collect(value.(string))
				out[key] = value
			case key == "responses":
				out[key] = p.stripResponses(value)
			case key == "properties", key == "content", key == "headers", key == "mapping":
				out[key] = p.stripNamed(value)
			case !prose[key] && !strings.HasPrefix(key, "x-"):
				out[key] = p.strip(value)
			}
		}
		return out
	}
	return v
}

func (p *pruner) stripNamed(v any) any {
	named, ok := v.(object)
	if !ok {
		return p.strip(v)
	}
	out := object{}
	for name, value := range named {
		out[name] = p.strip(value)
	}
	return out
}

// stripResponses leaves responses the description that they must have, empty.
func (p *pruner) stripResponses(v any) any {
	out := p.stripNamed(v)
	if named, ok := out.(object); ok {
		for _, response := range named {
			if o, ok := response.(object); ok && o["$ref"] == nil {
				o["description"] = ""
			}
		}
	}
	return out
}

// collect keeps a component that is referred to.
func (p *pruner) collect(ref string) {
	kind, name, ok := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	if !ok {
		return
	}
	group, ok := p.components[kind].(object)
	if !ok {
		group = object{}
		p.components[kind] = group
	}
	if _, seen := group[name]; seen {
		return
	}
	group[name] = object{} // it may refer to itself
	stripped := p.strip(dig(p.whole, "components", kind, name))
	if response, ok := stripped.(object); ok && kind == "responses" {
		response["description"] = ""
	}
	group[name] = stripped
}

// dig follows keys down.
func dig(v any, keys ...string) any {
	for _, key := range keys {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[key]
	}
	return v
}
