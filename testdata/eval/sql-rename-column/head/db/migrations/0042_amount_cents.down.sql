BEGIN;

SET LOCAL lock_timeout = '3s';

DROP VIEW order_totals;
ALTER TABLE orders RENAME CONSTRAINT orders_amount_cents_check TO orders_amount_check;
ALTER TABLE orders RENAME COLUMN amount_cents TO amount;

CREATE VIEW order_totals AS
SELECT
    o.customer_id,
    date_trunc('month', o.placed_at) AS month,
    sum(o.amount) AS amount
FROM orders AS o
WHERE o.status <> 'cancelled'
GROUP BY o.customer_id, date_trunc('month', o.placed_at);

COMMIT;
