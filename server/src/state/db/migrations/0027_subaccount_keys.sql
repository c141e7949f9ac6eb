-- The keys that the indexes of the migration before have replaced. They wait for the locks of their tables, so they are not among
-- the statements outside a transaction.
alter table subaccount_payout drop constraint if exists subaccount_payout_account_id_environment_payout_id_key;
-- next
alter table statement_entry drop constraint if exists statement_entry_account_id_environment_kind_ref_id_key;
-- next
-- The number alone leads to nothing: a server of any version reads an entry by its statement. The columns are not null, so that
-- no row is read for it. Run again, it finds the key that is there.
do $$
begin
  if to_regclass('statement_entry_of_subaccount') is not null then
    alter table statement_entry
      drop constraint statement_entry_pkey,
      add constraint statement_entry_pkey primary key using index statement_entry_of_subaccount;
  end if;
end $$;
