package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
		Long: `Write a first config into .github/reviewgate of a repository: DIR, or the one around
the current directory. DIR is the root of a git work tree. The config sets advisory
mode, so that nothing is blocked before you have seen some reviews. It has one
example that switches a rule and one example of your own rule, and it lists the
services in services/ or apps/ if there are any. The command never overwrites a file.`,
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
		return errors.New("name one repository's directory, or leave it out for the repository around the current directory")
	}
	return nil
}

func initConfig(cmd *cobra.Command, dir string) error {
	root, err := ownRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	written, err := starter.Write(dir)
	if errors.Is(err, fs.ErrExist) {
		return unusable(fmt.Errorf("the repository already has config, which was not changed: %w", err))
	}
	if err != nil {
		return unfinished(err)
	}
	var answer strings.Builder
	for _, name := range written {
		answer.WriteString("wrote " + name + "\n")
	}
	own := quoted(filepath.Join(dir, filepath.FromSlash(config.RepositoryDir)))
	fmt.Fprintf(&answer, `
Next:
- see what differs from the defaults: reviewgate config show --changed %s
- after each edit: reviewgate config check %s
- commit the files; they count once they are on the default branch
- remove "mode" from %s when you want the check to block
`, own, own, config.FileSettings)
	return put(cmd, answer.String())
}

// plainName matches names that need no quotes in a shell.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./+,@-]*$`)

// quoted returns a file's name as a user can paste it into a shell.
func quoted(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	if onOneLine(name) != name {
		return "$'" + onOneLine(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(name)) + "'"
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
