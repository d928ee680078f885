package config

import (
	"os"
	"runtime/debug"
	"testing"
)

// Loading config leaves much garbage, and no test here measures memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
