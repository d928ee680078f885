package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/demo"
	"github.com/reviewgate/reviewgate/config"
)

type demoFlags struct {
	once, verbose    bool
	config, database string
}

func demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole App on this machine, without any setup",
		Long: `Run the whole App against a built-in stand-in for GitHub. The demo opens a pull
request, pushes to it, and comments /review. It prints how the check run and the
comment change. It needs git.

With --database, the reviews stay for replay, backtest and analytics to read.`,
		Example: "  reviewgate demo --once\n" +
			"  reviewgate demo --once --config .github/reviewgate --database demo.db",
		Args: noArguments,
		RunE: f.run,
	}
	c.Flags().BoolVar(&f.once, "once", false, "end after printing")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "print the server's log")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with config for the demo's repository")
	c.Flags().StringVar(&f.database, "database", "", "keep the SQLite database in this new `file`")
	return c
}

func (f *demoFlags) run(cmd *cobra.Command, _ []string) error {
	o := demo.Options{Out: cmd.OutOrStdout(), Once: f.once, Database: strings.TrimPrefix(f.database, "sqlite://")}
	if f.verbose {
		o.Verbose = cmd.ErrOrStderr()
	}
	if o.Database != "" {
		if _, err := os.Stat(o.Database); err == nil {
			return unusable(fmt.Errorf("--database %s: the file exists already; delete it, or name a new one", f.database))
		}
	}
	if f.config != "" {
		var err error
		if o.Config, err = readLayer(config.LayerRepository, f.config); err != nil {
			return unusable(err)
		}
		if _, problems := config.Load(o.Config); len(problems) > 0 {
			return invalid(cmd, problems)
		}
	}
	if err := demo.Run(cmd.Context(), o); err != nil {
		return unfinished(err)
	}
	return nil
}
