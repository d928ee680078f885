package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/starter"
	"github.com/reviewgate/reviewgate/config"
)

func configInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first config into a repository",
		Long: `Write a first config into .github/reviewgate of a repository (DIR, or the one
around the current directory): advisory mode, so that nothing is blocked before
you have seen what it says, an example of switching a rule on or off, one of a
rule of your own, and the services in services/ or apps/ where there are any.
Nothing is written over. DIR is the root of a git work tree.`,
		Example: "  reviewgate config init\n  reviewgate config init ~/src/project",
		Args:    atMostOneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return initConfig(cmd, args[0])
			}
			root, err := currentRepository()
			if err != nil {
				return err
			}
			return initConfig(cmd, nearer(cmp.Or(root, ".")))
		},
	}
}

func atMostOneDirectory(_ *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] == "" {
		return errors.New("name one repository's directory, or none for the one around the current directory")
	}
	return nil
}

func initConfig(cmd *cobra.Command, dir string) error {
	if !isDir(dir) {
		return unusable(fmt.Errorf("%s is not a directory: name a repository", dir))
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return unusable(fmt.Errorf("%s is not the root of a git work tree: name the directory of a clone", dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unfinished(err)
	}
	defer root.Close()
	if _, err := ownPlace(root, config.RepositoryDir); err != nil {
		return unusable(err)
	}
	written, err := starter.Write(dir)
	if errors.Is(err, fs.ErrExist) {
		return unusable(fmt.Errorf("there is config already, which is left as it is: %w", err))
	}
	if err != nil {
		return unfinished(err)
	}
	var said strings.Builder
	for _, name := range written {
		said.WriteString("wrote " + name + "\n")
	}
	own := quoted(filepath.Join(dir, filepath.FromSlash(config.RepositoryDir)))
	fmt.Fprintf(&said, `
Next:
- look at what it adds up to: reviewgate config show --explain %s
- after each edit: reviewgate config check --layer repository %s
- commit it; config counts once it is on the default branch
- take "mode" out of %s when the check may block
`, own, own, config.FileSettings)
	return put(cmd, said.String())
}

// plainName needs no quotes in a shell.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./+,@-]*$`)

// quoted is a file's name to be copied into a shell.
func quoted(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
