-- Payments by PIX and LTC.
create table payment (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  payment_id text primary key check (payment_id ~ '^psa_[0-9a-f]{32}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('pending', 'paid', 'expired', 'refunded', 'failed')),
  method text not null check (method in ('pix', 'ltc')),
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents >= 0 and fee_cents <= amount_cents),
  description text,
  callback_url text,
  customer jsonb,
  metadata text,
  external_id text,
  product_id text,
  success_url text,
  cancel_url text,
  checkout_attempt text,
  -- PIX Copia e Cola; null until the bank has given it.
  br_code text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  paid_late boolean not null default false,
  end_to_end_id text,
  refunded_at timestamptz,
  refunded_cents bigint not null default 0,
  refunding_cents bigint not null default 0,
  refund_count integer not null default 0,
  failure_reason text,
  -- The last credits that were sent back, as the payment shows them; all of them are in pix_credit.
  returned_credits jsonb not null default '[]',
  -- Claimed back by the payer's bank, without the disputes that were won: no refund takes it.
  disputed_cents bigint not null default 0,
  -- The subscription whose cycle it pays.
  subscription_id text,
  -- Null until the network has given it.
  ltc_address text,
  -- The quote.
  ltc_litoshi bigint,
  ltc_received_litoshi bigint,
  ltc_confirmations integer,
  ltc_required_confirmations integer,
  -- The newest report of the network that was recorded.
  ltc_revision bigint,
  -- The language of the payer's page, as a BCP 47 tag; null: the payer's own.
  language text,
  -- A payment whose money is returned to its payer has failed, and names the payment of its order that was kept.
  returned boolean not null default false,
  kept_payment text,
  -- The status of the order of an open payment that another payment has paid; null: it is not paid.
  order_status text constraint payment_order_status check (order_status in ('paid', 'refunded')),
  -- When the merchant canceled a pending one.
  canceled_at timestamptz,
  constraint payment_refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
  ),
  constraint payment_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ),
  constraint paid_payment_has_its_credit check (
    case when method = 'ltc' then end_to_end_id is null else (paid_at is null) = (end_to_end_id is null) end
  ),
  constraint paid_payment_has_its_instant check (status not in ('paid', 'refunded') or paid_at is not null),
  constraint failed_payment_has_its_reason check ((status = 'failed') = (failure_reason is not null)),
  constraint ltc_payment_has_its_quote check (
    (method = 'ltc') = (
      ltc_litoshi is not null and ltc_received_litoshi is not null and ltc_confirmations is not null
      and ltc_required_confirmations is not null and ltc_revision is not null
    )
  ),
  constraint ltc_payment_is_not_refunded check (method <> 'ltc' or (refunded_cents = 0 and refunding_cents = 0)),
  constraint ltc_payment_is_live check (method <> 'ltc' or environment = 'live')
);
create unique index payment_newest on payment (account_id, environment, number);
create index payment_by_method_and_status on payment (account_id, environment, method, status, number);
create index payment_created on payment (account_id, environment, created_at, number);
create index payment_created_by_method_and_status on payment (account_id, environment, method, status, created_at, number);
-- Lists by what a payment is called, whose it is, what it is worth, and its instants: newest first.
create index payment_of_external_id
  on payment (account_id, environment, external_id, number)
  where external_id is not null;
create index payment_of_amount
  on payment (account_id, environment, amount_cents, number);
create index payment_paid
  on payment (account_id, environment, paid_at, number)
  where paid_at is not null;
create index payment_refunded
  on payment (account_id, environment, refunded_at, number)
  where refunded_at is not null;
create index payment_of_end_to_end_id
  on payment (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
create index payment_of_email
  on payment (account_id, environment, (customer ->> 'email'), number)
  where customer ->> 'email' is not null;
create index payment_of_customer
  on payment (account_id, environment, (customer ->> 'externalId'), number)
  where customer ->> 'externalId' is not null;
-- The open payments of an order, and the newest of those that have expired or were returned: the payment of the order, and its
-- refund, mark these.
create index payment_unpaid_of_number on payment (account_id, environment, external_id, status, number)
  where (status in ('pending', 'expired') or returned) and external_id is not null;
create index payment_unpaid_of_attempt on payment (account_id, environment, checkout_attempt, status, number)
  where (status in ('pending', 'expired') or returned) and checkout_attempt is not null;
-- The payments of a subscription.
create index payment_of_subscription on payment (subscription_id) where subscription_id is not null;
-- An address is of one payment.
create unique index payment_ltc_address on payment (ltc_address) where ltc_address is not null;
