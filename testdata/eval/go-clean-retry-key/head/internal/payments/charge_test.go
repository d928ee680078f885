package payments

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAttemptsCarryTheSameKey(t *testing.T) {
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(`{"reference": "ch_1"}`))
	}))
	defer s.Close()
	c := &Client{base: s.URL, http: s.Client()}
	if ref, err := c.Charge(t.Context(), Charge{Order: "A-17", Card: "tok_1", Cents: 1999, Currency: "EUR"}); err != nil || ref != "ch_1" {
		t.Fatalf("reference %q, %v", ref, err)
	}
	for _, k := range keys {
		if k != "A-17" {
			t.Errorf("key %q, want the order's", k)
		}
	}
}

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
