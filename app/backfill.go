package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Backfill says what to backfill.
type Backfill struct {
	Globs []string  // match repositories, as OWNER/NAME
	Since time.Time // skips pull requests that were not updated since; zero skips none
	// Pause is the time between two requests for a review. Without it a backfill
	// could use up GitHub's rate limits, or delay the reviews of new pushes.
	Pause  time.Duration
	Dry    bool                // report, but request no review
	Tell   func(BackfillEvent) // reports each pull request and repository
	Status func(doing string)  // reports progress
	Log    zerolog.Logger
}

// BackfillEvent is the outcome for a pull request, or for a whole repository if Number
// is 0.
type BackfillEvent struct {
	Repository string `json:"repository"`
	Number     int    `json:"number,omitempty"`
	Outcome    string `json:"outcome"` // one of the constants below
	Why        string `json:"why,omitempty"`
}

// The outcomes for pull requests and repositories.
const (
	BackfillAsked    = "asked"
	BackfillAnswered = "answered" // its head has a completed check, or a review is on its way
	BackfillLeftOut  = "left out" // the config's mode is off
	BackfillFailed   = "failed"   // GitHub refused to answer
)

// backfiller requests reviews where they are missing. Either a running server does so, or
// this process runs the use cases on the server's database.
type backfiller interface {
	Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error)
}

var (
	_ backfiller = (*review.Service)(nil)
	_ backfiller = (*controlClient)(nil)
)

// RunBackfill requests a review of each open pull request that has no answer, in the
// matching repositories. The requests are stored: the server does the reviews, now or
// after its next start. RunBackfill may be run again at any time. It reports and skips
// repositories that it can't read. Other errors end it.
func RunBackfill(ctx context.Context, settings Settings, b Backfill) error {
	lower := make([]string, len(b.Globs)) // GitHub's names are case-insensitive
	for i, g := range b.Globs {
		lower[i] = strings.ToLower(g)
	}
	globs, err := glob.Compile(lower)
	if err != nil {
		return &InputError{err}
	}
	o := newCommandReader(settings, b.Log)
	stored := &storedLayers{}
	defer stored.close()
	dry, client, err := o.dryRun(stored)
	if err != nil {
		return err
	}
	defer client.Close()
	to, done, err := o.backfiller(ctx, client)
	if err != nil {
		return err
	}
	defer done()
	if err := stored.open(ctx, settings.DatabaseURL); err != nil {
		return err
	}
	run := &backfill{Backfill: b, github: client, config: dry.Config, to: to}
	repos, err := run.repositories(ctx, globs)
	if err != nil {
		return err
	}
	for _, repo := range repos {
		err := run.repository(ctx, repo)
		if ports.IsFinal(err) { // it concerns this repository alone
			run.tell(repo, 0, BackfillFailed, err.Error())
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// backfiller returns the server if one uses the database. Otherwise it returns the use
// cases on the database itself.
func (o *commandReader) backfiller(ctx context.Context, client *gh.Client) (_ backfiller, done func(), err error) {
	if path, ok := socketOf(o.settings.DatabaseURL); ok {
		server, runs, err := dialControl(ctx, path)
		if err != nil || runs {
			return server, server.close, err
		}
	}
	// Only the server creates and changes tables.
	if err := store.CheckTables(ctx, o.settings.DatabaseURL); err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, o.settings.DatabaseURL, store.Options{Process: processName(), Log: o.log})
	if err != nil {
		return nil, nil, err
	}
	options, err := o.options(client)
	if err == nil {
		options.Store, options.Owner = db.Store, db.Process()
		var service *review.Service
		if service, err = review.New(options); err == nil {
			return service, func() { db.Close() }, nil
		}
	}
	return nil, nil, errors.Join(err, db.Close())
}

// backfill is one run of a backfill.
type backfill struct {
	Backfill
	github *gh.Client
	config func(context.Context, ports.Target) (*config.Config, error)
	to     backfiller
	next   time.Time // earliest time of the next request
}

func (b *backfill) tell(repo ports.Target, number int, outcome, why string) {
	b.Tell(BackfillEvent{Repository: repo.Owner + "/" + repo.Name, Number: number, Outcome: outcome, Why: why})
}

// repositories lists the repositories that match, from all installations that are not
// suspended.
func (b *backfill) repositories(ctx context.Context, globs *glob.Set) ([]ports.Target, error) {
	b.Status("listing repositories")
	installations, err := b.github.Installations(ctx)
	if err != nil {
		return nil, err
	}
	var all []ports.Target
	refused := false
	for _, i := range installations {
		if i.Suspended {
			continue
		}
		repos, err := b.github.Repositories(ctx, i.ID)
		if ports.IsFinal(err) {
			b.Tell(BackfillEvent{Repository: i.Account + "/*", Outcome: BackfillFailed, Why: err.Error()})
			refused = true
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range repos {
			if globs.Any(strings.ToLower(r.Owner + "/" + r.Name)) {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 && !refused {
		return nil, &InputError{fmt.Errorf("the App is installed on no repository that matches %s and is not archived", strings.Join(b.Globs, ", "))}
	}
	return all, nil
}

// repository requests reviews of a repository's open pull requests, oldest first.
func (b *backfill) repository(ctx context.Context, repo ports.Target) error {
	name := repo.Owner + "/" + repo.Name
	b.Status(name)
	cfg, err := b.config(ctx, repo)
	if err != nil {
		return err
	}
	if cfg.Mode(name) == config.ModeOff {
		b.tell(repo, 0, BackfillLeftOut, "its mode is off")
		return nil
	}
	pulls, err := b.github.OpenPulls(ctx, repo, b.Since)
	if err != nil {
		return err
	}
	onHead := map[string]int{}
	for _, p := range pulls {
		onHead[p.HeadSHA]++
	}
	slices.SortFunc(pulls, func(a, b ports.OpenPull) int { return cmp.Compare(a.Number, b.Number) })
	for _, p := range pulls {
		b.Status(fmt.Sprintf("%s#%d", name, p.Number))
		if err := b.pull(ctx, p, onHead[p.HeadSHA] > 1); err != nil {
			return err
		}
	}
	return nil
}

// pull requests the review of one pull request. It first waits for the pause after the
// last review that was requested.
func (b *backfill) pull(ctx context.Context, p ports.OpenPull, shared bool) error {
	select {
	case <-time.After(time.Until(b.next)):
	case <-ctx.Done():
		return ctx.Err()
	}
	asked, err := b.to.Backfill(ctx, p, shared, b.Dry)
	if err != nil {
		return err
	}
	outcome := BackfillAnswered
	if asked {
		outcome = BackfillAsked
	}
	if asked && !b.Dry {
		b.next = time.Now().Add(b.Pause)
	}
	b.tell(p.Target, p.Number, outcome, "")
	return nil
}
