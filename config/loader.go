package config

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// Loader is Load with a memory: it does not read layers again whose files have the same names and
// texts as before. It is safe for use by several goroutines.
type Loader struct {
	// Redact, if set, replaces the secrets in a text by placeholders, line by line, so that
	// problems quote no secret. It must be set before the first Load.
	Redact func(text string) string

	recent *lru.Cache[[sha256.Size]byte, *Config]
}

// NewLoader returns a loader that remembers the most recently used configs, at most size of them. A
// config needs a few times the memory of its texts. A config without layers over the defaults needs
// almost none.
func NewLoader(size int) *Loader {
	return &Loader{recent: lru.New[[sha256.Size]byte, *Config](int64(size), int64(size))}
}

// Load does the same as the function Load. Configs with equal content share everything except
// InForce.Layers, which has the sources that the caller gave.
func (l *Loader) Load(layers ...Layer) (*Config, []pipeline.ConfigProblem) {
	key := contentKey(layers)
	known, ok := l.recent.Get(key)
	if !ok {
		known, _ = Load(layers...)
		l.redact(known, layers)
		l.recent.Add(key, known, 1)
	}
	return known.from(layers)
}

// LoadOver does the same as the function LoadOver. It does not redact problems.
func (l *Loader) LoadOver(base Layer, layers ...Layer) (*Config, []pipeline.ConfigProblem) {
	key := contentKey(slices.Insert(slices.Clone(layers), 0, base))
	known, ok := l.recent.Get(key)
	if !ok {
		var problems []pipeline.ConfigProblem
		if known, problems = LoadOver(base, layers...); known == nil {
			return nil, problems
		}
		l.recent.Add(key, known, 1)
	}
	return known.from(layers)
}

// from returns a copy of the config whose layers have the sources of these, and its problems.
func (c Config) from(layers []Layer) (*Config, []pipeline.ConfigProblem) {
	c.InForce.Layers = slices.Clone(c.InForce.Layers)
	for i, layer := range layers {
		c.InForce.Layers[i+1].Source = layer.Source // the defaults are the first layer in force
	}
	return &c, c.InForce.Problems
}

// redact keeps secrets out of the quotes in problems. Quotes are cut and escaped, so a secret in
// them could no longer be recognised. So redact replaces the secrets in the layers and finds the
// problems again.
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

// contentKey covers everything that a config is made from except the sources. It uses the texts,
// because a blob SHA that came with a text proves nothing.
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
