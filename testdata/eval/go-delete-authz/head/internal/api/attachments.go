package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"example.com/board/internal/store"
)

func (h *Handlers) routesOfAttachments(mux *http.ServeMux) {
	mux.Handle("GET /attachments/{id}", h.signedIn(h.getAttachment))
	mux.Handle("DELETE /attachments/{id}", h.signedIn(h.deleteAttachment))
}

func (h *Handlers) getAttachment(w http.ResponseWriter, r *http.Request, member store.Member) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	a, err := h.store.AttachmentFor(r.Context(), id, member.ID)
	if errors.Is(err, store.ErrNotFound) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.bucket.Serve(w, r, a.Key)
}

// deleteAttachment removes an attachment and its object. The row goes first: an
// object without a row is found by the nightly sweep, a row without an object is
// an error that people see.
func (h *Handlers) deleteAttachment(w http.ResponseWriter, r *http.Request, member store.Member) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	a, err := h.store.Attachment(r.Context(), id)
	if errors.Is(err, store.ErrNotFound) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	if err := h.store.DeleteAttachment(r.Context(), a.ID); err != nil {
		h.failed(w, r, err)
		return
	}
	if err := h.bucket.Delete(r.Context(), a.Key); err != nil {
		slog.WarnContext(r.Context(), "object left for the sweep", "key", a.Key, "error", err)
	}
	slog.InfoContext(r.Context(), "attachment deleted", "id", a.ID, "member", member.ID)
	w.WriteHeader(http.StatusNoContent)
}
