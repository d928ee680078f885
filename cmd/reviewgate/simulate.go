package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

type simulateFlags struct {
	pull, config, server, settings string
	outputFlags
}

func simulateCommand() *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:   "simulate --pr OWNER/REPO#NUMBER",
		Short: "Review a pull request on GitHub and post nothing",
		Long: `Review a pull request on GitHub with the server's settings, and print what the App
would post. The command writes nothing, neither to GitHub nor to the database. A
server may be running. Exit codes: 0 the gate passes; 1 the gate blocks (needs_fixes
or fail, and only in mode enforce); 2 the settings can't be used or the pull request
does not exist; 3 the command could not finish.

The result is that of a first review: it does not know earlier findings, or what
people dismissed.

--config tries a repository's config: it is read from that directory instead of the
default branch. --server tries a server's config in place of REVIEWGATE_CONFIG_DIR.`,
		Example: "  reviewgate simulate --pr acme/shop#104\n" +
			"  reviewgate simulate --pr acme/shop#104 --config proposed/ --format json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.pull, "pr", "", "pull request, `OWNER/REPO#NUMBER` or its URL")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with config files, instead of the repository's")
	c.Flags().StringVar(&f.server, "server", "", "`directory` with config files, instead of the server's")
	f.add(c)
	c.Flags().StringVar(&f.settings, "settings", "", "YAML or JSON `file` with settings, as for serve")
	return c
}

func (f *simulateFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := notEmpty(cmd, "config", "server", "output"); err != nil {
		return err
	}
	var s app.Simulation
	var host string
	var err error
	if s.Owner, s.Name, s.Number, host, err = pullRequest(f.pull); err != nil {
		return unusable(fmt.Errorf("--pr %q: %w", f.pull, err))
	}
	settings, err := app.LoadSettings(os.Getenv, f.settings, sdk.New)
	if err != nil {
		return unusable(err)
	}
	if web, err := url.Parse(settings.WebURL); err == nil && host != "" && !strings.EqualFold(host, web.Host) {
		return unusable(fmt.Errorf("--pr %q: this URL is on %s, but the settings name %s", f.pull, host, web.Host))
	}
	if err := f.layers(cmd, &settings, &s); err != nil {
		return err
	}
	s.Log = zerolog.New(cmd.ErrOrStderr()).Level(zerolog.ErrorLevel)
	progress := newProgress(cmd.ErrOrStderr())
	s.Progress = progress.step
	outcome, links, err := app.Simulate(cmd.Context(), settings, s)
	progress.done()
	if input := (*app.InputError)(nil); errors.As(err, &input) {
		return unusable(err)
	}
	if err != nil {
		return unfinished(err)
	}
	return f.report(cmd, &outcome, links, "")
}

// layers reads the layers to try. These, and the server's layer of the settings, must be
// valid.
func (f *simulateFlags) layers(cmd *cobra.Command, settings *app.Settings, s *app.Simulation) error {
	named := layerFlags{server: f.server, repository: f.config}
	layers, err := named.layers()
	if err != nil {
		return unusable(err)
	}
	for _, l := range layers {
		if l.Name == config.LayerServer {
			settings.Config = l
		} else {
			s.Repository = &l
		}
	}
	if f.server == "" && len(settings.Config.Files) > 0 {
		layers = append([]config.Layer{settings.Config}, layers...)
	}
	if _, problems := config.Load(layers...); len(problems) > 0 {
		return invalid(cmd, problems)
	}
	return nil
}

// pullRequest reads OWNER/REPO#NUMBER or the URL of a pull request. For a URL it also
// returns the host.
func pullRequest(s string) (owner, name string, number int, host string, err error) {
	const form = "write OWNER/REPO#NUMBER, such as acme/shop#104"
	if u, uerr := url.Parse(s); uerr == nil && u.Host != "" {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) < 4 || parts[2] != "pull" {
			return "", "", 0, "", errors.New(form + ", or the URL of a pull request")
		}
		host = u.Host
		s = parts[0] + "/" + parts[1] + "#" + parts[3]
	}
	full, digits, ok := strings.Cut(s, "#")
	if number, err = strconv.Atoi(digits); !ok || err != nil || number <= 0 {
		return "", "", 0, "", errors.New(form)
	}
	if owner, name, err = repository(full); err != nil {
		return "", "", 0, "", errors.New(form)
	}
	return owner, name, number, host, nil
}
