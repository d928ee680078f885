package run

import (
	"bytes"
	"context"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxCited is how much of a file is read to find a cited line, in bytes. No source file is larger.
const maxCited = 4 << 20

// exists returns a function that looks up at the head what a finding cites. It returns nil if no
// file can be read.
func (o *Options) exists(facts *pipeline.PRFacts) func(ctx context.Context, path string, line int) (bool, error) {
	if o.File == nil {
		return nil
	}
	return func(ctx context.Context, path string, line int) (bool, error) {
		text, found, err := o.File(ctx, facts.Head.SHA, path, maxCited)
		return found && hasLine(text, line), err
	}
}

// hasLine reports whether a text has a line, counted from 1. Every text has line 0, which is the
// file itself.
func hasLine(text []byte, line int) bool {
	lines := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lines++
	}
	return line <= lines
}
