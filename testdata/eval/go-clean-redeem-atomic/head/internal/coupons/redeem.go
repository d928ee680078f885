package coupons

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// The reasons why a coupon is not redeemed.
var (
	ErrUnknown  = errors.New("there is no such coupon")
	ErrRedeemed = errors.New("the coupon was redeemed before")
)

const redeem = `UPDATE coupons SET redeemed_by = $2, redeemed_at = $3
	WHERE code = $1 AND redeemed_by IS NULL
	RETURNING cents`

// Store keeps coupons.
type Store struct {
	DB  *sql.DB
	Now func() time.Time
}

// Redeem gives a coupon to a customer and returns what it is worth.
func (s *Store) Redeem(ctx context.Context, code string, customer int64) (cents int64, err error) {
	err = s.DB.QueryRowContext(ctx, redeem, code, customer, s.Now()).Scan(&cents)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, s.whyNot(ctx, code)
	}
	if err != nil {
		return 0, fmt.Errorf("redeem a coupon: %w", err)
	}
	return cents, nil
}

// whyNot only chooses the words: the coupon was not redeemed, whatever it says.
func (s *Store) whyNot(ctx context.Context, code string) error {
	var there bool
	if err := s.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM coupons WHERE code = $1)`, code).Scan(&there); err != nil {
		return fmt.Errorf("look up a coupon: %w", err)
	}
	if there {
		return ErrRedeemed
	}
	return ErrUnknown
}
