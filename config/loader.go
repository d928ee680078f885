package config

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// Loader is Load with a memory: layers whose files have the same names and
// texts as before are not read again. It is safe for use by several
// goroutines.
type Loader struct {
	// Redact, if set, replaces the secrets in a text by placeholders, line by line, so
	// that problems quote none. It must be set before the first Load.
	Redact func(text string) string

	recent *lru.Cache[[sha256.Size]byte, *Config]
}

// NewLoader returns a loader that remembers the configs that were used last,
// at most size of them. A config takes up a few times the size of its texts,
// and one that lays nothing over the defaults next to nothing.
func NewLoader(size int) *Loader {
	return &Loader{recent: lru.New[[sha256.Size]byte, *Config](int64(size), int64(size))}
}

// Load does what the function of this name does. Configs of equal content
// share everything but InForce.Layers, which names the sources asked for.
func (l *Loader) Load(layers ...Layer) (*Config, []pipeline.ConfigProblem) {
	key := contentKey(layers)
	known, ok := l.recent.Get(key)
	if !ok {
		known, _ = Load(layers...)
		l.redact(known, layers)
		l.recent.Add(key, known, 1)
	}
	c := *known
	c.InForce.Layers = slices.Clone(known.InForce.Layers)
	for i, layer := range layers {
		// The embedded defaults come first.
		c.InForce.Layers[i+1].Source = layer.Source
	}
	return &c, c.InForce.Problems
}

// redact keeps secrets out of what problems quote. Quotes are cut and escaped, and a
// secret in one would no longer be recognised, so the problems are found once more, in
// layers whose secrets are replaced.
func (l *Loader) redact(c *Config, layers []Layer) {
	if l.Redact == nil || len(c.InForce.Problems) == 0 {
		return
	}
	clean, secret := slices.Clone(layers), false
	for i := range clean {
		clean[i].Files = slices.Clone(clean[i].Files)
		for j := range clean[i].Files {
			text := &clean[i].Files[j].Text
			if redacted := l.Redact(string(*text)); redacted != string(*text) {
				*text, secret = []byte(redacted), true
			}
		}
	}
	if !secret {
		return
	}
	again, problems := Load(clean...)
	if len(problems) > 0 {
		c.InForce.Problems = again.InForce.Problems
		return
	}
	c.InForce.Problems = slices.Clone(c.InForce.Problems)
	for i := range c.InForce.Problems {
		p := &c.InForce.Problems[i]
		p.Pointer, p.Problem, p.Remedy = "", "what stands here is not valid, and is not shown since it holds a secret", "revoke the secret and remove it"
	}
}

// contentKey covers all that a config is made from but the sources. It is made
// from the texts: a blob SHA that came with them proves nothing.
func contentKey(layers []Layer) [sha256.Size]byte {
	h := sha256.New()
	for _, l := range layers {
		fmt.Fprintf(h, "%q %q %d\n", l.Name, l.Organisation, len(l.Files))
		for _, f := range l.Files {
			fmt.Fprintf(h, "%q %q %d\n", f.Path, f.BlobSHA, len(f.Text))
			h.Write(f.Text)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
