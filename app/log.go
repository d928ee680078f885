package app

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// LogFormat is how log lines are written.
type LogFormat string

// The formats.
const (
	LogByTerminal LogFormat = ""     // text on a terminal, and JSON elsewhere
	LogText       LogFormat = "text" // for people, with key=value
	LogJSON       LogFormat = "json" // an object a line
)

// NewLog returns the log that the settings ask for. Text has colours on a terminal only,
// and none if the environment variable NO_COLOR is set.
func NewLog(w io.Writer, s Settings) zerolog.Logger {
	terminal := IsTerminal(w)
	if s.LogFormat == LogText || s.LogFormat == LogByTerminal && terminal {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: !terminal || os.Getenv("NO_COLOR") != ""}
	}
	return zerolog.New(w).Level(s.LogLevel).With().Timestamp().Logger()
}

// IsTerminal reports whether w is a character device: nothing else gets colour.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
