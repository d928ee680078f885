package gh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/internal/textdiff"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// ends are the commits between which a change lies: where it begins, and its
// head.
type ends struct{ base, head string }

// leaf is what a path names: a file, a link or a submodule. The zero value is
// nothing.
type leaf struct{ mode, sha string }

// modeSubmodule is git's for a commit of another repository.
const modeSubmodule = "160000"

// kind tells what can't turn into one another but by a change of type.
func (l leaf) kind() string { return l.mode[:min(len(l.mode), 3)] }

// change is a path that names something else at the head than at the base.
type change struct {
	path     string
	previous string // where the same content was before, if it moved
	old, new leaf
}

// maxChanges bounds what the trees are compared for: the files that differ, and
// the directories that are looked into. Ten directories that hold ten others each,
// and so on, name more files than there is memory for.
const maxChanges = 100_000

// changes compares the trees of the two ends. With deep set, what GitHub doesn't
// list as a whole is read directory by directory, else it is errTruncated.
func (s *source) changes(ctx context.Context, e ends, deep bool) ([]change, error) {
	c := comparing{source: s, deep: deep, room: maxChanges}
	if err := c.directory(ctx, "", e.base, e.head); err != nil {
		return nil, err
	}
	slices.SortFunc(c.list, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return c.list, nil
}

// comparing is the state of comparing two trees.
type comparing struct {
	*source
	deep bool
	room int // of maxChanges
	list []change
}

// directory compares two directories by their names; "" is none.
func (c *comparing) directory(ctx context.Context, dir, old, changed string) error {
	before, after, err := c.twoTrees(ctx, dir, old, changed, true)
	whole := err == nil
	if !whole {
		if !c.deep || !errors.Is(err, errTruncated) {
			return err
		}
		if before, after, err = c.twoTrees(ctx, dir, old, changed, false); err != nil {
			return err
		}
	}
	list, below, err := compareTrees(dir, before, after)
	if err != nil {
		return err
	}
	if c.room -= 1 + len(list); c.room < 0 {
		return fmt.Errorf("more than %d files or directories differ", maxChanges)
	}
	if c.list = append(c.list, list...); whole {
		return nil
	}
	for _, d := range below { // one after the other: the next may not be affordable
		if c.budget.left() <= reservedCalls {
			return fmt.Errorf("the %d calls that one review may make don't suffice: %w", c.budget.most, errTruncated)
		}
		if err := c.directory(ctx, d.path, d.old.sha, d.new.sha); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) twoTrees(ctx context.Context, dir, old, changed string, recursive bool) (before, after *tree, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { before, err = s.readTree(ctx, dir, old, recursive); return err })
	g.Go(func() (err error) { after, err = s.readTree(ctx, dir, changed, recursive); return err })
	return before, after, g.Wait()
}

// readTree lists a directory by its name, or the root by a commit's; recursive
// includes those below.
func (s *source) readTree(ctx context.Context, dir, sha string, recursive bool) (*tree, error) {
	if sha == "" || sha == emptyTree {
		return &tree{}, nil
	}
	const op = "list the files of a commit"
	r := s.get(op, routeTree, s.target.Owner, s.target.Name, sha)
	r.pinned = shaPattern.MatchString(sha)
	if recursive {
		r.query = url.Values{"recursive": {"1"}}
	}
	t := new(tree)
	if dir != "" {
		t.asked = sha
	}
	if _, err := s.client.do(ctx, s.target, r, asJSON(t)); err != nil {
		return nil, err
	}
	if *t.Truncated {
		return nil, errTruncated
	}
	return t, nil
}

// compareTrees lists what differs between two lists of one directory, and the
// directories in them that differ. Paths are told apart as GitHub writes them,
// which may take two that are not UTF-8 for one.
func compareTrees(dir string, before, after *tree) (list, below []change, err error) {
	old, changed := make(map[string]treeItem, len(before.Entries)), make(map[string]treeItem, len(after.Entries))
	for _, e := range before.Entries {
		old[e.Path] = e
	}
	for _, e := range after.Entries {
		changed[e.Path] = e
	}
	if len(old) < len(before.Entries) || len(changed) < len(after.Entries) {
		return nil, nil, errors.New("a path stands twice in GitHub's trees")
	}
	add := func(name string, a, b treeItem) {
		c := change{path: path.Join(dir, name), old: a.leaf(), new: b.leaf()}
		if c.old != c.new {
			list = append(list, c)
		}
		if d := (change{path: c.path, old: a.directory(), new: b.directory()}); d.old != d.new {
			below = append(below, d)
		}
	}
	for name, e := range changed {
		add(name, old[name], e)
		delete(old, name)
	}
	for name, e := range old {
		add(name, e, treeItem{})
	}
	slices.SortFunc(below, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return list, below, nil
}

// unlisted takes what GitHub's list has out of the changes. It is an error if
// the list has what the trees don't: they are of other commits then.
func unlisted(changes []change, listed []*github.CommitFile) ([]change, error) {
	at := map[string]*change{}
	for i := range changes {
		at[changes[i].path] = &changes[i]
	}
	for _, f := range listed {
		c := at[f.GetFilename()]
		if c == nil || f.GetStatus() != string(pipeline.FileRemoved) && c.new.sha != f.GetSHA() {
			return nil, fmt.Errorf("GitHub's list has %s, which its trees do not have so", clean(f.GetFilename()))
		}
		delete(at, f.GetFilename())
		if f.GetStatus() == string(pipeline.FileRenamed) {
			delete(at, f.GetPreviousFilename())
		}
	}
	rest := make([]change, 0, len(at))
	for _, c := range changes {
		if at[c.path] != nil {
			rest = append(rest, c)
		}
	}
	return rest, nil
}

// findMoves makes one change of a removal and a creation of the same content.
// Git finds contents that are only similar too, by reading all of them; those
// stay two changes here.
func findMoves(changes []change) []change {
	gone := map[leaf][]int{}
	for i, c := range changes {
		if c.new == (leaf{}) && c.old.sha != emptyBlob && c.old.mode != modeSubmodule {
			gone[leaf{c.old.kind(), c.old.sha}] = append(gone[leaf{c.old.kind(), c.old.sha}], i)
		}
	}
	moved := map[int]bool{}
	for i := range changes {
		c := &changes[i]
		key := leaf{c.new.kind(), c.new.sha}
		if c.old != (leaf{}) || len(gone[key]) == 0 {
			continue
		}
		// A file that kept its name is the likelier one.
		n := max(0, slices.IndexFunc(gone[key], func(j int) bool { return path.Base(changes[j].path) == path.Base(c.path) }))
		from := gone[key][n]
		gone[key] = slices.Delete(gone[key], n, n+1)
		moved[from] = true
		c.previous, c.old = changes[from].path, changes[from].old
	}
	kept := changes[:0]
	for i, c := range changes {
		if !moved[i] {
			kept = append(kept, c)
		}
	}
	return kept
}

// file is the change in the words of GitHub, and the contents to compare for its
// lines, if any.
func (c change) file(index int) (raw.ChangedFile, *gap) {
	f := raw.ChangedFile{Path: c.path, PreviousPath: c.previous, Status: pipeline.FileModified, Empty: c.new.sha == emptyBlob}
	switch {
	case c.previous != "":
		f.Status = pipeline.FileRenamed
	case c.old == leaf{}:
		f.Status = pipeline.FileAdded
	case c.new == leaf{}:
		f.Status = pipeline.FileRemoved
	case c.old.kind() != c.new.kind(), c.old.sha == c.new.sha:
		f.Status = pipeline.FileChanged
	}
	if c.old.mode == modeSubmodule || c.new.mode == modeSubmodule {
		return c.submodule(f, index)
	}
	if c.old.sha == c.new.sha || c.old.sha+c.new.sha == emptyBlob {
		return f, nil
	}
	return f, &gap{file: index, old: c.old.sha, new: c.new.sha}
}

// submodule gives a file git's words for the commit of another repository. What
// it was or becomes beside that is not compared.
func (c change) submodule(f raw.ChangedFile, index int) (raw.ChangedFile, *gap) {
	if !c.onlySubmodule() {
		return f, &gap{file: index, old: c.old.sha, new: c.new.sha}
	}
	words := func(l leaf) []byte {
		if l == (leaf{}) {
			return nil
		}
		return []byte("Subproject commit " + l.sha + "\n")
	}
	f.Patch, f.Additions, f.Deletions = textdiff.Lines(words(c.old), words(c.new))
	return f, nil
}

// onlySubmodule reports whether the path names a submodule, or nothing, before
// and after.
func (c change) onlySubmodule() bool {
	is := func(l leaf) bool { return l == (leaf{}) || l.mode == modeSubmodule }
	return is(c.old) && is(c.new)
}
