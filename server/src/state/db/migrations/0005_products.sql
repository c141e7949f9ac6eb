-- The catalogue, the payments of the sandbox, and disputes as far as they hold balance.

create table product (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null references account,
  environment environment not null,
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  name text not null,
  description text,
  price_cents bigint not null check (price_cents >= 80),
  created_at timestamptz not null
);
create unique index product_newest on product (account_id, environment, number);

create table test_payment (
  number bigint generated always as identity,
  account_id text not null references account,
  environment environment not null check (environment = 'sandbox'),
  id text primary key,
  value_cents bigint not null check (value_cents >= 1),
  status text not null check (status in ('pending', 'paid')),
  created_at timestamptz not null,
  paid_at timestamptz,
  constraint paid_has_its_instant check ((status = 'paid') = (paid_at is not null))
);
create unique index test_payment_newest on test_payment (account_id, environment, number);

create table dispute (
  number bigint generated always as identity,
  account_id text not null references account,
  environment environment not null check (environment = 'live'),
  id text primary key,
  amount_cents bigint not null check (amount_cents >= 1),
  order_code text references card_payment,
  status text not null check (status in ('open', 'won', 'lost', 'forgiven')),
  created_at timestamptz not null,
  -- Of its last change: from lost to forgiven it moves on.
  closed_at timestamptz,
  constraint closed_has_its_instant check ((status = 'open') = (closed_at is null))
);
create unique index dispute_newest on dispute (account_id, environment, number);
