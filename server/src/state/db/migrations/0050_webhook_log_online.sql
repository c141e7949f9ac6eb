-- The last answers of deliveries of the version before, a thousand deliveries at a time. Run again, it finds those that are left.
do $$
declare
  t record;
  last bigint;
  upto bigint;
begin
  for t in select account_id, environment from stream order by 1, 2 loop
    last := 0;
    loop
      select max(number) into upto from (
        select number from webhook_delivery
        where account_id = t.account_id and environment = t.environment and number > last
        order by number limit 1000
      ) page;
      exit when upto is null;
      update webhook_delivery d set response_status = coalesce(a.response_status, 0)
      from webhook_attempt a
      where d.account_id = t.account_id and d.environment = t.environment and d.number > last and d.number <= upto
        and d.response_status is null and a.webhook_id = d.webhook_id and a.number = d.attempts;
      last := upto;
      commit;
    end loop;
  end loop;
end $$;
-- next
-- Deliveries by their last answer, and by the resource that they report or whose events they follow.
drop index concurrently if exists webhook_delivery_by_answer;
-- next
create index concurrently webhook_delivery_by_answer
  on webhook_delivery (account_id, environment, response_status, number) where response_status is not null;
-- next
drop index concurrently if exists webhook_delivery_of_resource;
-- next
create index concurrently webhook_delivery_of_resource on webhook_delivery (account_id, environment, resource_id);
-- next
drop index concurrently if exists webhook_delivery_of_subject;
-- next
create index concurrently webhook_delivery_of_subject
  on webhook_delivery (account_id, environment, subject_id) where subject_id is not null;
