-- A slot of the budget counts to a token and a network; what this server reads of the merchant's money by itself has a
-- class above the payers.
alter table upstream_slot add column network text;
alter table upstream_slot drop constraint if exists upstream_slot_class_check;
alter table upstream_slot add constraint upstream_slot_class_check
  check (class in ('money', 'query', 'money_read', 'lookup', 'payer', 'payer_read', 'poll'));
