package main

import (
	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/demo"
)

func demoCommand() *cobra.Command {
	var once, verbose bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole App on this machine, without any setup",
		Long: `Run the whole App against a built-in stand-in for GitHub. The demo opens a pull
request, pushes to it, and comments /review. It prints how the check run and the
comment change. It needs git.`,
		Example: "  reviewgate demo --once",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := demo.Options{Out: cmd.OutOrStdout(), Once: once}
			if verbose {
				o.Verbose = cmd.ErrOrStderr()
			}
			if err := demo.Run(cmd.Context(), o); err != nil {
				return unfinished(err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&once, "once", false, "end after printing")
	c.Flags().BoolVar(&verbose, "verbose", false, "print the server's log")
	return c
}
