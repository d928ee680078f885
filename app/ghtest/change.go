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
func (ds *diffs) changes(from, to string) ([]change, error) {
	return keep(ds.objects, "changes "+from+" "+to, func() ([]change, error) { return ds.changesIn("", from, to) })
}

// changesIn lists the files in a folder that differ. An empty name means that there is no
// folder.
func (ds *diffs) changesIn(folder, from, to string) ([]change, error) {
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
		entries, err := ds.objects.tree(side.tree, false)
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
			below, err := ds.changesIn(folder+c.path, c.from.SHA, c.to.SHA)
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
