-- Customers by how little they ordered in the last 90 days.
--
-- Sales works through it from the top: who has no order at all comes first,
-- and among those the one who is with us the longest.
SELECT
    c.id,
    c.name,
    c.email,
    c.created_at::date AS customer_since,
    count(o.id) AS orders,
    coalesce(sum(o.amount_cents), 0) AS amount_cents,
    max(o.placed_at)::date AS last_order
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id
WHERE o.placed_at >= now() - INTERVAL '90 days'
  AND o.status <> 'cancelled'
  AND c.closed_at IS NULL
  AND c.newsletter
GROUP BY c.id, c.name, c.email, c.created_at
ORDER BY orders, c.created_at, c.id
LIMIT 500;
