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
