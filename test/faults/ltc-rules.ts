import { LTC_LAWS } from '../../server/src/programs/verify/laws/ltc.ts';
import { queriesOf } from '../support/laws.ts';

/**
 * The rules of payments by LTC, each as a query for rows that break it. A report that is still to be received may say
 * more than the recorded rows.
 */
export function rulesOfLtc(): Record<string, string> {
  return {
    ...queriesOf(LTC_LAWS),

    'each output of the network is recorded once, for its payment, or its receipt is due': `
      select s.txid, s.id, o.payment_id, s.litoshi as sent, o.litoshi as recorded, o.state
      from simulated_ltc_output s full join ltc_output o using (txid, vout)
      where (o.payment_id is null or s.id <> o.payment_id or s.litoshi <> o.litoshi
          or (s.id is null and o.state in ('seen', 'unmatched')))
        and not exists (
          select from task t where t.kind = 'ltc.receive' and starts_with(t.key, coalesce(s.id, o.payment_id) || ' ')
        )`,
  };
}
