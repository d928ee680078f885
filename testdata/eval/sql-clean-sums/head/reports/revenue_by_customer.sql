-- Revenue and refunds of a month, by customer. :month is its first day.
WITH orders_of_month AS (
    SELECT o.id, o.customer_id
    FROM orders AS o
    WHERE o.placed_at >= :month::date
      AND o.placed_at < :month::date + INTERVAL '1 month'
),

paid AS (
    SELECT p.order_id, sum(p.cents) AS cents
    FROM payments AS p
    JOIN orders_of_month AS o ON o.id = p.order_id
    GROUP BY p.order_id
),

refunded AS (
    SELECT r.order_id, sum(r.cents) AS cents
    FROM refunds AS r
    JOIN orders_of_month AS o ON o.id = r.order_id
    GROUP BY r.order_id
)

SELECT
    c.id,
    c.name,
    count(o.id) AS orders,
    coalesce(sum(paid.cents), 0) AS paid_cents,
    coalesce(sum(refunded.cents), 0) AS refunded_cents
FROM customers AS c
LEFT JOIN orders_of_month AS o ON o.customer_id = c.id
LEFT JOIN paid ON paid.order_id = o.id
LEFT JOIN refunded ON refunded.order_id = o.id
GROUP BY c.id, c.name
ORDER BY paid_cents DESC, c.id;
