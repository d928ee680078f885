package ingest

import (
	"fmt"
	"io"
	"net/http"
)

const maxBody = 1 << 20

// read returns the body.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return text, nil
}
