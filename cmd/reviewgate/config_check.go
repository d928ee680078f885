package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

type checkFlags struct {
	layer, server, organisation, format string
}

func configCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Validate a directory of config files",
		Long: `Validate the config files of a directory, merged over the defaults and the lower
layers that you name. If there are mistakes, standard error lists all of them, each
as file:line:column: /json/pointer: the mistake; the remedy. The exit code is then 2.
The directory is checked as the repository's layer. Some settings are valid only in the
server's layer, and no layer can change what a lower layer made final, so name another
layer with --layer. Where an organisation's config
loosens the server's, it counts only if the server's config allows that. Each such
field gives a warning on standard error. NAME=DIR names the organisation.

If DIR is the root of a repository, the command reads its .github/reviewgate. Without DIR it
reads that of the repository around the current directory.

The policy tests in DIR/tests are checked as well. config test runs them.`,
		Example: "  reviewgate config check\n" +
			"  reviewgate config check --server /etc/reviewgate .github/reviewgate\n" +
			"  reviewgate config check --layer server /etc/reviewgate",
		Args: atMostOneConfig,
		RunE: f.run,
	}
	f.add(c)
	c.Flags().StringVar(&f.format, "format", "text", "text, or json for the list of problems")
	return c
}

// add adds the flags that say which layer a directory is, and what lies below it.
func (f *checkFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.layer, "layer", config.LayerRepository, "`layer` of the directory: server, organisation or repository")
	c.Flags().StringVar(&f.server, "server", "", "`directory` of the server's config, with --layer organisation or repository")
	c.Flags().StringVar(&f.organisation, "organisation", "", organisationUsage+", with --layer repository")
}

func (f *checkFlags) run(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	dir, err := f.directory(cmd, args)
	if err != nil {
		return err
	}
	cfg, layer, problems, err := f.load(dir)
	if err != nil {
		return err
	}
	var cases []*policytest.Case
	if len(problems) == 0 { // names in cases can't be checked with half a config
		tests, err := f.tests(dir)
		if err != nil {
			return err
		}
		var wrong policytest.Problems
		if cases, wrong, err = policytest.Read(cmd.Context(), tests, cfg); err != nil {
			return unfinished(err)
		}
		problems = wrong.Listed()
	}
	if f.format == "json" {
		if err := putJSON(cmd, pipeline.List[pipeline.ConfigProblem](problems)); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		err := invalid(cmd, problems)
		if f.format == "text" && !cmd.Flags().Changed("layer") {
			fmt.Fprintln(cmd.ErrOrStderr(), "checked as config of the repository; --layer names another layer")
		}
		return err
	}
	warnWeakened(cmd, cfg)
	if f.format == "text" {
		answer := verdict(dir, layer) + "\n"
		if len(cases) > 0 {
			answer += fmt.Sprintf("its policy tests can be read (%d); to run them: reviewgate config test %s\n", len(cases), quoted(dir))
		}
		for _, w := range cfg.Warnings() {
			answer += "warning: " + config.FormatProblem(w) + "\n"
		}
		return put(cmd, answer)
	}
	return nil
}

// atMostOneConfig checks the arguments of the commands that read a directory of config.
func atMostOneConfig(_ *cobra.Command, args []string) error {
	if len(args) > 1 || slices.Contains(args, "") {
		return fmt.Errorf("name one directory, such as %s, or leave it out for that of the repository around the current directory", config.RepositoryDir)
	}
	return nil
}

// directory returns the directory to read. For the root of a repository, this is the directory of
// the repository's config, and standard error says so. Without an argument, it is that of the
// repository around the current directory. It fails if a link stands in its place.
func (f *checkFlags) directory(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return f.currentDirectory()
	}
	dir := args[0]
	organisation, only := splitDir(f.layer, dir)
	if root, isOwn := strings.CutSuffix(filepath.ToSlash(filepath.Clean(only)), config.RepositoryDir); isOwn && (root == "" || strings.HasSuffix(root, "/")) {
		_, err := ownDirectory(filepath.FromSlash(root))
		return dir, err
	}
	if holdsConfig(only) {
		return dir, nil
	}
	own, err := ownDirectory(only)
	switch {
	case err != nil:
		return "", err
	case own == "":
		return dir, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s has no config files, so the command reads %s\n", onOneLine(only), onOneLine(own))
	if only == dir {
		return own, nil
	}
	return organisation + "=" + own, nil
}

// currentDirectory returns the directory of config of the repository around the current directory.
func (f *checkFlags) currentDirectory() (string, error) {
	if f.layer != config.LayerRepository {
		return "", unusable(fmt.Errorf("--layer %s: name the directory with its config", f.layer))
	}
	root, err := currentRepository()
	if err != nil {
		return "", err
	}
	if root == "" {
		return "", unusable(errors.New("there is no repository around the current directory: name the directory of config"))
	}
	own, err := ownDirectory(nearer(root))
	if err == nil && own == "" {
		err = unusable(fmt.Errorf("the repository around the current directory has no %s: create one with reviewgate config init, or name another directory", config.RepositoryDir))
	}
	return own, err
}

// holdsConfig reports whether a directory has a config file or can't be listed. Other files of JSON
// do not count: the root of a repository often has some.
func holdsConfig(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return config.IsFile(e.Name()) })
}

// load reads a directory as a layer over those that the flags name. The error is about the flags or
// the directory, and the problems are mistakes in config.
func (f *checkFlags) load(dir string) (*config.Config, *config.Layer, []pipeline.ConfigProblem, error) {
	if names := config.WrittenLayers(); !slices.Contains(names, f.layer) {
		return nil, nil, nil, unusable(fmt.Errorf("--layer %q: use %s", f.layer, join(names)))
	}
	if f.server != "" && f.layer == config.LayerServer || f.organisation != "" && f.layer != config.LayerRepository {
		return nil, nil, nil, unusable(fmt.Errorf("--layer %s does not come after the layer that you named with --server or --organisation: set --layer to the layer of %s", f.layer, onOneLine(dir)))
	}
	below := layerFlags{server: f.server, organisation: f.organisation}
	layers, err := below.layers()
	if err != nil {
		return nil, nil, nil, unusable(err)
	}
	layer, err := readLayer(f.layer, dir)
	if err != nil {
		return nil, nil, nil, unusable(err)
	}
	cfg, problems := config.Load(append(layers, layer)...)
	return cfg, &layer, problems, nil
}

// tests reads the policy tests of a layer's directory.
func (f *checkFlags) tests(dir string) ([]config.File, error) {
	_, dir = splitDir(f.layer, dir)
	files, err := policytest.ReadDir(nearer(dir))
	if err != nil {
		return nil, unusable(errors.New(onOneLine(err.Error())))
	}
	return files, nil
}

// verdict says that a layer is valid, and which files were checked.
func verdict(dir string, l *config.Layer) string {
	dir = onOneLine(dir)
	if len(l.Files) > 0 {
		var names []string
		for _, file := range l.Files {
			names = append(names, path.Base(file.Path))
		}
		return fmt.Sprintf("%s is valid as config of the %s: %s", dir, l.Name, strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s has no config files, so it changes nothing", dir)
}

// join joins alternatives with commas and "or".
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
