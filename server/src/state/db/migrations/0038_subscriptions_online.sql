-- The attempts of a recurrence that are reported, without those that were recalled.
drop index concurrently if exists simulated_pix_credit_of_debit;
-- next
create index concurrently simulated_pix_credit_of_debit on simulated_pix_credit (debit_id) where debit_id is not null;
-- next
-- The payments of a subscription.
drop index concurrently if exists payment_of_subscription;
-- next
create index concurrently payment_of_subscription on payment (subscription_id) where subscription_id is not null;
