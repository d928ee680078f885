-- What these columns hold is said by their names.
BEGIN;

SET LOCAL lock_timeout = '3s';

ALTER TABLE orders RENAME COLUMN amount TO amount_cents;
ALTER TABLE orders RENAME CONSTRAINT orders_amount_check TO orders_amount_cents_check;

COMMENT ON COLUMN orders.amount_cents IS 'what the customer pays, in cents, tax included';

DROP VIEW order_totals;

CREATE VIEW order_totals AS
SELECT
    o.customer_id,
    date_trunc('month', o.placed_at) AS month,
    sum(o.amount_cents) AS amount_cents
FROM orders AS o
WHERE o.status <> 'cancelled'
GROUP BY o.customer_id, date_trunc('month', o.placed_at);

COMMIT;
