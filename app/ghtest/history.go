package ghtest

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
)

// made is a commit that this process created. A commit can't descend from a later one, so
// most questions about history are answered without running git. Imported history is older
// than all of these commits.
type made struct {
	n       int // counts up
	parents []string
}

// learn records a commit that was just written.
func (g *git) learn(c commit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.made[c.SHA]; !known {
		g.made[c.SHA] = made{n: len(g.made) + 1, parents: c.Parents}
		g.cache["commit "+c.SHA] = c
	}
}

// forget removes a commit's SHA.
func (g *git) forget(sha string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgot[sha] = true
}

// below returns the parent of a commit that was made after other and is not a merge. It is
// empty for a first commit. Everything that the commit and other share is also shared by the
// parent.
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

// mergeBase returns the merge base of two commits, or a itself if there is none.
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

// askMergeBase returns the merge base of two commits, or "" if there is none. It asks git if
// the base is not in the history of this process, or is ambiguous.
func (g *git) askMergeBase(a, b string) (string, error) {
	return keep(g, "merge-base "+a+" "+b, func() (string, error) {
		if meet, known := g.bases(a, b); known && len(meet) < 2 {
			return strings.Join(meet, ""), nil
		}
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

// commits lists the commits of head that base lacks, oldest first.
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
		if shas, known := g.since(base, head); known {
			commits := make([]commit, len(shas))
			for i, sha := range shas {
				var err error
				if commits[i], err = g.stored(sha); err != nil {
					return nil, err
				}
			}
			return commits, nil
		}
		out, err := g.run("log", "--no-show-signature", "--topo-order", "--reverse", "--format="+commitFormat, base+".."+head, "--")
		if err != nil {
			return nil, err
		}
		return parseCommits(out)
	})
}

// past returns a commit and all its ancestors. Known is false unless this process made all of
// them. The lock must be held.
func (g *git) past(sha string) (past map[string]bool, known bool) {
	past = map[string]bool{}
	for next := []string{sha}; len(next) > 0; {
		sha, next = next[0], next[1:]
		m, made := g.made[sha]
		if !made {
			return nil, false
		}
		if !past[sha] {
			past[sha] = true
			next = append(next, m.parents...)
		}
	}
	return past, true
}

// bases returns the best common ancestors of two commits: those that are not ancestors of
// another one.
func (g *git) bases(a, b string) (best []string, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ofA, knownA := g.past(a)
	ofB, knownB := g.past(b)
	if !knownA || !knownB {
		return nil, false
	}
	common := slices.DeleteFunc(slices.Collect(maps.Keys(ofA)), func(sha string) bool { return !ofB[sha] })
	slices.SortFunc(common, func(x, y string) int { return cmp.Compare(g.made[y].n, g.made[x].n) })
	for covered := map[string]bool{}; len(common) > 0; common = common[1:] {
		if !covered[common[0]] {
			best = append(best, common[0])
			past, _ := g.past(common[0])
			maps.Copy(covered, past)
		}
	}
	return best, true
}

// since lists the commits of head that base lacks, oldest first, in the order of git's
// --topo-order: a commit follows its parents, and a branch stays together.
func (g *git) since(base, head string) (shas []string, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old, knownBase := g.past(base)
	all, knownHead := g.past(head)
	if !knownBase || !knownHead {
		return nil, false
	}
	maps.DeleteFunc(all, func(sha string, _ bool) bool { return old[sha] })
	children := map[string]int{} // that are not listed yet
	for sha := range all {
		for _, parent := range g.made[sha].parents {
			children[parent]++
		}
	}
	for stack := []string{head}; len(stack) > 0; {
		last := len(stack) - 1
		sha := stack[last]
		stack = stack[:last]
		if !all[sha] {
			continue
		}
		shas = append(shas, sha)
		for _, parent := range g.made[sha].parents {
			if children[parent]--; children[parent] == 0 {
				stack = append(stack, parent)
			}
		}
	}
	slices.Reverse(shas)
	return shas, true
}
