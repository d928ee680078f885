package wallet

import (
	"errors"
	"testing"
)

func TestTransfer(t *testing.T) {
	a, b := &Wallet{ID: 1, balance: 500}, &Wallet{ID: 2}
	if err := Transfer(a, b, 200); err != nil {
		t.Fatal(err)
	}
	if a.Balance() != 300 || b.Balance() != 200 {
		t.Errorf("balances %d and %d, want 300 and 200", a.Balance(), b.Balance())
	}
	if err := Transfer(a, b, 301); !errors.Is(err, ErrInsufficient) {
		t.Errorf("error %v, want %v", err, ErrInsufficient)
	}
}
