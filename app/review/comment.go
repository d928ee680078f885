package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// publishComment writes the one comment of a pull request, or nothing where
// the settings say so, where nobody may write, or where it says the same
// already.
func (s *Service) publishComment(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, talk *ports.Conversation) error {
	settings := cfg.Settings
	if state.Kind == ports.TargetGroup || settings.Comment.When == config.CommentNever {
		return nil
	}
	if talk != nil && (talk.Locked || talk.Archived) {
		return nil
	}
	have, err := s.Store.NewestWrite(ctx, ports.WriteComment, lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comment: %w", err)
	}
	if have == nil && settings.Comment.When == config.CommentFindings && quiet(r.Review.Report) && len(state.Notices) == 0 {
		return nil
	}
	acts, notices, err := s.acts(ctx, r, cfg)
	if err != nil {
		return err
	}
	view := s.view(state.Target, r, cfg, slices.Concat(notices, state.Said, state.Notices), nil)
	view.Acts = acts
	view.Details = s.checkURL(ctx, state.Target, r.HeadSHA)
	return s.writeComment(ctx, lease, state.Target, have, render.Comment(view), talk)
}

// writeComment writes the comment, of which have is what the store knows.
func (s *Service) writeComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document, talk *ports.Conversation) (err error) {
	if have == nil || have.State == ports.WriteIntended {
		if have, err = s.findComment(ctx, lease, t, have, talk); err != nil {
			return err
		}
	}
	if have == nil || have.State == ports.WriteIntended {
		return s.createComment(ctx, lease, t, have, doc)
	}
	return s.updateComment(ctx, lease, t, have, doc)
}

// publishNotices writes a comment that has nothing but notices in it: there is
// no review yet.
func (s *Service) publishNotices(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	cfg, err := s.configs.Known(ctx, state.Target)
	if err != nil || cfg.Settings.Comment.When == config.CommentNever {
		return err
	}
	have, err := s.Store.NewestWrite(ctx, ports.WriteComment, lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comment: %w", err)
	}
	return s.writeComment(ctx, lease, state.Target, have, render.NoticeComment(slices.Concat(state.Said, state.Notices)), nil)
}

// checkURL is the page of the head's check run, where the findings stand that
// a comment has no room for; empty if there is no check run yet.
func (s *Service) checkURL(ctx context.Context, t ports.Target, headSHA string) string {
	w, err := s.Store.NewestWrite(ctx, ports.WriteCheck, checkSubject(t.RepoID, headSHA))
	if err != nil || w == nil || w.RemoteID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s/runs/%d", s.WebURL, t.Owner, t.Name, w.RemoteID)
}

// quiet reports whether there is nothing to say.
func quiet(r pipeline.ReviewReport) bool {
	return r.Decision == pipeline.DecisionPass && r.Counts.Total() == 0 && len(r.Changes.Resolved) == 0 && len(r.Incomplete) == 0 &&
		len(r.ProposedConfig.Files) == 0 && len(r.ReviewReports) == 0
}

// findComment looks for our comment on GitHub where the store doesn't know
// it: an intent has no outcome, or the store was lost. It returns have as it
// is if there is none. Of several, left by races, the oldest stays.
func (s *Service) findComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, talk *ports.Conversation) (*ports.Write, error) {
	if have == nil && talk != nil && talk.Comments == 0 {
		return nil, nil
	}
	found, err := s.GitHub.Comments(ctx, t, render.Marker)
	if err == nil && len(found) == 0 && have != nil {
		one, lerr := twice(ctx, func() (*[]ports.Comment, error) {
			again, err := s.GitHub.Comments(ctx, t, render.Marker)
			if len(again) == 0 {
				return nil, err
			}
			return &again, err
		})
		if err = lerr; one != nil {
			found = *one
		}
	}
	if err != nil || len(found) == 0 {
		return have, err
	}
	if have == nil {
		intent, err := s.Store.Intend(ctx, lease, ports.Write{Kind: ports.WriteComment, Subject: lease.Key, Key: lease.Key})
		if err != nil {
			return nil, fmt.Errorf("record the comment that was found: %w", err)
		}
		have = &intent
	}
	for _, extra := range found[1:] {
		if err := s.leases.Fence(ctx, lease); err != nil {
			return nil, err
		}
		if err := s.GitHub.DeleteComment(ctx, t, extra.ID); err != nil {
			return nil, err
		}
	}
	have.RemoteID, have.State = found[0].ID, ports.WriteOpen
	if err := s.Store.Record(ctx, *have); err != nil {
		return nil, fmt.Errorf("record the comment that was found: %w", err)
	}
	return have, nil
}

func (s *Service) createComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document) error {
	if have == nil {
		intent, err := s.Store.Intend(ctx, lease, ports.Write{Kind: ports.WriteComment, Subject: lease.Key, Key: lease.Key})
		if err != nil {
			return fmt.Errorf("store the intent to comment: %w", err)
		}
		have = &intent
	}
	if err := s.leases.Fence(ctx, lease); err != nil {
		return err
	}
	id, err := s.GitHub.CreateComment(ctx, t, doc.Body)
	if err != nil {
		return err
	}
	have.RemoteID, have.State, have.Digest = id, ports.WriteOpen, doc.Digest
	if err := s.Store.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the comment: %w", err)
	}
	return nil
}

// updateComment edits the comment in place. One that somebody deleted is
// written anew.
func (s *Service) updateComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document) error {
	if have.Digest == doc.Digest {
		return nil
	}
	if err := s.leases.Fence(ctx, lease); err != nil {
		return err
	}
	err := s.GitHub.UpdateComment(ctx, t, have.RemoteID, doc.Body)
	var host *ports.HostError
	if errors.As(err, &host) && host.Kind == ports.HostNotFound {
		return s.replaceComment(ctx, lease, t, have, doc)
	}
	if err != nil {
		return err
	}
	have.Digest = doc.Digest
	if err := s.Store.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the edited comment: %w", err)
	}
	return nil
}

// replaceComment writes the comment anew that GitHub says is gone, unless one
// is there: the answer may have been wrong.
func (s *Service) replaceComment(ctx context.Context, lease ports.Lease, t ports.Target, gone *ports.Write, doc render.Document) error {
	found, err := s.GitHub.Comments(ctx, t, render.Marker)
	if err != nil {
		return err
	}
	for _, c := range found {
		if c.ID == gone.RemoteID {
			return &ports.HostError{Op: "update the comment", Kind: ports.HostTransient, Err: errors.New("GitHub lists the comment that it says is not there")}
		}
	}
	have, err := s.findComment(ctx, lease, t, nil, nil)
	if err != nil {
		return err
	}
	if have == nil {
		return s.createComment(ctx, lease, t, nil, doc)
	}
	return s.updateComment(ctx, lease, t, have, doc)
}

// sayNotices renders the newest review's comment again with the notices in it,
// such as why a command was refused.
func (s *Service) sayNotices(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	r, err := s.Store.LatestReview(ctx, lease.Key)
	if err != nil {
		return fmt.Errorf("read the newest review: %w", err)
	}
	if r == nil {
		err = s.publishNotices(ctx, lease, state)
	} else {
		var cfg *config.Config
		if cfg, err = s.configs.ConfigOf(ctx, r); err == nil {
			err = s.publishComment(ctx, lease, state, r, cfg, nil)
		}
	}
	if err != nil {
		var host *ports.HostError
		if !errors.As(err, &host) || host.Temporary() {
			return err
		}
		s.Log.Warn().Str("target", lease.Key).Err(err).Msg("notices can't be said")
	}
	if err := s.Store.NoticesSaid(ctx, lease.Key, state.Notices); err != nil {
		return fmt.Errorf("mark the notices as said: %w", err)
	}
	return nil
}
