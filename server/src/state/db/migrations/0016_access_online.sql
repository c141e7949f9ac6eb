-- Paused tokens, which are few.
drop index concurrently if exists token_paused;
-- next
create index concurrently token_paused on token (account_id, environment, paused_at) where paused_at is not null;
-- next
-- The numbers of the tokens of before, oldest first.
do $$
declare
  last bigint := coalesce((select max(number) from token where number < 1000000000000), 0);
  changed bigint;
begin
  loop
    update token set number = last + part.nth
    from (
      select id, row_number() over (order by created_at, id) as nth
      from (select id, created_at from token where number is null order by created_at, id limit 5000) oldest
    ) part
    where token.id = part.id;
    get diagnostics changed = row_count;
    exit when changed = 0;
    last := last + changed;
    commit;
  end loop;
end $$;
-- next
-- What merchants have minted, newest first. A payment's own token is in no list.
drop index concurrently if exists token_minted;
-- next
create index concurrently token_minted on token (account_id, environment, number) where kind <> 'payment';
-- next
-- Dashboard tokens and reusable ones, which are few beside those of single payments.
drop index concurrently if exists token_dashboard;
-- next
create index concurrently token_dashboard on token (account_id, environment, number) where kind = 'dashboard';
-- next
drop index concurrently if exists token_reusable;
-- next
create index concurrently token_reusable on token (account_id, environment, number)
  where kind = 'checkout' and "grant" ->> 'reusable' = 'true';
