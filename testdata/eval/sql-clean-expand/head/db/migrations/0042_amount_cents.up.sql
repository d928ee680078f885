BEGIN;

SET LOCAL lock_timeout = '3s';

-- Without a default no row is written anew.
ALTER TABLE orders ADD COLUMN amount_cents bigint;

CREATE FUNCTION orders_amount_in_step() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    -- The old release writes amount only, the new one amount_cents only.
    IF NEW.amount_cents IS NULL OR TG_OP = 'UPDATE' AND NEW.amount IS DISTINCT FROM OLD.amount THEN
        NEW.amount_cents := NEW.amount;
    ELSE
        NEW.amount := NEW.amount_cents;
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER orders_amount_in_step
BEFORE INSERT OR UPDATE OF amount, amount_cents ON orders
FOR EACH ROW EXECUTE FUNCTION orders_amount_in_step();

COMMIT;
