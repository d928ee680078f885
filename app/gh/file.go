package gh

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// contents returns a request for the content of a path at a commit.
func (s *source) contents(op, commit, path string) request {
	template, args := "/repos/{owner}/{repo}/contents", []any{s.target.Owner, s.target.Name}
	for part := range strings.SplitSeq(path, "/") {
		template, args = template+"/{path}", append(args, part)
	}
	r := s.get(op, template, args...)
	r.query = url.Values{"ref": {commit}}
	r.route = "/repos/{owner}/{repo}/contents/{path}"
	return r
}

// File reads a file at a commit, or at the tip of a branch that is given as refs/heads/NAME: at least
// its first bytes up to most. A fork shares its objects with the original repository, so a fork's
// files are found there. For a link to a file, GitHub answers with that file.
func (s *source) File(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	const op = "read a file at the head"
	if !shaPattern.MatchString(commit) && !strings.HasPrefix(commit, ports.Branches) {
		return nil, &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: fmt.Errorf("%q is neither a commit's SHA nor a branch", clean(commit))}
	}
	f, err := s.fileAt(ctx, op, commit, path, most)
	return f.text, err
}

// fileAt reads the content of a path at a commit. A file's text has at least its first
// bytes up to most. A submodule, or a link without a target, has no text.
func (s *source) fileAt(ctx context.Context, op, commit, path string, most int64) (fileAnswer, error) {
	r := s.contents(op, commit, path)
	r.pinned = shaPattern.MatchString(commit)
	var f fileAnswer
	_, err := s.client.do(ctx, s.target, r, asJSON(&f))
	if err == nil && f.Type == "file" && f.Encoding != "base64" {
		f.text, err = s.blob(ctx, op, f.SHA, most)
	}
	return f, err
}

// blob reads the first bytes of a file whose text is too large for the contents API.
func (s *source) blob(ctx context.Context, op, sha string, most int64) ([]byte, error) {
	var text []byte
	if _, err := s.client.do(ctx, s.target, request{
		op: op, method: http.MethodGet, accept: rawBlob, budget: &s.budget, pinned: true, first: most,
		path: "/repos/{owner}/{repo}/git/blobs/{file_sha}", args: []any{s.target.Owner, s.target.Name, sha},
	}, func(r io.Reader) (err error) {
		if text, err = io.ReadAll(r); err != nil {
			return err
		}
		if int64(len(text)) < most && !isBlob(text, sha) {
			return errOtherText
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return text, nil
}

// fileAnswer is GitHub's answer about one path. It includes the file's text up to 1 MB.
type fileAnswer struct {
	Type     string `json:"type"`
	SHA      string `json:"sha"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`

	text []byte
}

// whole refuses an incomplete text of a file.
func (f *fileAnswer) whole() error {
	if err := wholeIf(f.Type != "" && shaPattern.MatchString(f.SHA)); err != nil || f.Type != "file" || f.Encoding != "base64" {
		return err
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader([]byte(f.Content))))
	if err != nil {
		return fmt.Errorf("decode the file: %w", err)
	}
	if !isBlob(text, f.SHA) {
		return errOtherText
	}
	f.text = text
	return nil
}

var errOtherText = errors.New("the text of the file is not what its SHA says")
