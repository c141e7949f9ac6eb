-- The distribution of the names of customers, which PostgreSQL does not take from partial indexes: it expected one in two hundred
-- rows to be of any buyer, and read a year of payments to find one. Nothing is written for it but by `analyze`.
create statistics if not exists card_payment_email on (customer ->> 'email') from card_payment;
create statistics if not exists card_payment_customer on (customer ->> 'externalId') from card_payment;
create statistics if not exists payment_email on (customer ->> 'email') from payment;
create statistics if not exists payment_customer on (customer ->> 'externalId') from payment;
