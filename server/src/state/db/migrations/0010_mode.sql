-- Whose data these are: a service's own books, or what a server in front of a service has seen of it. Said once, by the
-- first start; a start in another mode, or in front of another service, is refused.
create table database_mode (
  one boolean primary key default true check (one),
  mode text not null check (mode in ('embedded', 'remote')),
  -- Scheme, host and port of the service.
  upstream_origin text,
  constraint remote_has_its_upstream check ((mode = 'remote') = (upstream_origin is not null))
);

-- From before there was another mode.
insert into database_mode (mode) select 'embedded' where exists (select from account);
