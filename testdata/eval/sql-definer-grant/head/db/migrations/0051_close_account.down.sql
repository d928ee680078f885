DROP FUNCTION close_account(bigint);
