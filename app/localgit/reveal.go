package localgit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/reviewgate/reviewgate/app/internal/unshown"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const modeExecutable = "100755" // git's

// reveal reads the files whose lines git does not show, from the work tree unless it is nil.
// If a rename moved a file into use, the file is new to every rule, so all of its lines
// count as new.
func reveal(ctx context.Context, g *git, w *workTree, entries []*entry, files *raw.Files) error {
	at := make(map[string]*entry, len(entries))
	for _, e := range entries {
		at[e.path] = e
	}
	var r unshown.Reader
	for i := range files.Files {
		f := &files.Files[i]
		moved := f.Status == pipeline.FileRenamed && normalize.MovedIntoUse(f.PreviousPath, f.Path)
		if !f.Binary && !moved || f.Status == pipeline.FileRemoved {
			continue
		}
		e := at[f.Path]
		if e != nil && e.newMode == submodule {
			continue // the content is in another repository
		}
		head, executable, err := contentAtHead(ctx, g, w, f.Path, e)
		if errors.Is(err, fs.ErrNotExist) { // only in a work tree
			f.LookedInto = true
			r.Say(f, true, "it went away while it was read")
			continue
		}
		content := unshown.Content{Head: head, Executable: executable}
		if e != nil && !moved && strings.Trim(e.oldSHA, "0") != "" {
			content.Before = func() ([]byte, error) { return g.blob(ctx, e.oldSHA, unshown.MaxContent+1) }
		}
		if err == nil {
			err = r.Read(f, content)
		}
		if err != nil {
			return fmt.Errorf("read %q: %w", f.Path, err)
		}
	}
	files.Incomplete = append(files.Incomplete, r.Incomplete...)
	return nil
}

// contentAtHead reads the first bytes of a file at the head or in the work tree, and
// reports whether the file is executable. The entry is nil if git does not track the
// file yet.
func contentAtHead(ctx context.Context, g *git, w *workTree, path string, e *entry) (content []byte, executable bool, err error) {
	if e != nil {
		executable = e.newMode == modeExecutable
	}
	if w == nil {
		content, err = g.blob(ctx, e.newSHA, unshown.MaxContent+1)
		return content, executable, err
	}
	if e == nil {
		if executable, err = w.executable(path); err != nil {
			return nil, false, err
		}
	}
	content, err = w.read(path, unshown.MaxContent+1)
	return content, executable, err
}
