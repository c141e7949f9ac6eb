-- Statements by kind, by instant and by amount, which is asked for without its sign.
drop index concurrently if exists statement_entry_by_kind;
-- next
create index concurrently statement_entry_by_kind
  on statement_entry (account_id, environment, subaccount_id, kind, created_at, number);
-- next
drop index concurrently if exists statement_entry_of_amount;
-- next
create index concurrently statement_entry_of_amount
  on statement_entry (account_id, environment, subaccount_id, abs(amount_cents), created_at, number);
