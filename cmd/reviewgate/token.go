package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

type tokenFlags struct {
	repo, agent, expires, format string
	database, settings           string
}

func tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke the tokens of coding agents",
		Long: `Create, list and revoke the tokens with which coding agents report events and read
the state of pull requests. A token works for one repository and one agent name.

With SQLite, a running server does the work; run the command as the same user on the same
machine.

Exit codes: 0 done; 2 the input or the settings can't be used; 3 the command could not
finish.`,
		Example: "  reviewgate token create --repo acme/shop --agent claude\n" +
			"  reviewgate token list --repo acme/shop\n" +
			"  reviewgate token revoke 3",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(tokenCreateCommand(), tokenListCommand(), tokenRevokeCommand())
	return c
}

func tokenCreateCommand() *cobra.Command {
	var f tokenFlags
	c := &cobra.Command{
		Use:   "create --repo OWNER/NAME",
		Short: "Create a token and print it",
		Long: `Create a token and print it on standard output, once: the server stores only a hash.
The App must be installed on the repository.`,
		Example: "  reviewgate token create --repo acme/shop --agent claude --expires 30d",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.create(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", "", "the repository, `OWNER/NAME`")
	c.Flags().StringVar(&f.agent, "agent", "agent", "the agent's `name`: letters, digits and . _ : / @ -")
	c.Flags().StringVar(&f.expires, "expires", "90d", "how long the token is valid, in days or hours (90d, 12h), at most 365d")
	c.Flags().StringVar(&f.settings, "settings", "", "YAML or JSON `file` with settings, as for serve")
	return c
}

func tokenListCommand() *cobra.Command {
	var f tokenFlags
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens",
		Example: "  reviewgate token list --repo acme/shop --format json",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.list(cmd) },
	}
	c.Flags().StringVar(&f.repo, "repo", "", "only the tokens of this repository, `OWNER/NAME`")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	addDatabaseFlags(c, &f.database, &f.settings)
	return c
}

func tokenRevokeCommand() *cobra.Command {
	var f tokenFlags
	c := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token",
		Long:    "Revoke a token. It stops working within 5 seconds.",
		Example: "  reviewgate token revoke 3",
		Args: func(_ *cobra.Command, given []string) error {
			if len(given) != 1 {
				return fmt.Errorf("reviewgate token revoke ID: %s given; see reviewgate token revoke --help", plaintext.Count(len(given), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error { return f.revoke(cmd, given[0]) },
	}
	addDatabaseFlags(c, &f.database, &f.settings)
	return c
}

// maxTokenPeriod is the longest time for which a token may be valid.
const maxTokenPeriod = 365 * 24 * time.Hour

// repositoryName matches the name of a repository with its owner.
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)

func (f *tokenFlags) create(cmd *cobra.Command) error {
	validFor, ok := duration(f.expires)
	switch {
	case f.repo == "":
		return unusable(errors.New("--repo is missing: name the repository, such as --repo acme/shop"))
	case !repositoryName.MatchString(f.repo):
		return unusable(fmt.Errorf("--repo %q: write OWNER/NAME, such as acme/shop", f.repo))
	case !ports.IsSessionName(f.agent):
		return unusable(fmt.Errorf("--agent %q: write 1 to 200 letters, digits and . _ : / @ -", f.agent))
	case !ok || validFor > maxTokenPeriod:
		return unusable(fmt.Errorf("--expires %q: write days or hours, such as 90d or 12h, at most 365d", f.expires))
	}
	settings, err := app.LoadSettings(os.Getenv, f.settings, sdk.New)
	if err != nil {
		return unusable(err)
	}
	owner, name, _ := strings.Cut(f.repo, "/")
	token, t, err := app.CreateToken(cmd.Context(), settings, app.NewToken{Owner: owner, Name: name, Agent: f.agent, ValidFor: validFor}, quietLog(cmd))
	if err != nil {
		return tokenError(cmd, err)
	}
	if err := put(cmd, token+"\n"); err != nil {
		return unfinished(fmt.Errorf("%w; nobody has seen token %d, so revoke it", errors.Unwrap(err), t.ID))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "This is token %d of %s/%s for the agent %s, valid until %s. It is not shown again: give it to the agent as a secret.\nThe agent sends it in the header \"Authorization: Bearer TOKEN\". To revoke it: reviewgate token revoke %d\n",
		t.ID, t.Repository.Owner, t.Repository.Name, t.Agent, t.ExpiresAt.Format(time.DateTime+" UTC"), t.ID)
	return nil
}

// listedToken is a token as the command prints it.
type listedToken struct {
	ID         int64      `json:"id"`
	State      string     `json:"state"` // valid, expired or revoked
	Repository string     `json:"repository"`
	Agent      string     `json:"agent"`
	Created    time.Time  `json:"created"`
	Expires    *time.Time `json:"expires"`
	Revoked    *time.Time `json:"revoked"`
	Used       *time.Time `json:"used"` // to the hour
}

func listedTokenOf(t *ports.APIToken, now time.Time) listedToken {
	given := func(at time.Time) *time.Time {
		if at.IsZero() {
			return nil
		}
		at = at.UTC()
		return &at
	}
	l := listedToken{
		ID: t.ID, State: "valid", Repository: t.Repository.Owner + "/" + t.Repository.Name, Agent: t.Agent,
		Created: t.CreatedAt.UTC(), Expires: given(t.ExpiresAt), Revoked: given(t.RevokedAt), Used: given(t.UsedAt),
	}
	switch {
	case l.Revoked != nil:
		l.State = "revoked"
	case l.Expires != nil && !now.Before(*l.Expires):
		l.State = "expired"
	}
	return l
}

func (f *tokenFlags) list(cmd *cobra.Command) error {
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	all, err := app.ListTokens(cmd.Context(), url, f.repo, quietLog(cmd))
	if err != nil {
		return tokenError(cmd, err)
	}
	listed, now := make([]listedToken, len(all)), time.Now()
	for i := range all {
		listed[i] = listedTokenOf(&all[i], now)
	}
	if f.format == "json" {
		return putJSON(cmd, listed)
	}
	if len(listed) == 0 {
		return put(cmd, "no tokens\n")
	}
	day := func(what string, at *time.Time) string {
		if at == nil {
			return "never " + what
		}
		return what + " " + at.Format(time.DateOnly)
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, t := range listed {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.State, plaintext.Printable(t.Repository), plaintext.Printable(t.Agent), day("expires", t.Expires), day("used", t.Used))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return put(cmd, b.String())
}

func (f *tokenFlags) revoke(cmd *cobra.Command, name string) error {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil || id <= 0 {
		return unusable(fmt.Errorf("%q is not the id of a token: write its number, as reviewgate token list shows it", name))
	}
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	if err := app.RevokeToken(cmd.Context(), url, id, quietLog(cmd)); err != nil {
		return tokenError(cmd, err)
	}
	return put(cmd, fmt.Sprintf("token %d is revoked\n", id))
}

// quietLog is the log of a command.
func quietLog(cmd *cobra.Command) zerolog.Logger {
	return zerolog.New(cmd.ErrOrStderr()).Level(zerolog.WarnLevel)
}

func tokenError(cmd *cobra.Command, err error) error {
	var input *app.InputError
	switch {
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	case errors.As(err, &input):
		return unusable(err)
	}
	return unfinished(err)
}
