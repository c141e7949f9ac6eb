-- When the merchant canceled a pending payment or charge. A server of the version before leaves it as it is, and accepts money
-- that comes later.
alter table payment add column canceled_at timestamptz;
-- next
alter table charge add column canceled_at timestamptz;
