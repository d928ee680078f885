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
	blocks bool            // its own review blocks, or it has no review
	named  bool            // the group's ref names it
	// What its review of this head saw; empty if there is no such review or it did not see
	// all commits. lines is set only for the pull request that the ref names: how many
	// lines change in each file.
	commits []string // SHAs
	lines   map[string]changedLines
}

type changedLines struct{ added, deleted int }

// taughtOfGroup returns people's decisions about the pull requests in a merge group, and which of them
// are paused. A rejected pull request fails the group. An override passes the group if every other pull
// request was overridden, too, or passes on its own, and no member is paused. This is certain only if the
// known pull requests make up the whole group.
func (d *Decisions) taughtOfGroup(ctx context.Context, t ports.Target, f *pipeline.PRFacts) (pipeline.Memory, error) {
	members, err := d.members(ctx, t, f)
	if err != nil {
		return pipeline.Memory{}, err
	}
	var m pipeline.Memory
	for i := range members {
		m.Dismissed = append(m.Dismissed, members[i].memory.Dismissed...)
		m.Accepted = append(m.Accepted, members[i].memory.Accepted...)
		paused, err := d.paused(ctx, &members[i])
		if err != nil {
			return pipeline.Memory{}, err
		}
		m.Paused = append(m.Paused, paused...)
	}
	m.ByHand = decidedFor(members)
	if m.ByHand != nil && m.ByHand.Action == pipeline.HandOverride && (len(m.Paused) > 0 || !makeUp(members, f)) {
		m.ByHand = nil
	}
	return m, nil
}

// paused returns the member if its session is paused. If there are both an escalation and a pause, it
// names the escalation, which only a person can end.
func (d *Decisions) paused(ctx context.Context, m *member) (pipeline.List[pipeline.PausedPull], error) {
	row, err := d.Sessions.Session(ctx, m.Key())
	if errors.Is(err, ports.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the session of pull request %d: %w", m.Number, err)
	}
	p := cmp.Or(row.State.Escalation, row.State.Pause)
	if p == nil {
		return nil, nil
	}
	return pipeline.List[pipeline.PausedPull]{{Number: m.Number, Rule: p.Rule, Reviewers: p.Reviewers}}, nil
}

// makeUp reports whether the members are the whole group. If the queue merges, it adds one
// commit to the commits of each pull request. If it squashes or rebases, their commits are
// not in the group, and only the one that the ref names is known. That one is alone if the
// group has one commit, or if the group has no more commits than it and makes exactly its
// changes.
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
		for i := range members { // a pull request that another is based on has no commit by the queue
			if head := members[i].HeadSHA; there[head] && theirs[head] == 1 {
				added--
			}
		}
		return added <= 0
	}
	return len(members) == 1 && members[0].named && (len(f.Commits) == 1 || members[0].is(f))
}

// is reports whether a group has no more commits than the pull request, and changes only
// files that it changes, with the same number of lines in each.
func (m *member) is(f *pipeline.PRFacts) bool {
	return len(f.Commits) <= len(m.commits) && !slices.ContainsFunc(f.Files, func(x pipeline.File) bool {
		lines, ok := m.lines[x.Path]
		return !ok || lines != changedLines{x.Additions, x.Deletions}
	})
}

// listsCommits reports whether the facts have all commits, and no more than
// maxGroupCommits.
func listsCommits(f *pipeline.PRFacts) bool {
	return len(f.Commits) <= maxGroupCommits && !slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool { return i.What == "commits" })
}

// maxGroupCommits is how many of a group's commits are looked up in the store. By default a
// merge queue puts fewer into a group.
const maxGroupCommits = 250

// members returns the pull requests of a group, by number: the one in its ref, and those
// whose head is among its commits. If the queue squashes or rebases, it rewrites the heads,
// so only the one in the ref is known.
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

// member reads a pull request. A pull request that only shares a commit with the group is
// not a member if it has another base.
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
		return m, false, fmt.Errorf("read people's decisions about %s: %w", g.Key(), err)
	}
	return m, true, nil
}

// saw records what a review saw of the pull request's current head.
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

// confirm drops the override of a pull request if its head is not the one in the store: the
// event of a push may arrive late or not at all, and the queue does not wait for it. The
// head's commit in the group proves nothing, because later commits may follow it.
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

// decidedFor returns the decision by hand for a group, or nil.
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

// shared returns the layers in both lists: a person who decided about one pull request has
// no authority over what is final in another.
func shared(a, b pipeline.List[string]) pipeline.List[string] {
	return slices.DeleteFunc(slices.Clone(a), func(layer string) bool { return !slices.Contains(b, layer) })
}

// united combines equal decisions about several pull requests into one. It names a few of
// them; the check of each pull request has the full decision.
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
