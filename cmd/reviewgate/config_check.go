package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

type checkFlags struct {
	layer, server, organisation, format string
}

func configCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Validate a directory of config files",
		Long: `Validate the config files of a directory, merged over the defaults and over the
layers below that are named. Every mistake is listed at once on standard error,
as file:line:column: /json/pointer: what is wrong; what to write, and the exit
code is 2. Some settings are for the server's layer only, and what a lower layer
has made final can't be changed: say by --layer which layer it is to be. What an
organisation's layer loosens does not count unless the server's config lets it:
each such field is a warning on standard error. NAME=DIR names the organisation.`,
		Example: "  reviewgate config check /etc/reviewgate\n" +
			"  reviewgate config check --layer repository .github/reviewgate\n" +
			"  reviewgate config check --layer repository --server /etc/reviewgate .github/reviewgate",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" {
				return nil
			}
			return fmt.Errorf("name one directory to check, such as reviewgate config check --layer repository %s", config.RepositoryDir)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c.Flags().StringVar(&f.layer, "layer", config.LayerServer, "`layer` to check it as: server, organisation or repository")
	c.Flags().StringVar(&f.server, "server", "", "`directory` of the server's config below it, for --layer organisation and repository")
	c.Flags().StringVar(&f.organisation, "organisation", "", organisationUsage+", below it, for --layer repository")
	c.Flags().StringVar(&f.format, "format", "text", "text, or json: the list of problems")
	return c
}

func (f *checkFlags) run(cmd *cobra.Command, dir string) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if names := config.LayerNames()[1:]; !slices.Contains(names, f.layer) { // the defaults are right
		return unusable(fmt.Errorf("--layer %q: use %s", f.layer, join(names)))
	}
	if f.server != "" && f.layer == config.LayerServer || f.organisation != "" && f.layer != config.LayerRepository {
		return unusable(fmt.Errorf("the %s's layer is not above the one that is named: say by --layer which layer %s is", f.layer, dir))
	}
	below := layerFlags{server: f.server, organisation: f.organisation}
	layers, err := below.layers()
	if err != nil {
		return unusable(err)
	}
	layer, err := readLayer(f.layer, dir)
	if err != nil {
		return unusable(err)
	}
	if own := filepath.Join(dir, filepath.FromSlash(config.RepositoryDir)); len(layer.Files) == 0 && isDir(own) {
		return unusable(fmt.Errorf("%s has no config files, so nothing was checked; did you mean %s?", dir, own))
	}
	cfg, problems := config.Load(append(layers, layer)...)
	if f.format == "json" {
		if err := putJSON(cmd, pipeline.List[pipeline.ConfigProblem](problems)); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	told(cmd, cfg)
	if f.format == "text" {
		said := verdict(dir, &layer) + "\n"
		for _, w := range cfg.Warnings() {
			said += "warning: " + w.String() + "\n"
		}
		return put(cmd, said)
	}
	return nil
}

// verdict says that a layer is valid, and what was looked at.
func verdict(dir string, l *config.Layer) string {
	if len(l.Files) > 0 {
		var names []string
		for _, file := range l.Files {
			names = append(names, path.Base(file.Path))
		}
		said := fmt.Sprintf("%s is valid as config of the %s: %s", dir, l.Name, strings.Join(names, ", "))
		if l.Name == config.LayerServer && isRepositoryDir(dir) {
			said += "; to check it as the repository's: reviewgate config check --layer repository " + quoted(dir)
		}
		return said
	}
	return fmt.Sprintf("%s has no config files, so it changes nothing", dir)
}

// isRepositoryDir reports whether a directory is called as that of a
// repository's config is.
func isRepositoryDir(dir string) bool {
	abs, err := filepath.Abs(dir)
	return err == nil && strings.HasSuffix(filepath.ToSlash(abs), "/"+config.RepositoryDir)
}

// join lists alternatives.
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
