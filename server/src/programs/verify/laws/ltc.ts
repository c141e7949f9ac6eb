import type { Law } from './law.ts';

export const LTC_LAWS: readonly Law[] = [
  {
    name: 'ltc-posted',
    scope: ['payment'],
    explain: 'the litoshi of the confirmed outputs of a payment are unmatched or the merchant’s, each once',
    sql: `
      select payment_id, p.unmatched, p.credited, o.unmatched as are_unmatched, o.credited as are_credited
      from (
        select coalesce(o.payment_id, split_part(transaction_id, ':', 2)) as payment_id,
          sum(amount) filter (where ledger_account = 'ltc_unmatched') as unmatched,
          sum(amount) filter (where ledger_account = 'merchant_ltc') as credited
        from posting p left join ltc_output o
          on o.txid = split_part(transaction_id, ':', 2) and o.vout::text = split_part(transaction_id, ':', 3)
        where starts_with(transaction_id, 'ltc.') group by 1
      ) p full join (
        select payment_id, sum(litoshi) filter (where state = 'unmatched') as unmatched,
          sum(litoshi) filter (where state = 'credited') as credited
        from ltc_output group by 1
      ) o using (payment_id)
      where coalesce(p.unmatched, 0) <> coalesce(o.unmatched, 0) or coalesce(p.credited, 0) <> coalesce(o.credited, 0)`,
  },
  {
    name: 'ltc-paid',
    scope: ['payment'],
    explain: 'a payment by LTC was paid by its amount at least, and keeps all of it',
    sql: `
      select p.payment_id, p.status, p.ltc_litoshi, o.credited, o.unmatched from payment p left join (
        select payment_id, sum(litoshi) filter (where state = 'credited') as credited,
          sum(litoshi) filter (where state = 'unmatched') as unmatched
        from ltc_output group by 1
      ) o using (payment_id)
      where p.method = 'ltc' and (
        (p.paid_at is null) <> (p.status <> 'paid')
        or (p.status = 'paid' and (coalesce(o.credited, 0) < p.ltc_litoshi or o.unmatched > 0))
        or (p.status = 'pending' and o.credited > 0))`,
  },
  {
    name: 'ltc-asked',
    scope: ['payment'],
    explain: 'the newest event of a payment by LTC shows the litoshi that it asks for',
    sql: `
      select payment_id, ltc_litoshi, snapshot -> 'ltc' ->> 'litoshi' as reported from payment p join event e
        on e.account_id = p.account_id and e.environment = p.environment and e.resource = 'payment'
        and e.resource_id = p.payment_id and (e.snapshot ->> 'version')::int = p.version
      where method = 'ltc' and (snapshot -> 'ltc' ->> 'litoshi')::bigint <> ltc_litoshi`,
  },
  {
    name: 'ltc-received',
    scope: ['payment'],
    explain: 'a payment by LTC shows what has come for it',
    sql: `
      select p.payment_id, p.ltc_received_litoshi, o.received from payment p left join (
        select payment_id, sum(litoshi) filter (where state <> 'gone') as received from ltc_output group by 1
      ) o using (payment_id)
      where p.method = 'ltc' and p.ltc_received_litoshi <> coalesce(o.received, 0)`,
  },
  {
    name: 'ltc-tasks',
    scope: ['payment'],
    explain: 'what is to come of a payment by LTC is written down',
    sql: `
      select wanted.key, wanted.kind from (
        select 'ltc.expire' as kind, payment_id as key from payment where method = 'ltc' and status = 'pending'
        union all select 'ltc.address', payment_id from payment
          where method = 'ltc' and status = 'pending' and ltc_address is null
      ) wanted
      where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
  },
  {
    name: 'ltc-unmatched-source',
    scope: ['journal'],
    explain: 'payments by LTC alone move litoshi without an owner',
    sql: `
      select account_id, environment, transaction_id from posting
      where ledger_account = 'ltc_unmatched' and not starts_with(transaction_id, 'ltc.')`,
  },
];
