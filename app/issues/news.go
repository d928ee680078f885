package issues

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxNews is how many items of each kind one merge may add. Nobody works through more.
const maxNews = 50

// noteMerge stores what a merge adds and what it resolves.
func (k *Tracker) noteMerge(ctx context.Context, l ports.Lease, t ports.Target, r *ports.StoredReview, cfg *config.Config) error {
	live, err := k.Deferrals.LiveDeferred(ctx, t.RepoID)
	if err != nil {
		return err
	}
	m := merge{review: &r.Review, settings: cfg.Settings.Issues, words: render.IssuesOf(publish.View(k.WebURL, t, r, cfg, nil, nil))}
	news := ports.DeferredNews{RepoID: t.RepoID, Number: t.Number, Seen: m.seen(), Moved: map[int64]string{}}
	changes := newChanges(&r.Review.Facts)
	for i := range live {
		d := &live[i]
		if slices.ContainsFunc(news.Seen, func(n ports.Deferred) bool { return n.Kind == d.Kind && n.Key == d.Key }) {
			continue
		}
		gone, to, err := changes.judge(d, cfg)
		switch {
		case err != nil:
			return err
		case gone:
			news.Gone = append(news.Gone, d.ID)
		case to != d.Path:
			news.Moved[d.ID] = to
		}
	}
	if len(news.Seen)+len(news.Gone)+len(news.Moved) == 0 {
		return nil
	}
	dropped, err := k.Deferrals.NoteDeferred(ctx, l, news)
	if err != nil {
		return fmt.Errorf("note what was merged: %w", err)
	}
	if dropped += m.left; dropped > 0 {
		k.Log.Warn().EmbedObject(t).Int("dropped", dropped).Msg("more was merged than issues are kept for")
		k.countIssue(issueDropped)
	}
	return nil
}

// merge finds the deferred items of a merged review.
type merge struct {
	review   *pipeline.Review
	settings config.IssueSettings
	words    *render.Issues
	left     int // number of items beyond maxNews
}

// seen returns the deferred items. Warnings are debt if they passed the gate. A gap is in
// the config, so it counts no matter what happened to the change that showed it.
func (m *merge) seen() []ports.Deferred {
	report := &m.review.Report
	overridden := report.ByHand != nil && report.ByHand.Action == pipeline.HandOverride
	var debts, gaps []ports.Deferred
	if m.settings.TechDebt && (!report.Decision.Blocks() || overridden) {
		debts = m.debts()
	}
	if m.settings.Gaps {
		gaps = m.gaps()
	}
	return append(debts, gaps...)
}

// debts returns the warnings in files. A warning about a title or a commit can't be fixed
// any more.
func (m *merge) debts() (all []ports.Deferred) {
	lines := newChanges(&m.review.Facts)
	for i := range m.review.Report.Findings {
		f := &m.review.Report.Findings[i]
		if f.GateSeverity != pipeline.SeverityWarning || f.Path == "" || f.State != pipeline.StateNew && f.State != pipeline.StateOpen {
			continue
		}
		if len(all) == maxNews {
			m.left++
			continue
		}
		text := m.words.Debt(f)
		all = append(all, ports.Deferred{
			Kind: ports.DeferredDebt, Key: f.ID, Path: f.Path, Subject: lines.flagged(f), Title: text.Title, Body: text.About,
		})
	}
	return all
}

// sum returns a short digest of some texts.
func sum(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// changes finds what a merge did to a file.
type changes struct {
	files map[string]*pipeline.File // by the path before and by the path after
}

func newChanges(f *pipeline.PRFacts) changes {
	c := changes{files: make(map[string]*pipeline.File, len(f.Files))}
	for i := range f.Files {
		file := &f.Files[i]
		c.files[file.Path] = file
		if file.Status == pipeline.FileRenamed {
			c.files[file.PreviousPath] = file
		}
	}
	return c
}

// flagged returns a digest of the first line of a finding, or "" if the diff does not show
// it.
func (c changes) flagged(f *pipeline.Finding) string {
	file := c.files[f.Path]
	if file == nil || f.StartLine == 0 {
		return ""
	}
	for _, h := range file.Hunks {
		for _, l := range h.Lines {
			if l.Op != pipeline.LineRemoved && l.New >= f.StartLine && l.New <= f.EndLine && strings.TrimSpace(l.Text) != "" {
				return lineSum(l.Text)
			}
		}
	}
	return ""
}

// lineSum returns a digest of a line, ignoring white space.
func lineSum(text string) string { return sum(plaintext.Line(text)) }

// judge reports whether the merge resolved an item that it does not contain itself; else it
// returns the current path of the item's file. Debt is resolved if more lines like the
// flagged one were removed than added: agents that look at added lines don't see a line
// that did not change.
func (c changes) judge(d *ports.Deferred, cfg *config.Config) (gone bool, to string, err error) {
	to = d.Path
	if file := c.files[d.Path]; file != nil {
		if file.Status == pipeline.FileRemoved {
			return true, to, nil
		}
		to = file.Path
		if d.Kind == ports.DeferredDebt && d.Subject != "" && balance(file, d.Subject) < 0 {
			return true, to, nil
		}
	}
	if d.Kind == ports.DeferredGap && d.Subject != "" {
		gone, err = covered(cfg, d.Subject, to)
	}
	return gone, to, err
}

// balance returns how many more lines with a digest there are after the change.
func balance(f *pipeline.File, line string) (n int) {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch {
			case l.Op == pipeline.LineContext || lineSum(l.Text) != line:
			case l.Op == pipeline.LineAdded:
				n++
			default:
				n--
			}
		}
	}
	return n
}
