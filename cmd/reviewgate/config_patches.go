package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// readPatches reads the patches in a file: a list of operations as RFC 6902 has it, an object with file
// and operations, or a list of such objects. file is the config file of operations that name none; if it
// is empty, the entry tells the file.
func readPatches(in input, file string, cfg *config.Config) ([]pipeline.ConfigPatch, error) {
	if len(in.text) > config.MaxFileBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB: it must hold one patch", in.name, config.MaxFileBytes>>20)
	}
	root, errs := jsontree.Parse(&jsontree.Document{Name: in.name}, in.text)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	nodes := []*jsontree.Node{root}
	if root.Kind == jsontree.Array {
		if nodes = root.Elems; len(nodes) > 0 && nodes[0].Get("op") != nil {
			p, err := operationsOf(root, file, cfg)
			return []pipeline.ConfigPatch{p}, err
		}
	}
	var out []pipeline.ConfigPatch
	for _, n := range nodes {
		operations, name := n.Get("operations"), n.Get("file")
		if operations == nil {
			return nil, notAPatch(n)
		}
		own := file
		if name != nil {
			own = name.Text
		}
		p, err := operationsOf(operations, own, cfg)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, notAPatch(root)
	}
	return out, nil
}

func notAPatch(n *jsontree.Node) error {
	if n.Get("gap_log") != nil {
		return n.Error("this is a report, not a patch", "name one of its gaps, and the file with --report")
	}
	return n.Error("this is not a patch", "copy the JSON Patch of a gap whole, from its first bracket to its last")
}

// operationsOf reads a list of operations.
func operationsOf(list *jsontree.Node, file string, cfg *config.Config) (pipeline.ConfigPatch, error) {
	p := pipeline.ConfigPatch{File: file}
	var wrong []error
	for _, n := range list.Elems {
		f := jsontree.FieldsOf(n, "an operation")
		op := pipeline.PatchOperation{Op: f.Needed("op"), Path: f.Given("path")}
		for _, e := range f.Wrong {
			wrong = append(wrong, e)
		}
		if value := n.Get("value"); value != nil {
			op.Value = value.Value()
			if p.File == "" {
				p.File = fileOf(value, cfg)
			}
		}
		p.Operations = append(p.Operations, op)
	}
	if len(list.Elems) == 0 {
		return p, notAPatch(list)
	}
	if len(wrong) == 0 && p.File == "" {
		return p, list.Error("the patch does not say which config file it is for", "name the file with --file, such as --file review-rules.json")
	}
	return p, errors.Join(wrong...)
}

// fileOf returns the config file that an entry, or a list of entries, belongs to, or "".
func fileOf(n *jsontree.Node, cfg *config.Config) string {
	if items := n.Get("items"); items != nil {
		n = items
	}
	if n.Kind == jsontree.Array && len(n.Elems) > 0 {
		n = n.Elems[0]
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return n.Get(k) != nil })
	}
	switch {
	case has("trigger", "dispatch"):
		return config.FileComposition
	case has("domain", "service", "factor", "concern"):
		return config.FileDomains
	case has("severity", "match", "detection"):
		return config.FileRules
	case has("kind"):
		return config.FileAgents
	}
	if id := n.Get("id"); id != nil {
		for _, file := range config.FileNames() {
			if cfg.LayerOf(file, id.Text) != "" {
				return file
			}
		}
	}
	return ""
}
