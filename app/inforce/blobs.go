package inforce

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// defaultBlobs returns the text of the embedded defaults. Another version of reviewgate has
// other defaults, and a stored review needs those it was made with.
func defaultBlobs() []ports.ConfigBlob { return LayerBlobs(config.DefaultLayer()) }

// LayerBlobs returns the files of a layer in the form in which a review stores them.
func LayerBlobs(l config.Layer) []ports.ConfigBlob {
	var blobs []ports.ConfigBlob
	for _, f := range l.Files {
		sha := f.BlobSHA
		if sha == "" {
			sha = config.BlobSHA(f.Text)
		}
		blobs = append(blobs, ports.ConfigBlob{Layer: l.Name, Path: f.Path, BlobSHA: sha, Text: f.Text})
	}
	return blobs
}

// configLayer returns the layer with the given name from the blobs.
func configLayer(name, from string, blobs []ports.ConfigBlob) config.Layer {
	l := config.Layer{Name: name, Source: from}
	if name == config.LayerOrganisation {
		l.Organisation, _, _ = strings.Cut(from, "/")
	}
	for _, b := range blobs {
		if b.Layer == name {
			l.Files = append(l.Files, config.File{Path: b.Path, BlobSHA: b.BlobSHA, Text: b.Text})
		}
	}
	return l
}

func sameBlobs(a, b []ports.ConfigBlob) bool {
	return slices.EqualFunc(a, b, func(x, y ports.ConfigBlob) bool { return x.Path == y.Path && x.BlobSHA == y.BlobSHA })
}
