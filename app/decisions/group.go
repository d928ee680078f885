package decisions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// member is a pull request that a merge group contains.
type member struct {
	ports.TargetState
	memory pipeline.Memory // as of its head
	blocks bool            // its own review does, or there is none
	named  bool            // by the group's ref
	// What its review saw at this head, nothing where there is none or it did not
	// see all: its commits, and of the one that is named how many lines change in
	// each file.
	commits []string // SHAs
	lines   map[string]changedLines
}

type changedLines struct{ added, deleted int }

// taughtOfGroup is what people said of the pull requests that a merge group
// contains. One that was rejected fails the group. An override passes it if
// every other one of them was overridden too or passes by itself, which is known
// only where those that are known make up the group.
func (d *Decisions) taughtOfGroup(ctx context.Context, t ports.Target, f *pipeline.PRFacts) (pipeline.Memory, error) {
	members, err := d.members(ctx, t, f)
	if err != nil {
		return pipeline.Memory{}, err
	}
	var m pipeline.Memory
	for i := range members {
		m.Dismissed = append(m.Dismissed, members[i].memory.Dismissed...)
		m.Accepted = append(m.Accepted, members[i].memory.Accepted...)
	}
	m.ByHand = decidedFor(members)
	if m.ByHand != nil && m.ByHand.Action == pipeline.HandOverride && !makeUp(members, f) {
		m.ByHand = nil
	}
	return m, nil
}

// makeUp reports whether pull requests are all that a group consists of. Where the
// queue merges, it adds one commit to those of each. Where it squashes or rebases,
// theirs are not in the group, and only the one that is named is known: it is
// alone if there is one commit, or if there are no more than its own and they
// change just what it changes.
func makeUp(members []member, f *pipeline.PRFacts) bool {
	if !listsCommits(f) {
		return false
	}
	theirs, there := map[string]int{}, map[string]bool{}
	for i := range members {
		for _, sha := range members[i].commits {
			theirs[sha]++
		}
	}
	added := 0
	for _, c := range f.Commits {
		there[c.SHA] = true
		if theirs[c.SHA] == 0 {
			added++
		}
	}
	if added < len(f.Commits) {
		for i := range members { // one that another is built on has no commit of the queue's
			if head := members[i].HeadSHA; there[head] && theirs[head] == 1 {
				added--
			}
		}
		return added <= 0
	}
	return len(members) == 1 && members[0].named && (len(f.Commits) == 1 || members[0].is(f))
}

// is reports whether a group has no more commits than the pull request and
// changes the same number of lines in no other files.
func (m *member) is(f *pipeline.PRFacts) bool {
	return len(f.Commits) <= len(m.commits) && !slices.ContainsFunc(f.Files, func(x pipeline.File) bool {
		lines, ok := m.lines[x.Path]
		return !ok || lines != changedLines{x.Additions, x.Deletions}
	})
}

// listsCommits reports whether facts have all commits, and no more of them than
// are looked at.
func listsCommits(f *pipeline.PRFacts) bool {
	return len(f.Commits) <= maxGroupCommits && !slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool { return i.What == "commits" })
}

// maxGroupCommits is how many of a group's commits are looked up in the store,
// which is more than a merge queue puts into one by default.
const maxGroupCommits = 250

// members are the pull requests of a group, by number: the one that its ref
// names, and those whose head is among its commits. Where a queue squashes or
// rebases, heads are not, and the ref's is the only one known.
func (d *Decisions) members(ctx context.Context, t ports.Target, f *pipeline.PRFacts) ([]member, error) {
	var out []member
	add := func(g ports.Target, named bool) error {
		if slices.ContainsFunc(out, func(m member) bool { return m.Key() == g.Key() }) {
			return nil
		}
		m, ok, err := d.member(ctx, g, f.Base.Ref, named)
		if err == nil && ok {
			err = d.confirm(ctx, &m, f.Base.Ref)
		}
		if err == nil && ok {
			out = append(out, m)
		}
		return err
	}
	if t.Number > 0 {
		if err := add(ports.Target{Kind: ports.TargetPull, RepoID: t.RepoID, Number: t.Number}, true); err != nil {
			return nil, err
		}
	}
	for _, c := range f.Commits[:min(len(f.Commits), maxGroupCommits)] {
		heads, err := d.Targets.TargetsOnHead(ctx, t.RepoID, c.SHA)
		if err != nil {
			return nil, fmt.Errorf("look for the merge group's pull requests: %w", err)
		}
		for _, g := range heads {
			if err := add(g, false); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b member) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// member looks a pull request up. One that merely shares a commit with the
// group is none if it is to be merged elsewhere.
func (d *Decisions) member(ctx context.Context, g ports.Target, baseRef string, named bool) (m member, ok bool, err error) {
	m.TargetState, err = d.Targets.Target(ctx, g.Key())
	if errors.Is(err, ports.ErrNotFound) {
		return m, false, nil
	}
	var last *ports.StoredReview
	if err == nil {
		last, err = d.History.LatestReview(ctx, g.Key())
	}
	if err != nil {
		return m, false, fmt.Errorf("look at the merge group's pull request %d: %w", g.Number, err)
	}
	if !named && last != nil && last.Review.Facts.Base.Ref != baseRef {
		return m, false, nil
	}
	m.named = named
	m.saw(last)
	m.blocks = last == nil || last.HeadSHA != m.HeadSHA || last.Review.Report.Decision.Blocks()
	if m.memory, err = d.Commands.Taught(ctx, g.Key(), m.HeadSHA, baseRef); err != nil {
		return m, false, fmt.Errorf("look for what people said of %s: %w", g.Key(), err)
	}
	return m, true, nil
}

// saw keeps what a review saw of the pull request as it is.
func (m *member) saw(r *ports.StoredReview) {
	if r == nil || r.HeadSHA != m.HeadSHA || !listsCommits(&r.Review.Facts) {
		return
	}
	for _, c := range r.Review.Facts.Commits {
		m.commits = append(m.commits, c.SHA)
	}
	if !m.named {
		return
	}
	m.lines = map[string]changedLines{}
	for _, x := range r.Review.Facts.Files {
		m.lines[x.Path] = changedLines{x.Additions, x.Deletions}
	}
}

// confirm drops the override of a pull request whose head is another than is
// known: news of a push come late or not at all, and the queue does not wait for
// them. That the group has the head's commit tells nothing, as others may follow.
func (d *Decisions) confirm(ctx context.Context, m *member, baseRef string) error {
	if d := m.memory.ByHand; d == nil || d.Action != pipeline.HandOverride {
		return nil
	}
	now, err := d.PullReader.Pull(ctx, m.Target)
	if err != nil {
		return fmt.Errorf("look at the head of pull request %d, which was overridden: %w", m.Number, err)
	}
	if now.HeadSHA != m.HeadSHA || now.BaseRef != baseRef {
		m.memory.ByHand, m.blocks = nil, true
	}
	return nil
}

// decidedFor is what was decided by hand for a group, or nil.
func decidedFor(members []member) *pipeline.HandDecision {
	var overridden, rejected []member
	blocked := false
	for _, m := range members {
		switch d := m.memory.ByHand; {
		case d != nil && d.Action == pipeline.HandReject:
			rejected = append(rejected, m)
		case d != nil && d.Action == pipeline.HandOverride:
			overridden = append(overridden, m)
		default:
			blocked = blocked || m.blocks
		}
	}
	switch {
	case len(rejected) > 0:
		return united(rejected)
	case len(overridden) > 0 && !blocked:
		return united(overridden)
	}
	return nil
}

// shared returns the layers in both lists: whoever decided about one pull request has no
// say in what is final in another.
func shared(a, b pipeline.List[string]) pipeline.List[string] {
	return slices.DeleteFunc(slices.Clone(a), func(layer string) bool { return !slices.Contains(b, layer) })
}

// united makes one decision of the same one on several pull requests. It names
// a few of them; each has its own in its own check.
func united(decided []member) *pipeline.HandDecision {
	const named = 3
	out := *decided[0].memory.ByHand
	var by, why []string
	for i, m := range decided {
		d := m.memory.ByHand
		out.FinalIn = shared(out.FinalIn, d.FinalIn)
		if d.At.After(out.At) {
			out.At = d.At
		}
		if i == named {
			why = append(why, fmt.Sprintf("and %d more", len(decided)-named))
		}
		if i >= named {
			continue
		}
		if !slices.Contains(by, d.By) {
			by = append(by, d.By)
		}
		why = append(why, fmt.Sprintf("pull request %d: %s", m.Number, d.Reason))
	}
	out.By, out.Reason = strings.Join(by, ", "), strings.Join(why, "; ")
	return &out
}
