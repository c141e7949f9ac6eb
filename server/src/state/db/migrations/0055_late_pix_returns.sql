-- The payer's bank completes each return of a credit after a while. The previous version completes them at once.
alter table simulated_pix_code add column if not exists delays_returns boolean not null default false;
-- next
-- The instant from which the bank shows a return as completed; null: at once.
alter table simulated_pix_return add column if not exists settles_at timestamptz;
