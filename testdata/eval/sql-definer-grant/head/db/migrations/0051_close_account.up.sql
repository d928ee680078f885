-- Closing an account keeps the orders, which accounting needs for ten years, and
-- takes the person out of them.
CREATE FUNCTION close_account(account_id bigint)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    UPDATE orders
    SET customer_id = NULL,
        ship_name = NULL,
        ship_street = NULL
    WHERE customer_id = account_id;

    DELETE FROM addresses WHERE customer_id = account_id;
    DELETE FROM customers WHERE id = account_id;
END;
$$;

COMMENT ON FUNCTION close_account(bigint) IS 'takes a customer out of the shop, at their own wish';
