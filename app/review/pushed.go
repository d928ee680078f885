package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// maxRefreshed is how many pull requests one push of config has reviewed again,
// the newest. With those of an organisation it is some 2,000 calls. The others
// have the new config from their next push or command on.
const maxRefreshed = 200

// carriesConfig reports whether the branch that was pushed to is one whose config
// counts: the default branch, or one that the server names, which .github has
// none of.
func (s *Service) carriesConfig(n ports.ConfigNews) bool {
	if n.Branch == "" {
		return true
	}
	return s.branches != nil && s.branches.Any(n.Branch) && !isOrganisation(n.Repository)
}

func isOrganisation(repo ports.Target) bool {
	return strings.EqualFold(repo.Name, ports.OrganisationRepo)
}

// workConfig looks at config that may have changed, and asks for a review of the
// open pull requests that were judged by another. It keeps nothing of what it
// reads: the repository may have another name by now, and another its name. A
// review looks at that.
func (s *Service) workConfig(ctx context.Context, job ports.Job) error {
	n := *job.Config
	if n.Was != "" {
		if err := s.noteNames(ctx, n.Repository.RepoID, n.Was, n.Repository.Owner+"/"+n.Repository.Name); err != nil {
			return err
		}
	}
	if isOrganisation(n.Repository) {
		if err := s.spreadNews(ctx, n.Repository); err != nil {
			return err
		}
	} else if off, err := s.switchedOff(ctx, n.Repository); err != nil || off {
		return err // should this push switch it on, the next event of a pull request will
	}
	now, found, err := s.pushedConfig(ctx, n)
	if err != nil {
		return err
	}
	if now == nil {
		s.configPushed(found)
		return nil
	}
	pulls, err := s.Store.KnownPulls(ctx, n.Repository, maxRefreshed+1)
	if err != nil {
		return fmt.Errorf("list the pull requests that config was pushed for: %w", err)
	}
	if len(pulls) > maxRefreshed {
		pulls = pulls[:maxRefreshed]
		s.Log.Warn().Str("repository", n.Repository.Owner+"/"+n.Repository.Name).Int("reviewed", maxRefreshed).
			Msg("config changed; pull requests beyond the newest are reviewed by it at their next push or command")
	}
	waiting := 0
	for _, t := range pulls {
		waits, err := s.refresh(ctx, job, now, t)
		if err != nil {
			return err
		}
		if waits {
			waiting++
		}
	}
	if waiting > 0 {
		return &ports.RetryError{After: s.retry.Wait(job.Attempt, nil), Err: fmt.Errorf("%d pull requests are under review", waiting)}
	}
	s.configPushed(found)
	return nil
}

// configPatience is how often a push of config is looked at again because reviews
// are under way, in all some ten minutes: what they are judged by is known only
// at their end.
const configPatience = 10

// pushedConfig reads and checks the config that is in force after a push, and says
// what it was found to be. It returns nil where it can't be read for good.
func (s *Service) pushedConfig(ctx context.Context, n ports.ConfigNews) (now *inForce, found string, err error) {
	t := n.Repository
	log := s.Log.With().Str("repository", t.Owner+"/"+t.Name).Str("branch", n.Branch).Logger()
	read, err := s.GitHub.ReadConfig(ctx, t, n.Branch)
	var host *ports.HostError
	switch {
	case errors.As(err, &host) && !host.Temporary():
		log.Warn().Err(err).Msg("pushed config can't be read")
		return nil, "unreadable", nil
	case err != nil:
		return nil, "", err
	}
	laid, err := s.lay(ctx, t, n.Branch, read, true)
	if err != nil {
		return nil, "", err
	}
	found = "valid"
	for _, p := range laid.config.InForce.Problems {
		found = "invalid"
		log.Error().Str("file", p.File).Int("line", p.Line).Str("problem", p.Problem).Str("remedy", p.Remedy).Msg("pushed config is not valid: the last that was stays in force")
	}
	log.Info().Str("found", found).Msg("config was pushed")
	return &laid, found, nil
}

func (s *Service) configPushed(found string) {
	if s.Observe.ConfigPushed != nil {
		s.Observe.ConfigPushed(found)
	}
}

// refresh asks for a review of an open pull request, unless it was judged by
// the layer as it is, has config of another branch, or is not looked at. One
// that is under review waits until that is known.
func (s *Service) refresh(ctx context.Context, job ports.Job, now *inForce, t ports.Target) (waits bool, err error) {
	n := *job.Config
	if !isOrganisation(n.Repository) {
		branch, err := s.knownBranch(ctx, t)
		if err != nil || branch != n.Branch {
			return false, err
		}
	}
	if off, err := s.staysOff(ctx, n, now, t); err != nil || off {
		return false, err
	}
	used, ok, err := s.Store.ConfigUsed(ctx, t.Key())
	if err != nil {
		return false, fmt.Errorf("look what %s was judged by: %w", t.Key(), err)
	}
	if ok && n.Was == "" && sameBlobs(ofLayer(now.own, used), ofLayer(now.own, now.read)) && sameFile(ports.LayerAttributes, used, now.attributes) && sameFile(ports.LayerExceptions, used, now.exceptions) {
		return false, nil
	}
	state, err := s.Store.Target(ctx, t.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound): // forgotten meanwhile
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look whether %s is under review: %w", t.Key(), err)
	case state.Wanted > state.Done && job.Attempt < configPatience:
		return true, nil
	}
	ask := ports.ReviewAsk{Target: t, Reason: reasonOf(n), Once: job.Delivery + " " + t.Key(), Low: true}
	ask.Target.HeadSHA = "" // the store's own may be newer by now
	if err := s.Store.Ask(ctx, ask, false); err != nil {
		return false, fmt.Errorf("ask for a review of %s: %w", t.Key(), err)
	}
	return false, nil
}

func reasonOf(n ports.ConfigNews) string {
	if n.Was != "" {
		return "the repository was " + n.Was
	}
	return "config changed"
}

// staysOff reports whether nothing is posted on the pull request's repository,
// after the push as well.
func (s *Service) staysOff(ctx context.Context, n ports.ConfigNews, now *inForce, t ports.Target) (bool, error) {
	if t.RepoID == n.Repository.RepoID {
		return now.config.Mode(t.Owner+"/"+t.Name) == config.ModeOff, nil
	}
	// What the push makes of another repository its own layers have a say in.
	if now.config.Mode(t.Owner+"/"+t.Name) != config.ModeOff {
		return false, nil
	}
	return s.switchedOff(ctx, t)
}

// sameFile reports whether a review was done with this version of a file.
func sameFile(layer string, used []ports.ConfigBlob, now ports.ConfigBlob) bool {
	before := ofLayer(layer, used)
	if now.Path == "" {
		return len(before) == 0
	}
	return len(before) == 1 && before[0].BlobSHA == now.BlobSHA
}

// ofLayer are the files of one layer.
func ofLayer(layer string, files []ports.ConfigBlob) []ports.ConfigBlob {
	return slices.DeleteFunc(slices.Clone(files), func(f ports.ConfigBlob) bool { return f.Layer != layer })
}

// An organisation's config is remembered for a while. News of it are kept as a
// mark in the store, so that every process that shares it looks again.

// heededNews are those that a process has looked again for, by mark.
type heededNews struct {
	mu sync.Mutex
	m  map[string]time.Time
}

// newsMark names the mark for the organisation of a repository.
func newsMark(t ports.Target) string {
	return fmt.Sprintf("config %d/%s", t.Installation, strings.ToLower(t.Owner))
}

func (s *Service) spreadNews(ctx context.Context, t ports.Target) error {
	if err := s.Store.SetMark(ctx, newsMark(t), s.Now()); err != nil {
		return fmt.Errorf("note that the organisation's config may have changed: %w", err)
	}
	return s.heedNews(ctx, t)
}

// heedNews drops what is remembered of an organisation's config if there are
// news of it.
func (s *Service) heedNews(ctx context.Context, t ports.Target) error {
	name := newsMark(t)
	at, err := s.Store.Mark(ctx, name)
	if err != nil {
		return fmt.Errorf("look for news of the organisation's config: %w", err)
	}
	if at.IsZero() {
		return nil
	}
	h := &s.heeded
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m[name].Equal(at) {
		return nil
	}
	if h.m == nil {
		h.m = map[string]time.Time{}
	}
	s.GitHub.ForgetConfig(t)
	h.m[name] = at
	return nil
}
