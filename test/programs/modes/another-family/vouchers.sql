-- The mirror of another service's vouchers.
alter table observed drop constraint if exists observed_resource_check;
alter table observed add constraint observed_resource_check check (resource in (
  'card_payment', 'charge', 'dispute', 'payment', 'payout', 'refund', 'subaccount_payout', 'subscription', 'voucher', 'wallet'
)) not valid;
-- next
-- Slips that payers pay at a counter.
create table voucher (
  account_id text not null,
  environment environment not null,
  number bigint generated always as identity,
  id text primary key check (id ~ '^vou_[0-9a-f]{32}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('open', 'paid')),
  amount_cents bigint not null check (amount_cents >= 1),
  description text,
  created_at timestamptz not null,
  paid_at timestamptz,
  constraint paid_has_its_instant check ((status = 'paid') = (paid_at is not null))
);
create index voucher_listed on voucher (account_id, environment, number);
create index voucher_by_status on voucher (account_id, environment, status, number);
create index voucher_created on voucher (account_id, environment, created_at, number);

-- The lists of before, and this one.
alter function counted_lists() rename to counted_lists_before_vouchers;
create function counted_lists() returns table (list text, parent text, instant text, kind text, status text)
language sql immutable as $$
  select * from counted_lists_before_vouchers() union all values ('voucher', null, 'created_at', null, 'status')
$$;
call count_list('voucher');
