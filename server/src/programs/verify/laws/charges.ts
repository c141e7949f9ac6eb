import type { Law } from './law.ts';
import { expiredOnce, linesMatch, PIX_RESOURCES, SPLIT_REFUNDS, SPLITS } from './records.ts';

export const CHARGE_LAWS: readonly Law[] = [
  {
    name: 'charge-posted',
    scope: ['charge'],
    explain: 'the postings of charges are what their states call for, each once',
    sql: linesMatch(
      'charge.',
      `select account_id, environment, 'charge.' || line.step || ':' || id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, environment = 'sandbox' as is_test, status = 'failed' or expired.id is not null as had_ended,
          amount_cents - fee_cents - shares as own_cents
        from (${PIX_RESOURCES}) p left join (${expiredOnce('charge')}) expired using (id)
        where family = 'charge'
      ) p cross join lateral (values
        ('created', is_test, 'pix_received', -amount_cents), ('created', is_test, 'merchant_pending', amount_cents),
        ('ended', is_test and had_ended, 'merchant_pending', -amount_cents),
        ('ended', is_test and had_ended, 'pix_received', amount_cents),
        ('paid', paid_at is not null, case when is_test and not had_ended then 'merchant_pending' else 'pix_received' end,
          -own_cents - fee_cents),
        ('paid', paid_at is not null, 'platform_fees', fee_cents),
        ('paid', paid_at is not null, 'merchant_balance', own_cents)
      ) line (step, is_posted, name, amount)
      where line.is_posted and line.amount <> 0
      union all
      select s.account_id, s.environment, 'charge.split:' || charge_id || ':' || place, line.name, line.amount,
        case line.name when 'merchant_subaccounts' then s.subaccount_id end
      from (
        select *, case when environment = 'sandbox' and charge_id not in (${expiredOnce('charge')}) then 'merchant_pending' else 'pix_received' end as source
        from (${SPLITS}) split where paid_at is not null
      ) s cross join lateral (values
        (source, -amount_cents), ('merchant_subaccounts', amount_cents)
      ) line (name, amount)`,
    ),
  },
  {
    name: 'share-rounded-down',
    scope: ['charge'],
    explain: 'a share in percent of the net amount is rounded down to a centavo',
    sql: `
      select charge_id, amount_cents - fee_cents as net, split from charge
        cross join lateral jsonb_array_elements(splits) split
      where split ->> 'percent' is not null and (split ->> 'amountCents')::bigint
        is distinct from floor((amount_cents - fee_cents) * (split ->> 'percent')::numeric / 100)`,
  },
  {
    name: 'shares-within-net',
    scope: ['charge'],
    explain: 'shares are never more than the net amount',
    sql: `
      select id, amount_cents, fee_cents, shares from (${PIX_RESOURCES}) p where shares > amount_cents - fee_cents`,
  },
  {
    name: 'share-refunds',
    scope: ['charge'],
    explain: 'a split charge shows what refunds have taken of each share, which is never more than the share',
    sql: `
      select s.charge_id, s.subaccount_id, s.amount_cents, s.assigned_cents, s.refunded_cents, taken
      from (${SPLITS}) s left join (
        select charge_id, subaccount_id, -sum(amount_cents)::bigint as taken from (${SPLIT_REFUNDS}) r group by 1, 2
      ) r using (charge_id, subaccount_id)
      where s.refunded_cents <> coalesce(taken, 0) or s.refunded_cents > s.assigned_cents
        or s.assigned_cents > s.amount_cents or (s.status = 'refunded' and s.assigned_cents <> s.amount_cents)`,
  },
  {
    name: 'failed-refund-given-back',
    scope: ['charge'],
    explain: 'what a failed refund has taken of a subaccount is given back',
    sql: `
      select refund_id, status, subaccount_id, taken, given from refund join (
        select ref_id as refund_id, subaccount_id, coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0) as taken,
          coalesce(sum(amount_cents) filter (where amount_cents > 0), 0) as given
        from (${SPLIT_REFUNDS}) r group by 1, 2
      ) r using (refund_id)
      where given <> case status when 'failed' then taken else 0 end`,
  },
  {
    name: 'refund-parts',
    scope: ['charge'],
    explain: 'a charge keeps the parts of the refunds that are under way, and no others',
    sql: `
      select charge_id, refund_id, r.status from (
        select charge_id, part ->> 'refundId' as refund_id
        from charge cross join lateral jsonb_array_elements(refund_parts) part
      ) kept full join (
        select refund_id, resource_id as charge_id, status from refund
        where resource = 'charge' and status = 'processing' and resource_id like 'psplit\\_%'
      ) r using (charge_id, refund_id)
      where kept.refund_id is null or r.refund_id is null`,
  },
];
