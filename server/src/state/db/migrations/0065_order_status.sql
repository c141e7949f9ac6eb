-- The status of the order of an open payment that another payment has paid; null: it is not paid. The previous version marks none.
alter table card_payment add column if not exists order_status text
  constraint card_payment_order_status check (order_status in ('paid', 'refunded'));
-- next
alter table payment add column if not exists order_status text
  constraint payment_order_status check (order_status in ('paid', 'refunded'));
