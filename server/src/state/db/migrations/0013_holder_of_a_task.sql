-- Which instance holds a lease: see `Database.instance`. Null where nobody does, or where an older one does.
alter table task add column holder integer;
