import type { Law } from './law.ts';
import { linesMatch, TRANSFERS } from './records.ts';

export const PAYOUT_LAWS: readonly Law[] = [
  {
    name: 'payout-posted',
    scope: ['payout'],
    explain: 'the postings of payouts are what their states call for, each once',
    sql: linesMatch(
      'payout.',
      `select account_id, environment, 'payout.' || line.step || ':' || withdrawal_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, coalesce(litoshi, amount_cents) as taken, coalesce(litoshi, amount_cents - fee_cents) as arrives,
          case method when 'ltc' then 0 else fee_cents end as fee,
          case method when 'ltc' then 'merchant_ltc' else 'merchant_balance' end as own,
          case method when 'ltc' then 'ltc_in_transit' else 'payouts_in_transit' end as in_transit,
          case method when 'ltc' then 'ltc_paid_out' else 'paid_out' end as gone
        from payout
      ) p cross join lateral (values
        ('requested', own, -taken), ('requested', in_transit, taken),
        ('completed', in_transit, -taken), ('completed', gone, arrives), ('completed', 'platform_fees', fee),
        ('denied', in_transit, -taken), ('denied', own, taken),
        ('returned', gone, -arrives), ('returned', 'platform_fees', -fee), ('returned', own, taken)
      ) line (step, name, amount)
      where (line.step in ('requested', status) or (status = 'returned' and line.step = 'completed'))
        and line.amount <> 0`,
    ),
  },
  {
    name: 'payout-task',
    scope: ['payout', 'subaccount_payout', 'webhook_delivery'],
    explain: 'whatever payout has no end has a task that goes after it',
    sql: `
      select p.id, p.status, p.task from (
        select id, status, task from (${TRANSFERS}) transfer where status in ('pending', 'processing')
        union all
        select id, status, 'subaccount_payout.reverse' from subaccount_payout
        where status = 'failed' and reversed_at is null
        union all
        select webhook_id, status, case when starts_with(endpoint_id, 'whe_') and not starts_with(endpoint_id, 'whe_account_')
          then 'webhook.deliver_further' else 'webhook.deliver' end from webhook_delivery where status = 'pending'
      ) p
      where not exists (select from task where task.kind = p.task and task.key = p.id)`,
  },
  {
    name: 'turbo-steps',
    scope: ['payout'],
    explain: 'a turbo payout is processing before it is completed, and no other ever is',
    sql: `
    select withdrawal_id, method, status from payout p join stream s using (account_id, environment)
    where case method when 'pix_turbo' then status in ('completed', 'returned') and s.kept_from = 0 else true end
      and (method = 'pix_turbo') <> exists (
        select from event e where e.account_id = p.account_id and e.environment = p.environment
          and e.resource = 'payout' and e.resource_id = p.withdrawal_id and e.kind = 'payout.processing')`,
  },
];
