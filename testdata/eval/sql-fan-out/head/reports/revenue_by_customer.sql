-- Revenue and refunds of a month, by customer.
--
-- :month is its first day. Customers without orders in it are listed with
-- nothing, as accounting goes through all of them.
WITH orders_of_month AS (
    SELECT o.id, o.customer_id
    FROM orders AS o
    WHERE o.placed_at >= :month::date
      AND o.placed_at < :month::date + INTERVAL '1 month'
      AND o.status IN ('paid', 'shipped', 'refunded')
)

SELECT
    c.id,
    c.name,
    count(DISTINCT o.id) AS orders,
    coalesce(sum(p.cents), 0) AS paid_cents,
    coalesce(sum(r.cents), 0) AS refunded_cents,
    coalesce(sum(p.cents), 0) - coalesce(sum(r.cents), 0) AS net_cents
FROM customers AS c
LEFT JOIN orders_of_month AS o ON o.customer_id = c.id
LEFT JOIN payments AS p ON p.order_id = o.id
LEFT JOIN refunds AS r ON r.order_id = o.id
GROUP BY c.id, c.name
ORDER BY net_cents DESC, c.id;
