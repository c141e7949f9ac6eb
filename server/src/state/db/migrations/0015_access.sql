-- What accounts and tokens can do since.
alter table account
  add column if not exists pix_enabled boolean not null default true,
  -- The part of each PIX payment that the service keeps.
  add column if not exists pix_fee_cents bigint not null default 0,
  add column if not exists ltc_enabled boolean not null default true,
  -- The most that a payout by PIX may be; null for no ceiling.
  add column if not exists pix_max_cents bigint;
-- next
-- A checkout token that starts no payment, or only slowly, until an instant or until it is resumed.
alter table token
  add column if not exists paused_at timestamptz,
  -- Null: until it is resumed.
  add column if not exists paused_until timestamptz,
  add column if not exists pause_reason text,
  -- A token that runs only trusted documents. The previous version mints no such token, and does not enforce the limit.
  add column if not exists trusted_documents_only boolean not null default false,
  drop constraint if exists pause_has_its_reason,
  add constraint pause_has_its_reason check (
    (paused_at is null) = (pause_reason is null) and (paused_at is not null or paused_until is null)
  ),
  drop constraint if exists pause_reason_known,
  add constraint pause_reason_known check (pause_reason in ('merchant', 'declines'));
-- next
-- The place of a token in the list of its account. Those of before get theirs in the next migration, below all that are minted
-- since. The column is no identity: that would write the whole table again, and nobody could sign in meanwhile.
create sequence if not exists token_number start 1000000000000;
-- next
alter table token add column if not exists number bigint;
-- next
alter table token alter column number set default nextval('token_number');
alter sequence token_number owned by token.number;
-- next
-- How the hosted pages show a shop, beside its name.
create table account_brand (
  account_id text primary key references account (id),
  -- As #rrggbb.
  color text check (color ~ '^#[0-9a-f]{6}$'),
  logo bytea check (length(logo) <= 102400),
  logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  -- SHA-256 of the logo, the name in its address.
  logo_hash text check (logo_hash ~ '^[0-9a-f]{64}$'),
  check (num_nulls(logo, logo_type, logo_hash) in (0, 3))
);
create index account_brand_by_logo on account_brand (logo_hash) where logo_hash is not null;
