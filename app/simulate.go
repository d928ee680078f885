package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Simulation says what to simulate.
type Simulation struct {
	Owner, Name string
	Number      int
	// Repository replaces the repository's own layer of config. It must be valid
	// together with the server's layer.
	Repository *config.Layer
	Progress   func(what string) // may be nil
	Log        zerolog.Logger
}

// InputError says that a command's argument names something that does not exist, or that
// the App can't see.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

// Simulate reviews a pull request as a server with these settings would review it for the
// first time. It writes nothing, and needs no database.
func Simulate(ctx context.Context, settings Settings, s Simulation) (run.Outcome, render.Links, error) {
	dry, client, err := newCommandReader(settings, s.Log).dryRun(nil)
	if err != nil {
		return run.Outcome{}, render.Links{}, err
	}
	defer client.Close()
	t, err := findRepository(ctx, client, s.Owner, s.Name)
	if err != nil {
		return run.Outcome{}, render.Links{}, err
	}
	t.Number = s.Number
	outcome, err := dry.Review(ctx, t, review.DryOptions{Repository: s.Repository, Trigger: "reviewgate simulate", Progress: s.Progress})
	if isMissing(err) {
		err = &InputError{fmt.Errorf("%s/%s has no pull request #%d that the App can read: %w", t.Owner, t.Name, t.Number, err)}
	}
	return outcome, render.Links{WebURL: settings.WebURL, Repository: t.Owner + "/" + t.Name}, err
}

// findRepository looks up a repository that a command names. It returns an *InputError if the App
// can't use it.
func findRepository(ctx context.Context, client *gh.Client, owner, name string) (ports.Target, error) {
	repo, err := client.Find(ctx, owner, name)
	switch {
	case isMissing(err):
		return ports.Target{}, &InputError{fmt.Errorf("the App is not installed on %s/%s, or there is no such repository: install it there, or name another: %w", owner, name, err)}
	case err == nil && repo.Suspended:
		return ports.Target{}, &InputError{fmt.Errorf("the App's installation on %s/%s is suspended: an owner can unsuspend it on the installation's page", owner, name)}
	}
	return repo.Target, err
}

func isMissing(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && host.Kind == ports.HostNotFound
}
