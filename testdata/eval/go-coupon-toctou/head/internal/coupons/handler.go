package coupons

import (
	"encoding/json"
	"errors"
	"net/http"
)

// Redeemer answers POST /coupons/{code}/redeem.
func Redeemer(s *Store, customer func(*http.Request) int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cents, err := s.Redeem(r.Context(), r.PathValue("code"), customer(r))
		switch {
		case errors.Is(err, ErrUnknown):
			http.Error(w, "there is no such coupon", http.StatusNotFound)
		case errors.Is(err, ErrRedeemed):
			http.Error(w, "the coupon was redeemed before", http.StatusConflict)
		case err != nil:
			http.Error(w, "try again later", http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]int64{"cents": cents})
		}
	}
}
