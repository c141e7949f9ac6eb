-- Drawn at random when events are appended: a log that was set back (restored, or an asynchronous standby that was promoted)
-- uses versions again, and two events of one version differ in it. 0: written by a release before marks.
alter table event add column if not exists mark integer not null default 0;
-- next
-- The attempts of a task that an outage of another service has failed. The others are bounded, and these are not.
alter table task add column if not exists outages integer not null default 0;
