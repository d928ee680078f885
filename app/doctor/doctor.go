// Package doctor checks an installation. It compares the setup on GitHub with what
// the server's settings and config need. It changes nothing. About secrets it says
// at most whether they exist.
//
// It checks a list of points, in the order in which they must be corrected. For
// example, nothing can be learnt about the webhook while GitHub rejects the App's
// key.
package doctor

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/deploy"
)

// Status is the result of checking a point.
type Status string

// The statuses. Unknown means that the point could not be checked, or that GitHub
// has no information about it yet.
const (
	OK      Status = "ok"
	Problem Status = "problem"
	Unknown Status = "unknown"
)

// The points, in their order. Those from Repository on are checked only if a
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

// Point is one checked point.
type Point struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Found  string `json:"found"`            // the state, in words
	Remedy string `json:"remedy,omitempty"` // what to do about it
}

// Result is the result of all checks.
type Result struct {
	Repository string  `json:"repository,omitempty"` // the checked one
	Points     []Point `json:"points"`
}

// Worst returns the worst status of any point. A problem is worse than unknown.
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

// GitHub is what the doctor needs from GitHub.
type GitHub interface {
	GitVersion(ctx context.Context) (string, error) // asks only this machine
	App(ctx context.Context) (gh.App, error)
	HookConfig(ctx context.Context) (gh.HookConfig, error)
	LastDeliveries(ctx context.Context) ([]ports.HookAttempt, error)
	Grants(ctx context.Context) ([]gh.Grant, error)
	Find(ctx context.Context, owner, name string) (gh.Repository, error)
	Required(ctx context.Context, repo ports.Target, branch string) (gh.Required, error)
}

var _ GitHub = (*gh.Client)(nil)

// Options configure a doctor.
type Options struct {
	GitHub GitHub
	AppID  int64
	// API and GraphQL are the URLs at which the server calls GitHub. Web is the URL of
	// its links.
	API, GraphQL, Web string
	Manifest          deploy.Manifest // what the App must be registered with
	// Skew returns how far GitHub's clock is ahead of this machine's, by the answers
	// so far. known is false if there was no answer.
	Skew func() (skew time.Duration, known bool)
	// HookPath is where the server accepts webhooks.
	HookPath string
	// Database returns the version of the database's tables, and the newest version
	// that this program knows.
	Database func(ctx context.Context) (version, newest int64, err error)
	// Server is the server's config over the defaults. InForce returns the config in
	// force for a repository's default branch. KnowsLastGood reports whether InForce can
	// read the last good versions of config from the database. It is called after Database.
	Server        *config.Config
	InForce       func(ctx context.Context, t ports.Target) (*config.Config, error)
	KnowsLastGood func() bool
	// Quarantined lists the reviews in quarantine, or none if the database can't be read.
	// It is called after Database.
	Quarantined func(ctx context.Context) ([]ports.Quarantined, error)
	// Owner and Name name the repository to check. They may be empty.
	Owner, Name string
}

// doctor is one examination.
type doctor struct {
	Options
	points []Point
	app    gh.App
	hook   gh.HookConfig
}

// Examine checks every point. The caller has read the settings already, because Options
// need a GitHub client.
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
			d.skip(look.id, "not checked: see above")
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

// failed records that GitHub did not answer the question about a point.
func (d *doctor) failed(id string, err error) {
	d.unknown(id, err.Error(), "run doctor again; docs/failures.md explains GitHub's errors")
}

// skip leaves out a point, and the points that are checked together with it.
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
