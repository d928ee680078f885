package wallet

import (
	"errors"
	"sync"
	"testing"
)

func TestTransfersInBothDirectionsEnd(t *testing.T) {
	a, b := &Wallet{ID: 1, balance: 1000}, &Wallet{ID: 2, balance: 1000}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { _ = Transfer(a, b, 1) })
		all.Go(func() { _ = Transfer(b, a, 1) })
	}
	all.Wait()
	if sum := a.Balance() + b.Balance(); sum != 2000 {
		t.Errorf("%d cents in all, want 2000", sum)
	}
	if err := Transfer(a, a, 1); !errors.Is(err, ErrSameWallet) {
		t.Errorf("error %v, want %v", err, ErrSameWallet)
	}
}
