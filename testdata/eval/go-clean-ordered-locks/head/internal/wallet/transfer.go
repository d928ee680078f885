package wallet

import (
	"errors"
	"sync"
)

// The reasons why credit is not moved.
var (
	ErrAmount       = errors.New("the amount must be more than nothing")
	ErrSameWallet   = errors.New("the wallets are the same")
	ErrInsufficient = errors.New("the wallet has not enough credit")
)

// Wallet holds credit in cents. IDs are unique.
type Wallet struct {
	ID int64

	mu      sync.Mutex
	balance int64
}

// Balance is the credit in cents.
func (w *Wallet) Balance() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.balance
}

// Transfer moves credit from one wallet to another, all of it or nothing.
func Transfer(from, to *Wallet, cents int64) error {
	switch {
	case cents <= 0:
		return ErrAmount
	case from.ID == to.ID:
		return ErrSameWallet
	}
	first, second := from, to
	if second.ID < first.ID {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()

	if from.balance < cents {
		return ErrInsufficient
	}
	from.balance -= cents
	to.balance += cents
	return nil
}
