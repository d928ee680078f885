package gh

import (
	"context"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// installation is the state that the calls of one installation share. Installation 0
// stands for the App itself.
type installation struct {
	writes chan struct{} // held during a write
	limits limits
}

// scope says whose token authenticates a call.
type scope int

// accountOf returns the installation whose rate limits a call counts against.
func accountOf(s scope, t ports.Target) int64 {
	if s == asApp {
		return 0
	}
	return t.Installation
}

// clientKey returns the key of the client that makes a call.
func clientKey(s scope, t ports.Target) string {
	switch s {
	case asApp:
		return "app"
	case asInstallation:
		return fmt.Sprint(t.Installation)
	case asOrganisation:
		return fmt.Sprintf("%d/%s", t.Installation, organisationRepo)
	}
	return fmt.Sprintf("%d/%d", t.Installation, t.RepoID)
}

// acquire takes a slot, or gives up when ctx ends.
func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	// asRepository is the installation, with a token for the target's
	// repository only.
	asRepository scope = iota
	// asInstallation is the installation, with a token that reads the names
	// and pull requests of all its repositories.
	asInstallation
	// asOrganisation is the installation, with a token that reads the .github
	// repository of its account.
	asOrganisation
	// asApp is the App itself.
	asApp
)

const (
	// organisationRepo is the repository in which an account has the settings for all of
	// its repositories.
	organisationRepo = ".github"
	// organisationAge is the default of Config.OrganisationAge. Without it the layer
	// would take a call for each review.
	organisationAge = time.Minute
	// uncoveredAge is how long the client remembers that there is no token for an
	// organisation's .github. A request for one counts against the App's own rate
	// limit, which all accounts share.
	uncoveredAge = 10 * time.Minute
	// maxOrganisations bounds the cached layers, in bytes.
	maxOrganisations = 32 << 20
	maxUncovered     = 10_000 // accounts

	opOrganisation = "read the organisation's config"
)
