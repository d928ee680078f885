package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// parts lists the short names of the config files.
var parts = []string{"rules", "composition", "agents", "domains", "settings"}

type showFlags struct {
	layerFlags
	explain, changed bool
	only, id, format string
}

func configShowCommand() *cobra.Command {
	var f showFlags
	c := &cobra.Command{
		Use:   "show [DIR]",
		Short: "Print the merged config",
		Long: `Print the merged config of all layers by file, entry and field, including entries
that are switched off. With --explain, the layer, file and line of each value follow
the value. --changed prints only the values that differ from the defaults, with their
places. DIR is the repository's layer. If you name no layer, the command uses the
config of the repository around the current directory, or else the defaults.`,
		Example: "  reviewgate config show --changed\n" +
			"  reviewgate config show --explain --only rules --id test-focused-01\n" +
			"  reviewgate config show --server /etc/reviewgate --format json .github/reviewgate",
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.add(c)
	c.Flags().BoolVar(&f.explain, "explain", false, "say where each value comes from")
	c.Flags().BoolVar(&f.changed, "changed", false, "print only what differs from the defaults, and say where it comes from")
	c.Flags().StringVar(&f.only, "only", "", "`part` to show: "+join(parts))
	c.Flags().StringVar(&f.id, "id", "", "`id` of the entry to show")
	c.Flags().StringVar(&f.format, "format", "text", "text, or json: an object with rules, composition, agents, domains and settings; with --explain or --changed, a list of values with file, id, pointer, layer, source, path and line")
	return c
}

func (f *showFlags) run(cmd *cobra.Command, args []string) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "id", "only"); err != nil {
		return err
	}
	if f.only != "" && !slices.Contains(parts, f.only) {
		return unusable(fmt.Errorf("--only %q: use %s", f.only, join(parts)))
	}
	f.explain = f.explain || f.changed
	if f.format == "json" && !f.explain && (f.only != "" || f.id != "") {
		return unusable(errors.New("--format json prints the whole config: leave out --only and --id, or add --explain or --changed"))
	}
	if len(args) == 1 {
		if f.repository != "" {
			return unusable(errors.New("the repository's layer is named twice: leave out --repository or the directory"))
		}
		f.repository = args[0]
	}
	if err := f.orCurrent(); err != nil {
		return err
	}
	layers, err := f.layers()
	if err != nil {
		return unusable(err)
	}
	shown, problems := config.Show(layers...)
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	warnWeakened(cmd, shown.Config)
	if f.format == "json" && !f.explain {
		return put(cmd, string(shown.JSON)+"\n")
	}
	isLeftOut := func(v config.Value) bool {
		return f.only != "" && v.File != "review-"+f.only+".json" || f.id != "" && v.ID != f.id
	}
	values := slices.DeleteFunc(slices.Clone(shown.Values), isLeftOut)
	if len(values) == 0 {
		return unusable(fmt.Errorf("there is no entry %q%s: reviewgate config show lists them", f.id, strings.TrimSuffix(" in "+f.only, " in ")))
	}
	if f.changed {
		values = slices.DeleteFunc(shown.Changed(), isLeftOut)
	}
	if f.format == "json" {
		return putJSON(cmd, values)
	}
	if len(values) == 0 {
		return put(cmd, "nothing differs from the defaults\n")
	}
	return put(cmd, render.ConfigValues(values, f.explain, textOptions(cmd.OutOrStdout())))
}
