package model

import (
	"os"
	"runtime/debug"
	"testing"
)

// Compiling config leaves much garbage, and nothing here measures memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
