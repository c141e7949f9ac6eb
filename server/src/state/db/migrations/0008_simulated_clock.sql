-- How far the simulator has put the clock forward, so that a restart does not go back behind what was recorded meanwhile.
create table simulated_clock (
  one boolean primary key default true check (one),
  offset_ms bigint not null check (offset_ms >= 0)
);
