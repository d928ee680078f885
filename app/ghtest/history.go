package ghtest

import (
	"errors"
	"slices"
	"strings"
)

// made is a commit that this process wrote. A commit can't descend from one
// that was made after it, so that most questions about history are answered
// without a process; real history that was imported is older than all of it.
type made struct {
	n       int // counts up
	parents []string
}

// learn keeps a commit that was just written.
func (g *git) learn(c commit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.made[c.SHA]; !known {
		g.made[c.SHA] = made{n: len(g.made) + 1, parents: c.Parents}
		g.cache["commit "+c.SHA] = c
	}
}

// forget takes a commit's name away.
func (g *git) forget(sha string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgot[sha] = true
}

// below returns the parent of a commit that was made after other and is no
// merge; it is empty for a first commit. Whatever that commit and other have in
// common, its parent has too.
func (g *git) below(sha, other string) (parent string, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, ok := g.made[sha]
	if !ok || m.n < g.made[other].n || len(m.parents) > 1 {
		return "", false
	}
	if len(m.parents) == 0 {
		return "", true
	}
	return m.parents[0], true
}

// mergeBase returns where two commits meet, or a itself where they don't.
func (g *git) mergeBase(a, b string) (string, error) {
	x, y := a, b
	for x != y {
		var known bool
		var parent string
		if parent, known = g.below(x, y); known {
			x = parent
		} else if parent, known = g.below(y, x); known {
			y = parent
		}
		if !known {
			meet, err := g.askMergeBase(x, y)
			if meet == "" {
				meet = a
			}
			return meet, err
		}
		if parent == "" {
			return a, nil
		}
	}
	return x, nil
}

// askMergeBase asks git where two commits meet; empty where they don't.
func (g *git) askMergeBase(a, b string) (string, error) {
	return keep(g, "merge-base "+a+" "+b, func() (string, error) {
		out, err := g.run("merge-base", a, b)
		if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
			return "", nil
		}
		return strings.TrimSpace(string(out)), err
	})
}

// contains reports whether a commit is an ancestor of tip, or tip itself.
func (g *git) contains(tip, sha string) (bool, error) {
	base, err := g.mergeBase(tip, sha)
	return base == sha, err
}

// commits lists what head has and base hasn't, oldest first.
func (g *git) commits(base, head string) ([]commit, error) {
	var newest []commit
	for base != head {
		if parent, known := g.below(head, base); known {
			c, err := g.stored(head)
			if err != nil {
				return nil, err
			}
			newest = append(newest, c)
			if head = parent; head == "" {
				break
			}
			continue
		}
		if parent, known := g.below(base, head); known && parent != "" {
			base = parent
			continue
		}
		older, err := g.askCommits(base, head)
		if err != nil {
			return nil, err
		}
		slices.Reverse(newest)
		return slices.Concat(older, newest), nil
	}
	slices.Reverse(newest)
	return newest, nil
}

func (g *git) askCommits(base, head string) ([]commit, error) {
	return keep(g, "commits "+base+" "+head, func() ([]commit, error) {
		out, err := g.run("log", "--no-show-signature", "--topo-order", "--reverse", "--format="+commitFormat, base+".."+head, "--")
		if err != nil {
			return nil, err
		}
		return parseCommits(out)
	})
}
