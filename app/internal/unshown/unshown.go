// Package unshown reads changed files whose lines neither GitHub nor git shows.
// Both treat a file as binary if it holds a NUL, if it is in UTF-16, or if an
// attribute says so. Such a file may be text that a program runs.
//
// The package does no I/O of its own: its callers give it the contents. app/gh reads them
// from GitHub, and app/localgit from git or from the work tree.
package unshown

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

const (
	// MaxContent bounds a content whose lines are compared, in bytes. If a content is
	// larger, give a Reader at least one byte more.
	MaxContent = 8 << 20
	// maxSearched bounds the bytes of one change that are searched for secrets, and so
	// the time of the search.
	maxSearched = 64 << 20
	// maxLines bounds the lines of two contents that are compared. Each line takes some
	// 100 bytes of memory, however short it is.
	maxLines = 1_000_000
	// maxPatches bounds the patches of one change, in bytes.
	maxPatches = 32 << 20
)

// Reader reads the unshown files of one change. The zero value is ready. It is not
// safe for concurrent use.
type Reader struct {
	// Incomplete says what could not be read, and why.
	Incomplete []pipeline.Incompleteness

	detector *secrets.Detector
	searched int
	patches  int
}

// Content is what is known of a file's bytes.
type Content struct {
	// Head is the content at the head: all of it, or its first MaxContent+1 bytes.
	Head       []byte
	Executable bool
	// Before returns the content before the change, cut likewise. It is nil if there
	// was none, or if all of the text counts as new.
	Before func() ([]byte, error)
}

// Say reports that a file was not read, and why.
func (r *Reader) Say(f *raw.ChangedFile, gating bool, why string) {
	r.Incomplete = append(r.Incomplete, pipeline.Incompleteness{What: "patch", Path: f.Path, Why: why, Gating: gating})
}

// Read sets the patch of a text file. In other files it searches the bytes for secrets. It
// reports files that it can't read.
func (r *Reader) Read(f *raw.ChangedFile, c Content) error {
	if r.detector == nil {
		var err error
		if r.detector, err = secrets.Default(); err != nil {
			return err
		}
	}
	f.LookedInto = true
	if r.searched += len(c.Head); r.searched > maxSearched {
		r.Say(f, true, fmt.Sprintf("the files without lines come to more than %d MB, so its content was not read", maxSearched>>20))
		return nil
	}
	hits := r.detector.Bytes(c.Head)
	look := normalize.LookAt(f.Path, c.Executable, c.Head)
	switch {
	case look.Kind == normalize.ContentBinary:
	case len(c.Head) > MaxContent:
		r.Say(f, true, fmt.Sprintf("it is larger than %d MB", MaxContent>>20))
	case look.Kind == normalize.ContentText:
		if shown, err := r.text(f, c, look.Text, hits); shown || err != nil {
			return err
		}
	default:
		r.Say(f, look.SaysText, normalize.UnknownBytes(look.SaysText))
	}
	for _, h := range hits {
		if look.Kind != normalize.ContentText {
			h.Line = 0 // nobody counts the lines of such a file
		}
		if found := h.Redaction(f.Path); !slices.Contains(f.Secrets, found) {
			f.Secrets = append(f.Secrets, found)
		}
	}
	return nil
}

// text sets a file's patch, or reports why it sets none. It sets none if a secret is found
// in the bytes but not in the lines: a NUL is beside that secret, and the lines would
// show the secret.
func (r *Reader) text(f *raw.ChangedFile, c Content, text []byte, hits []secrets.BytesHit) (shown bool, err error) {
	inLines := r.detector.Bytes(text)
	if slices.ContainsFunc(hits, func(h secrets.BytesHit) bool { return !slices.Contains(inLines, h) }) {
		r.Say(f, true, "NUL bytes in it stand beside a secret, so that none of its lines is shown")
		f.Binary, f.Patch, f.Additions, f.Deletions = true, "", 0, 0
		return false, nil
	}
	var before []byte
	if c.Before != nil {
		old, err := c.Before()
		if err != nil {
			return false, err
		}
		if len(old) > MaxContent {
			r.Say(f, true, fmt.Sprintf("it was larger than %d MB", MaxContent>>20))
			return false, nil
		}
		if decoded, isText := normalize.Decode(old); isText { // else all lines are new
			before = decoded
		}
	}
	switch newline := []byte{'\n'}; {
	case bytes.Count(before, newline)+bytes.Count(text, newline) > maxLines:
		r.Say(f, true, fmt.Sprintf("its contents have more than %d lines", maxLines))
		return false, nil
	case r.patches > maxPatches:
		r.Say(f, true, fmt.Sprintf("the diffs come to more than %d MB", maxPatches>>20))
		return false, nil
	}
	f.Patch, f.Additions, f.Deletions = Hunks(before, text)
	f.Binary = false
	r.patches += len(f.Patch)
	return true, nil
}

// Hunks returns the hunks that turn one text into the other, and how many
// lines they add and remove. It aligns the texts by lines that occur once in both. The
// hunks may differ from git's, which have the fewest lines.
func Hunks(old, changed []byte) (patch string, added, removed int) {
	hunks := diff.Diff("", old, "", changed)
	start := bytes.Index(hunks, []byte("\n@@ ")) // names come before
	if start < 0 {
		return "", 0, 0
	}
	hunks = bytes.TrimSuffix(hunks[start+1:], []byte("\n"))
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return string(hunks), added, removed
}
