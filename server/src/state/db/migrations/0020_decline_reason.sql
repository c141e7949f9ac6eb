-- The acquirer's reason for the last card that was declined, for the merchant alone.
alter table card_payment add column decline_reason text;
