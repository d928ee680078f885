package ghtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// ownCommit is a commit that this process created. A commit can't descend from a later one, so
// most questions about history are answered without running git. Imported history is older
// than all of these commits.
type ownCommit struct {
	n       int // counts up
	parents []string
}

// history answers questions about commits and their ancestors.
type history struct {
	objects *objectStore

	mu     sync.Mutex
	made   map[string]ownCommit // by SHA
	forgot map[string]bool      // commits that can no longer be found by their SHA
}

// learn records a commit that was just written.
func (h *history) learn(c commit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.made[c.SHA]; !known {
		h.made[c.SHA] = ownCommit{n: len(h.made) + 1, parents: c.Parents}
	}
}

// forget removes a commit's SHA.
func (h *history) forget(sha string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgot[sha] = true
}

// commit returns the commit of a full SHA, unless it has been forgotten.
func (h *history) commit(sha string) (commit, error) {
	h.mu.Lock()
	forgotten := h.forgot[sha]
	h.mu.Unlock()
	if forgotten {
		return commit{}, fmt.Errorf("%s is not a commit any more", sha)
	}
	return h.objects.commit(sha)
}

// below returns the parent of a commit that was made after other and is not a merge. It is
// empty for a first commit. Everything that the commit and other share is also shared by the
// parent.
func (h *history) below(sha, other string) (parent string, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.made[sha]
	if !ok || m.n < h.made[other].n || len(m.parents) > 1 {
		return "", false
	}
	if len(m.parents) == 0 {
		return "", true
	}
	return m.parents[0], true
}

// mergeBase returns the merge base of two commits, or a itself if there is none.
func (h *history) mergeBase(a, b string) (string, error) {
	x, y := a, b
	for x != y {
		var known bool
		var parent string
		if parent, known = h.below(x, y); known {
			x = parent
		} else if parent, known = h.below(y, x); known {
			y = parent
		}
		if !known {
			meet, err := h.askMergeBase(x, y)
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
func (h *history) askMergeBase(a, b string) (string, error) {
	return keep(h.objects, "merge-base "+a+" "+b, func() (string, error) {
		if meet, known := h.bases(a, b); known && len(meet) < 2 {
			return strings.Join(meet, ""), nil
		}
		out, err := h.objects.run("merge-base", a, b)
		if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
			return "", nil
		}
		return strings.TrimSpace(string(out)), err
	})
}

// contains reports whether a commit is an ancestor of tip, or tip itself.
func (h *history) contains(tip, sha string) (bool, error) {
	base, err := h.mergeBase(tip, sha)
	return base == sha, err
}

// commits lists the commits of head that base lacks, oldest first.
func (h *history) commits(base, head string) ([]commit, error) {
	var newest []commit
	for base != head {
		if parent, known := h.below(head, base); known {
			c, err := h.objects.commit(head)
			if err != nil {
				return nil, err
			}
			newest = append(newest, c)
			if head = parent; head == "" {
				break
			}
			continue
		}
		if parent, known := h.below(base, head); known && parent != "" {
			base = parent
			continue
		}
		older, err := h.askCommits(base, head)
		if err != nil {
			return nil, err
		}
		slices.Reverse(newest)
		return slices.Concat(older, newest), nil
	}
	slices.Reverse(newest)
	return newest, nil
}

func (h *history) askCommits(base, head string) ([]commit, error) {
	return keep(h.objects, "commits "+base+" "+head, func() ([]commit, error) {
		if shas, known := h.since(base, head); known {
			commits := make([]commit, len(shas))
			for i, sha := range shas {
				var err error
				if commits[i], err = h.objects.commit(sha); err != nil {
					return nil, err
				}
			}
			return commits, nil
		}
		out, err := h.objects.run("log", "--no-show-signature", "--topo-order", "--reverse", "--format="+commitFormat, base+".."+head, "--")
		if err != nil {
			return nil, err
		}
		return parseCommits(out)
	})
}

// past returns a commit and all its ancestors. Known is false unless this process made all of
// them. h.mu must be held.
func (h *history) past(sha string) (past map[string]bool, known bool) {
	past = map[string]bool{}
	for next := []string{sha}; len(next) > 0; {
		sha, next = next[0], next[1:]
		m, known := h.made[sha]
		if !known {
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
func (h *history) bases(a, b string) (best []string, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ofA, knownA := h.past(a)
	ofB, knownB := h.past(b)
	if !knownA || !knownB {
		return nil, false
	}
	common := slices.DeleteFunc(slices.Collect(maps.Keys(ofA)), func(sha string) bool { return !ofB[sha] })
	slices.SortFunc(common, func(x, y string) int { return cmp.Compare(h.made[y].n, h.made[x].n) })
	for covered := map[string]bool{}; len(common) > 0; common = common[1:] {
		if !covered[common[0]] {
			best = append(best, common[0])
			past, _ := h.past(common[0])
			maps.Copy(covered, past)
		}
	}
	return best, true
}

// since lists the commits of head that base lacks, oldest first, in the order of git's
// --topo-order: a commit follows its parents, and a branch stays together.
func (h *history) since(base, head string) (shas []string, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, knownBase := h.past(base)
	all, knownHead := h.past(head)
	if !knownBase || !knownHead {
		return nil, false
	}
	maps.DeleteFunc(all, func(sha string, _ bool) bool { return old[sha] })
	children := map[string]int{} // that are not listed yet
	for sha := range all {
		for _, parent := range h.made[sha].parents {
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
		for _, parent := range h.made[sha].parents {
			if children[parent]--; children[parent] == 0 {
				stack = append(stack, parent)
			}
		}
	}
	slices.Reverse(shas)
	return shas, true
}
