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
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

type doctorFlags struct{ repo, format, settings string }

func doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check an installation: settings, App, webhook, database, required check",
		Long: `Check an installation with the server's settings: whether GitHub accepts the App's
credentials, which permissions the App requests and has, where webhooks go and
whether they arrive, the clock, and the database. With --repo, also check whether
the App is installed on that repository, what its config says, and whether the check
is required and pinned to the App. The command changes nothing and prints no secret.

Each point is ok, a problem, or unknown. A point is unknown if it could not be
checked, or if GitHub has no data about it yet. Exit codes: 0 all points are ok; 1
there is a problem; 2 the settings can't be used; 3 there is no problem, but a point
is unknown.`,
		Example: "  reviewgate doctor\n" +
			"  reviewgate doctor --repo acme/shop --format json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", "", "a repository to check as well, as `OWNER/NAME`")
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
		return unfinished(fmt.Errorf("write the result: %w", err))
	}
	switch result.Worst() {
	case doctor.Problem:
		return &exitError{code: exitBlocked}
	case doctor.Unknown:
		return &exitError{code: exitUnfinished}
	}
	return nil
}

// unusableSettings returns the result for settings that can't be used, so that nothing else
// can be checked.
func unusableSettings(err error) doctor.Result {
	found := err.Error()
	var se *app.SettingsError
	if errors.As(err, &se) {
		found = strings.Join(se.Problems, "; ")
	}
	return doctor.Result{Points: []doctor.Point{{ID: doctor.Settings, Status: doctor.Problem, Found: found, Remedy: "see reviewgate serve --help for the settings"}}}
}

// print writes the result.
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
	fmt.Fprintf(&b, "\n%s: %d ok, %s, %d unknown\n", plaintext.Count(len(r.Points), "point"), count[doctor.OK], plaintext.Count(count[doctor.Problem], "problem"), count[doctor.Unknown])
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
