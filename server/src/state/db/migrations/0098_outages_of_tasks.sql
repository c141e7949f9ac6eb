-- The attempts of a task that an outage of another service has failed. The others are bounded, and these are not.
alter table task add column outages integer not null default 0;
