drop index concurrently if exists event_of_topic;
-- next
-- Behind a cursor lay all that had happened to other kinds of resource, where the log was followed for one kind alone.
create index concurrently event_of_topic on event (account_id, environment, resource, version);
