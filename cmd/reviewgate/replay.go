package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
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
programs and the detector for secrets said is read from the database. The last
line of a comment names the RUN of its review.

Exit codes: 0 all reports are identical; 1 a report differs, was altered after it was
saved, or could not be computed; 2 the input can't be used; 3 the command could not
finish.`,
		Example: "  reviewgate replay --pull acme/shop#104\n" +
			"  reviewgate replay --since 90d --database sqlite:///backup/reviewgate.db",
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
func databaseOf(cmd *cobra.Command, database, settings string) (string, error) {
	if !cmd.Flags().Changed("database") {
		return app.LoadDatabaseURL(os.Getenv, settings)
	}
	if database == "" {
		return "", errors.New("--database is empty: name a database, or leave it out")
	}
	if !strings.Contains(database, ":") { // the path of a SQLite file
		database = "sqlite://" + database
	}
	return app.LoadDatabaseURL(func(name string) string {
		if name == "REVIEWGATE_DATABASE_URL" {
			return database
		}
		return os.Getenv(name)
	}, settings)
}

func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	which, err := f.filter(args, time.Now())
	if err != nil {
		return unusable(err)
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	app.Yield()
	var n replayed
	var unwritten error
	progress := newProgress(cmd.ErrOrStderr())
	err = app.Replay(cmd.Context(), url, which, func(r replay.Result) error {
		progress.step(fmt.Sprintf("%d replayed", n.all))
		_, unwritten = io.WriteString(cmd.OutOrStdout(), n.add(r))
		return unwritten
	})
	progress.done()
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case unwritten != nil:
		return unfinished(unwritten)
	case err != nil:
		return unusable(err)
	case n.all == 0:
		return unusable(f.nothing(args))
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), n); err != nil {
		return unfinished(err)
	}
	if n.identical < n.all {
		return &exitError{code: exitBlocked}
	}
	return nil
}

// nothing is the error for a database that lacks the chosen reviews.
func (f *replayFlags) nothing(args []string) error {
	what := "no review"
	switch {
	case len(args) > 0:
		return fmt.Errorf("the database has no run %s: the last line of a comment names the run of its review", args[0])
	case f.pull != "":
		what += " of " + f.pull
	}
	if f.since != "" {
		return fmt.Errorf("the database has %s of the last %s: take a longer --since", what, f.since)
	}
	return fmt.Errorf("the database has %s", what)
}

// filter returns which reviews the command line chooses. There is no default: to replay
// everything may take hours.
func (f *replayFlags) filter(args []string, now time.Time) (which ports.ReviewFilter, err error) {
	narrowed := f.pull != "" || f.since != ""
	switch {
	case len(args) > 1:
		return which, fmt.Errorf("%d runs are named: name one, or use --pull, --since or --all", len(args))
	case len(args) == 0 && !narrowed && !f.all:
		return which, errors.New("say which reviews: name a RUN, or use --pull, --since or --all")
	case len(args) > 0 && (narrowed || f.all):
		return which, errors.New("a RUN is one review: leave out --pull, --since and --all")
	case f.all && narrowed:
		return which, errors.New("--all is every review: leave it out, or leave out --pull and --since")
	case len(args) > 0:
		which.RunID = strings.ToLower(args[0])
	}
	if f.pull != "" {
		owner, name, number, _, err := pullRequest(f.pull)
		if err != nil {
			return which, fmt.Errorf("--pull %q: %w", f.pull, err)
		}
		which.Repository, which.Number = owner+"/"+name, number
	}
	if f.since != "" {
		which.Since, err = since(f.since, now)
	}
	return which, err
}

// since returns the time that was a number of days or hours ago, such as 90d or 12h.
func since(text string, now time.Time) (time.Time, error) {
	if text == "all" {
		return time.Time{}, nil
	}
	d, ok := duration(text)
	if !ok {
		return time.Time{}, fmt.Errorf("--since %q: write all, or a number of days or hours up to 99999, such as 90d or 12h", text)
	}
	return now.Add(-d), nil
}

var period = regexp.MustCompile(`^([1-9][0-9]{0,4})([dh])$`)

// duration reads a number of days or hours, such as 90d or 12h.
func duration(text string) (d time.Duration, ok bool) {
	m := period.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	unit := time.Hour
	if m[2] == "d" {
		unit = 24 * time.Hour
	}
	return time.Duration(n) * unit, err == nil
}

// replayed counts results.
type replayed struct{ all, identical, old int }

// add counts a result, and describes it if it is not identical.
func (n *replayed) add(r replay.Result) string {
	n.all++
	if r.Lacks != "" {
		n.old++
	}
	if r.Identical {
		n.identical++
		return ""
	}
	what := r.RunID
	if r.Pull != "" {
		what += fmt.Sprintf(" %s head %.7s", r.Pull, r.HeadSHA)
	}
	if r.Err != nil {
		return plaintext.Printable(fmt.Sprintf("%s: %v", what, r.Err)) + "\n"
	}
	how := "differs"
	if r.Version != app.Version() {
		how = fmt.Sprintf("made by version %s, differs under version %s", r.Version, app.Version())
	}
	if r.Lacks != "" {
		how += "; " + r.Lacks
	}
	var b strings.Builder
	fmt.Fprintln(&b, plaintext.Printable(what+": "+how))
	for _, d := range r.Differs {
		fmt.Fprintf(&b, "  %s\n", plaintext.Printable(d.String()))
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.More)
	}
	fmt.Fprintln(&b)
	return b.String()
}

// String is the last line of the command.
func (n replayed) String() string {
	s := fmt.Sprintf("%d replayed, %d identical", n.all, n.identical)
	if n.old > 0 {
		s += fmt.Sprintf("; %d by versions that stored no digest", n.old)
	}
	return s
}
