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
		Long: `Run the GitHub App server. Its settings come from the environment and, for keys
that are not set there, from a YAML or JSON file with the same keys:

  GITHUB_APP_INTEGRATION_ID      the App ID
  GITHUB_APP_PRIVATE_KEY         the App's private key in PEM form,
  GITHUB_APP_PRIVATE_KEY_FILE    or the file it is in
  GITHUB_APP_WEBHOOK_SECRET      the webhook secret; several, separated by commas,
                                 while it is being rotated
  GITHUB_V3_API_URL              for GitHub Enterprise Server, such as
                                 https://github.example.com/api/v3/
  GITHUB_V4_API_URL, GITHUB_WEB_URL
                                 where they don't follow from it
  REVIEWGATE_ADDR                host:port to listen on (127.0.0.1:8080)
  REVIEWGATE_DATABASE_URL        sqlite://FILE (sqlite://reviewgate.db), or
                                 postgres://USER:PASSWORD@HOST/DATABASE for
                                 several servers
  REVIEWGATE_CONFIG_DIR          directory with config files for all repositories,
                                 read at the start (none)
  REVIEWGATE_DELIVERY_LOG_INTERVAL
                                 how often GitHub's log is read for webhooks that
                                 were lost (5m)
  REVIEWGATE_SWEEP_INTERVAL      how often open pull requests are compared with
                                 what was answered (1h)
  REVIEWGATE_RETENTION           how many days reviews and closed pull requests are
                                 kept (90d); 0 for ever
  ANTHROPIC_API_KEY, OPENAI_API_KEY
                                 keys of the language models that the config names;
                                 others by the variable that key_env names, in
                                 the environment alone
  REVIEWGATE_LOG_LEVEL           debug, info, warn or error (info)
  REVIEWGATE_LOG_FORMAT          text or json (text on a terminal, json elsewhere)
  OTEL_EXPORTER_OTLP_ENDPOINT    where traces go, as OTLP over HTTP in JSON (nowhere);
                                 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, ..._HEADERS,
                                 OTEL_SERVICE_NAME as OpenTelemetry has them`,
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
				return &exitError{code: exitUnfinished, err: err, kept: true} // a server is ended by a signal
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "settings", "", "YAML or JSON `file` with settings")
	return c
}
