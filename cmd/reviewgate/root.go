package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
)

// The exit codes of every command.
const (
	exitGood       = 0
	exitBlocked    = 1 // the gate blocks
	exitUnusable   = 2 // input or settings can't be used
	exitUnfinished = 3 // the command could not finish
)

// exitError carries an exit code. Its err is nil if the command has already printed
// everything.
type exitError struct {
	code   int
	err    error
	always bool // print err even if the command was interrupted
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func unusable(err error) error   { return &exitError{code: exitUnusable, err: err} }
func unfinished(err error) error { return &exitError{code: exitUnfinished, err: err} }

// interruptible ends a command when the user interrupts it. A command that only reads files
// and computes checks no context. Without this it would block the terminal until its input
// ends.
func interruptible(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		done := make(chan error, 1)
		go func() { done <- run(cmd, args) }()
		select {
		case err := <-done:
			return err
		case <-cmd.Context().Done():
			return unfinished(cmd.Context().Err())
		}
	}
}

// atLeastOne requires one file or more on the command line.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("name at least one file with %s, or - for standard input", what)
		}
		return nil
	}
}

// noArguments refuses arguments of a command that takes only flags. Cobra's own message
// would call the argument an unknown command, which fits only a command with subcommands.
func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return cobra.NoArgs(c, args)
	}
	return fmt.Errorf("%s takes no arguments, but %q was given; see %s --help", c.Name(), args[0], c.CommandPath())
}

// helpCommand replaces cobra's, which reports success for an unknown command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q for %q", rest[0], about.CommandPath())
			}
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// unknownCommand matches cobra's message about an unknown command. Its group is the parent
// command.
var unknownCommand = regexp.MustCompile(`^unknown command ".*" for "([a-z ]+)"`)

// noNumber matches pflag's message about a value that is not a number.
var noNumber = regexp.MustCompile(`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv\.`)

// plainFlagError rewords pflag's errors for users.
func plainFlagError(err error) string {
	if m := noNumber.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s %s: write a whole number", m[2], m[1])
	}
	return err.Error()
}

// escaped replaces what a terminal can't print by Go's escapes. Errors quote arguments and names of
// files, which could hold control sequences.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// onOneLine is like [escaped], but also replaces line breaks, so that text of
// strangers, such as a file's name, can't look like a line of its own.
func onOneLine(text string) string { return strings.ReplaceAll(escaped(text), "\n", `\n`) }

// killed reports whether SIGINT or SIGTERM ended a program that the command ran. Such a
// program may get the signal before this process does.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}

// rootCommand returns reviewgate with all its commands.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "reviewgate",
		Short: "Reviews every pull request and gates it with one check run",
		Long: "reviewgate reviews pull requests, either as a GitHub App (serve) or for a local git\n" +
			"range (review). On GitHub it answers with one comment and one check run.",
		Version:           app.Version(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(serveCommand(), reviewCommand(), synthesizeCommand(), aggregateCommand(), verdictCommand(), configCommand(), secretsCommand(), evalCommand(), doctorCommand(), simulateCommand(), backfillCommand(), backupCommand(), replayCommand(), backtestCommand(), analyticsCommand(), memoryCommand(), tokenCommand(), apartCommand(), demoCommand())
	return root
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return unusable(fmt.Errorf("%s; see %s --help", plainFlagError(err), c.CommandPath()))
	})
	root.SetHelpCommand(helpCommand())
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitGood
	}
	code := exitUnusable // cobra's own errors are about the command line
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
		err = exit.err
	}
	if err != nil && (exit == nil || !exit.always) && (ctx.Err() != nil || killed(err)) {
		code, err = exitUnfinished, errors.New("interrupted: run the command again")
	}
	if err != nil {
		fmt.Fprintln(stderr, "reviewgate:", escaped(err.Error()))
	}
	if unknown := unknownCommand.FindStringSubmatch(fmt.Sprint(err)); unknown != nil {
		fmt.Fprintf(stderr, "see %s --help\n", unknown[1])
	}
	return code
}
