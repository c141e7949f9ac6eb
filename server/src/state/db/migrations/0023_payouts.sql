-- Payouts have the merchant's own number, as payments do, and come back after they were completed. Checks are not valid: each
-- row that is there fits them, and to read them all would keep writers waiting.
alter table payout
  add column if not exists external_id text,
  add column if not exists returned_at timestamptz,
  drop constraint if exists payout_status_check,
  add constraint payout_status_check
    check (status in ('pending', 'processing', 'completed', 'denied', 'returned')) not valid,
  drop constraint if exists processed_has_its_instant,
  add constraint processed_has_its_instant
    check ((status in ('completed', 'denied', 'returned')) = (processed_at is not null)) not valid,
  drop constraint if exists returned_has_its_instant,
  add constraint returned_has_its_instant check ((status = 'returned') = (returned_at is not null)) not valid;
-- next
alter table simulated_transfer
  drop constraint if exists simulated_transfer_outcome_check,
  add constraint simulated_transfer_outcome_check
    check (outcome in ('complete', 'deny', 'refuse', 'return')) not valid,
  drop constraint if exists no_outcome_without_reason,
  add constraint no_outcome_without_reason
    check ((outcome in ('complete', 'return')) = (reason is null)) not valid;
