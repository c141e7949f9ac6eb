-- The mark of a restore that was removed last: a batch of payouts of before it does not go on by itself, nor does one that was
-- confirmed since the backup have a record. A server of the version before removes a mark without it.
alter table restored_records
  add column if not exists confirmed_since timestamptz,
  add column if not exists confirmed_until timestamptz;
-- next
-- The instant at which the merchant last had a batch of before a restore go on.
alter table payout_batch add column if not exists resumed_at timestamptz;
