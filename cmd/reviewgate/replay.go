package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
)

type replayFlags struct {
	pull, since, database, settings string
	all                             bool
}

func replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [RUN]",
		Short: "Compute stored reviews again and compare the reports",
		Long: `Compute stored reviews again from what the database holds of them, and compare the
reports byte for byte. The command reads the server's database, which may be in use,
or a copy made by backup. It changes nothing, and needs neither GitHub nor a model.

Rules, the choice of agents and the gate are computed again. What models, other
programs and the detector for secrets said is read from the database. A comment's
footer names the RUN of its review.

Exit codes: 0 all reports are identical; 1 a report differs, was altered after it was
saved, or could not be computed; 2 the input can't be used; 3 the command could not
finish.`,
		Example: "  reviewgate replay --pull acme/shop#104\n" +
			"  reviewgate replay --since 90d --database sqlite:///backup/reviewgate.db",
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	c.Flags().StringVar(&f.pull, "pull", "", "the reviews of a pull request, `OWNER/NAME#N` or its URL")
	c.Flags().StringVar(&f.since, "since", "", "the reviews of the last days or hours, such as 90d or 12h")
	c.Flags().BoolVar(&f.all, "all", false, "all stored reviews")
	addDatabaseFlags(c, &f.database, &f.settings)
	return c
}

// addDatabaseFlags adds the flags that name a database to read.
func addDatabaseFlags(c *cobra.Command, database, settings *string) {
	c.Flags().StringVar(database, "database", "", "`URL` of the database, instead of REVIEWGATE_DATABASE_URL")
	c.Flags().StringVar(settings, "settings", "", "YAML or JSON `file` with settings, as for serve")
}

// databaseOf returns the URL of the database that the flags or the settings name.
func databaseOf(database, settings string) (string, error) {
	getenv := os.Getenv
	if database != "" {
		getenv = func(name string) string {
			if name == "REVIEWGATE_DATABASE_URL" {
				return database
			}
			return os.Getenv(name)
		}
	}
	return app.LoadDatabaseURL(getenv, settings)
}

func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	which, err := f.filter(args, time.Now())
	if err != nil {
		return unusable(err)
	}
	url, err := databaseOf(f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	var n replayed
	progress := newProgress(cmd.ErrOrStderr())
	err = app.Replay(cmd.Context(), url, which, func(r replay.Result) error {
		progress.step(fmt.Sprintf("%d replayed", n.all))
		return n.add(cmd.OutOrStdout(), r)
	})
	progress.done()
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case err != nil:
		return unusable(err)
	case n.all == 0:
		return unusable(errors.New("the database has no such review: look at the name, or take a longer --since"))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d replayed, %d identical\n", n.all, n.identical)
	if n.identical < n.all {
		return &exitError{code: exitBlocked}
	}
	return nil
}

// filter returns which reviews the command line chooses. There is no default: to replay
// everything may take hours.
func (f *replayFlags) filter(args []string, now time.Time) (which ports.ReviewFilter, err error) {
	chosen := 0
	if len(args) > 0 {
		which.RunID = args[0]
		chosen++
	}
	if f.pull != "" {
		owner, name, number, _, err := pullRequest(f.pull)
		if err != nil {
			return which, fmt.Errorf("--pull %q: %w", f.pull, err)
		}
		which.Repository, which.Number = owner+"/"+name, number
		chosen++
	}
	if f.all {
		chosen++
	}
	if f.since != "" {
		if which.Since, err = since(f.since, now); err != nil {
			return which, err
		}
		chosen++
	}
	if chosen == 0 {
		return which, errors.New("say which reviews: name a RUN, or use --pull, --since or --all")
	}
	if len(args) > 0 && chosen > 1 {
		return which, errors.New("a RUN is one review: leave out --pull, --since and --all")
	}
	return which, nil
}

var period = regexp.MustCompile(`^([1-9][0-9]{0,4})([dh])$`)

// since returns the time that was a period such as 90d or 12h ago.
func since(text string, now time.Time) (time.Time, error) {
	m := period.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, fmt.Errorf("--since %q: write a number of days or hours, such as 90d or 12h", text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return time.Time{}, fmt.Errorf("--since %q: %w", text, err)
	}
	unit := time.Hour
	if m[2] == "d" {
		unit *= 24
	}
	return now.Add(-time.Duration(n) * unit), nil
}

// replayed counts results, and prints those that are not identical.
type replayed struct{ all, identical int }

func (n *replayed) add(w io.Writer, r replay.Result) error {
	n.all++
	if r.Identical {
		n.identical++
		return nil
	}
	what := r.RunID
	if r.Pull != "" {
		what += fmt.Sprintf(" %s head %.7s", r.Pull, r.HeadSHA)
	}
	if r.Err != nil {
		_, err := fmt.Fprintf(w, "%s: %v\n", what, r.Err)
		return err
	}
	how := "differs"
	if r.Version != app.Version() {
		how = fmt.Sprintf("made by version %s, differs under version %s", r.Version, app.Version())
	}
	if r.Lacks != "" {
		how += "; " + r.Lacks
	}
	fmt.Fprintf(w, "%s: %s\n", what, how)
	for _, d := range r.Differs {
		fmt.Fprintf(w, "  %s\n", d)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "  and %d more\n", r.More)
	}
	_, err := fmt.Fprintln(w)
	return err
}
