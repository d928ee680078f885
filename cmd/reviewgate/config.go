package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

func configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check, test, show, explain, create, convert or patch config",
		Long: `Check, test, show, explain, create, convert or patch config. Config comes in layers, and a
later layer overrides an earlier one: the defaults, the server's directory, the
organisation's directory, and the repository's .github/reviewgate.`,
		Example: "  reviewgate config init\n" +
			"  reviewgate config check .github/reviewgate\n" +
			"  reviewgate config test .github/reviewgate\n" +
			"  reviewgate config show --changed\n" +
			"  git diff --name-only main | reviewgate config explain -",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(configCheckCommand(), configTestCommand(), configShowCommand(), configExplainCommand(), configInitCommand(), configConvertCommand(), configApplyCommand())
	return c
}

// put writes a command's answer. A partial write is an error.
func put(cmd *cobra.Command, text string) error {
	if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
		return unfinished(fmt.Errorf("write the answer: %w", err))
	}
	return nil
}

// putJSON writes a command's answer for programs.
func putJSON(cmd *cobra.Command, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return unfinished(fmt.Errorf("encode the answer: %w", err))
	}
	return put(cmd, string(b)+"\n")
}

// layerFlags name the directories of layers.
type layerFlags struct {
	server, organisation, repository string
}

func (f *layerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.organisation, "organisation", "", organisationUsage)
	c.Flags().StringVar(&f.repository, "repository", "", "`directory` of the repository's config (default if you name no layer: .github/reviewgate of the repository around the current directory)")
}

const organisationUsage = "`directory` of the organisation's config, or NAME=directory for an organisation that the server's config lists in organisations"

// layers reads the layers that flags name, lowest first.
func (f *layerFlags) layers() ([]config.Layer, error) {
	var out []config.Layer
	for i, dir := range []string{f.server, f.organisation, f.repository} {
		if dir == "" {
			continue
		}
		layer, err := readLayer(config.WrittenLayers()[i], dir)
		if err != nil {
			return nil, err
		}
		out = append(out, layer)
	}
	return out, nil
}

// orCurrent uses the config of the repository around the current directory, if no flag
// names a layer and that repository has config.
func (f *layerFlags) orCurrent() error {
	if *f != (layerFlags{}) {
		return nil
	}
	return f.withCurrent()
}

// withCurrent uses that config also beside the layers of the server and the organisation, as a
// review does, unless a flag names the repository's layer.
func (f *layerFlags) withCurrent() error {
	if f.repository != "" {
		return nil
	}
	root, err := currentRepository()
	if err != nil || root == "" {
		return err
	}
	f.repository, err = ownDirectory(nearer(root))
	return err
}

// currentRepository returns the root of the repository around the current
// directory, or "" if there is none.
func currentRepository() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", unfinished(fmt.Errorf("find the current directory: %w", err))
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

// ownDirectory returns the directory of config of the repository at root, or "" if it has none.
// Reviews don't follow a link in its place, so this is an error.
func ownDirectory(root string) (string, error) {
	own := filepath.Join(root, filepath.FromSlash(config.RepositoryDir))
	for _, at := range []string{filepath.Dir(own), own} {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return "", nil
		case err != nil:
			return "", unfinished(fmt.Errorf("look for config: %w", err))
		case info.Mode()&os.ModeSymlink != 0:
			return "", unusable(fmt.Errorf("%s is a link, and reviews don't follow links: make it a directory with the config files in it", onOneLine(at)))
		case !info.IsDir() && at == own:
			return "", unusable(fmt.Errorf("%s is a file, but must be a directory with config files: move the file into a directory of this name", onOneLine(at)))
		case !info.IsDir():
			return "", nil
		}
	}
	return own, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// readLayer reads a directory that the user named. Messages name its files as the user
// would, so that an editor can open them. An organisation's directory may be NAME=DIR.
// Without NAME the organisation is one that the server's config does not list.
func readLayer(name, dir string) (config.Layer, error) {
	organisation, dir := splitDir(name, dir)
	l, err := config.ReadDir(name, dir)
	l.Organisation = organisation
	if info, serr := os.Stat(dir); serr == nil && !info.IsDir() {
		return l, fmt.Errorf("%s is a file, not a directory: name the directory that holds the file", onOneLine(dir))
	}
	if errors.Is(err, os.ErrNotExist) {
		return l, fmt.Errorf("%s is not a directory: name one with config files", onOneLine(dir))
	}
	if err != nil {
		return l, errors.New(onOneLine(err.Error()))
	}
	for i, f := range l.Files {
		l.Files[i].Path = filepath.ToSlash(filepath.Join(nearer(dir), f.Path))
	}
	return l, nil
}

// splitDir splits the directory of a layer into the organisation, which only the organisation's layer
// has, and the directory.
func splitDir(layer, dir string) (organisation, only string) {
	if layer != config.LayerOrganisation {
		return "", dir
	}
	if login, rest, named := strings.Cut(dir, "="); named && login != "" && !isDir(dir) {
		return login, rest
	}
	return "<organisation>", dir // no login
}

// nearer returns the path of a directory relative to the current directory, if it is inside
// the current directory.
func nearer(dir string) string {
	if !filepath.IsAbs(dir) {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	if rel, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return dir
}

// invalid prints problems to standard error, one per line, and returns the error for a
// config that can't be used.
func invalid(cmd *cobra.Command, problems []pipeline.ConfigProblem) error {
	for _, p := range problems {
		fmt.Fprintln(cmd.ErrOrStderr(), config.FormatProblem(p))
	}
	return &exitError{code: exitUnusable}
}

// warnWeakened writes to standard error which fields of the organisation's layer do not
// count, because they loosen the server's config.
func warnWeakened(cmd *cobra.Command, cfg *config.Config) {
	for _, p := range cfg.Weakened() {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+config.FormatProblem(p))
	}
}

// notEmpty refuses flags with an empty value, which usually comes from an unset shell
// variable.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return unusable(fmt.Errorf("--%s is empty: give it a value, or leave it out", name))
		}
	}
	return nil
}

// oneOf checks a --format.
func oneOf(format string, formats ...string) error {
	if slices.Contains(formats, format) {
		return nil
	}
	return unusable(fmt.Errorf("--format %q: use %s", format, join(formats)))
}
