package config

import (
	"path"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// A file with a list of entries has one of these forms.
const (
	FormNone  = ""      // there is no file
	FormList  = "list"  // [...]
	FormItems = "items" // {"items": [...]}, or an object that has no items yet
)

// repositoryForm returns the form of one of the repository's files, or FormNone if the repository's
// layer is not used.
func repositoryForm(file string, layers []Layer, inForce []pipeline.ConfigLayer) string {
	form := FormNone
	for i, l := range layers {
		if l.Name != LayerRepository || !inForce[i].Used {
			continue
		}
		for _, f := range l.Files {
			if FileOf(f.Path) == file {
				form = formOf(f)
			}
		}
	}
	return form
}

// FileName returns the name of a file in the repository's layer, such as review-domains.yaml for
// FileDomains. If the layer has no such file, it returns the name as JSON.
func (c *Config) FileName(file string) string {
	if name := c.fileNames[file]; name != "" {
		return name
	}
	return file
}

// repositoryNames returns the names of the repository's files, by the names as JSON.
func repositoryNames(inForce []pipeline.ConfigLayer) map[string]string {
	names := map[string]string{}
	for _, l := range inForce {
		if l.Name != LayerRepository || !l.Used {
			continue
		}
		for _, f := range l.Files {
			if file := FileOf(f.Path); file != "" {
				names[file] = path.Base(f.Path)
			}
		}
	}
	return names
}

// AppendPatch returns the patch that appends an entry to the list of a file of the given form. It
// does not depend on other patches: config/patch creates a missing list.
func AppendPatch(file, form string, entry any) pipeline.ConfigPatch {
	op := pipeline.PatchOperation{Op: "add", Path: listPointer(form) + "/-", Value: entry}
	return pipeline.ConfigPatch{File: file, Operations: pipeline.List[pipeline.PatchOperation]{op}}
}

// listPointer returns the pointer to the list of a file.
func listPointer(form string) string {
	if form == FormList {
		return ""
	}
	return "/items"
}

func formOf(f File) string {
	root, _ := Parse(&jsontree.Document{Name: f.Path}, f)
	switch {
	case root == nil:
		return FormNone
	case root.Kind == jsontree.Array:
		return FormList
	}
	return FormItems
}
