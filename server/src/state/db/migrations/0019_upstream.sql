-- What is seen of another service, and requested of it.
alter table upstream_intent
  -- When the outcome of a request in doubt was last asked for, and the result, in words.
  add column if not exists looked_at timestamptz,
  add column if not exists finding text,
  -- A request that was recorded while these records were behind, and that may have been made before: since this instant. Null
  -- where it was certainly not made before it was recorded.
  add column if not exists behind_since timestamptz;
-- next
-- A slot of the budget counts to a token and a network; what this server reads of the merchant's money by itself has a
-- class above the payers.
alter table upstream_slot
  add column if not exists network text,
  drop constraint if exists upstream_slot_class_check,
  add constraint upstream_slot_class_check
    check (class in ('money', 'query', 'money_read', 'lookup', 'payer', 'payer_read', 'poll'));
-- next
alter table observed
  -- For lists that are filtered by a period; null for a resource without one.
  add column if not exists created_at timestamptz,
  drop constraint if exists observed_resource_check,
  -- Not valid: every row that is there names one of the earlier resources, and to read them all would keep writers waiting.
  add constraint observed_resource_check check (
    resource in (
      'card_payment', 'charge', 'dispute', 'payment', 'payout', 'subaccount_payout', 'subscription', 'wallet', 'refund'
    )
  ) not valid;
