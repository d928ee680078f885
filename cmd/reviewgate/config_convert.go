package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/starter"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/convert"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

func configConvertCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "convert DIR --to FORMAT",
		Short: "Write config files in another format",
		Long: `Write the config files of a directory in another format: yaml, jsonc (JSON with
comments) or json. Each new file has the values of the old one, which is removed.
YAML and JSONC keep the comments. JSON has none, so standard error lists the comments
that are lost. Prompts and policy tests stay as they are. If a file can't be read or a
new one exists already, nothing changes.`,
		Example: "  reviewgate config convert .github/reviewgate --to yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" {
				return nil
			}
			return fmt.Errorf("name one directory to convert, such as reviewgate config convert %s --to yaml", config.RepositoryDir)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return convertConfig(cmd, args[0], to) },
	}
	c.Flags().StringVar(&to, "to", "", "`format` of the new files: "+join(convert.Formats()))
	return c
}

func convertConfig(cmd *cobra.Command, dir, to string) error {
	if !slices.Contains(convert.Formats(), to) {
		return unusable(fmt.Errorf("--to %q: use %s", to, join(convert.Formats())))
	}
	layer, err := readLayer(config.LayerRepository, dir)
	if err != nil {
		return unusable(err)
	}
	var old []string
	var converted []convert.Result
	var wrong []error
	for i, f := range layer.Files {
		if i > 0 && config.FileOf(f.Path) != "" && config.FileOf(f.Path) == config.FileOf(layer.Files[i-1].Path) {
			wrong = append(wrong, fmt.Errorf("%s and %s are one config file in two formats: remove one of them", layer.Files[i-1].Path, f.Path))
		}
		if !convert.Needed(f.Path, to) {
			continue
		}
		r, err := convert.File(f, to)
		old, converted, wrong = append(old, f.Path), append(converted, r), append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return unusable(err)
	}
	if err := replace(old, converted); err != nil {
		return unfinished(err)
	}
	var answer strings.Builder
	for i, r := range converted {
		fmt.Fprintf(&answer, "wrote %s and removed %s\n", r.File.Path, filepath.Base(old[i]))
		for _, line := range r.Lost {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s lost the comment: %s\n", r.File.Path, plaintext.Printable(line))
		}
	}
	if len(converted) == 0 {
		fmt.Fprintf(&answer, "%s has no config files in another format than %s, so nothing changed\n", dir, to)
	}
	return put(cmd, answer.String())
}

// replace writes the new files, and then removes the old ones. If a new file can't be written, the
// old ones stay, and no new one does.
func replace(old []string, converted []convert.Result) error {
	for i, r := range converted {
		if err := starter.WriteNew(filepath.FromSlash(r.File.Path), r.File.Text); err != nil {
			for _, w := range converted[:i] {
				err = errors.Join(err, os.Remove(filepath.FromSlash(w.File.Path)))
			}
			return fmt.Errorf("write the config: %w", err)
		}
	}
	for _, name := range old {
		if err := os.Remove(filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("remove the old config: %w", err)
		}
	}
	return nil
}
