package ghtest

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// errOldGit means that git can't merge without a work tree.
var errOldGit = errors.New("merging branches that have diverged needs git 2.38 or newer")

// mergeTree returns the tree of the merge of b into a. ok is false if they conflict. It fails
// with errOldGit if git can't tell.
func (g *git) mergeTree(a, b string) (tree string, ok bool, err error) {
	if ahead, err := g.history.contains(b, a); err != nil || ahead {
		c, err2 := g.objects.commit(b)
		return c.Tree, true, errors.Join(err, err2)
	}
	tree, err = keep(g.objects, "merge-tree "+a+" "+b, func() (string, error) {
		if tree, plain, err := g.mergePlainly(a, b); plain || err != nil {
			return tree, err
		}
		return g.askMergeTree(a, b)
	})
	return tree, tree != "", err
}

// mergePlainly merges b into a if no two files need a merge and no change could be a rename.
// Neither side may have removed a file or changed the same file differently. Plain is false
// for all other merges.
func (g *git) mergePlainly(a, b string) (tree string, plain bool, err error) {
	bases, known := g.history.bases(a, b)
	if !known || len(bases) != 1 {
		return "", false, nil
	}
	var trees [3]string
	for i, sha := range []string{bases[0], a, b} {
		c, err := g.objects.commit(sha)
		if err != nil {
			return "", false, err
		}
		trees[i] = c.Tree
	}
	ours, err := g.diffs.changes(trees[0], trees[1])
	if err != nil {
		return "", false, err
	}
	theirs, err := g.diffs.changes(trees[0], trees[2])
	if err != nil {
		return "", false, err
	}
	if !apart(ours, theirs) || !apart(theirs, ours) {
		return "", false, nil
	}
	root, err := g.objects.open(trees[1])
	if err != nil {
		return "", false, err
	}
	for _, c := range theirs {
		if err := root.set(c.path, c.to); err != nil {
			return "", false, err
		}
	}
	tree, err = root.save(true)
	return tree, err == nil, err
}

// apart reports whether one list of changes removes nothing and does not conflict with the
// other.
func apart(changes, others []change) bool {
	other := map[string]change{}
	for _, c := range others {
		other[c.path] = c
	}
	for _, c := range changes {
		if o, both := other[c.path]; c.to == (entry{}) || both && o.to != c.to {
			return false
		}
		for at := strings.LastIndexByte(c.path, '/'); at > 0; at = strings.LastIndexByte(c.path[:at], '/') {
			if _, isFile := other[c.path[:at]]; isFile {
				return false
			}
		}
	}
	return true
}

// askMergeTree asks git for the tree of a merge. The result is empty if there are conflicts.
func (g *git) askMergeTree(a, b string) (string, error) {
	g.objects.lookOutside()
	out, err := g.objects.run("merge-tree", "--write-tree", "--allow-unrelated-histories", a, b)
	if failed, isGit := errors.AsType[*gitError](err); isGit {
		switch failed.code {
		case 1:
			return "", nil
		case 129: // usage
			return "", errOldGit
		}
	}
	tree, _, _ := strings.Cut(string(out), "\n")
	return tree, err
}

// mergeCommit commits the merge of b into a, as GitHub does.
func (g *git) mergeCommit(a, b, message string, when time.Time) (string, error) {
	return g.commitMerge(a, b, message, signature{Name: "GitHub", Email: "noreply@github.com", When: when}, a, b)
}

// commitMerge commits the merge of b into a as a commit with these parents. With a as the only
// parent, it squashes b's commits.
func (g *git) commitMerge(a, b, message string, who signature, parents ...string) (string, error) {
	tree, ok, err := g.mergeTree(a, b)
	if err == nil && !ok {
		err = fmt.Errorf("merge %s into %s: they conflict", b, a)
	}
	if err != nil {
		return "", err
	}
	return g.putCommit(who.commit(tree, message, parents...), who, message+"\n"), nil
}

// pick copies a commit on top of a tip. It merges the commit with the tip's tree as if that
// tree had been committed on the commit's own parent.
func (g *git) pick(tip string, c commit, when time.Time) (string, error) {
	onto, err := g.objects.commit(tip)
	if err != nil {
		return "", err
	}
	who := signature{Name: c.Name, Email: c.Email, When: when}
	beside := g.putCommit(who.commit(onto.Tree, "beside", c.Parents[0]), who, "beside\n")
	tree, ok, err := g.mergeTree(beside, c.SHA)
	if err == nil && !ok {
		err = fmt.Errorf("rebase %s onto %s: they conflict", c.SHA, tip)
	}
	if err != nil {
		return "", err
	}
	return g.putCommit(who.commit(tree, c.Message, tip), who, c.Message+"\n"), nil
}
