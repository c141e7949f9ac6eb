-- Payouts that come back after they were completed. Checks are not valid: each row that is there fits them, and to read them
-- all would keep writers waiting.
alter table payout
  add column returned_at timestamptz,
  drop constraint payout_status_check,
  add constraint payout_status_check
    check (status in ('pending', 'processing', 'completed', 'denied', 'returned')) not valid,
  drop constraint processed_has_its_instant,
  add constraint processed_has_its_instant
    check ((status in ('completed', 'denied', 'returned')) = (processed_at is not null)) not valid,
  add constraint returned_has_its_instant check ((status = 'returned') = (returned_at is not null)) not valid;

-- next
alter table subaccount_payout
  drop constraint reversed_failed,
  add constraint reversed_has_ended check (reversed_at is null or status in ('completed', 'failed')) not valid;

-- next
alter table simulated_transfer
  drop constraint simulated_transfer_outcome_check,
  add constraint simulated_transfer_outcome_check
    check (outcome in ('complete', 'deny', 'refuse', 'return')) not valid,
  drop constraint no_outcome_without_reason,
  add constraint no_outcome_without_reason
    check ((outcome in ('complete', 'return')) = (reason is null)) not valid;
