package review

import (
	"context"
	"errors"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// oneFile is a change in which all files have the same text, or can't be read.
type oneFile struct {
	ports.Change
	err error
}

func (f oneFile) File(context.Context, string, string, int64) ([]byte, error) {
	return []byte("text"), f.err
}

// A missing file is an answer. Any other failure is an error.
func TestReadFile(t *testing.T) {
	for kind, fails := range map[ports.HostKind]bool{ports.HostNotFound: false, ports.HostForbidden: true, ports.HostTransient: true} {
		_, found, err := readFile(oneFile{err: &ports.HostError{Kind: kind, Err: errors.New("no")}})(t.Context(), "h", "a.md", 9)
		if found || (err != nil) != fails {
			t.Errorf("%s: found %t, %v", kind, found, err)
		}
	}
	if text, found, err := readFile(oneFile{})(t.Context(), "h", "a.md", 9); string(text) != "text" || !found || err != nil {
		t.Errorf("%q, %t, %v", text, found, err)
	}
}
