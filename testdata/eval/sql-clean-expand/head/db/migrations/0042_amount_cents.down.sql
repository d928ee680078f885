BEGIN;

SET LOCAL lock_timeout = '3s';

DROP TRIGGER orders_amount_in_step ON orders;
DROP FUNCTION orders_amount_in_step();
-- Nothing is lost: amount has the same.
ALTER TABLE orders DROP COLUMN amount_cents;

COMMIT;
