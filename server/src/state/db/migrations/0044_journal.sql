-- The journal: one row a ledger transaction, with what it was for and the figures after it. The statement of the wallet is those
-- of its rows that move one of these figures.

create table ledger_transaction (
  account_id text not null,
  environment environment not null,
  -- Grows by 1 within a tenant in the order of commits: it is counted under the lock of the stream, from 2^40. What was posted
  -- before there was a journal counts down from there.
  number bigint not null,
  -- Counts the rows of the statement in the same way, up to this one and with it.
  entries bigint not null,
  is_entry boolean not null,
  transaction_id text not null,
  -- What it was for. Null until the commit in what a server of the version before has posted.
  kind text,
  -- The name by which the merchant knows it.
  ref text,
  resource text,
  resource_id text,
  subaccount_id text,
  -- What the service has taken; negative where it was given back.
  fee_cents bigint,
  -- Never before the instant of the row before.
  occurred_at timestamptz not null,
  balance_delta bigint not null,
  subaccounts_delta bigint not null,
  pending_delta bigint not null,
  dispute_hold_delta bigint not null,
  ltc_delta bigint not null,
  receivable_delta bigint not null,
  balance bigint not null,
  subaccounts bigint not null,
  pending bigint not null,
  dispute_hold bigint not null,
  ltc bigint not null,
  receivable bigint not null,
  primary key (account_id, environment, number),
  constraint entry_moves_a_figure check (
    is_entry = ((balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta, receivable_delta) <> (0, 0, 0, 0, 0, 0))
  )
);
-- An instant is one look-up.
create index ledger_transaction_at on ledger_transaction (account_id, environment, occurred_at, number) where is_entry;
create index ledger_transaction_of_ref on ledger_transaction (account_id, environment, ref, number) where is_entry;
create index ledger_transaction_of_subaccount on ledger_transaction (account_id, environment, subaccount_id, number)
  where is_entry and subaccount_id is not null;

-- What a transaction was for, by its id and the records that it belongs to. A server that writes the journal knows it: this is for
-- what was posted before, and for servers of the version before.
create function ledger_entry_of(
  a text, e environment, id text,
  out kind text, out ref text, out resource text, out resource_id text, out subaccount_id text, out fee_cents bigint
) language plpgsql stable as $$
declare
  step text := split_part(id, ':', 1);
  named text := substr(id, length(step) + 2);
  family text := split_part(step, '.', 1);
begin
  subaccount_id := (
    select max(p.subaccount_id) from posting p where p.account_id = a and p.environment = e and p.transaction_id = id
  );
  kind := family;
  ref := named;
  fee_cents := 0;
  case
    when step in ('credit', 'credit_ltc') then
      kind := 'credit';
    when step = 'card_payment.refunded' then
      kind := 'refund'; resource := 'card_payment'; resource_id := named;
    when step in ('card_payment.returned', 'card_payment.sent_back') then
      kind := 'return'; resource := 'card_payment'; resource_id := named;
    when family = 'card_payment' then
      kind := case step when 'card_payment.released' then 'card_release' else 'card_payment' end;
      resource := 'card_payment'; resource_id := named;
    when family = 'pix_credit' then
      kind := 'return';
    when family = 'refund' then
      kind := case step when 'refund.failed' then 'refund_failure' else 'refund' end;
      resource := 'refund'; resource_id := split_part(named, ':', 1);
      select r.resource_id into ref from refund r where r.refund_id = split_part(named, ':', 1);
    when family = 'dispute' then
      kind := case when step in ('dispute.opened', 'dispute.raised') then 'dispute_hold' else 'dispute_release' end;
      resource := 'dispute'; resource_id := split_part(named, ':', 1);
      select coalesce(d.resource_id, d.id) into ref from dispute d where d.id = split_part(named, ':', 1);
    when family = 'payout' then
      kind := case when step in ('payout.denied', 'payout.returned') then 'payout_return' else 'payout' end;
      resource := 'payout'; resource_id := named;
      select p.code, case step when 'payout.requested' then p.fee_cents when 'payout.completed' then 0 else -p.fee_cents end
      into ref, fee_cents from payout p where p.withdrawal_id = named;
    when family = 'subaccount_payout' then
      kind := case step
        when 'subaccount_payout.requested' then 'subaccount_payout'
        when 'subaccount_payout.completed' then 'subaccount_markup'
        else 'subaccount_payout_return' end;
      resource := 'subaccount_payout'; resource_id := named;
      select p.payout_id, case step
          when 'subaccount_payout.requested' then p.agreed_fee_cents
          when 'subaccount_payout.completed' then 0
          else -p.agreed_fee_cents end
      into ref, fee_cents from subaccount_payout p where p.id = named;
    when step = 'subaccount.transfer_in' then
      kind := 'subaccount_transfer'; resource := 'subaccount'; resource_id := subaccount_id;
    when step = 'ltc.credited' then
      kind := 'ltc_credit'; resource := 'payment'; ref := split_part(named, ':', 1); resource_id := ref;
    when step = 'ltc.paid' then
      kind := 'payment'; resource := 'payment'; resource_id := named;
    when family = 'ltc' then
      kind := 'payment'; resource := 'payment';
      select o.payment_id into ref from ltc_output o
      where o.txid = split_part(named, ':', 1) and o.vout::text = split_part(named, ':', 2);
      resource_id := ref;
    when step like '%.split' then
      kind := 'split'; resource := family; ref := split_part(named, ':', 1); resource_id := ref;
    else
      resource := nullif(family, 'test_payment'); resource_id := case when resource is not null then named end;
      fee_cents := coalesce((
        select p.amount from posting p
        where p.account_id = a and p.environment = e and p.transaction_id = id and p.ledger_account = 'platform_fees'
      ), 0);
  end case;
  ref := coalesce(ref, named);
  fee_cents := coalesce(fee_cents, 0);
end $$;

-- The names under which the journal has what belongs to the thing with an id: its own, or that of what it belongs to.
create function ledger_refs_of(a text, e environment, id text) returns text[] language sql stable as $$
  select array_agg(r.ref) from (
    select id
    union all
    select code from payout where account_id = a and environment = e and withdrawal_id = id
    union all
    select payout_id from subaccount_payout p where p.account_id = a and p.environment = e and p.id = ledger_refs_of.id
    union all
    select resource_id from refund where account_id = a and environment = e and refund_id = id
    union all
    select d.resource_id from dispute d where d.account_id = a and d.environment = e and d.id = ledger_refs_of.id
  ) r (ref)
$$;

-- A row equals its postings and continues the one before. Nothing is scanned or hashed here either.
create function refuse_unproven_rows() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if exists (
    select from added r cross join lateral (
      -- An account has one line of a transaction, whose amount is not 0: counts are enough, and faster than sums.
      select
        count(*) as lines,
        count(*) filter (where p.ledger_account in (
          'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'dispute_hold', 'merchant_ltc', 'merchant_receivable'
        )) as shown,
        count(*) filter (where p.amount = case p.ledger_account
          when 'merchant_balance' then r.balance_delta
          when 'merchant_subaccounts' then r.subaccounts_delta
          when 'merchant_pending' then r.pending_delta
          when 'dispute_hold' then r.dispute_hold_delta
          when 'merchant_ltc' then r.ltc_delta
          when 'merchant_receivable' then r.receivable_delta
        end) as equal
      from posting p
      where p.account_id = r.account_id and p.environment = r.environment and p.transaction_id = r.transaction_id
    ) p
    where p.lines = 0 or p.shown <> p.equal
      or p.shown <> (r.balance_delta <> 0)::integer + (r.subaccounts_delta <> 0)::integer + (r.pending_delta <> 0)::integer
        + (r.dispute_hold_delta <> 0)::integer + (r.ltc_delta <> 0)::integer + (r.receivable_delta <> 0)::integer
  ) then
    raise exception 'a row of the journal is not what was posted'
      using errcode = 'check_violation', constraint = 'journal_equals_postings';
  end if;

  -- What the first row continues is proved by the balances, below, or by the migration that fills the rows before it. A row whose
  -- predecessor is in the statement needs no look-up.
  if exists (
    select from (
      select r.account_id, r.environment, r.number,
        r.entries - r.is_entry::integer as entries, r.occurred_at,
        r.balance - r.balance_delta as balance, r.subaccounts - r.subaccounts_delta as subaccounts,
        r.pending - r.pending_delta as pending, r.dispute_hold - r.dispute_hold_delta as dispute_hold,
        r.ltc - r.ltc_delta as ltc, r.receivable - r.receivable_delta as receivable,
        lag(r.number) over of_tenant as last_number, lag(r.entries) over of_tenant as last_entries,
        lag(r.occurred_at) over of_tenant as last_occurred_at,
        lag(r.balance) over of_tenant as last_balance, lag(r.subaccounts) over of_tenant as last_subaccounts,
        lag(r.pending) over of_tenant as last_pending, lag(r.dispute_hold) over of_tenant as last_dispute_hold,
        lag(r.ltc) over of_tenant as last_ltc, lag(r.receivable) over of_tenant as last_receivable
      from added r window of_tenant as (partition by r.account_id, r.environment order by r.number)
    ) r left join lateral (
      select * from ledger_transaction b
      where r.last_number is distinct from r.number - 1
        and b.account_id = r.account_id and b.environment = r.environment and b.number = r.number - 1
    ) b on true
    where case
      when r.last_number = r.number - 1 then r.occurred_at < r.last_occurred_at or
        (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable, r.entries) <> (
          r.last_balance, r.last_subaccounts, r.last_pending, r.last_dispute_hold, r.last_ltc, r.last_receivable, r.last_entries
        )
      when b.number is not null then r.occurred_at < b.occurred_at or
        (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable, r.entries)
          <> (b.balance, b.subaccounts, b.pending, b.dispute_hold, b.ltc, b.receivable, b.entries)
      else r.number <> 1099511627776
        and (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable) <> (0, 0, 0, 0, 0, 0)
      end
  ) then
    raise exception 'a row of the journal does not continue the one before'
      using errcode = 'check_violation', constraint = 'journal_continues';
  end if;
  return null;
end $$;

create trigger ledger_transaction_is_proved after insert on ledger_transaction
  referencing new table as added
  for each statement execute function refuse_unproven_rows();

-- What a server of the version before posts has no rows: they are added here, and get their names when the commit has its records.
-- With or without them, the newest row of each tenant has its balances.
create function journal_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if exists (
    select from (
      select account_id, environment, array_agg(distinct transaction_id) as ids from posted group by 1, 2
    ) t
    -- Sorted lists are compared once: a look-up of each transaction among all others is quadratic.
    where t.ids is distinct from (
      select array_agg(newest.transaction_id order by newest.transaction_id) from (
        select l.transaction_id from ledger_transaction l
        where l.account_id = t.account_id and l.environment = t.environment
        order by l.number desc limit cardinality(t.ids)
      ) newest
    )
  ) then
    insert into ledger_transaction
    select
      t.account_id, t.environment,
      coalesce(b.number, 1099511627775) + t.nth,
      coalesce(b.entries, 1099511627775) + sum(t.is_entry::integer) over upto,
      t.is_entry, t.transaction_id, null, null, null, null, null, null, greatest(t.occurred_at, b.occurred_at),
      t.balance, t.subaccounts, t.pending, t.dispute_hold, t.ltc, t.receivable,
      coalesce(b.balance, a.balance - sum(t.balance) over tenant) + sum(t.balance) over upto,
      coalesce(b.subaccounts, a.subaccounts - sum(t.subaccounts) over tenant) + sum(t.subaccounts) over upto,
      coalesce(b.pending, a.pending - sum(t.pending) over tenant) + sum(t.pending) over upto,
      coalesce(b.dispute_hold, a.dispute_hold - sum(t.dispute_hold) over tenant) + sum(t.dispute_hold) over upto,
      coalesce(b.ltc, a.ltc - sum(t.ltc) over tenant) + sum(t.ltc) over upto,
      coalesce(b.receivable, a.receivable - sum(t.receivable) over tenant) + sum(t.receivable) over upto
    from (
      select
        l.*, (balance, subaccounts, pending, dispute_hold, ltc, receivable) <> (0, 0, 0, 0, 0, 0) as is_entry,
        row_number() over (partition by account_id, environment order by line) as nth
      from (
        select
          account_id, environment, transaction_id, min(occurred_at) as occurred_at, min(line) as line,
          coalesce(sum(amount) filter (where ledger_account = 'merchant_balance'), 0)::bigint as balance,
          coalesce(sum(amount) filter (where ledger_account = 'merchant_subaccounts'), 0)::bigint as subaccounts,
          coalesce(sum(amount) filter (where ledger_account = 'merchant_pending'), 0)::bigint as pending,
          coalesce(sum(amount) filter (where ledger_account = 'dispute_hold'), 0)::bigint as dispute_hold,
          coalesce(sum(amount) filter (where ledger_account = 'merchant_ltc'), 0)::bigint as ltc,
          coalesce(sum(amount) filter (where ledger_account = 'merchant_receivable'), 0)::bigint as receivable
        from (select *, row_number() over () as line from posted) p
        group by account_id, environment, transaction_id
      ) l
    ) t
    left join lateral (
      select * from ledger_transaction l
      where l.account_id = t.account_id and l.environment = t.environment order by l.number desc limit 1
    ) b on true
    cross join lateral journal_figures(t.account_id, t.environment) a
    window tenant as (partition by t.account_id, t.environment),
      upto as (partition by t.account_id, t.environment order by t.nth);
  end if;

  if exists (
    select from (select distinct account_id, environment from posted) t
    cross join lateral (
      select * from ledger_transaction l
      where l.account_id = t.account_id and l.environment = t.environment order by l.number desc limit 1
    ) newest
    cross join lateral journal_figures(t.account_id, t.environment) a
    where (newest.balance, newest.subaccounts, newest.pending, newest.dispute_hold, newest.ltc, newest.receivable)
      <> (a.balance, a.subaccounts, a.pending, a.dispute_hold, a.ltc, a.receivable)
  ) then
    raise exception 'the journal does not end with the balances'
      using errcode = 'check_violation', constraint = 'journal_ends_with_balances';
  end if;
  return null;
end $$;

-- The balances of a tenant that the journal follows.
create function journal_figures(a text, e environment) returns table (
  balance bigint, subaccounts bigint, pending bigint, dispute_hold bigint, ltc bigint, receivable bigint
) language sql stable as $$
  select
    coalesce(sum(l.balance) filter (where name = 'merchant_balance'), 0)::bigint,
    coalesce(sum(l.balance) filter (where name = 'merchant_subaccounts'), 0)::bigint,
    coalesce(sum(l.balance) filter (where name = 'merchant_pending'), 0)::bigint,
    coalesce(sum(l.balance) filter (where name = 'dispute_hold'), 0)::bigint,
    coalesce(sum(l.balance) filter (where name = 'merchant_ltc'), 0)::bigint,
    coalesce(sum(l.balance) filter (where name = 'merchant_receivable'), 0)::bigint
  from ledger_account l where l.account_id = a and l.environment = e
$$;

-- After `posting_applies`, by its name: the balances are those after the statement.
create trigger posting_is_journaled after insert on posting
  referencing new table as posted
  for each statement execute function journal_postings();

create function name_ledger_transaction() returns trigger language plpgsql as $$
begin
  update ledger_transaction l
  set (kind, ref, resource, resource_id, subaccount_id, fee_cents) = (
    select n.kind, n.ref, n.resource, n.resource_id, n.subaccount_id, n.fee_cents
    from ledger_entry_of(l.account_id, l.environment, l.transaction_id) n
  )
  where l.account_id = new.account_id and l.environment = new.environment and l.number = new.number;
  return null;
end $$;

create constraint trigger ledger_transaction_is_named after insert on ledger_transaction
  deferrable initially deferred for each row when (new.kind is null) execute function name_ledger_transaction();

create trigger ledger_transaction_stays before update on ledger_transaction
  for each row when (old.kind is not null) execute function refuse_change();

create trigger ledger_transaction_is_append_only before delete or truncate on ledger_transaction
  for each statement execute function refuse_change();
