package config

import (
	"path"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// A file with a list of entries has one of these forms.
const (
	FormNone   = ""       // there is no file
	FormList   = "list"   // [...]
	FormItems  = "items"  // {"items": [...]}
	FormObject = "object" // an object without items
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
			if path.Base(f.Path) == file {
				form = formOf(f)
			}
		}
	}
	return form
}

// AppendPatch returns the patch that appends an entry to a file of the given form. It can follow
// other patches if the form is the one after them.
func AppendPatch(file, form string, entry any) pipeline.ConfigPatch {
	op := pipeline.PatchOperation{Op: "add", Value: entry}
	switch form {
	case FormList, FormItems:
		op.Path = listPointer(form) + "/-"
	case FormObject:
		op.Path, op.Value = "/items", []any{op.Value}
	default:
		op.Value = map[string]any{"items": []any{op.Value}}
	}
	return pipeline.ConfigPatch{File: file, Operations: pipeline.List[pipeline.PatchOperation]{op}}
}

// listPointer returns the pointer to the list of a file that has one.
func listPointer(form string) string {
	if form == FormItems {
		return "/items"
	}
	return ""
}

func formOf(f File) string {
	root, _ := jsontree.Parse(&jsontree.Document{Name: f.Path}, f.Text)
	switch {
	case root == nil:
		return FormNone
	case root.Kind == jsontree.Array:
		return FormList
	case root.Get("items") != nil:
		return FormItems
	}
	return FormObject
}
