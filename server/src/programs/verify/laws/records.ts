/**
 * All resources whose states are events, with the kind of the newest event and the members that it shows. A PIX resource
 * without a code has no event yet.
 */
export const RESOURCES = `
  select account_id, environment, 'card_payment' as resource, order_code as id, version, version as events,
    'card_payment.' || status as kind, jsonb_build_object('status', status, 'amountCents', amount_cents,
      'refundedCents', refunded_cents, 'refundingCents', refunding_cents, 'disputedCents', disputed_cents,
      'refundCount', refund_count, 'orderStatus', order_status) as figures
    from card_payment
  union all select account_id, environment, 'payment', payment_id, version, version - 1, 'payment.' || status,
    jsonb_build_object('status', status, 'amountCents', amount_cents, 'feeCents', fee_cents,
      'refundedCents', refunded_cents, 'refundingCents', refunding_cents, 'disputedCents', disputed_cents,
      'refundCount', refund_count, 'orderStatus', order_status)
    from payment
  union all select account_id, environment, 'charge', charge_id, version, version - 1, 'charge.' || status,
    jsonb_build_object('status', status, 'amountCents', amount_cents, 'feeCents', fee_cents,
      'refundedCents', refunded_cents, 'refundingCents', refunding_cents, 'disputedCents', disputed_cents,
      'refundCount', refund_count)
    from charge
  union all select account_id, environment, 'subscription', subscription_id, version, version - 1, null,
    jsonb_build_object('status', status, 'amountCents', amount_cents, 'feeCents', fee_cents)
    from pix_subscription
  union all select account_id, environment, 'refund', refund_id, version, version, 'refund.' || status,
    jsonb_build_object('status', status, 'amountCents', amount_cents)
    from refund
  union all select account_id, environment, 'dispute', id, version, version, 'dispute.' || status,
    jsonb_build_object('status', status, 'amountCents', amount_cents)
    from dispute
  union all select account_id, environment, 'payout', withdrawal_id, version, version, 'payout.' || status,
    jsonb_build_object('status', status, 'amountCents', amount_cents, 'feeCents', fee_cents, 'litoshi', litoshi)
    from payout
  union all select account_id, environment, 'subaccount_payout', id, version, version,
    'subaccount_payout.' || case when reversed_at is null then status else 'reversed' end,
    jsonb_build_object('status', status, 'amountCents', amount_cents, 'feeCents', fee_cents)
    from subaccount_payout`;

/** Resources of every family that a PIX code pays; `shares` are the parts of subaccounts. */
export const PIX_RESOURCES = `
  select 'payment' as family, account_id, environment, payment_id as id, status, amount_cents, fee_cents, 0 as shares,
    br_code, paid_at, end_to_end_id, refunded_cents, refunding_cents, refund_count
  from payment where method = 'pix'
  union all
  select 'charge', account_id, environment, charge_id, status, amount_cents, fee_cents, (
      select coalesce(sum((split ->> 'amountCents')::bigint), 0)::bigint from jsonb_array_elements(splits) split
    ), br_code, paid_at, end_to_end_id, refunded_cents, refunding_cents, refund_count
  from charge`;

/** The splits of split charges, one a row, each with its index. */
export const SPLITS = `
  select account_id, environment, charge_id, status, paid_at, place - 1 as place, split ->> 'subaccountId' as subaccount_id,
    (split ->> 'amountCents')::bigint as amount_cents, (split ->> 'refundedCents')::bigint as refunded_cents,
    (split ->> 'assignedCents')::bigint as assigned_cents
  from charge cross join lateral jsonb_array_elements(splits) with ordinality split (split, place)`;

/** The statement lines for refunds of split charges: the debit, or the credit after a failed refund. */
export const SPLIT_REFUNDS = `
  select e.account_id, e.environment, e.subaccount_id, e.kind, e.ref_id, e.amount_cents, r.resource_id as charge_id
  from statement_entry e join refund r on r.refund_id = e.ref_id`;

/** Transfers through the bank, sent or waiting: of the main account and of subaccounts. */
export const TRANSFERS = `
  select withdrawal_id as id, method, status, destination, amount_cents - fee_cents as net_cents, 'payout.send' as task
  from payout
  union all
  select id, 'pix', case when status = 'completed' and reversed_at is not null then 'returned' else status end, pix_key,
    amount_cents - fee_cents - agreed_fee_cents, 'subaccount_payout.send'
  from subaccount_payout`;

/**
 * The resources whose time ended once, by their events. Where old events may be gone, the postings of a test say it.
 */
export function expiredOnce(resource: 'payment' | 'charge'): string {
  return `
    select resource_id as id from event_step where kind = '${resource}.expired'
    union
    select split_part(transaction_id, ':', 2) from posting join stream s using (account_id, environment)
    where starts_with(transaction_id, '${resource}.ended:') and s.kept_from > 0`;
}

/**
 * Whether the postings of all transactions with this prefix are exactly these lines. A credit to an account that owes
 * money first settles the debt.
 */
export function linesMatch(prefix: string, lines: string): string {
  return `
    select transaction_id, name, posted.amount as posted, wanted.amount as wanted from (
      select account_id, environment, transaction_id, sum(amount) as amount, max(subaccount_id) as subaccount_id,
        case ledger_account when 'merchant_receivable' then 'merchant_balance' else ledger_account end as name
      from posting where starts_with(transaction_id, '${prefix}') group by 1, 2, 3, name
    ) posted full join (${lines}) wanted using (account_id, environment, transaction_id, name)
    where posted.amount is distinct from wanted.amount or posted.subaccount_id is distinct from wanted.subaccount_id`;
}
