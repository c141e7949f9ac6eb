-- The merchant's own number of a payout and of a charge, as payments have one.
alter table payout add column external_id text;
alter table charge add column external_id text;
