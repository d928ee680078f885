package review

import (
	"context"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// source is a PullSource with its config: what normalize reads.
type source struct {
	ports.PullSource
	layers func(ctx context.Context) (inForce, error)
	ticket *ticket // nil if the change is not weighed
	inForce
}

var _ normalize.Source = (*source)(nil)

// PullRequest weighs the change by its counts, while its files are still being read.
func (s *source) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.PullSource.PullRequest(ctx)
	if err == nil && s.ticket != nil {
		err = s.ticket.weigh(weightOfTotals(&p))
	}
	return p, err
}

// Files weighs the change by its diffs, before any of their lines takes memory.
func (s *source) Files(ctx context.Context) (raw.Files, error) {
	f, err := s.PullSource.Files(ctx)
	if err == nil && s.ticket != nil {
		err = s.ticket.weigh(weightOfFiles(f.Files))
	}
	return f, err
}

// Config loads the config in force and keeps its text for the store.
func (s *source) Config(ctx context.Context) (normalize.ConfigRead, error) {
	var err error
	s.inForce, err = s.layers(ctx)
	return normalize.ConfigRead{Config: s.config, RootFiles: s.rootFiles, Attributes: s.attributes.Text, Exceptions: s.exceptions.Text}, err
}

// defaultBlobs is the text of the embedded defaults: another version of
// reviewgate has others, and a stored review needs its own.
func defaultBlobs() []ports.ConfigBlob { return layerBlobs(config.DefaultLayer()) }

func layerBlobs(l config.Layer) []ports.ConfigBlob {
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
