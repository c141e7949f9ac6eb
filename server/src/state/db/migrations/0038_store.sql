-- The products of the chat platform's store: read here, and replaced as a whole by an import.

create table store_product (
  -- The place in the store's own order, from 1.
  number integer not null check (number >= 1),
  account_id text not null,
  environment environment not null,
  store_product_id text not null,
  name text,
  description text,
  -- As the store writes it: 1.234,56.
  price text,
  image_url text,
  available boolean,
  primary key (account_id, environment, store_product_id)
);
create unique index store_product_in_order on store_product (account_id, environment, number);
