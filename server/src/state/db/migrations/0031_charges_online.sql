-- The beneficiaries of one split charge have an entry of one kind and one reference each.
drop index concurrently if exists statement_entry_of_reference;
-- next
create unique index concurrently statement_entry_of_reference
  on statement_entry (account_id, environment, kind, ref_id, subaccount_id);
-- next
alter table statement_entry drop constraint if exists statement_entry_account_id_environment_kind_ref_id_key;
