package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrune: prose is removed, keys that look like prose stay, and references are followed,
// even in circles.
func TestPrune(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.json")
	text := `{"openapi": "3.0.3", "info": {"title": "API", "version": "1"}, "paths": {
		"/a": {"get": {"summary": "A", "responses": {"200": {"description": "fine", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/a"}}}}, "204": {"description": "none"}}},
			"post": {"summary": "unused"}},
		"/b": {"get": {}}},
		"components": {"schemas": {
			"a": {"description": "prose", "properties": {"description": {"type": "string", "example": "x"}, "again": {"$ref": "#/components/schemas/a"}}, "x-own": 1},
			"webhook-a-done": {"title": "done", "required": ["a"]},
			"unused": {}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := prune(path, []string{"GET /a"}, []string{"a-done"}, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"openapi": "3.0.3", "info": {"title": "API", "version": "1", "license": null}, "paths": {
		"/a": {"get": {"responses": {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/a"}}}}, "204": {"description": ""}}}}},
		"components": {"schemas": {"a": {"properties": {"description": {"type": "string"}, "again": {"$ref": "#/components/schemas/a"}}}, "webhook-a-done": {"required": ["a"]}}}}`
	var got, wanted any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("pruned (-want +got):\n%s", d)
	}
	if err := prune(path, []string{"GET /c"}, nil, &out); err == nil {
		t.Error("a route that isn't described was pruned")
	}
	if err := prune(path, nil, []string{"b-done"}, &out); err == nil {
		t.Error("a webhook that isn't described was pruned")
	}
}
