package localgit

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// maxCommits bounds the commits that are listed. The newest come first. In a range of
// years, the messages of all commits are of little use.
const maxCommits = 1000

// PullRequest returns the change in the form of a pull request. Title and body are from the first
// commit: it says what the change is for, and later ones often only mend it. If nothing is committed
// yet, the title is the name of the branch.
func (s *Source) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	files, err := s.readFiles(ctx)
	if err != nil {
		return raw.PullRequest{}, err
	}
	count := 0
	if s.headSHA != "" {
		if count, err = s.git.countCommits(ctx, s.headSHA, "^"+s.baseSHA); err != nil {
			return raw.PullRequest{}, err
		}
	}
	uncommitted, err := s.uncommitted(ctx)
	if err != nil {
		return raw.PullRequest{}, err
	}
	repo := s.repository(ctx)
	p := raw.PullRequest{
		Repository: repo,
		Title:      s.title(),
		Base:       pipeline.Base{Ref: s.baseName, SHA: s.baseSHA},
		Head: pipeline.Head{
			Ref: s.headName, SHA: s.headSHA, Repository: repo.FullName(),
			WorkTree: uncommitted, Staged: uncommitted && s.staged,
		},
		Totals:  pipeline.Totals{Files: len(files.Files)},
		Commits: count,
	}
	for _, f := range files.Files {
		p.Totals.Additions += f.Additions
		p.Totals.Deletions += f.Deletions
	}
	return p, s.describe(ctx, &p)
}

// uncommitted reports whether the work tree or the index is read and differs from the head.
func (s *Source) uncommitted(ctx context.Context) (bool, error) {
	if s.workTree == nil && !s.staged {
		return false, nil
	}
	diff, err := s.diff(ctx, 0, cmp.Or(s.headSHA, s.git.emptyTree))
	if err != nil || len(diff.files().Files) > 0 {
		return true, err
	}
	if !s.untracked || s.workTree == nil {
		return false, nil
	}
	untracked, root, err := s.workTree.list(ctx)
	if err != nil {
		return false, err
	}
	defer root.Close()
	return len(slices.DeleteFunc(untracked, isRepository)) > 0, nil
}

// title returns the title of changes that are not committed. For the index it is not the branch's
// name: the message of the commit will say what changes, and is not known yet.
func (s *Source) title() string {
	if s.staged {
		return "Staged changes"
	}
	return cmp.Or(s.ownBranch(), "Local changes")
}

// ownBranch returns the name of the head's branch. It returns "" for the base and for the
// usual default branches: their names would be titles that say nothing.
func (s *Source) ownBranch() string {
	if slices.Contains([]string{s.baseName, "main", "master"}, s.headName) {
		return ""
	}
	return s.headName
}

// describe takes title and body from the first commit of the range, and the author from the newest.
func (s *Source) describe(ctx context.Context, p *raw.PullRequest) error {
	if s.headSHA == "" {
		return nil
	}
	list, at, err := s.git.log(ctx, 1, s.headSHA)
	if err != nil || len(list) == 0 {
		return err
	}
	if s.workTree == nil && !s.staged {
		p.CommittedAt = at
	}
	p.Author = pipeline.Author{Login: list[0].Author, Type: "User"}
	if p.Commits == 0 {
		return nil
	}
	first, err := s.git.firstCommit(ctx, s.headSHA, "^"+s.baseSHA)
	if err != nil {
		return err
	}
	if list, _, err = s.git.log(ctx, 1, first); err != nil || len(list) == 0 {
		return err
	}
	title, body, _ := strings.Cut(list[0].Message, "\n")
	p.Title, p.Body = strings.TrimSpace(title), strings.TrimSpace(body)
	return nil
}

// Commits returns the commits that the head has and the base does not have, oldest first.
func (s *Source) Commits(ctx context.Context) (raw.Commits, error) {
	if s.headSHA == "" {
		return raw.Commits{}, nil
	}
	list, _, err := s.git.log(ctx, maxCommits+1, s.headSHA, "^"+s.baseSHA)
	if err != nil {
		return raw.Commits{}, err
	}
	var c raw.Commits
	if len(list) > maxCommits {
		list = list[:maxCommits]
		c.Incomplete = []pipeline.Incompleteness{{What: "commits", Why: fmt.Sprintf("at most %d commits of a range are listed", maxCommits)}}
	}
	slices.Reverse(list)
	c.Commits = list
	return c, nil
}

// firstCommit returns the oldest commit of a range that was made on the branch itself: it passes over
// the commits that a merge brings.
func (g *git) firstCommit(ctx context.Context, revs ...string) (string, error) {
	first := ""
	err := g.stream(ctx, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			first = lines.Text()
		}
		return lines.Err()
	}, append([]string{"rev-list", "--first-parent"}, revs...)...)
	if err != nil {
		return "", fmt.Errorf("find the first commit: %w", err)
	}
	return first, nil
}

func (g *git) countCommits(ctx context.Context, revs ...string) (int, error) {
	out, err := g.line(ctx, append([]string{"rev-list", "--count"}, revs...)...)
	if err != nil {
		return 0, fmt.Errorf("count the commits: %w", err)
	}
	n, err := strconv.Atoi(out)
	if err != nil {
		return 0, fmt.Errorf("count the commits: %w", err)
	}
	return n, nil
}

// log lists commits, newest first, and says when the newest was committed. It does not verify
// signatures: the repository's config chooses the program for that.
func (g *git) log(ctx context.Context, limit int, revs ...string) (list []pipeline.Commit, newest time.Time, err error) {
	args := append([]string{"log", "-z", "--no-color", "--no-mailmap", "--encoding=UTF-8",
		"--max-count=" + strconv.Itoa(limit), "--format=%H%n%ct%n%an%n%B"}, revs...)
	out, err := g.output(ctx, append(args, "--")...)
	if err != nil {
		return nil, newest, fmt.Errorf("list the commits: %w", err)
	}
	for _, entry := range splitNul(out) {
		sha, rest, _ := strings.Cut(entry, "\n")
		at, rest, _ := strings.Cut(rest, "\n")
		if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && len(list) == 0 {
			newest = time.Unix(seconds, 0)
		}
		author, message, _ := strings.Cut(rest, "\n")
		list = append(list, pipeline.Commit{SHA: sha, Author: author, Message: strings.TrimRight(message, "\n")})
	}
	return list, newest, nil
}

// Files returns the files that differ between the base and the head, the index or the work tree.
func (s *Source) Files(ctx context.Context) (raw.Files, error) {
	files, err := s.readFiles(ctx)
	used := func(l pipeline.ConfigLayer) bool { return l.Used }
	if layers := s.config.InForce.Layers; err != nil || used(layers[len(layers)-1]) { // those below are valid
		return files, err
	}
	// The App would use the last good version of the config, which is not known here. A
	// change that repairs the config must not be blocked by the broken one.
	if proposed, err := s.Proposed(ctx); err != nil || proposed != nil && len(proposed.InForce.Problems) == 0 {
		return files, err
	}
	files.Incomplete = append(slices.Clip(files.Incomplete), pipeline.Incompleteness{
		What: "config", Path: s.config.InForce.Problems[0].File, Gating: true,
		Why: fmt.Sprintf("the config of %s is broken, and no earlier version is known here", s.baseName),
	})
	return files, nil
}

func (s *Source) readFiles(ctx context.Context) (raw.Files, error) {
	return s.files.do(func() (raw.Files, error) {
		diff, err := s.diff(ctx, maxPatches, s.mergeBase)
		if err != nil {
			return raw.Files{}, err
		}
		files := diff.files()
		if s.workTree != nil {
			if s.untracked {
				untracked, repositories, err := s.workTree.untracked(ctx)
				if err != nil {
					return raw.Files{}, err
				}
				files.Files = append(files.Files, onlyNew(untracked, files.Files)...)
				files.Incomplete = append(files.Incomplete, unreviewed(repositories, "it is a repository of its own, which was not read")...)
			}
			staged, err := s.workTree.stagedOtherwise(ctx, s.headSHA)
			if err != nil {
				return raw.Files{}, err
			}
			for _, i := range unreviewed(staged, "its staged version differs from the work tree, and was not read") {
				i.What = pipeline.IncompleteStaged
				files.Incomplete = append(files.Incomplete, i)
			}
			if err := s.workTree.findEmpty(files.Files); err != nil {
				return raw.Files{}, err
			}
		}
		if err := reveal(ctx, s.git, s.workTree, diff.entries, &files); err != nil {
			return raw.Files{}, err
		}
		slices.SortStableFunc(files.Files, func(a, b raw.ChangedFile) int { return cmp.Compare(a.Path, b.Path) })
		files.HeadSHA = s.headSHA
		return files, nil
	})
}

// onlyNew leaves out untracked files that are in the diff already: git rm --cached removes
// a file from the index, but leaves it on disk.
func onlyNew(untracked, diff []raw.ChangedFile) []raw.ChangedFile {
	there := map[string]bool{}
	for _, f := range diff {
		there[f.Path] = true
	}
	return slices.DeleteFunc(untracked, func(f raw.ChangedFile) bool { return there[f.Path] })
}

// diffArgs make git print the list of changed files and their patches, in a format that no
// config can change.
var diffArgs = []string{
	"diff", "--raw", "--patch", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative",
	"--no-abbrev", "--full-index", "--find-renames", "-l1000", "--unified=3", "--inter-hunk-context=0",
	"--diff-algorithm=default", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
	"--ignore-submodules=dirty", // git would read the config of each submodule otherwise
	"-O" + os.DevNull,
}

// diff reads the differences between a commit and the head, the index or the work tree.
func (s *Source) diff(ctx context.Context, most int, from string) (*diffParser, error) {
	switch {
	case s.staged:
		return s.git.diff(ctx, most, "--cached", "--ita-invisible-in-index", from)
	case s.workTree != nil:
		return s.git.diff(ctx, most, from)
	}
	return s.git.diff(ctx, most, from, s.headSHA)
}

// diff reads the differences between two commits, or between one and the work tree. It
// keeps at most most bytes of patches. Options may come before the commits.
func (g *git) diff(ctx context.Context, most int, commits ...string) (p *diffParser, err error) {
	err = g.stream(ctx, func(r io.Reader) (err error) {
		p, err = parseDiff(r, most)
		return err
	}, append(append(slices.Clone(diffArgs), commits...), "--")...)
	return p, err
}

// once keeps the first result without an error. Other callers wait meanwhile.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

func (o *once[T]) do(f func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.value, nil
	}
	v, err := f()
	if err == nil {
		o.value, o.done = v, true
	}
	return v, err
}

// repository returns the repository's name, from the URL that it was cloned from or else
// from its directory.
func (s *Source) repository(ctx context.Context) pipeline.Repository {
	r := pipeline.Repository{Owner: "local", Name: filepath.Base(s.git.dir), DefaultBranch: s.baseName}
	// Repositories without a remote are common.
	if remote, err := s.git.line(ctx, "config", "--get", "remote.origin.url"); err == nil {
		if owner, name, ok := parseRemote(remote); ok {
			r.Owner, r.Name = owner, name
		}
	}
	return r
}

var (
	scpRemote = regexp.MustCompile(`^(?:[^@/:]+@)?[^/:]+:([^:].*)$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
)

// parseRemote takes owner and name from a remote's URL, or from git's short form of ssh
// URLs. It ignores passwords.
func parseRemote(remote string) (owner, name string, ok bool) {
	var path string
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		path = u.Path
	} else if m := scpRemote.FindStringSubmatch(remote); m != nil {
		path = m[1]
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) < 2 {
		return "", "", false
	}
	owner, name = parts[len(parts)-2], parts[len(parts)-1]
	return owner, name, plainName.MatchString(owner) && plainName.MatchString(name)
}
