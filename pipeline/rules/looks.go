package rules

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// LooksAt returns the rules that look at the file, in the order of the config and
// whatever the file holds: rules for its lines, and, if its path is new, rules for
// its path. The caller must not change them.
func (e *Engine) LooksAt(f *pipeline.File) []*config.Rule {
	v := newView(e.scopes)
	v.setFile(f)
	var out []*config.Rule
	for _, r := range e.lookingAt(v) {
		if r.sees(f.Status) {
			out = append(out, &r.Rule)
		}
	}
	return out
}

// lookingAt returns the rules that look at files of the kind of the view's file.
func (e *Engine) lookingAt(v *view) []*rule {
	return slices.DeleteFunc(slices.Clone(e.rules), func(r *rule) bool { return !v.applies(r) })
}

// looksAtChange reports whether a rule of the agent looks at the change as a whole, and so at all its
// files.
func (e *Engine) looksAtChange(agent string) bool {
	return slices.ContainsFunc(e.whole, func(r *rule) bool { return r.Agent == agent })
}

// LooksAtChange returns the rules that look at a change's title or description, and
// then those that look at the change as a whole. The caller must not change them.
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

// sees reports whether a file of this status can hold what the rule looks at.
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
