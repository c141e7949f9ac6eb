alter table webhook_delivery validate constraint webhook_delivery_status_check;
-- next
-- The classes of answers of before, a thousand deliveries at a time. Run again, it finds those that are left.
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
      update webhook_delivery d set response_class = response_status / 100
      where d.account_id = t.account_id and d.environment = t.environment and d.number > last and d.number <= upto
        and d.response_class is null and d.response_status is not null;
      last := upto;
      commit;
    end loop;
  end loop;
end $$;
-- next
drop index concurrently if exists webhook_delivery_by_class;
-- next
create index concurrently webhook_delivery_by_class
  on webhook_delivery (account_id, environment, response_class, number) where response_class is not null;
-- next
-- Deliveries by their endpoint.
drop index concurrently if exists webhook_delivery_of_endpoint;
-- next
create index concurrently webhook_delivery_of_endpoint
  on webhook_delivery (account_id, environment, endpoint_id, number) where endpoint_id is not null;
-- next
-- One event has one delivery for each endpoint. A payment's own callbackUrl may lead to the same URL as an endpoint.
drop index concurrently if exists webhook_delivery_once_an_endpoint;
-- next
create unique index concurrently webhook_delivery_once_an_endpoint
  on webhook_delivery (account_id, environment, event_version, coalesce(endpoint_id, ''));
-- next
alter table webhook_delivery drop constraint if exists webhook_delivery_once;
