-- Files that a merchant gives for a dispute. Their names, types and hashes are a column of the dispute, so an event shows them as
-- they were. A server of the version before leaves it as it is.
alter table dispute add column if not exists files jsonb not null default '[]';
-- next
-- Their bytes, encrypted with a key that is not in the database. Nothing but a download reads them.
create table if not exists dispute_file (
  file_id text primary key,
  account_id text not null,
  environment environment not null,
  dispute_id text not null,
  -- Of the file itself.
  size_bytes integer not null check (size_bytes between 1 and 5242880),
  -- The key that opens it.
  key_id text not null,
  -- A nonce of 12 bytes, the ciphertext of AES-256-GCM, a tag of 16 bytes. Ciphertext cannot be compressed.
  sealed bytea not null check (octet_length(sealed) = size_bytes + 28)
);
alter table dispute_file alter column sealed set storage external;
create index if not exists dispute_file_of_tenant on dispute_file (account_id, environment) include (size_bytes);
