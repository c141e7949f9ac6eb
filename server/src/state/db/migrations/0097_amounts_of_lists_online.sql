-- What there was before its amounts were kept: the difference between what is there and what the amounts say, both as one
-- statement sees them. Changes that are made meanwhile are added beside it. Run again, it finds no difference.
do $$
declare
  each text;
begin
  for each in select distinct list from lists_with_amounts() loop
    execute add_to_amounts_statement(format(
      '%s union all select account_id, environment, list, instant, seconds, since, kind, status, -count, -cents
       from list_amount where list = %L',
      amount_rows_query(each, each, 1), each
    ));
    commit;
  end loop;
end $$;
