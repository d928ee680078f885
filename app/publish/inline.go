package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/once"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Inline writes comments on lines of pull requests, and says in them what became of their
// findings.
type Inline struct {
	Checks       *Checks
	LineComments ports.LineComments
	InlineWriter ports.InlineWriter
	History      ports.History
	Leases       lease.Keeper
	Log          zerolog.Logger
	WebURL       string // of GitHub, for links
}

// Write writes comments about new findings, all in one review on GitHub. It does so before
// the check is written, which has annotations for all other findings. If GitHub doesn't take
// the comments, their findings have annotations, too.
func (n *Inline) Write(ctx context.Context, p *Publication) error {
	if p.State.Kind != ports.TargetPull {
		return nil
	}
	stored, err := n.LineComments.InlineComments(ctx, p.Lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comments on lines: %w", err)
	}
	have, err := n.known(ctx, p, slices.Clone(stored))
	if err != nil {
		return err
	}
	remarks, err := n.remarks(ctx, p, have)
	if err != nil {
		return err
	}
	p.inline = intents(p.Review.RunID, have, remarks)
	save := func(ctx context.Context) error { return n.save(ctx, p.Lease, p.inline) }
	switch {
	case len(remarks) == 0 && slices.Equal(stored, p.inline):
		return nil
	case len(remarks) == 0:
		return save(ctx)
	}
	_, err = once.Ensure(ctx, func(ctx context.Context) error { return n.Leases.Fence(ctx, p.Lease) }, once.Creation{
		Intend: save, // known has looked for those of an earlier intent
		Create: func(ctx context.Context) (func(context.Context) error, error) {
			state, err := n.create(ctx, p, remarks)
			if err != nil {
				return nil, err
			}
			for i := range p.inline {
				if p.inline[i].State == ports.InlineIntended {
					p.inline[i].State = state
				}
			}
			return save, nil
		},
	})
	return err
}

// talks reports whether comments on lines can be written now.
func (p *Publication) talks() bool {
	return p.State.Kind == ports.TargetPull && p.Pull != nil && !p.Pull.Locked && !p.Pull.Archived
}

// wantsInline reports whether the review may add comments on lines.
func (p *Publication) wantsInline() bool {
	which := p.Config.Settings.Comment.Inline
	return p.talks() && (which == config.InlineBlocking || which == config.InlineAll)
}

// known completes what the store knows. It looks on GitHub for the comments without an
// outcome, or for all if the store was lost. An intended comment that it returns is not there.
func (n *Inline) known(ctx context.Context, p *Publication, have []ports.InlineComment) ([]ports.InlineComment, error) {
	isIntended := func(c ports.InlineComment) bool { return c.State == ports.InlineIntended }
	lost := len(have) == 0 && p.wantsInline() && p.Pull.OnLines > 0 && n.Checks.mayHaveCheck(p.State, p.Review.HeadSHA)
	if !lost && !slices.ContainsFunc(have, isIntended) {
		return have, nil
	}
	threads, err := once.LookTwice(ctx, func() (*[]ports.InlineThread, error) {
		threads, err := n.InlineWriter.InlineThreads(ctx, p.State.Target)
		there := lost || slices.ContainsFunc(threads, func(t ports.InlineThread) bool {
			i := at(have, render.InlineFingerprint(t.Body))
			return i >= 0 && isIntended(have[i])
		})
		if err != nil || !there {
			return nil, err
		}
		return &threads, nil
	})
	switch {
	case doWithout(p, err): // nobody can tell whether they are there, so they are not written again
		threads = new([]ports.InlineThread)
	case err != nil || threads == nil:
		return have, err
	}
	// GitHub has all comments of a review or none. One that is missing was deleted.
	return identified(givenUp(have), *threads, true), nil
}

// givenUp gives up the comments without an outcome.
func givenUp(have []ports.InlineComment) []ports.InlineComment {
	for i := range have {
		if have[i].State == ports.InlineIntended {
			have[i].State = ports.InlineRefused
		}
	}
	return have
}

// at returns the index of the comment about a finding, or -1.
func at(all []ports.InlineComment, fingerprint string) int {
	return slices.IndexFunc(all, func(c ports.InlineComment) bool { return c.Fingerprint == fingerprint })
}

// identified notes which threads on GitHub the comments began. With add it also notes
// comments that are not known.
func identified(have []ports.InlineComment, threads []ports.InlineThread, add bool) []ports.InlineComment {
	for _, t := range threads {
		fingerprint := render.InlineFingerprint(t.Body)
		i := at(have, fingerprint)
		switch {
		case fingerprint == "" || i < 0 && !add:
			continue
		case i < 0:
			have = append(have, ports.InlineComment{Fingerprint: fingerprint, State: ports.InlineOpen})
			i = len(have) - 1
		case have[i].NodeID != "":
			continue
		case have[i].State == ports.InlineRefused:
			have[i].State = ports.InlineOpen
		}
		have[i].RemoteID, have[i].NodeID, have[i].ThreadID = t.RemoteID, t.NodeID, t.ThreadID
	}
	return have
}

// remarks returns the comments to add, once for each run. Findings that the last published
// review had already keep their annotations.
func (n *Inline) remarks(ctx context.Context, p *Publication, have []ports.InlineComment) ([]render.InlineRemark, error) {
	if !p.wantsInline() || slices.ContainsFunc(have, func(c ports.InlineComment) bool { return c.RunID == p.Review.RunID && c.State != ports.InlineIntended }) {
		return nil, nil
	}
	lines := render.OnLines(n.view(p))
	blocking := p.Config.Settings.Comment.Inline == config.InlineBlocking
	old := map[string]bool{}
	known := func(fingerprint string) bool {
		i := at(have, fingerprint)
		return old[fingerprint] || i >= 0 && have[i].State != ports.InlineIntended
	}
	if len(lines.New(blocking, known)) == 0 {
		return nil, nil // without reading the last review
	}
	last, err := n.History.LatestReview(ctx, p.Lease.Key)
	if err != nil {
		return nil, fmt.Errorf("read the last published review: %w", err)
	}
	if last != nil {
		note := func(f *pipeline.Finding) {
			for _, id := range append(slices.Clone(f.Fingerprints), f.ID) {
				old[id] = true
			}
		}
		r := &last.Review.Report
		for _, list := range []pipeline.List[pipeline.Finding]{r.Findings, r.Changes.Unconfirmed, r.Changes.NotRaised} {
			for i := range list {
				note(&list[i])
			}
		}
		for i := range r.Suppressed {
			note(&r.Suppressed[i].Finding)
		}
	}
	return lines.New(blocking, known), nil
}

// intents adds an intent for each remark. An older intent that led to nothing is given up.
func intents(runID string, have []ports.InlineComment, remarks []render.InlineRemark) []ports.InlineComment {
	all := givenUp(slices.Clone(have))
	for _, r := range remarks {
		c := ports.InlineComment{Fingerprint: r.Fingerprint, RunID: runID, State: ports.InlineIntended}
		if i := at(all, r.Fingerprint); i >= 0 {
			all[i] = c
		} else {
			all = append(all, c)
		}
	}
	return all
}

// doWithout reports whether a review can do without comments on lines after an error: it
// lasts, or it came again. The check must not wait for them.
func doWithout(p *Publication, err error) bool {
	var host *ports.HostError
	return ports.IsFinal(err) || errors.As(err, &host) && host.Kind == ports.HostTransient && p.State.Attempts > 0
}

// create writes the remarks, and returns their state. If GitHub refuses them, for instance
// because the head has moved, it does not try again.
func (n *Inline) create(ctx context.Context, p *Publication, remarks []render.InlineRemark) (ports.InlineState, error) {
	var all []ports.InlineWrite
	for _, r := range remarks {
		all = append(all, r.InlineWrite)
	}
	// A push must not cancel the request: the comments could arrive after known has looked.
	err := n.InlineWriter.CreateInline(context.WithoutCancel(ctx), p.State.Target, p.Review.HeadSHA, all)
	switch {
	case doWithout(p, err):
		n.Log.Warn().EmbedObject(p.State.Target.At(p.Review.HeadSHA)).Err(err).Msg("GitHub did not take the comments on lines; their findings have annotations")
		return ports.InlineRefused, nil
	case err != nil:
		return "", err
	}
	return ports.InlineOpen, nil
}

// Update edits the comments whose findings were fixed, dismissed, or are back, in as few calls as
// GitHub's limits allow. The first call learns where the comments are that this review added.
func (n *Inline) Update(ctx context.Context, p *Publication) error {
	have := slices.Clone(p.inline) // the check is written from p.inline at the same time
	if len(have) == 0 || !p.talks() {
		return nil
	}
	edits, changed, err := n.edits(ctx, p, have)
	if err != nil {
		return n.unlessFinal(p, err)
	}
	added := slices.ContainsFunc(have, func(c ports.InlineComment) bool { return c.RunID == p.Review.RunID && c.Shown() && c.NodeID == "" })
	for len(edits) > 0 || added {
		if err := n.Leases.Fence(ctx, p.Lease); err != nil {
			return err
		}
		some := edits[:min(len(edits), ports.MaxInlineEdits)]
		done, err := n.InlineWriter.EditInline(ctx, p.State.Target, some, added)
		if err != nil {
			return n.unlessFinal(p, err)
		}
		edits, added = edits[len(some):], false
		changed = identified(changed, done.Threads, false)
		for i := range changed {
			if slices.Contains(done.Gone, changed[i].NodeID) {
				changed[i].State = ports.InlineRefused
			}
		}
	}
	if slices.Equal(changed, p.inline) {
		return nil
	}
	return n.save(context.WithoutCancel(ctx), p.Lease, changed)
}

// edits returns the edits that the review calls for, and the comments as they are after
// them.
func (n *Inline) edits(ctx context.Context, p *Publication, have []ports.InlineComment) (edits []ports.InlineEdit, after []ports.InlineComment, err error) {
	lines := render.OnLines(n.view(p))
	looked := false
	for i := range have {
		if !have[i].Shown() {
			continue
		}
		state, body := lines.Now(have[i].Fingerprint)
		if state == "" && have[i].Unpublished && have[i].RunID != p.Review.RunID && isWhole(&p.Review.Review) {
			state, body = lines.Gone(have[i].Fingerprint) // a push came before its review was published
		}
		if state == "" || state == have[i].State {
			continue
		}
		if have[i].NodeID == "" && !looked { // an earlier call did not show it
			looked = true
			threads, err := n.InlineWriter.InlineThreads(ctx, p.State.Target)
			if err != nil {
				return nil, nil, err
			}
			have = identified(have, threads, false)
		}
		if have[i].NodeID == "" { // it was deleted
			have[i].State = ports.InlineRefused
			continue
		}
		have[i].State = state
		edits = append(edits, ports.InlineEdit{NodeID: have[i].NodeID, ThreadID: have[i].ThreadID, Body: body, Resolved: state != ports.InlineOpen})
	}
	return edits, have, nil
}

// unlessFinal returns nil, and logs the error, if a retry can't change it. The comments then
// stay as they are.
func (n *Inline) unlessFinal(p *Publication, err error) error {
	if !ports.IsFinal(err) {
		return err
	}
	n.Log.Warn().EmbedObject(p.State.Target).Err(err).Msg("comments on lines not updated")
	return nil
}

func (n *Inline) save(ctx context.Context, l ports.Lease, all []ports.InlineComment) error {
	if err := n.LineComments.SaveInline(ctx, l, all); err != nil {
		return fmt.Errorf("record the comments on lines: %w", err)
	}
	return nil
}

// view is what the renderer needs for comments on lines.
func (n *Inline) view(p *Publication) render.View {
	return View(n.WebURL, p.State.Target, p.Review, p.Config, nil, nil)
}

// urls returns the URLs of the comments that are on GitHub, by fingerprint. A URL is empty
// while it is not known.
func urls(webURL string, t ports.Target, all []ports.InlineComment) map[string]string {
	urls := map[string]string{}
	for _, c := range all {
		switch {
		case !c.Shown():
		case c.RemoteID == 0:
			urls[c.Fingerprint] = ""
		default:
			urls[c.Fingerprint] = fmt.Sprintf("%s/%s/%s/pull/%d#discussion_r%d", webURL, t.Owner, t.Name, t.Number, c.RemoteID)
		}
	}
	return urls
}
