package normalize

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// These are the limits of what is read of one change. They limit memory: a line takes some 50 bytes
// however short it is, and everything that looks at lines takes more. A change of 3,000 files and
// 100,000 lines is far below them, and so is a file of 100,000 lines. What exceeds them is named
// and gates.
const (
	MaxFileLines = 250_000
	MaxLines     = 500_000
	maxFileHunks = 50_000
	maxHunks     = 100_000
	// maxPatches bounds the size of one change's patches, in bytes.
	maxPatches = 64 << 20
	// maxRedactions bounds how many secrets are listed one by one. All secrets are replaced.
	maxRedactions = 10_000
	// maxMessages bounds the size of all commit messages, in bytes.
	maxMessages = 4 << 20
	// maxIncomplete bounds how many unread files are named one by one.
	maxIncomplete = 1_000
)

// room is how much may still be read of a change.
type room struct{ lines, hunks, bytes int }

func newRoom() *room { return &room{lines: MaxLines, hunks: maxHunks, bytes: maxPatches} }

// take counts a patch before any of its lines takes memory. It returns why there is no room for the
// patch, or "".
func (r *room) take(patch string) string {
	lines := strings.Count(patch, "\n") + 1
	hunks := strings.Count(patch, "\n@@ ") + 1
	switch {
	case lines > MaxFileLines:
		return fmt.Sprintf("its diff has %d lines, and at most %d of one file are read", lines, MaxFileLines)
	case hunks > maxFileHunks:
		return fmt.Sprintf("its diff has %d hunks, and at most %d of one file are read", hunks, maxFileHunks)
	case lines > r.lines:
		return fmt.Sprintf("the change has more than %d lines, and no more than that are read", MaxLines)
	case hunks > r.hunks:
		return fmt.Sprintf("the change has more than %d hunks, and no more than that are read", maxHunks)
	case len(patch) > r.bytes:
		return fmt.Sprintf("the change has more than %d MB of diffs, and no more than that is read", maxPatches>>20)
	}
	r.lines, r.hunks, r.bytes = r.lines-lines, r.hunks-hunks, r.bytes-len(patch)
	return ""
}

// fewer keeps the first entries of a list of unknowns, and counts the others in one entry, which
// gates if any of them does.
func fewer(list pipeline.List[pipeline.Incompleteness]) pipeline.List[pipeline.Incompleteness] {
	if len(list) <= maxIncomplete {
		return list
	}
	rest := pipeline.Incompleteness{What: "files", Why: fmt.Sprintf("something could not be read of %d more files", len(list)-maxIncomplete)}
	for _, i := range list[maxIncomplete:] {
		rest.Gating = rest.Gating || i.Gating
	}
	return append(list[:maxIncomplete:maxIncomplete], rest)
}

// fewerRedactions bounds the list of secrets. Each listed secret gates, and so does the entry that
// some are not listed.
func fewerRedactions(f *pipeline.PRFacts) {
	n := len(f.Redactions)
	if n <= maxRedactions {
		return
	}
	f.Redactions = append(pipeline.List[pipeline.Redaction](nil), f.Redactions[:maxRedactions]...)
	f.Incomplete = append(f.Incomplete, pipeline.Incompleteness{
		What: "redactions", Gating: true,
		Why: fmt.Sprintf("the change holds %d secrets, of which the first %d are listed; all are replaced", n, maxRedactions),
	})
}
