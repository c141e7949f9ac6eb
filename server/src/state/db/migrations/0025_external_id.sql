-- The merchant's order: of all its payments one is kept.
alter table card_payment add column external_id text;
