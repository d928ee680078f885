package gh

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

const (
	// emptyBlob is git's name for a file without content.
	emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	// binaryProbe is how much of a file git looks at to tell binary from text.
	binaryProbe = 8000
	// maxUnshown bounds how many files are looked into. Those beyond count as
	// binary.
	maxUnshown = 20
)

// lookInto finds out what GitHub doesn't say of files that it shows no lines
// of although they are text by their names. Most are empty, or changed in mode
// only; one with NUL bytes, or in UTF-16, has lines that no agent gets to see.
func (s *source) lookInto(ctx context.Context, listed []*github.CommitFile, files []normalize.ChangedFile) error {
	g, ctx := errgroup.WithContext(ctx)
	n := 0
	for i, f := range listed {
		if f.GetPatch() != "" || f.GetChanges() > 0 || f.GetSHA() == emptyBlob || !normalize.TextByName(f.GetFilename()) {
			continue
		}
		status := pipeline.FileStatus(f.GetStatus())
		if status != pipeline.FileAdded && status != pipeline.FileModified {
			continue
		}
		if n++; n > maxUnshown {
			files[i].Binary = true
			continue
		}
		g.Go(func() error {
			start, err := s.blobStart(ctx, f.GetSHA())
			// An added file that has content has lines, and they aren't shown.
			files[i].Binary = bytes.IndexByte(start, 0) >= 0 || status == pipeline.FileAdded
			if isNotFound(err) { // whatever it is, it can't be read
				files[i].Binary, err = true, nil
			}
			return err
		})
	}
	return g.Wait()
}

func (s *source) blobStart(ctx context.Context, sha string) (start []byte, err error) {
	_, err = s.client.do(ctx, s.target, request{
		op: "look into a changed file", method: http.MethodGet, accept: "application/vnd.github.raw+json",
		path: "/repos/{owner}/{repo}/git/blobs/{file_sha}", args: []any{s.target.Owner, s.target.Name, sha},
	}, func(r io.Reader) (err error) {
		start, err = io.ReadAll(io.LimitReader(r, binaryProbe))
		return err
	})
	return start, err
}
