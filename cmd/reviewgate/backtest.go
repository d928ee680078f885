package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

type backtestFlags struct {
	archiveFlags
	config, compare, layer string
}

func backtestCommand() *cobra.Command {
	var f backtestFlags
	c := &cobra.Command{
		Use:   "backtest --config DIR",
		Short: "Show what a config would have decided about stored reviews",
		Long: `Compute stored reviews under another config: which decisions change, why, and what
people did then. The command reads the server's database, which may be in use, or a
copy made by backup. It changes nothing, and needs neither GitHub nor a model.

The config replaces one layer of each review. With --compare, two configs are compared
with each other. What can't be known is counted apart: an agent that did not run has no
stored result, and an answer of a model counts only if it would be asked the same.
The gate's decisions are compared; what the mode makes of them is not.

Exit codes: 0 done; 2 the input can't be used; 3 the command could not finish.`,
		Example: "  reviewgate backtest --config proposed/ --repo acme/shop\n" +
			"  reviewgate backtest --config strict/ --compare mild/ --layer organisation --since 30d",
		Args: noArguments,
		RunE: f.run,
	}
	c.Flags().StringVar(&f.config, "config", "", "`directory` with the config's files")
	c.Flags().StringVar(&f.compare, "compare", "", "`directory` with another config, in place of the one that was in force")
	c.Flags().StringVar(&f.layer, "layer", config.LayerRepository, "the layer that it replaces: repository, organisation or server")
	f.add(c)
	return c
}

func (f *backtestFlags) run(cmd *cobra.Command, _ []string) error {
	proposal, against, err := f.proposals()
	if err != nil {
		return unusable(err)
	}
	return archiveReport[*backtest.Report]{
		compute: func(ctx context.Context, url string, which ports.ReviewFilter) (*backtest.Report, error) {
			return app.Backtest(ctx, url, which, proposal, against)
		},
		usable: func(r *backtest.Report) error {
			switch {
			case r.Reviews+len(r.Failed) == 0:
				return f.none()
			case r.Reviews == 0:
				return fmt.Errorf("no review could be computed. The first one: %s. reviewgate config check lists all mistakes of a config", r.Failed[0].Why)
			}
			return nil
		},
		text: backtest.Text, markdown: backtest.Markdown,
	}.run(cmd, &f.archiveFlags)
}

// proposals reads the configs that the flags name.
func (f *backtestFlags) proposals() (p backtest.Proposal, against *backtest.Proposal, err error) {
	if !slices.Contains(config.WrittenLayers(), f.layer) {
		return p, nil, fmt.Errorf("--layer %q: use repository, organisation or server", f.layer)
	}
	if f.config == "" {
		return p, nil, errors.New("name the directory of a config with --config")
	}
	p.Layer = f.layer
	if p.Files, err = f.files(f.config); err != nil || f.compare == "" {
		return p, nil, err
	}
	against = &backtest.Proposal{Layer: f.layer}
	against.Files, err = f.files(f.compare)
	return p, against, err
}

// files reads the files of a config. Whether they are valid depends on the other layers of each
// review.
func (f *backtestFlags) files(dir string) ([]config.File, error) {
	layer, err := readLayer(f.layer, dir)
	if err != nil {
		return nil, err
	}
	if len(layer.Files) == 0 {
		return nil, fmt.Errorf("%s has no config files: name a directory with at least one of %s", dir, strings.Join(config.FileNames(), ", "))
	}
	return layer.Files, nil
}
