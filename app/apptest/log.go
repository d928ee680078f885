package apptest

import (
	"bytes"
	"sync"
)

// LogBook collects a log. Use it as World.LogTo.
type LogBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *LogBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the log so far.
func (l *LogBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
