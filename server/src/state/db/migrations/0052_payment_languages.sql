-- The language of a payer's page, as a BCP 47 tag; null: the payer's own. The previous version takes none, and shows none.
alter table card_payment add column if not exists language text;
-- next
alter table payment add column if not exists language text;
-- next
alter table charge add column if not exists language text;
-- next
alter table pix_subscription add column if not exists language text;
