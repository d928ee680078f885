package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ports"
)

// A file is not a terminal, so its lines are JSON unless the settings ask for text. Both
// formats name the pull request as people know it.
func TestLogFormat(t *testing.T) {
	t.Parallel()
	target := ports.Target{
		Kind: ports.TargetPull, RepoID: 7, Owner: "acme", Name: "shop", Number: 104, HeadSHA: strings.Repeat("abc1234d", 5),
	}
	for format, want := range map[app.LogFormat]string{
		app.LogByTerminal: `"target":"pull/7/104","repo":"acme/shop","pr":104,"head":"abc1234"`,
		app.LogJSON:       `"repo":"acme/shop"`,
		app.LogText:       "WRN not reviewed head=abc1234 pr=104 repo=acme/shop target=pull/7/104",
	} {
		out, err := os.Create(t.TempDir() + "/log")
		if err != nil {
			t.Fatal(err)
		}
		log := app.NewLog(out, app.Settings{LogFormat: format, LogLevel: zerolog.InfoLevel})
		log.Debug().Msg("too quiet")
		log.Warn().EmbedObject(target).Msg("not reviewed")
		out.Close()
		got, err := os.ReadFile(out.Name())
		if err != nil || !strings.Contains(string(got), want) || strings.Contains(string(got), "quiet") || strings.Contains(string(got), "\x1b") {
			t.Errorf("%q: %s (%v), want %s", format, got, err, want)
		}
	}
}
