-- What a card payment has since. A payment that the version before has refunded says so by its status alone.
alter table card_payment
  -- The acquirer's reason for the last card that was declined, for the merchant alone.
  add column if not exists decline_reason text,
  -- Given back, and held by refunds whose end is not known yet.
  add column if not exists refunded_cents bigint not null default 0,
  add column if not exists refunding_cents bigint not null default 0,
  -- Those that a merchant has requested.
  add column if not exists refund_count integer not null default 0,
  -- The merchant's order: of all its payments one is kept.
  add column if not exists external_id text,
  -- When the merchant canceled a pending one. A server of the version before leaves it as it is.
  add column if not exists canceled_at timestamptz,
  -- Claimed back by the payer's bank, without the disputes that were won: no refund takes it.
  add column if not exists disputed_cents bigint not null default 0,
  -- The product that a checkout token sold.
  add column if not exists product_id text,
  -- The language of the payer's page, as a BCP 47 tag; null: the payer's own. The previous version takes none, and shows none.
  add column if not exists language text,
  -- A payment whose money is returned to its payer has failed, and names the payment of its order that was kept.
  add column if not exists returned boolean not null default false,
  add column if not exists kept_payment text,
  -- The status of the order of an open payment that another payment has paid; null: it is not paid. The previous version marks
  -- none.
  add column if not exists order_status text
    constraint card_payment_order_status check (order_status in ('paid', 'refunded')),
  -- Not valid, here and below: the rows that are there fulfil it, and to read them all would keep writers waiting.
  drop constraint if exists refunds_fit,
  add constraint refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
  ) not valid,
  drop constraint if exists card_payment_disputes_fit,
  add constraint card_payment_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ) not valid;
-- next
-- The simulated acquirer's own books. What the card of a charge does with its refunds; null: they are completed at once.
alter table simulated_charge add column if not exists refunds text check (refunds in ('later', 'fail'));
-- next
create table simulated_refund (
  id text primary key,
  charge_id text not null references simulated_charge,
  amount_cents bigint not null check (amount_cents > 0),
  status text not null check (status in ('pending', 'completed', 'failed')),
  settles_at timestamptz
);
create index simulated_refund_of_charge on simulated_refund (charge_id);
