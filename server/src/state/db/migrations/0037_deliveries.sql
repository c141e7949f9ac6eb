-- Content that is delivered to the payers of a product.

create table delivery (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  delivery_id text primary key check (delivery_id ~ '^[0-9a-f]{24}$'),
  product_id text not null,
  kind text not null check (kind in ('text', 'link', 'codes')),
  -- The text or the link; codes have rows of their own.
  content text,
  delivered_count integer not null default 0 check (delivered_count >= 0),
  remaining_count integer check (remaining_count >= 0),
  created_at timestamptz not null,
  -- A deleted one stays, for those who have paid may read it.
  deleted_at timestamptz,
  constraint content_is_of_its_kind check ((kind = 'codes') = (content is null)),
  constraint stock_is_of_its_kind check ((kind = 'codes') = (remaining_count is not null))
);
create unique index delivery_newest on delivery (account_id, environment, number) where deleted_at is null;
create index delivery_of_product on delivery (account_id, environment, product_id, number) where deleted_at is null;
-- Content by its stock: out of stock, low, and the rest. Each is a list of its own, so that no other list is read by these
-- indexes.
create unique index delivery_ready on delivery (account_id, environment, number)
  where deleted_at is null and (remaining_count is null or remaining_count > 5);
create unique index delivery_low on delivery (account_id, environment, number)
  where deleted_at is null and remaining_count > 0 and remaining_count <= 5;
create unique index delivery_empty on delivery (account_id, environment, number)
  where deleted_at is null and remaining_count = 0;

create table delivery_code (
  -- The order in which the codes of a stock are given away.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  product_id text not null,
  -- SHA-256 of the code: a product has each code once, for good.
  code_hash text not null,
  delivery_id text not null,
  code text not null,
  delivered boolean not null default false,
  primary key (account_id, environment, product_id, code_hash)
);
create index delivery_code_in_stock on delivery_code (delivery_id, number) where not delivered;

create table delivered_content (
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  resource text not null check (resource in ('card_payment', 'payment')),
  resource_id text not null,
  -- The place in what the payment was given.
  position integer not null,
  product_id text not null,
  delivery_id text not null,
  kind text not null check (kind in ('text', 'link', 'codes')),
  status text not null check (status in ('pending', 'delivered', 'revoked')),
  code_hash text,
  callback_url text,
  paid_at timestamptz not null,
  delivered_at timestamptz,
  primary key (account_id, environment, resource, resource_id, position),
  constraint only_codes_wait check (status <> 'pending' or kind = 'codes'),
  constraint delivered_has_its_instant check (
    case status when 'pending' then delivered_at is null when 'delivered' then delivered_at is not null else true end
  ),
  constraint delivered_code_is_named check (
    (code_hash is not null) = (kind = 'codes' and delivered_at is not null)
  )
);
-- No code goes to two payments.
create unique index delivered_code on delivered_content (account_id, environment, product_id, code_hash)
  where code_hash is not null;
create index delivered_content_waits on delivered_content (account_id, environment, product_id, paid_at, number)
  where status = 'pending';
