package localgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/internal/textdiff"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

const (
	// maxRevealed bounds the bytes of one file whose lines are compared here, and
	// maxSearched those of all files that are looked into for secrets.
	maxRevealed = 8 << 20
	maxSearched = 64 << 20
	// maxRevealedLines bounds the lines of the two contents that are compared.
	maxRevealedLines = 1_000_000

	modeExecutable = "100755" // git's
)

// revealer looks into the files of which git shows no line.
type revealer struct {
	*Source
	detector *secrets.Detector
	entries  map[string]*entry
	files    *raw.Files
	searched int
}

// reveal reads the files that git takes for binary: it does so with one NUL, with
// UTF-16, and where an attribute says so. Text gets its lines, and all else is searched
// for secrets as bytes. A file that was renamed into use is new to every rule, so all of
// its lines are shown.
func (s *Source) reveal(ctx context.Context, entries []*entry, files *raw.Files) error {
	r := revealer{Source: s, entries: make(map[string]*entry, len(entries)), files: files}
	for _, e := range entries {
		r.entries[e.path] = e
	}
	for i := range files.Files {
		f := &files.Files[i]
		moved := f.Status == pipeline.FileRenamed && normalize.MovedIntoUse(f.PreviousPath, f.Path)
		if !f.Binary && !moved || f.Status == pipeline.FileRemoved {
			continue
		}
		if e := r.entries[f.Path]; e != nil && e.newMode == submodule {
			continue // what it names stands in another repository
		}
		if r.detector == nil {
			var err error
			if r.detector, err = secrets.Default(); err != nil {
				return err
			}
		}
		if err := r.file(ctx, f, moved); err != nil {
			return fmt.Errorf("read %q: %w", f.Path, err)
		}
	}
	return nil
}

func (r *revealer) say(f *raw.ChangedFile, gating bool, why string) {
	r.files.Incomplete = append(r.files.Incomplete, pipeline.Incompleteness{What: "patch", Path: f.Path, Why: why, Gating: gating})
}

// file looks into one file. It may have gone away meanwhile.
func (r *revealer) file(ctx context.Context, f *raw.ChangedFile, moved bool) error {
	f.LookedInto = true
	content, executable, err := r.content(ctx, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		r.say(f, true, "it went away while it was read")
		return nil
	}
	if err != nil {
		return err
	}
	if r.searched += len(content); r.searched > maxSearched {
		r.say(f, true, fmt.Sprintf("the files without lines come to more than %d MB, so its content was not read", maxSearched>>20))
		return nil
	}
	hits := r.detector.Bytes(content)
	look := normalize.LookAt(f.Path, executable, content)
	switch {
	case look.Kind == normalize.ContentBinary:
	case len(content) > maxRevealed:
		r.say(f, true, fmt.Sprintf("it is larger than %d MB", maxRevealed>>20))
	case look.Kind == normalize.ContentText:
		if shown, err := r.text(ctx, f, look.Text, hits, moved); shown || err != nil {
			return err
		}
	default:
		r.say(f, look.SaysText, normalize.UnknownBytes(look.SaysText))
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

// text gives a file the lines that differ, or all of them where it was renamed into use,
// or says why it shows none. It shows none either if the bytes hold a secret that the
// lines don't: a NUL stood beside it, and the lines would show it.
func (r *revealer) text(ctx context.Context, f *raw.ChangedFile, text []byte, hits []secrets.BytesHit, moved bool) (shown bool, err error) {
	inLines := r.detector.Bytes(text)
	if slices.ContainsFunc(hits, func(h secrets.BytesHit) bool { return !slices.Contains(inLines, h) }) {
		r.say(f, true, "NUL bytes in it stand beside a secret, so that none of its lines is shown")
		f.Binary, f.Patch, f.Additions, f.Deletions = true, "", 0, 0
		return false, nil
	}
	var before []byte
	if e := r.entries[f.Path]; e != nil && !moved && strings.Trim(e.oldSHA, "0") != "" {
		old, err := r.blob(ctx, e.oldSHA, maxRevealed+1)
		if err != nil {
			return false, err
		}
		if len(old) > maxRevealed {
			r.say(f, true, fmt.Sprintf("it was larger than %d MB", maxRevealed>>20))
			return false, nil
		}
		before, _ = normalize.Decode(old)
	}
	if bytes.Count(before, []byte{'\n'})+bytes.Count(text, []byte{'\n'}) > maxRevealedLines {
		r.say(f, true, fmt.Sprintf("its contents have more than %d lines", maxRevealedLines))
		return false, nil
	}
	f.Patch, f.Additions, f.Deletions = textdiff.Lines(before, text)
	f.Binary = false
	return true, nil
}

// content reads the first bytes of a file as it is at the head or in the work tree, and
// says whether it can be run.
func (r *revealer) content(ctx context.Context, path string) (content []byte, executable bool, err error) {
	e := r.entries[path]
	if e != nil {
		executable = e.newMode == modeExecutable
	}
	if !r.workTree {
		content, err = r.blob(ctx, e.newSHA, maxRevealed+1)
		return content, executable, err
	}
	if e == nil { // git does not know it yet
		if executable, err = r.executable(path); err != nil {
			return nil, false, err
		}
	}
	content, err = r.fromWorkTree(path, maxRevealed+1)
	return content, executable, err
}

func (s *Source) executable(path string) (bool, error) {
	root, err := os.OpenRoot(s.git.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	info, err := root.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o100 != 0, err
}
