package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
)

// apartName is the command that a server starts as a separate process for reviews that may
// have crashed it before.
const apartName = "review-apart"

func apartCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:    apartName,
		Short:  "Do a server's reviews in a separate process",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := app.LoadSettings(os.Getenv, file, sdk.New)
			if err != nil {
				return unusable(err)
			}
			log := app.NewLog(cmd.ErrOrStderr(), settings)
			if err := app.RunApart(cmd.Context(), settings, app.Options{Log: log}, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return unfinished(err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "settings", "", "YAML or JSON `file` with settings, as for serve")
	return c
}

// apartLine returns the command line that starts such a process, or nil if the path of this
// program is not known.
func apartLine(settings string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	line := []string{self, apartName}
	if settings != "" {
		line = append(line, "--settings", settings)
	}
	return line
}
