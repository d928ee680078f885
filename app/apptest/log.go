package apptest

import (
	"bytes"
	"sync"
)

// LogBook keeps a log, as World.LogTo.
type LogBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *LogBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is the log so far.
func (l *LogBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
