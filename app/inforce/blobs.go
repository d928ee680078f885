package inforce

import (
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// defaultBlobs is the text of the embedded defaults: another version of
// reviewgate has others, and a stored review needs its own.
func defaultBlobs() []ports.ConfigBlob { return LayerBlobs(config.DefaultLayer()) }

// LayerBlobs are the files of a layer as a review stores them.
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

// configLayer is the layer of a name among the blobs.
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
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Path != b[i].Path || a[i].BlobSHA != b[i].BlobSHA {
			return false
		}
	}
	return true
}
