-- A token that runs only trusted documents. The previous version mints no such token, and does not enforce the limit.
alter table token add column trusted_documents_only boolean not null default false;
