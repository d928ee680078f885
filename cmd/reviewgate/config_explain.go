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
		Short: "Say which agents a change of these paths would bring, and why",
		Long: `Say of files which domains and services they are in and by which globs, which
agents a change of them would bring by which policy, why the others would not
run, what makes the change risky, and how many rules would look at each file.

Paths are relative to the repository's root; the files need not exist. With - the
list is read from standard input, as git diff --name-only prints it. Layers are
as with config show. The .gitattributes at the root of the repository around the
current directory counts as it is in the work tree; a review reads that of the base.`,
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
	c.Flags().BoolVar(&f.rules, "rules", false, "name the rules that would look at each file")
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
	if err := f.orCurrent(); err != nil {
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
	told(cmd, cfg)
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

// currentAttributes is the text of the .gitattributes of the repository around the
// current directory, if there is one.
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

// pathsOf are the paths of the command line, or those of standard input.
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
		return nil, fmt.Errorf("standard input has no paths: there is nothing to explain")
	}
	return explain.CleanAll(list)
}
