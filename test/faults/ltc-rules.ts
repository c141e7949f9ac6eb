/**
 * The rules of payments by LTC, each as a query for rows that break it. A report that is still to be received may say
 * more than the recorded rows.
 */
export function rulesOfLtc(): Record<string, string> {
  return {
    'each output of the network is recorded once, for its payment, or its receipt is due': `
      select s.txid, s.id, o.payment_id, s.litoshi as sent, o.litoshi as recorded, o.state
      from simulated_ltc_output s full join ltc_output o using (txid, vout)
      where (o.payment_id is null or s.id <> o.payment_id or s.litoshi <> o.litoshi
          or (s.id is null and o.state in ('seen', 'unmatched')))
        and not exists (
          select from task t where t.kind = 'ltc.receive' and starts_with(t.key, coalesce(s.id, o.payment_id) || ' ')
        )`,

    'the litoshi of confirmed outputs are unmatched or the merchant’s, each once': `
      select account_id, environment, p.unmatched, p.credited, o.unmatched as are_unmatched, o.credited as are_credited
      from (
        select account_id, environment, sum(amount) filter (where ledger_account = 'ltc_unmatched') as unmatched,
          sum(amount) filter (where ledger_account = 'merchant_ltc') as credited
        from posting where starts_with(transaction_id, 'ltc.') group by 1, 2
      ) p full join (
        select account_id, environment, sum(litoshi) filter (where state = 'unmatched') as unmatched,
          sum(litoshi) filter (where state = 'credited') as credited
        from ltc_output group by 1, 2
      ) o using (account_id, environment)
      where coalesce(p.unmatched, 0) <> coalesce(o.unmatched, 0) or coalesce(p.credited, 0) <> coalesce(o.credited, 0)`,

    'payments by LTC alone move litoshi without an owner': `
      select account_id, environment, transaction_id from posting
      where ledger_account = 'ltc_unmatched' and not starts_with(transaction_id, 'ltc.')`,

    'a payment by LTC was paid by its amount at least, and keeps all of it': `
      select p.payment_id, p.status, p.ltc_litoshi, o.credited, o.unmatched from payment p left join (
        select payment_id, sum(litoshi) filter (where state = 'credited') as credited,
          sum(litoshi) filter (where state = 'unmatched') as unmatched
        from ltc_output group by 1
      ) o using (payment_id)
      where p.method = 'ltc' and (
        (p.paid_at is null) <> (p.status <> 'paid')
        or (p.status = 'paid' and (coalesce(o.credited, 0) < p.ltc_litoshi or o.unmatched > 0))
        or (p.status = 'pending' and o.credited > 0))`,

    'a payment by LTC shows what has come for it': `
      select p.payment_id, p.ltc_received_litoshi, o.received from payment p left join (
        select payment_id, sum(litoshi) filter (where state <> 'gone') as received from ltc_output group by 1
      ) o using (payment_id)
      where p.method = 'ltc' and p.ltc_received_litoshi <> coalesce(o.received, 0)`,

    'what is to come of a payment by LTC is written down': `
      select wanted.kind, wanted.key from (
        select 'ltc.expire' as kind, payment_id as key from payment where method = 'ltc' and status = 'pending'
        union all select 'ltc.address', payment_id from payment
          where method = 'ltc' and status = 'pending' and ltc_address is null
      ) wanted
      where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
  };
}
