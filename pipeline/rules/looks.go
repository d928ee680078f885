package rules

import (
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// LooksAt returns the rules that look at the file, in the order of the config,
// whatever stands in it: those of its lines, and those of its path where that
// is new. They must not be changed.
func (e *Engine) LooksAt(f *pipeline.File) []*config.Rule {
	v := newView(e.scopes)
	v.turn(f)
	var out []*config.Rule
	for _, r := range e.rules {
		if v.has(r) && r.sees(f.Status) {
			out = append(out, &r.Rule)
		}
	}
	return out
}

// LooksAtChange returns the rules that look at a change's title or description,
// and then those that look at it as a whole. They must not be changed.
func (e *Engine) LooksAtChange() []*config.Rule {
	var out []*config.Rule
	for _, r := range e.rules {
		if r.on == config.OnTitle || r.on == config.OnBody {
			out = append(out, &r.Rule)
		}
	}
	for _, r := range e.whole {
		out = append(out, &r.Rule)
	}
	return out
}

// sees reports whether what the rule looks at can be there in a file of this
// status.
func (r *rule) sees(s pipeline.FileStatus) bool {
	switch r.on {
	case config.OnAdded, config.OnFile:
		return s != pipeline.FileRemoved
	case config.OnRemoved:
		return s != pipeline.FileAdded
	case config.OnPath:
		return s == pipeline.FileAdded || s == pipeline.FileRenamed || s == pipeline.FileCopied
	}
	return false
}
