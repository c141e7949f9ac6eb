-- The most that a payout by PIX of an account may be, in cents; null for no ceiling.
alter table account add column pix_max_cents bigint;
