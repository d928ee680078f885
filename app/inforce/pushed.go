package inforce

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// maxRefreshed is how many pull requests are reviewed again after one push of config,
// newest first. For an organisation this takes some 2,000 calls. The other pull requests
// get the new config at their next push or command.
const maxRefreshed = 200

// Pushes asks for new reviews of pull requests after a push changed their config.
type Pushes struct {
	Configs      *Configs
	Targets      ports.Targets
	Intake       ports.Intake
	ConfigUse    ports.ConfigUse
	ConfigReader ports.ConfigReader
	Retry        retry.Policy
	Log          zerolog.Logger
	// Observe is called with the result of checking each push: "valid", "invalid" or
	// "unreadable".
	Observe func(result string)
}

// Work reads config that may have changed, and asks for a review of the open pull requests
// that were reviewed with another config. It stores nothing of what it reads, because the
// repository may have been renamed and another may have taken its name. The review will
// check that.
func (p *Pushes) Work(ctx context.Context, job ports.ConfigJob, attempt int) error {
	n := job.News
	if n.Was != "" {
		if err := p.Configs.noteNames(ctx, n.Repository.RepoID, n.Was, n.Repository.Owner+"/"+n.Repository.Name); err != nil {
			return err
		}
	}
	if isOrganisation(n.Repository) {
		if err := p.Configs.announceChange(ctx, n.Repository); err != nil {
			return err
		}
	} else if off, err := p.Configs.SwitchedOff(ctx, n.Repository); err != nil || off {
		return err // if this push switches it on, the next event of a pull request triggers a review
	}
	now, result, err := p.pushedConfig(ctx, n)
	if err != nil {
		return err
	}
	if now == nil {
		p.configPushed(result)
		return nil
	}
	pulls, err := p.ConfigUse.KnownPulls(ctx, n.Repository, maxRefreshed+1)
	if err != nil {
		return fmt.Errorf("list the pull requests that config was pushed for: %w", err)
	}
	if len(pulls) > maxRefreshed {
		pulls = pulls[:maxRefreshed]
		p.Log.Warn().Str("repository", n.Repository.Owner+"/"+n.Repository.Name).Int("reviewed", maxRefreshed).
			Msg("config changed; pull requests beyond the newest are reviewed by it at their next push or command")
	}
	waiting := 0
	for _, t := range pulls {
		waits, err := p.refresh(ctx, job, attempt, now, t)
		if err != nil {
			return err
		}
		if waits {
			waiting++
		}
	}
	if waiting > 0 {
		return &ports.RetryError{After: p.Retry.Wait(attempt, nil), Err: fmt.Errorf("%d pull requests are under review", waiting)}
	}
	p.configPushed(result)
	return nil
}

// configPatience is how many times a push of config waits for reviews that are under way,
// some ten minutes in all: which config they used is known only when they end.
const configPatience = 10

// pushedConfig reads and checks the config in force after a push, and returns the result of
// the check. now is nil if the config can't be read and a retry would not help.
func (p *Pushes) pushedConfig(ctx context.Context, n ports.ConfigNews) (now *InForce, result string, err error) {
	t := n.Repository
	log := p.Log.With().Str("repository", t.Owner+"/"+t.Name).Str("branch", n.Branch).Logger()
	read, err := p.ConfigReader.ReadConfig(ctx, t, n.Branch)
	switch {
	case ports.IsFinal(err):
		log.Warn().Err(err).Msg("pushed config can't be read")
		return nil, "unreadable", nil
	case err != nil:
		return nil, "", err
	}
	laid, err := p.Configs.Lay(ctx, t, n.Branch, read, true)
	if err != nil {
		return nil, "", err
	}
	result = "valid"
	for _, p := range laid.Config.InForce.Problems {
		result = "invalid"
		log.Error().Str("file", p.File).Int("line", p.Line).Str("problem", p.Problem).Str("remedy", p.Remedy).Msg("pushed config is not valid: the last valid version stays in force")
	}
	log.Info().Str("found", result).Msg("config was pushed")
	return &laid, result, nil
}

func (p *Pushes) configPushed(result string) {
	if p.Observe != nil {
		p.Observe(result)
	}
}

// refresh asks for a review of an open pull request, unless it was reviewed with the
// current layer, uses the config of another branch, or is switched off. waits reports that
// it is under review, so that its config is not known yet.
func (p *Pushes) refresh(ctx context.Context, job ports.ConfigJob, attempt int, now *InForce, t ports.Target) (waits bool, err error) {
	n := job.News
	if !isOrganisation(n.Repository) {
		branch, err := p.Configs.knownBranch(ctx, t)
		if err != nil || branch != n.Branch {
			return false, err
		}
	}
	if off, err := p.staysOff(ctx, n, now, t); err != nil || off {
		return false, err
	}
	used, ok, err := p.ConfigUse.ConfigUsed(ctx, t.Key())
	if err != nil {
		return false, fmt.Errorf("read which config %s was reviewed with: %w", t.Key(), err)
	}
	if ok && n.Was == "" && sameBlobs(ofLayer(now.own, used), ofLayer(now.own, now.read)) && sameFile(ports.LayerAttributes, used, now.Attributes) && sameFile(ports.LayerExceptions, used, now.Exceptions) {
		return false, nil
	}
	state, err := p.Targets.Target(ctx, t.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound): // deleted in the meantime
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read whether %s is under review: %w", t.Key(), err)
	case state.Wanted > state.Done && attempt < configPatience:
		return true, nil
	}
	ask := ports.ReviewAsk{Target: t, Reason: reasonOf(n), Once: job.Delivery + " " + t.Key(), Low: true}
	ask.Target.HeadSHA = "" // the store's own may be newer by now
	if err := p.Intake.Ask(ctx, ask); err != nil {
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

// staysOff reports whether nothing is posted in the pull request's repository, even after
// the push.
func (p *Pushes) staysOff(ctx context.Context, n ports.ConfigNews, now *InForce, t ports.Target) (bool, error) {
	if t.RepoID == n.Repository.RepoID {
		return now.Config.Mode(t.Owner+"/"+t.Name) == config.ModeOff, nil
	}
	// For another repository the result also depends on that repository's own layers.
	if now.Config.Mode(t.Owner+"/"+t.Name) != config.ModeOff {
		return false, nil
	}
	return p.Configs.SwitchedOff(ctx, t)
}

// sameFile reports whether a review used this version of a file.
func sameFile(layer string, used []ports.ConfigBlob, now ports.ConfigBlob) bool {
	before := ofLayer(layer, used)
	if now.Path == "" {
		return len(before) == 0
	}
	return len(before) == 1 && before[0].BlobSHA == now.BlobSHA
}

// ofLayer returns the files of one layer.
func ofLayer(layer string, files []ports.ConfigBlob) []ports.ConfigBlob {
	return slices.DeleteFunc(slices.Clone(files), func(f ports.ConfigBlob) bool { return f.Layer != layer })
}

// An organisation's config is cached for a while. News about it is stored as a mark, so
// that every process that shares the store reads the config again.
