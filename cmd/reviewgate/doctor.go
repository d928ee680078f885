package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/doctor"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
)

type doctorFlags struct{ repo, format, settings string }

func doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check an installation: settings, App, webhook, database, required check",
		Long: `Check an installation with the server's settings: whether GitHub takes the App's
credentials, what the App asks for and is granted, where webhooks go and whether
they come through, the clock, the database. With --repo also whether the App is
installed there, what its config says, and whether the check is required and
pinned to the App. Nothing is changed, and no secret is printed.

Each point is ok, a problem, or unknown: it could not be looked at, or GitHub has
nothing to tell yet. Exit code: 0 all are ok, 1 there is a problem, 2 the
settings can't be used, 3 there is none, but something is unknown.`,
		Example: "  reviewgate doctor\n" +
			"  reviewgate doctor --repo acme/shop --format json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", "", "repository to look at as well, `OWNER/NAME`")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVar(&f.settings, "settings", "", "YAML or JSON `file` with settings, as for serve")
	return c
}

func (f *doctorFlags) run(cmd *cobra.Command) error {
	if f.format != "text" && f.format != "json" {
		return unusable(fmt.Errorf("--format %q: use text or json", f.format))
	}
	var owner, name string
	if f.repo != "" || cmd.Flags().Changed("repo") {
		var err error
		if owner, name, err = repository(f.repo); err != nil {
			return unusable(fmt.Errorf("--repo %q: %w", f.repo, err))
		}
	}
	settings, err := app.LoadSettings(os.Getenv, f.settings, sdk.New)
	if err != nil {
		if f.format == "json" {
			if err := f.print(cmd.OutOrStdout(), unusableSettings(err)); err != nil {
				return unfinished(err)
			}
		}
		return unusable(err)
	}
	result, err := app.Examine(cmd.Context(), settings, owner, name)
	if err != nil {
		return unfinished(err)
	}
	if err := cmd.Context().Err(); err != nil {
		return unfinished(err)
	}
	if err := f.print(cmd.OutOrStdout(), result); err != nil {
		return unfinished(fmt.Errorf("write what was found: %w", err))
	}
	switch result.Worst() {
	case doctor.Problem:
		return &exitError{code: exitBlocked}
	case doctor.Unknown:
		return &exitError{code: exitUnfinished}
	}
	return nil
}

// unusableSettings are settings without which nothing can be asked.
func unusableSettings(err error) doctor.Result {
	found := err.Error()
	var se *app.SettingsError
	if errors.As(err, &se) {
		found = strings.Join(se.Problems, "; ")
	}
	return doctor.Result{Points: []doctor.Point{{ID: doctor.Settings, Status: doctor.Problem, Found: found, Remedy: "set them as reviewgate serve --help says"}}}
}

// print writes what was found.
func (f *doctorFlags) print(w io.Writer, r doctor.Result) error {
	if f.format == "json" {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Status doctor.Status `json:"status"`
			doctor.Result
		}{r.Worst(), r})
	}
	var b strings.Builder
	count := map[doctor.Status]int{}
	for _, p := range r.Points {
		count[p.Status]++
		fmt.Fprintf(&b, "%-7s  %-14s  %s\n", p.Status, strings.ReplaceAll(p.ID, "_", " "), p.Found)
		if p.Remedy != "" {
			fmt.Fprintf(&b, "%25s  → %s\n", "", p.Remedy)
		}
	}
	fmt.Fprintf(&b, "\n%d points: %d ok, %d problems, %d unknown\n", len(r.Points), count[doctor.OK], count[doctor.Problem], count[doctor.Unknown])
	_, err := io.WriteString(w, b.String())
	return err
}

// repository reads OWNER/NAME.
func repository(s string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(name, "/#? ") {
		return "", "", errors.New("write OWNER/NAME, such as acme/shop")
	}
	return owner, name, nil
}
