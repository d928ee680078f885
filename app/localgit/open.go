package localgit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Options say what to read. The zero value is the work tree of the current
// directory's repository.
type Options struct {
	Dir string // in the repository; default: the current directory
	// Base is the revision that the change is compared with. The comparison begins
	// at the merge base. Default: the default branch.
	Base string
	// Head is the revision to read. Default: the work tree, with uncommitted changes.
	Head string
	// Staged reads the index, without a Head. The default Base is then HEAD, or the empty
	// tree before the first commit.
	Staged bool
	// Untracked also reads the untracked files of the work tree that are not ignored. It
	// has no effect with Head or Staged.
	Untracked bool
	// ConfigDir is a directory with config files to use instead of those at
	// the base.
	ConfigDir string
	// Layers are the layers below the repository's, lowest first. They must be valid.
	Layers []config.Layer
}

// Source reads a change. It is safe for concurrent use.
type Source struct {
	git       *git
	bare      bool
	workTree  *workTree // on top of head; nil if it is not read
	staged    bool      // the index is read, on top of head
	untracked bool
	config    *config.Config
	configDir string         // named by the user, or ""
	below     []config.Layer // the layers below the repository's
	baseName  string         // the revision's name without "origin/"
	baseSHA   string
	mergeBase string
	headName  string
	headSHA   string
	files     once[raw.Files]
}

var _ normalize.Source = (*Source)(nil)

// Open finds the repository, the range and the config. Its errors tell the user what is
// wrong and what to do.
func Open(ctx context.Context, o Options) (*Source, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("find the git command, which must be installed: %w", err)
	}
	s := &Source{configDir: o.ConfigDir, below: o.Layers, staged: o.Staged, untracked: o.Untracked}
	if err := s.openRepository(ctx, o.Dir); err != nil {
		return nil, err
	}
	if s.staged {
		if err := s.openStaged(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.openHead(ctx, o.Head); err != nil {
		return nil, err
	}
	if err := s.openBase(ctx, o.Base); err != nil {
		return nil, err
	}
	var err error
	if s.config, err = s.loadConfig(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Source) openRepository(ctx context.Context, dir string) error {
	if dir == "" {
		dir = "."
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the current directory: %w", err)
	}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the repository: there is no directory %s: name one in a git repository", dir)
	} else if err != nil {
		return fmt.Errorf("open the repository: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("open the repository: %s is not a directory", dir)
	}
	s.git = &git{dir: dir, env: environment(os.Environ())}
	bare, err := s.git.line(ctx, "rev-parse", "--is-bare-repository")
	switch {
	case stderrHas(err, "not a git repository"):
		return fmt.Errorf("%s is not in a git repository: name one, or run git init and commit something", dir)
	case stderrHas(err, "dubious ownership"):
		return fmt.Errorf("%s belongs to somebody else, and git won't touch it: if you trust it, run git config --global --add safe.directory %s", dir, dir)
	case err != nil:
		return fmt.Errorf("open the repository: %w", err)
	}
	if s.bare = bare == "true"; !s.bare {
		dir, err = s.git.line(ctx, "rev-parse", "--show-toplevel")
		if stderrHas(err, "must be run in a work tree") {
			return fmt.Errorf("%s is inside git's own directory: name the directory with your files", s.git.dir)
		}
		if err != nil {
			return fmt.Errorf("find the work tree of %s: %w", s.git.dir, err)
		}
	}
	if s.git, err = newGit(ctx, dir); err != nil {
		return fmt.Errorf("read the repository's config: %w", err)
	}
	return nil
}

// Root is the root of the work tree, or empty for a bare repository.
func (s *Source) Root() string {
	if s.bare {
		return ""
	}
	return s.git.dir
}

func (s *Source) openHead(ctx context.Context, rev string) error {
	if rev == "" && !s.bare && !s.staged {
		s.workTree = &workTree{s.git}
	}
	s.headName = rev
	if rev == "" {
		rev = "HEAD"
		// A detached head has no name.
		s.headName, _ = s.git.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	}
	sha, ok, err := s.git.resolve(ctx, rev)
	if err != nil {
		return err
	}
	if !ok && s.staged {
		return nil // the index is that of the first commit
	}
	if !ok && rev == "HEAD" {
		return fmt.Errorf("%s has no commits yet, so there is nothing to compare with: commit something first, or add --staged to review what is staged", s.git.dir)
	}
	if !ok {
		return s.git.unknown(ctx, rev)
	}
	s.headSHA = sha
	return nil
}

// defaultBases are tried in turn if the user named no base. Remote branches come
// first: a local one may be out of date.
var defaultBases = []string{
	"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master",
	"refs/heads/main", "refs/heads/master",
}

func (s *Source) openBase(ctx context.Context, rev string) error {
	switch {
	case s.headSHA == "" && rev != "":
		return fmt.Errorf("%s has no commits yet, so --base can't name one: leave it out", s.git.dir)
	case s.headSHA == "":
		s.baseName, s.baseSHA, s.mergeBase = "the empty tree", s.git.emptyTree, s.git.emptyTree
		return nil
	case s.staged && rev == "":
		s.baseName, s.baseSHA, s.mergeBase = "HEAD", s.headSHA, s.headSHA
		return nil
	case rev == "":
		if err := s.defaultBase(ctx); err != nil {
			return err
		}
	default:
		sha, ok, err := s.git.resolve(ctx, rev)
		if err != nil {
			return err
		}
		if !ok {
			return s.git.unknown(ctx, rev)
		}
		s.baseName, s.baseSHA = rev, sha
	}
	return s.findMergeBase(ctx)
}

func (s *Source) defaultBase(ctx context.Context) error {
	there, err := s.git.output(ctx, append([]string{"for-each-ref", "--format=%(refname)"}, defaultBases...)...)
	if err != nil {
		return fmt.Errorf("find the default branch: %w", err)
	}
	refs := strings.Split(string(there), "\n")
	for _, ref := range defaultBases {
		if !slices.Contains(refs, ref) {
			continue
		}
		sha, ok, err := s.git.resolve(ctx, ref)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		name, err := s.git.line(ctx, "rev-parse", "--abbrev-ref", ref)
		if err != nil {
			return fmt.Errorf("find the default branch: %w", err)
		}
		s.baseName, s.baseSHA = strings.TrimPrefix(name, "origin/"), sha
		return nil
	}
	return errors.New("there is no origin/HEAD, main or master to compare with; " +
		s.git.shallowOr(ctx, "name a revision with --base"))
}

func (s *Source) findMergeBase(ctx context.Context) error {
	heads := []string{s.headSHA}
	if s.staged {
		// During a merge, the next commit will have two parents. Git computes the merge base
		// with such a commit.
		merged, ok, err := s.git.resolve(ctx, "MERGE_HEAD")
		if err != nil {
			return err
		}
		if ok {
			heads = append(heads, merged)
		}
	}
	sha, err := s.git.line(ctx, append([]string{"merge-base", s.baseSHA}, heads...)...)
	if code, ok := exitCode(err); ok && code == 1 {
		return fmt.Errorf("%s and the head have no common history; %s", s.baseName, s.git.shallowOr(ctx, "name another --base"))
	}
	if err != nil {
		return fmt.Errorf("find the merge base of %s and HEAD: %w", s.baseName, err)
	}
	s.mergeBase = sha
	return nil
}

// resolve returns the commit that a revision names, or false.
func (g *git) resolve(ctx context.Context, rev string) (sha string, ok bool, err error) {
	if strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", false, nil // this is no revision, and git might read it as an option
	}
	sha, err = g.line(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if _, exited := exitCode(err); exited {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look up %s: %w", rev, err)
	}
	return sha, true, nil
}

func (g *git) unknown(ctx context.Context, rev string) error {
	remedy := fmt.Sprintf("did you mean \"origin/%s\"?", rev)
	if _, ok, err := g.resolve(ctx, "refs/remotes/origin/"+rev); err != nil || !ok {
		remedy = g.shallowOr(ctx, "git branch --all and git log show what there is")
	}
	return fmt.Errorf("%q is not a commit, branch or tag of this repository; %s", rev, remedy)
}
