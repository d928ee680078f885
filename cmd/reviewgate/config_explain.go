package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/explain"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

type explainFlags struct {
	layerFlags
	rules  bool
	format string
}

func configExplainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain PATH...",
		Short: "Explain which agents a change to these paths would run",
		Long: `Explain how a change to these files would be reviewed: their domains and services
with the matching globs, which agents would run by which policy, why the other
agents would not run, what makes the change risky, how many rules would read each
file, and how many the profile leaves out or nothing checks.

Paths are relative to the repository's root. The files need not exist. With - the
list comes from standard input, in the format of git diff --name-only. The layers are
those of a review: the config of the repository around the current directory counts
also beside --server and --organisation. The command uses the .gitattributes in the
work tree of that repository; a review uses the one at the base. It knows no title and
no size of the change; a policy test (reviewgate config test) has both.`,
		Example: "  reviewgate config explain pricing/tax.ts .github/workflows/ci.yml\n" +
			"  git diff --name-only main | reviewgate config explain --rules -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return errors.New("name one path or several, or - to read them from standard input")
		},
		RunE: f.run,
	}
	f.add(c)
	c.Flags().BoolVar(&f.rules, "rules", false, "name the rules")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	return c
}

func (f *explainFlags) run(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	paths, err := pathsOf(cmd, args)
	if err != nil {
		return unusable(err)
	}
	if err := f.withCurrent(); err != nil {
		return err
	}
	layers, err := f.layers()
	if err != nil {
		return unusable(err)
	}
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	warnWeakened(cmd, cfg)
	attributes, err := currentAttributes()
	if err != nil {
		return err
	}
	x, err := explain.Paths(cmd.Context(), cfg, paths, attributes)
	if err != nil {
		return unfinished(err)
	}
	if f.format == "json" {
		return putJSON(cmd, x)
	}
	return put(cmd, render.Explain(x, f.rules, textOptions(cmd.OutOrStdout())))
}

// currentAttributes returns the text of .gitattributes of the repository around the current
// directory, or nil if there is none.
func currentAttributes() ([]byte, error) {
	dir, err := currentRepository()
	if err != nil || dir == "" {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unfinished(err)
	}
	defer root.Close()
	text, err := root.ReadFile(normalize.AttributesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unusable(fmt.Errorf("read %s: %w", normalize.AttributesFile, err))
	}
	return text, nil
}

// pathsOf returns the paths of the command line, or with - those of standard input.
func pathsOf(cmd *cobra.Command, args []string) ([]string, error) {
	if !slices.Contains(args, "-") {
		return explain.CleanAll(args)
	}
	if len(args) > 1 {
		return nil, fmt.Errorf("- reads all paths from standard input: leave out the others")
	}
	list, err := explain.ReadList(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("standard input has no paths, so there is nothing to explain")
	}
	return explain.CleanAll(list)
}
