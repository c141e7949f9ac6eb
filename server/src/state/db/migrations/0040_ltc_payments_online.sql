-- An address is of one payment.
drop index concurrently if exists payment_ltc_address;
-- next
create unique index concurrently payment_ltc_address on payment (ltc_address) where ltc_address is not null;
