import type { Law } from './law.ts';
import { linesMatch, SPLITS } from './records.ts';

export const SUBACCOUNT_LAWS: readonly Law[] = [
  {
    name: 'subaccount-balance',
    scope: ['subaccount'],
    explain: 'a subaccount has what its postings sum to, and its statement',
    sql: `
      select id, balance_cents, posted, entered, last from subaccount s
        left join (
          select subaccount_id as id, sum(amount) as posted from posting where subaccount_id is not null group by 1
        ) p using (id)
        left join (
          select subaccount_id as id, sum(amount_cents) as entered,
            (array_agg(balance_after_cents order by number desc))[1] as last
          from statement_entry group by 1
        ) e using (id)
      where balance_cents <> coalesce(posted, 0) or balance_cents <> coalesce(entered, 0)
        or balance_cents <> coalesce(last, 0)`,
  },
  {
    name: 'statement-continues',
    scope: ['subaccount'],
    explain: 'each line of a statement stands on the ones before it',
    sql: `
      select * from (
        select subaccount_id, number, balance_after_cents,
          sum(amount_cents) over (partition by subaccount_id order by number) as sum
        from statement_entry
      ) entry where balance_after_cents <> sum`,
  },
  {
    name: 'statement-count',
    scope: ['subaccount'],
    explain: 'the total of a statement is the number of its entries',
    sql: `
      select subaccount_id, count, listed from (
        select account_id, environment, parent as subaccount_id, kind, status, sum(count) as count from list_count
        where list = 'statement_entry' group by 1, 2, 3, 4, 5 having sum(count) <> 0
      ) counted full join (
        select account_id, environment, subaccount_id, '' as kind, '' as status, count(*) as listed
        from statement_entry group by 1, 2, 3
      ) listed using (account_id, environment, subaccount_id, kind, status)
      where count is distinct from listed`,
  },
  {
    name: 'statement-entries',
    scope: ['charge', 'subaccount_payout'],
    explain: 'the statements are what payouts, their reversals, split charges and their refunds call for',
    sql: `
      select ref_id, kind, subaccount_id, amount_cents, expected from (
        select subaccount_id, kind, ref_id, amount_cents from statement_entry
        where kind <> 'transfer_in' and ref_id not in (select refund_id from refund)
      ) entry full join (
        select subaccount_id, 'payout' as kind, payout_id as ref_id, -amount_cents as expected from subaccount_payout
        union all
        select subaccount_id, 'payout_reversal', coalesce(sub_code, payout_id), amount_cents
        from subaccount_payout where reversed_at is not null
        union all
        select subaccount_id, 'split_in', charge_id, amount_cents from (${SPLITS}) split where paid_at is not null
      ) wanted using (subaccount_id, kind, ref_id)
      where amount_cents is distinct from expected`,
  },
  {
    name: 'subaccount-posted',
    scope: ['subaccount_payout', 'transfer'],
    explain: 'the postings of subaccounts are what their payouts and transfers call for, each once',
    sql: linesMatch(
      'subaccount',
      `select account_id, environment, 'subaccount_payout.' || line.step || ':' || id as transaction_id,
        line.name, line.amount, case line.name when 'merchant_subaccounts' then subaccount_id end as subaccount_id
      from subaccount_payout cross join lateral (values
        ('requested', 'merchant_subaccounts', -amount_cents), ('requested', 'payouts_in_transit', amount_cents),
        ('completed', 'payouts_in_transit', -amount_cents),
        ('completed', 'paid_out', amount_cents - fee_cents - agreed_fee_cents),
        ('completed', 'platform_fees', agreed_fee_cents), ('completed', 'merchant_balance', fee_cents),
        ('reversed', 'payouts_in_transit', -amount_cents), ('reversed', 'merchant_subaccounts', amount_cents),
        ('returned', 'paid_out', -(amount_cents - fee_cents - agreed_fee_cents)),
        ('returned', 'platform_fees', -agreed_fee_cents), ('returned', 'merchant_balance', -fee_cents),
        ('returned', 'merchant_subaccounts', amount_cents)
      ) line (step, name, amount)
      where line.amount <> 0
        and (line.step in ('requested', case when reversed_at is null or status = 'completed' then status else 'reversed' end)
          or (line.step = 'returned' and reversed_at is not null and status = 'completed'))
      union all
      select account_id, environment, 'subaccount.transfer_in:' || ref_id, line.name, line.amount, line.subaccount_id
      from statement_entry entry cross join lateral (values
        ('merchant_balance', -amount_cents, null), ('merchant_subaccounts', amount_cents, entry.subaccount_id)
      ) line (name, amount, subaccount_id)
      where kind = 'transfer_in'`,
    ),
  },
];
