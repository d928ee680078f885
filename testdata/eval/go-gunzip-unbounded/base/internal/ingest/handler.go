package ingest

import (
	"encoding/json"
	"io"
	"net/http"
)

const maxBody = 1 << 20

// Handler takes events in.
type Handler struct{ queue Queue }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
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
