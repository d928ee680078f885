package api

import (
	"errors"
	"net/http"
	"strconv"

	"example.com/board/internal/store"
)

func (h *Handlers) routesOfAttachments(mux *http.ServeMux) {
	mux.Handle("GET /attachments/{id}", h.signedIn(h.getAttachment))
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
