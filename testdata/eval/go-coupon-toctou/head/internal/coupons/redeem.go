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

// Store keeps coupons.
type Store struct {
	DB  *sql.DB
	Now func() time.Time
}

// Redeem gives a coupon to a customer and returns what it is worth.
func (s *Store) Redeem(ctx context.Context, code string, customer int64) (cents int64, err error) {
	var redeemedBy sql.NullInt64
	err = s.DB.QueryRowContext(ctx,
		`SELECT redeemed_by FROM coupons WHERE code = $1`, code).Scan(&redeemedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrUnknown
	}
	if err != nil {
		return 0, fmt.Errorf("look up a coupon: %w", err)
	}
	if redeemedBy.Valid {
		return 0, ErrRedeemed
	}
	err = s.DB.QueryRowContext(ctx,
		`UPDATE coupons SET redeemed_by = $2, redeemed_at = $3 WHERE code = $1 RETURNING cents`,
		code, customer, s.Now()).Scan(&cents)
	if err != nil {
		return 0, fmt.Errorf("redeem a coupon: %w", err)
	}
	return cents, nil
}
