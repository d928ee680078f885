package coupons

import (
	"errors"
	"testing"
)

func TestRedeemOnce(t *testing.T) {
	s := testStore(t, "SPRING", 500)
	if cents, err := s.Redeem(t.Context(), "SPRING", 1); err != nil || cents != 500 {
		t.Fatalf("%d cents, %v", cents, err)
	}
	if _, err := s.Redeem(t.Context(), "SPRING", 2); !errors.Is(err, ErrRedeemed) {
		t.Errorf("error %v, want %v", err, ErrRedeemed)
	}
	if _, err := s.Redeem(t.Context(), "AUTUMN", 2); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want %v", err, ErrUnknown)
	}
}
