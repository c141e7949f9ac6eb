-- The merchant's own number of a subaccount's payout, as payouts of the main account have one.
alter table subaccount_payout add column external_id text;
