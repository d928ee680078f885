package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
)

func serveCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the GitHub App server",
		Long: `Run the GitHub App server. Its settings come from the environment. For a key that
is not set there, the setting comes from a YAML or JSON file with the same keys:

  GITHUB_APP_INTEGRATION_ID      the App ID
  GITHUB_APP_PRIVATE_KEY         the App's private key in PEM form,
  GITHUB_APP_PRIVATE_KEY_FILE    or the file that holds it
  GITHUB_APP_WEBHOOK_SECRET      the webhook secret; while you rotate it, several
                                 separated by commas
  GITHUB_V3_API_URL              for GitHub Enterprise Server, such as
                                 https://github.example.com/api/v3/
  GITHUB_V4_API_URL, GITHUB_WEB_URL
                                 if they can't be derived from it
  REVIEWGATE_ADDR                host:port to listen on (127.0.0.1:8080)
  REVIEWGATE_DATABASE_URL        sqlite://FILE (sqlite://reviewgate.db), or
                                 postgres://USER:PASSWORD@HOST/DATABASE for
                                 several servers
  REVIEWGATE_CONFIG_DIR          directory with config files for all repositories,
                                 read at the start (none)
  REVIEWGATE_SHADOW_CONFIG_DIR   directory with other config files: each review is
                                 also computed with them in place of those of
                                 REVIEWGATE_CONFIG_DIR, and the difference is
                                 stored (none)
  REVIEWGATE_DELIVERY_LOG_INTERVAL
                                 how often to read GitHub's delivery log for lost
                                 webhooks (5m)
  REVIEWGATE_SWEEP_INTERVAL      how often to look for open pull requests without
                                 an answer (1h)
  REVIEWGATE_RETENTION           how many days to keep reviews and closed pull
                                 requests (90d); 0 keeps them for ever
  REVIEWGATE_ANALYTICS_RETENTION how many days to keep what became of findings
                                 (730d); 0 keeps it for ever
  REVIEWGATE_PUBLIC_URL          the server's address as seen from outside, such as
                                 https://reviewgate.example.com: remote reviewers
                                 send answers there, and it is the audience of OIDC
                                 tokens (none)
  REVIEWGATE_OIDC_ISSUER         the issuer of the OIDC tokens of GitHub Actions; off
                                 accepts no such tokens (the issuer of the GitHub
                                 above)
  ANTHROPIC_API_KEY, OPENAI_API_KEY
                                 keys of the language models that the config names;
                                 a model's key_env can name another variable, and
                                 secret_env names the variables with the secrets of
                                 remote reviewers; all of them are read only from
                                 the environment
  REVIEWGATE_LOG_LEVEL           debug, info, warn or error (info)
  REVIEWGATE_LOG_FORMAT          text or json (text on a terminal, json elsewhere)
  OTEL_EXPORTER_OTLP_ENDPOINT    where to send traces, as OTLP over HTTP in JSON
                                 (nowhere); OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
                                 ..._HEADERS and OTEL_SERVICE_NAME work as
                                 OpenTelemetry defines them`,
		Example: "  GITHUB_APP_INTEGRATION_ID=123456 GITHUB_APP_PRIVATE_KEY_FILE=app.pem \\\n" +
			"    GITHUB_APP_WEBHOOK_SECRET=... reviewgate serve",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := app.LoadSettings(os.Getenv, file, sdk.New)
			if err != nil {
				return unusable(err)
			}
			log := app.NewLog(cmd.ErrOrStderr(), settings)
			a, err := app.New(cmd.Context(), settings, app.Options{Log: log, Apart: apartLine(file)})
			if err != nil {
				return unfinished(err)
			}
			defer a.Close()
			if err := a.Run(cmd.Context()); err != nil {
				return &exitError{code: exitUnfinished, err: err, always: true} // a signal is how a server normally ends
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "settings", "", "YAML or JSON `file` with settings")
	return c
}
