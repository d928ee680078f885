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

// maxRefreshed is how many pull requests one push of config has reviewed again,
// the newest. With those of an organisation it is some 2,000 calls. The others
// have the new config from their next push or command on.
const maxRefreshed = 200

// Pushes has pull requests reviewed again where a push changed the config that they were
// judged by.
type Pushes struct {
	Configs      *Configs
	Targets      ports.Targets
	Intake       ports.Intake
	ConfigUse    ports.ConfigUse
	ConfigReader ports.ConfigReader
	Retry        retry.Policy
	Log          zerolog.Logger
	// Observe is told what each push was found to be: "valid", "invalid" or "unreadable".
	Observe func(found string)
}

// Work looks at config that may have changed, and asks for a review of the
// open pull requests that were judged by another. It keeps nothing of what it
// reads: the repository may have another name by now, and another its name. A
// review looks at that.
func (p *Pushes) Work(ctx context.Context, job ports.ConfigJob, attempt int) error {
	n := job.News
	if n.Was != "" {
		if err := p.Configs.noteNames(ctx, n.Repository.RepoID, n.Was, n.Repository.Owner+"/"+n.Repository.Name); err != nil {
			return err
		}
	}
	if isOrganisation(n.Repository) {
		if err := p.Configs.spreadNews(ctx, n.Repository); err != nil {
			return err
		}
	} else if off, err := p.Configs.SwitchedOff(ctx, n.Repository); err != nil || off {
		return err // should this push switch it on, the next event of a pull request will
	}
	now, found, err := p.pushedConfig(ctx, n)
	if err != nil {
		return err
	}
	if now == nil {
		p.configPushed(found)
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
	p.configPushed(found)
	return nil
}

// configPatience is how often a push of config is looked at again because reviews
// are under way, in all some ten minutes: what they are judged by is known only
// at their end.
const configPatience = 10

// pushedConfig reads and checks the config that is in force after a push, and says
// what it was found to be. It returns nil where it can't be read for good.
func (p *Pushes) pushedConfig(ctx context.Context, n ports.ConfigNews) (now *InForce, found string, err error) {
	t := n.Repository
	log := p.Log.With().Str("repository", t.Owner+"/"+t.Name).Str("branch", n.Branch).Logger()
	read, err := p.ConfigReader.ReadConfig(ctx, t, n.Branch)
	var host *ports.HostError
	switch {
	case errors.As(err, &host) && !host.Temporary():
		log.Warn().Err(err).Msg("pushed config can't be read")
		return nil, "unreadable", nil
	case err != nil:
		return nil, "", err
	}
	laid, err := p.Configs.Lay(ctx, t, n.Branch, read, true)
	if err != nil {
		return nil, "", err
	}
	found = "valid"
	for _, p := range laid.Config.InForce.Problems {
		found = "invalid"
		log.Error().Str("file", p.File).Int("line", p.Line).Str("problem", p.Problem).Str("remedy", p.Remedy).Msg("pushed config is not valid: the last that was stays in force")
	}
	log.Info().Str("found", found).Msg("config was pushed")
	return &laid, found, nil
}

func (p *Pushes) configPushed(found string) {
	if p.Observe != nil {
		p.Observe(found)
	}
}

// refresh asks for a review of an open pull request, unless it was judged by
// the layer as it is, has config of another branch, or is not looked at. One
// that is under review waits until that is known.
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
		return false, fmt.Errorf("look what %s was judged by: %w", t.Key(), err)
	}
	if ok && n.Was == "" && sameBlobs(ofLayer(now.own, used), ofLayer(now.own, now.read)) && sameFile(ports.LayerAttributes, used, now.Attributes) && sameFile(ports.LayerExceptions, used, now.Exceptions) {
		return false, nil
	}
	state, err := p.Targets.Target(ctx, t.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound): // forgotten meanwhile
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look whether %s is under review: %w", t.Key(), err)
	case state.Wanted > state.Done && attempt < configPatience:
		return true, nil
	}
	ask := ports.ReviewAsk{Target: t, Reason: reasonOf(n), Once: job.Delivery + " " + t.Key(), Low: true}
	ask.Target.HeadSHA = "" // the store's own may be newer by now
	if err := p.Intake.Ask(ctx, ask, false); err != nil {
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
func (p *Pushes) staysOff(ctx context.Context, n ports.ConfigNews, now *InForce, t ports.Target) (bool, error) {
	if t.RepoID == n.Repository.RepoID {
		return now.Config.Mode(t.Owner+"/"+t.Name) == config.ModeOff, nil
	}
	// What the push makes of another repository its own layers have a say in.
	if now.Config.Mode(t.Owner+"/"+t.Name) != config.ModeOff {
		return false, nil
	}
	return p.Configs.SwitchedOff(ctx, t)
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
