-- The language of a payer's page, as a BCP 47 tag; null: the payer's own. The previous version takes none, and shows none.
alter table card_payment add column language text;
alter table payment add column language text;
alter table charge add column language text;
alter table pix_subscription add column language text;
