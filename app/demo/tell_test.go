package demo

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
)

// terminal keeps what is written to it.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen chan struct{} // gets a token at each write
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.seen <- struct{}{} }()
	return t.text.Write(p)
}

// Each Enter takes a step, the whole story has at most 40 lines, and the demo goes on until it is ended.
func TestStoryInATerminal(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	out := &terminal{seen: make(chan struct{}, 100)}
	in, keys := io.Pipe()
	page := ""
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Options{Out: out, In: in, Serving: func(url string) { page = url }}) }()
	<-out.seen
	for range len(story) + 1 {
		if _, err := io.WriteString(keys, "\n"); err != nil {
			t.Fatal(err)
		}
		<-out.seen
	}
	keys.Close()
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text := out.text.String()
	if n := strings.Count(text, "\n"); n > 40 {
		t.Errorf("the story has %d lines:\n%s", n, text)
	}
	rest := text
	for _, part := range []string{page, "Press Enter", "alice opens", "✗ failure", "alice pushes", "edited once", "alice comments", "bob dismisses", "1 major", "carol", "✓ success", "All steps are taken", page} {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q does not come in its turn:\n%s", part, text)
		}
		rest = after
	}
	if strings.Contains(text, "\x1b") || strings.Contains(text, "ghp_") || strings.Contains(text, "{") {
		t.Errorf("the story has colours, a secret or JSON:\n%s", text)
	}
}
