package ingest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const maxBody = 1 << 20

// Handler takes events in.
type Handler struct{ queue Queue }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := read(w, r)
	if err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return
	}
	var events []Event
	if err := json.Unmarshal(text, &events); err != nil {
		http.Error(w, "the body is no list of events", http.StatusBadRequest)
		return
	}
	if err := h.queue.Put(r.Context(), events); err != nil {
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// read returns the body, unpacked where it came compressed.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("unpack the body: %w", err)
		}
		defer unpacked.Close()
		body = unpacked
	default:
		return nil, fmt.Errorf("the content encoding %q is not taken", encoding)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return text, nil
}
