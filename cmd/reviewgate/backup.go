package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
)

func backupCommand() *cobra.Command {
	var settings string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the server's SQLite database to a new file",
		Long: `Copy the server's SQLite database to a new file. The copy is a snapshot of one
moment, and the server can keep running. The command reads the whole copy and
checks its integrity before it gives the copy its name. Only the owner can read
the copy. The command never overwrites a file.

REVIEWGATE_DATABASE_URL, in the environment or in the settings file, names the
database. To restore a backup, stop the server, move the database and its -wal and
-shm files away, put the copy in their place, and start the server.

For PostgreSQL, use pg_dump.`,
		Example: "  REVIEWGATE_DATABASE_URL=sqlite:///var/lib/reviewgate/reviewgate.db \\\n" +
			"    reviewgate backup /backup/reviewgate-$(date +%F).db",
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return errors.New("name the new file for the copy")
			case 1:
				return nil
			}
			return fmt.Errorf("%d files are named: name the one new file for the copy", len(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := app.LoadDatabaseURL(os.Getenv, settings)
			if err != nil {
				return unusable(err)
			}
			b, err := app.MakeBackup(cmd.Context(), url, args[0])
			switch {
			case app.IsRefusedBackup(err):
				return unusable(err)
			case err != nil:
				return unfinished(err)
			}
			return put(cmd, fmt.Sprintf("%s: %d bytes, %d reviews, tables of version %d\n", args[0], b.Bytes, b.Reviews, b.Version))
		},
	}
	c.Flags().StringVar(&settings, "settings", "", "YAML or JSON `file` with settings")
	return c
}
