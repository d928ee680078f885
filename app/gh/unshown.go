package gh

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// emptyBlob is git's name for a file without content.
	emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	// maxUnshown bounds how many files are looked into one by one. Those
	// beyond count as binary.
	maxUnshown = 20
)

// lookInto finds out what GitHub doesn't say of files that it shows no lines of. Most
// that are text by their names are empty, or only moved or changed in mode: they have the
// content that they had before. Others hold NUL bytes or UTF-16, are binary, or have
// their diff switched off by attributes. GitHub doesn't tell these apart; reveal does.
//
// The bases are commits to look for the content, the likelier first; what
// either has is not new.
func (s *source) lookInto(ctx context.Context, listed []*github.CommitFile, files []raw.ChangedFile, bases ...func(context.Context) (string, error)) error {
	var unknown []int
	for i, f := range listed {
		if f.GetPatch() != "" || f.GetChanges() > 0 || f.GetSHA() == emptyBlob {
			continue
		}
		switch pipeline.FileStatus(f.GetStatus()) {
		case pipeline.FileAdded: // what has content has lines
			files[i].Binary = true
		case pipeline.FileModified, pipeline.FileRenamed, pipeline.FileCopied, pipeline.FileChanged:
			unknown = append(unknown, i)
		}
	}
	looked := ""
	for _, base := range bases {
		if len(unknown) == 0 {
			return nil
		}
		commit, err := base(ctx)
		if err == nil && commit == looked {
			continue
		}
		looked = commit
		var before map[string]string
		if err == nil {
			before, err = s.before(ctx, listed, unknown, commit)
		}
		if err != nil && !isNotFound(err) {
			return err
		}
		unknown = slices.DeleteFunc(unknown, func(i int) bool { return before[pathBefore(listed[i])] == listed[i].GetSHA() })
	}
	for _, i := range unknown {
		files[i].Binary = true
	}
	return nil
}

// pathBefore is where a file was before the change.
func pathBefore(f *github.CommitFile) string {
	if p := f.GetPreviousFilename(); p != "" {
		return p
	}
	return f.GetFilename()
}

// before finds the SHAs that the files had at a commit before the change, by
// path. Those that can't be found are "" or missing.
func (s *source) before(ctx context.Context, listed []*github.CommitFile, which []int, commit string) (map[string]string, error) {
	r := s.get("look at the files before the change", routeTree, s.target.Owner, s.target.Name, commit)
	r.query, r.pinned = url.Values{"recursive": {"1"}}, shaPattern.MatchString(commit)
	var t tree
	if _, err := s.client.do(ctx, s.target, r, asJSON(&t)); err != nil {
		return nil, err
	}
	shas := map[string]string{}
	for _, i := range which {
		shas[pathBefore(listed[i])] = ""
	}
	for _, e := range t.Entries {
		if _, wanted := shas[e.Path]; wanted {
			shas[e.Path] = e.SHA
		}
	}
	if *t.Truncated {
		return shas, s.beforeOneByOne(ctx, commit, shas)
	}
	return shas, nil
}

// beforeOneByOne completes the SHAs in a repository whose files GitHub doesn't
// list as a whole.
func (s *source) beforeOneByOne(ctx context.Context, base string, shas map[string]string) error {
	var paths []string
	for path, sha := range shas {
		if sha == "" && len(paths) < maxUnshown {
			paths = append(paths, path)
		}
	}
	found := make([]string, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(pagesAtOnce)
	for i, path := range paths {
		g.Go(func() (err error) {
			found[i], err = s.blobAt(ctx, base, path)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, path := range paths {
		shas[path] = found[i]
	}
	return nil
}

// blobAt is the SHA of a file's content at a commit, or "" if it can't be read.
func (s *source) blobAt(ctx context.Context, commit, path string) (string, error) {
	r := s.contents("look at a file before the change", commit, path)
	var e entryAnswer
	_, err := s.client.do(ctx, s.target, r, asJSON(&e))
	var a *answerError
	if isNotFound(err) || errors.As(err, &a) && a.tooLarge {
		return "", nil
	}
	return e.SHA, err
}

// tree is git's list of the files at a commit, or of one directory.
type tree struct {
	SHA       string     `json:"sha"`
	Entries   []treeItem `json:"tree"`
	Truncated *bool      `json:"truncated"`

	asked string // its SHA, where it was asked for by that and not by a commit's
}

// treeItem is an entry of a tree; its path is relative to that.
type treeItem struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"` // blob, tree, or commit for a submodule
	SHA  string `json:"sha"`
}

// leaf is the entry if it is no directory.
func (e treeItem) leaf() leaf {
	if e.Type == "tree" {
		return leaf{}
	}
	return leaf{e.Mode, e.SHA}
}

// directory is the entry if it is one.
func (e treeItem) directory() leaf {
	if e.Type != "tree" {
		return leaf{}
	}
	return leaf{sha: e.SHA}
}

// whole refuses an answer about another tree, and a directory without entries:
// but for the root git has no way to keep one.
func (t *tree) whole() error {
	return errors.Join(
		wholeIf(t.Entries != nil && t.Truncated != nil && (t.asked == "" || t.SHA == t.asked && len(t.Entries) > 0)),
		wholeList(t.Entries, func(e treeItem) bool {
			return e.Path != "" && e.Mode != "" && e.Type != "" && shaPattern.MatchString(e.SHA)
		}),
	)
}

// entryAnswer is a single file.
type entryAnswer struct {
	SHA string `json:"sha"`
}

func (e *entryAnswer) whole() error { return wholeIf(e.SHA != "") }

// tip is the commit that the base branch had when GitHub last looked, and
// mostly where the change begins.
func (s *pullSource) tip(ctx context.Context) (string, error) {
	p, err := s.readPull(ctx)
	return p.GetBase().GetSHA(), err
}

// mergeBase is the commit where the change begins. The second page of a
// comparison is asked for: it has no files.
func (s *pullSource) mergeBase(ctx context.Context) (string, error) {
	p, err := s.readPull(ctx)
	if err != nil {
		return "", err
	}
	t := s.target
	r := s.get("find where the change begins", "/repos/{owner}/{repo}/compare/{basehead}", t.Owner, t.Name, p.GetBase().GetSHA()+"..."+p.GetHead().GetSHA())
	r.query, r.pinned = url.Values{"per_page": {"1"}, "page": {"2"}}, true
	var m meeting
	_, err = s.client.do(ctx, t, r, asJSON(&m))
	return m.MergeBase.GetSHA(), err
}

// meeting is what a comparison says of where its ends meet.
type meeting struct {
	MergeBase github.RepositoryCommit `json:"merge_base_commit"`
}

func (m *meeting) whole() error { return wholeIf(shaPattern.MatchString(m.MergeBase.GetSHA())) }

func (s *groupSource) tip(context.Context) (string, error) { return s.target.BaseSHA, nil }

func (s *groupSource) mergeBase(ctx context.Context) (string, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return "", err
	}
	return diff.GetMergeBaseCommit().GetSHA(), nil
}
