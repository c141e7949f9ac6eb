-- A token that runs only trusted documents. A server of the version before mints none, and runs any document for one.
alter table token add column trusted_documents_only boolean not null default false;
