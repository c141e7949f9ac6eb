-- Drawn at random when events are appended: a log that was set back (restored, or an asynchronous standby that was promoted)
-- uses versions again, and two events of one version differ in it. 0: written by a release before marks.
alter table event add column mark integer not null default 0;
