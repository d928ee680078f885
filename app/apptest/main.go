package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// ServerEnv turns the test binary into a server with the settings in its value, so that tests
// can kill a real process.
const ServerEnv = "REVIEWGATE_TEST_SERVER"

const (
	// apartEnv turns it into the child process of such a server.
	apartEnv = "REVIEWGATE_TEST_APART"
	// stepEnv gives the server an agent that ends its process for some titles. The value is
	// how long such a review waits in quarantine.
	stepEnv = "REVIEWGATE_TEST_QUARANTINE"
	// memoryEnv limits the server's memory, in bytes.
	memoryEnv = "REVIEWGATE_TEST_MEMORY"
)

// Main must be called by the TestMain of each package of conversations.
func Main(m *testing.M) {
	if text := os.Getenv(ServerEnv); text != "" {
		os.Exit(serveAsChild(text, os.Getenv(apartEnv) != ""))
	}
	// Tests create much garbage, and there is memory to spare.
	debug.SetGCPercent(400)
	// The tests mostly wait for timers, disks and each other's answers, so it is faster to
	// run more of them in parallel than there are processors.
	sample.Parallel(16)
	os.Exit(m.Run())
}

func serveAsChild(text string, apart bool) int {
	var settings app.Settings
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	settings.Dial = Dial
	if text := os.Getenv(memoryEnv); text != "" && !apart {
		most, err := strconv.ParseUint(text, 10, 63)
		if err == nil {
			err = limitData(most)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	log := zerolog.New(os.Stderr)
	o := app.Options{Log: log, Version: "test", Apart: []string{os.Args[0]}, ApartEnv: []string{apartEnv + "=1"}, ApartMemory: 512 << 20}
	if steps := os.Getenv(stepEnv); steps != "" {
		o.Agents = map[string]dispatch.Agent{"security-reviewer": poison{apart}}
		step, err := time.ParseDuration(steps)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		o.QuarantineSteps = []time.Duration{step}
	}
	if apart {
		if err := app.RunApart(context.Background(), settings, o, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		return 0
	}
	a, err := app.New(context.Background(), settings, o)
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
