package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// archiveFlags are those of the commands that report on stored reviews.
type archiveFlags struct{ repo, since, format, database, settings string }

func (f *archiveFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.repo, "repo", "", "only repositories whose full name matches this `glob`, such as acme/*")
	c.Flags().StringVar(&f.since, "since", "90d", "the reviews of the last days or hours, such as 90d or 12h, or all")
	c.Flags().StringVar(&f.format, "format", "text", "text, markdown or json")
	addDatabaseFlags(c, &f.database, &f.settings)
}

// filter chooses the reviews.
func (f *archiveFlags) filter(now time.Time) (which ports.ReviewFilter, err error) {
	if which.Since, err = since(f.since, now); err != nil || f.repo == "" {
		return which, err
	}
	set, err := glob.Compile([]string{strings.ToLower(f.repo)})
	if err != nil {
		return which, fmt.Errorf("--repo %q: %w", f.repo, err)
	}
	which.Concerns = func(name string) bool { return set.Any(strings.ToLower(name)) }
	return which, nil
}

// none says that the flags choose no review.
func (f *archiveFlags) none() error {
	what := "no review in the last " + f.since
	if f.since == "all" {
		what = "no review"
	}
	if f.repo != "" {
		return fmt.Errorf("%s in a repository that matches --repo %s", what, f.repo)
	}
	return fmt.Errorf("%s: take a longer --since", what)
}

// archiveReport is a command that computes a report R on stored reviews.
type archiveReport[R any] struct {
	compute        func(context.Context, string, ports.ReviewFilter) (R, error)
	usable         func(R) error // an error if the report says nothing
	text, markdown func(R) string
}

// run computes the report and writes it.
func (a archiveReport[R]) run(cmd *cobra.Command, f *archiveFlags) error {
	form, known := map[string]func(R) string{"text": a.text, "markdown": a.markdown, "json": nil}[f.format]
	if !known {
		return unusable(fmt.Errorf("--format %q: use text, markdown or json", f.format))
	}
	which, err := f.filter(time.Now())
	if err != nil {
		return unusable(err)
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	app.Yield()
	r, err := a.compute(cmd.Context(), url, which)
	if cmd.Context().Err() != nil {
		return unfinished(cmd.Context().Err())
	}
	if err == nil {
		err = a.usable(r)
	}
	if err != nil {
		return unusable(err)
	}
	if form != nil {
		_, err = io.WriteString(cmd.OutOrStdout(), form(r))
	} else {
		err = writeJSON(cmd.OutOrStdout(), r)
	}
	if err != nil {
		return unfinished(err)
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	text, err := render.Indented(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
