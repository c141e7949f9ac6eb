-- When the merchant canceled a pending card payment. A server of the version before leaves it as it is.
alter table card_payment add column canceled_at timestamptz;
