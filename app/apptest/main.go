package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// ServerEnv makes the test binary a server with the settings it holds, so that a
// real process can be killed.
const ServerEnv = "REVIEWGATE_TEST_SERVER"

// Main is what TestMain of each package of conversations calls.
func Main(m *testing.M) {
	if text := os.Getenv(ServerEnv); text != "" {
		os.Exit(serveAsChild(text))
	}
	// A test makes much that is soon garbage, and there is memory to spare.
	debug.SetGCPercent(400)
	// The tests mostly wait, for timers, disks and each other's answers: more of
	// them side by side than there are processors end sooner.
	sample.Parallel(16)
	os.Exit(m.Run())
}

func serveAsChild(text string) int {
	var settings app.Settings
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	settings.Dial = Dial
	log := zerolog.New(os.Stderr)
	a, err := app.New(context.Background(), settings, app.Options{Log: log, Version: "test"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if err := a.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}
