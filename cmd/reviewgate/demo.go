package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/reviewgate/reviewgate/app/demo"
	"github.com/reviewgate/reviewgate/config"
)

type demoFlags struct {
	once, open, verbose bool
	config, database    string
}

func demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole App on this machine, without any setup",
		Long: `Run the whole App against a built-in stand-in for GitHub, and print the address of
a page that shows a pull request with the App's comment and check. A button of the
page, or Enter in the terminal, takes each step: open the pull request, push a fix,
comment /review, dismiss a finding, override the decision. It needs git.

With --database, the reviews stay for replay, backtest and analytics to read.`,
		Example: "  reviewgate demo --open\n" +
			"  reviewgate demo --once --config .github/reviewgate --database demo.db",
		Args: noArguments,
		RunE: f.run,
	}
	c.Flags().BoolVar(&f.once, "once", false, "take all steps, print their results, and end")
	c.Flags().BoolVar(&f.open, "open", false, "open the page in the browser")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "print the server's log")
	c.Flags().StringVar(&f.config, "config", "", "`directory` with config for the demo's repository")
	c.Flags().StringVar(&f.database, "database", "", "keep the SQLite database in this new `file`")
	return c
}

func (f *demoFlags) run(cmd *cobra.Command, _ []string) error {
	if f.once && f.open {
		return unusable(errors.New("--once shows no page, and --open opens it: leave one of them out"))
	}
	if err := notEmpty(cmd, "config", "database"); err != nil {
		return err
	}
	o := demo.Options{
		Out: cmd.OutOrStdout(), Colours: colored(cmd.OutOrStdout(), os.Getenv), Once: f.once, Database: strings.TrimPrefix(f.database, "sqlite://"),
	}
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		o.In = in
	}
	if f.open {
		o.Serving = func(url string) {
			browse(cmd.Context(), url, func(err error) {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: the browser can't be opened (%v); open %s yourself\n", err, url)
			})
		}
	}
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

// browse opens a page in the browser. It calls failed if that fails, perhaps later: some systems'
// openers end only with the browser.
func browse(ctx context.Context, url string, failed func(error)) {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], url)...)
	if err := opener.Start(); err != nil {
		failed(err)
		return
	}
	go func() {
		if err := opener.Wait(); err != nil {
			failed(err)
		}
	}()
}
