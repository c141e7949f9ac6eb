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
