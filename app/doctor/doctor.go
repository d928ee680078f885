// Package doctor checks an installation: what is set up on GitHub against what
// the server's settings and config need of it. It reads and changes nothing, and
// of secrets it tells at most whether they are there.
//
// What it looks at is a list of points, in the order in which they have to be
// put right: as long as GitHub does not take the App's key there is nothing to be
// learnt of its webhook.
package doctor

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/deploy"
)

// Status is how a point stands.
type Status string

// The ways in which a point stands. Unknown is not good: it could not be looked
// at, or GitHub has nothing to tell yet.
const (
	OK      Status = "ok"
	Problem Status = "problem"
	Unknown Status = "unknown"
)

// The points, in their order. Those from Repository on are looked at where a
// repository is named.
const (
	Settings      = "settings"
	Git           = "git"
	Clock         = "clock"
	App           = "app"
	Permissions   = "permissions"
	Events        = "events"
	Webhook       = "webhook"
	Deliveries    = "deliveries"
	Secret        = "secret"
	Database      = "database"
	Quarantine    = "quarantine"
	Installations = "installations"
	Repository    = "repository"
	Config        = "config"
	Mode          = "mode"
	RequiredCheck = "required_check"
	MergeQueue    = "merge_queue"
)

// Point is one thing that was looked at.
type Point struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Found  string `json:"found"`            // what is so, in words
	Remedy string `json:"remedy,omitempty"` // what to do about it
}

// Result is what a doctor found.
type Result struct {
	Repository string  `json:"repository,omitempty"` // that was asked for
	Points     []Point `json:"points"`
}

// Worst is the worst status of any point: a problem, else what is not known.
func (r Result) Worst() Status {
	worst := OK
	for _, p := range r.Points {
		if p.Status == Problem {
			return Problem
		}
		if p.Status == Unknown {
			worst = Unknown
		}
	}
	return worst
}

// GitHub is what the doctor asks of GitHub.
type GitHub interface {
	GitVersion(ctx context.Context) (string, error) // asks this machine alone
	App(ctx context.Context) (gh.App, error)
	HookConfig(ctx context.Context) (gh.HookConfig, error)
	LastDeliveries(ctx context.Context) ([]ports.HookAttempt, error)
	Grants(ctx context.Context) ([]gh.Grant, error)
	Find(ctx context.Context, owner, name string) (gh.Repository, error)
	Required(ctx context.Context, repo ports.Target, branch string) (gh.Required, error)
}

var _ GitHub = (*gh.Client)(nil)

// Options are what a doctor works with. Repository may be empty.
type Options struct {
	GitHub GitHub
	AppID  int64
	// API, GraphQL and Web are GitHub's, where the server asks and where it links to.
	API, GraphQL, Web string
	Manifest          deploy.Manifest // what the App must be registered with
	// Skew is how far GitHub's clock is ahead of this machine's by the answers
	// so far; known is false without any.
	Skew func() (skew time.Duration, known bool)
	// HookPath is where the server takes webhooks.
	HookPath string
	// Database looks at the database: the version of its tables, and the newest
	// that this program knows.
	Database func(ctx context.Context) (version, newest int64, err error)
	// Server is the server's config over the defaults, InForce that of a
	// repository's default branch. Kept reports whether InForce knows the last
	// good versions of config, which the database has; it is asked after Database.
	Server  *config.Config
	InForce func(ctx context.Context, t ports.Target) (*config.Config, error)
	Kept    func() bool
	// Quarantined lists what is in quarantine, or nothing if the database can't be read.
	// It is asked after Database.
	Quarantined func(ctx context.Context) ([]ports.Quarantined, error)
	// Owner and Name are of the repository to look at, empty for none.
	Owner, Name string
}

// doctor is one look.
type doctor struct {
	Options
	points []Point
	app    gh.App
	hook   gh.HookConfig
}

// Examine looks at every point. The settings were read before, or there would be
// no GitHub to ask.
func Examine(ctx context.Context, o Options) Result {
	d := &doctor{Options: o}
	d.settings()
	d.git(ctx)
	answers := d.credentials(ctx)
	for _, look := range []struct {
		id string
		f  func(context.Context)
	}{
		{Permissions, func(context.Context) { d.permissions() }},
		{Events, func(context.Context) { d.events() }},
		{Webhook, d.webhook},
		{Deliveries, d.deliveries}, // and Secret
		{Database, d.database},
		{Quarantine, d.quarantine},
		{Installations, d.installations},
		{Repository, d.repository}, // and those after it
	} {
		if !answers && look.id != Database && look.id != Quarantine {
			d.skip(look.id, "not asked: see above")
			continue
		}
		look.f(ctx)
	}
	r := Result{Points: d.points}
	if o.Name != "" {
		r.Repository = o.Owner + "/" + o.Name
	}
	return r
}

func (d *doctor) ok(id, found string) { d.points = append(d.points, Point{id, OK, found, ""}) }

func (d *doctor) problem(id, found, remedy string) {
	d.points = append(d.points, Point{id, Problem, found, remedy})
}

func (d *doctor) unknown(id, found, remedy string) {
	d.points = append(d.points, Point{id, Unknown, found, remedy})
}

// failed notes that GitHub did not tell.
func (d *doctor) failed(id string, err error) {
	d.unknown(id, err.Error(), "run doctor again; docs/failures.md says what GitHub's errors mean")
}

// skip leaves out a point, and those that are looked at with it.
func (d *doctor) skip(id, why string) {
	also := map[string][]string{
		Deliveries: {Deliveries, Secret},
		Repository: {Repository, Config, Mode, RequiredCheck, MergeQueue},
	}[id]
	switch {
	case id == Repository && d.Name == "":
		return
	case also == nil:
		also = []string{id}
	}
	for _, id := range also {
		d.unknown(id, why, "")
	}
}
