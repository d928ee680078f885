package payments

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDeclined(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusPaymentRequired)
	}))
	defer s.Close()
	c := &Client{base: s.URL, http: s.Client()}
	if _, err := c.Charge(t.Context(), Charge{Card: "tok_2", Cents: 500}); err == nil {
		t.Error("no error")
	}
}
