package config

import (
	"path"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The forms that a file with a list of entries may have.
const (
	FormNone   = ""       // there is no file
	FormList   = "list"   // [...]
	FormItems  = "items"  // {"items": [...]}
	FormObject = "object" // an object without items
)

// repositoryForm is the form of one of the repository's files, as far as its
// layer is used.
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
