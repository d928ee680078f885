package ghtest

import (
	"cmp"
	"slices"
	"strings"
)

// change is a path at which two trees differ. A missing entry is zero.
type change struct {
	path     string
	from, to entry
}

// order is the key by which git sorts the entries of a folder: folders as if their names
// ended in a slash.
func (e entry) order() string {
	if e.Type == "tree" {
		return e.Path + "/"
	}
	return e.Path
}

// changes lists the files that differ between two trees, in git's order.
func (g *git) changes(from, to string) ([]change, error) {
	return keep(g, "changes "+from+" "+to, func() ([]change, error) { return g.changesIn("", from, to) })
}

// changesIn lists the files in a folder that differ. An empty name means that there is no
// folder.
func (g *git) changesIn(folder, from, to string) ([]change, error) {
	if from == to {
		return nil, nil
	}
	pairs := map[string]*change{}
	var list []*change
	for _, side := range []struct {
		tree string
		of   func(*change) *entry
	}{{from, func(c *change) *entry { return &c.from }}, {to, func(c *change) *entry { return &c.to }}} {
		if side.tree == "" || side.tree == emptyTree {
			continue
		}
		entries, err := g.tree(side.tree, false)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			c := pairs[e.order()]
			if c == nil {
				c = &change{path: e.order()}
				pairs[e.order()], list = c, append(list, c)
			}
			*side.of(c) = e
		}
	}
	slices.SortFunc(list, func(a, b *change) int { return cmp.Compare(a.path, b.path) })
	var all []change
	for _, c := range list {
		switch {
		case c.from == c.to:
		case strings.HasSuffix(c.path, "/"):
			below, err := g.changesIn(folder+c.path, c.from.SHA, c.to.SHA)
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
		default:
			all = append(all, change{path: folder + c.path, from: c.from, to: c.to})
		}
	}
	return all, nil
}

// mergePlainly merges b into a if no two files need a merge and no change could be a rename.
// Neither side may have removed a file or changed the same file differently. Plain is false
// for all other merges.
func (g *git) mergePlainly(a, b string) (tree string, plain bool, err error) {
	bases, known := g.bases(a, b)
	if !known || len(bases) != 1 {
		return "", false, nil
	}
	var trees [3]string
	for i, sha := range []string{bases[0], a, b} {
		c, err := g.stored(sha)
		if err != nil {
			return "", false, err
		}
		trees[i] = c.Tree
	}
	ours, err := g.changes(trees[0], trees[1])
	if err != nil {
		return "", false, err
	}
	theirs, err := g.changes(trees[0], trees[2])
	if err != nil {
		return "", false, err
	}
	if !apart(ours, theirs) || !apart(theirs, ours) {
		return "", false, nil
	}
	g.write.Lock()
	defer g.write.Unlock()
	root, err := g.open(trees[1])
	if err != nil {
		return "", false, err
	}
	for _, c := range theirs {
		if err := root.set(g, c.path, c.to); err != nil {
			return "", false, err
		}
	}
	tree, err = g.save(root, true)
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
