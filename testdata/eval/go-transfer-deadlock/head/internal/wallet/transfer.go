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

// Wallet holds credit in cents.
type Wallet struct {
	ID int64

	mu      sync.Mutex
	balance int64
	moves   []Move
}

// Move is a change of the balance.
type Move struct {
	Other int64 // the other wallet
	Cents int64
}

// Balance is the credit in cents.
func (w *Wallet) Balance() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.balance
}

// Transfer moves credit from one wallet to another, all of it or nothing.
func Transfer(from, to *Wallet, cents int64) error {
	if cents <= 0 {
		return ErrAmount
	}
	if from == to {
		return ErrSameWallet
	}
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()

	if from.balance < cents {
		return ErrInsufficient
	}
	from.balance -= cents
	from.moves = append(from.moves, Move{Other: to.ID, Cents: -cents})
	to.balance += cents
	to.moves = append(to.moves, Move{Other: from.ID, Cents: cents})
	return nil
}
