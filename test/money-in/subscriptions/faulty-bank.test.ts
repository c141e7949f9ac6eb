import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../server/src/kernel/clock.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { CreateSubscriptionInput } from '../../../server/src/money-in/subscriptions/model.ts';
import type { PixRail } from '../../../server/src/rails/pix.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createRandom, type Random } from '../../faults/random.ts';
import { type Core, startCore } from '../../support/core.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { firstInSample, runsAll } from '../../support/scale.ts';

// Weeks of subscriptions at a bank whose answers are lost, before or after it has done the request.

const AMOUNT = 4990;
const PAYERS = ['ana@example.com', 'nega-uma@psa.example', 'nega@psa.example'];

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A bank that fails one call in three: half of them before it does anything, half after. */
function faulty(rail: PixRail, random: Random): PixRail {
  const over = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    const fate = random.below(6);
    if (fate === 0) throw new Error('the request is lost');
    const answer = await call();
    if (fate === 1) throw new Error('the answer is lost');
    return answer;
  };
  return {
    ...rail,
    register: (code) => over(() => rail.register(code)),
    creditsOf: (txid) => over(() => rail.creditsOf(txid)),
    refund: (refund) => over(() => rail.refund(refund)),
    schedule: (debit) => over(() => rail.schedule(debit)),
    cancelSchedule: (debit) => over(() => rail.cancelSchedule(debit)),
    cancelRecurrence: (txid) => over(() => rail.cancelRecurrence(txid)),
    recurrenceOf: async (txid) => {
      const { debits, ...state } = await over(() => rail.recurrenceOf(txid));
      // The reports come in any order, and some of them twice.
      const some = debits.filter(() => random.below(3) === 0);
      return { ...state, debits: [...some, ...[...debits].reverse()] };
    },
  };
}

/** A planted fault: a repeated attempt has another id, so that the bank takes it for a new one. */
function forgetful(rail: PixRail): PixRail {
  const sent = new Map<string, number>();
  return {
    ...rail,
    async schedule(debit) {
      const times = sent.get(debit.id) ?? 0;
      sent.set(debit.id, times + 1);
      const [digits, attempt] = debit.id.split('.');
      const answer = await rail.schedule({ ...debit, id: `${digits}.${Number(attempt) + times}` });
      if (times === 0) throw new Error('the answer is lost');
      return answer;
    },
  };
}

/** Runs subscriptions of several payers over six weeks; some are canceled on the way. */
async function play(random: Random, wrap: (rail: PixRail) => PixRail): Promise<Core> {
  const core = await startCore({ database, follows: false, pix: wrap });
  const made: string[] = [];
  for (const [nth, email] of [...PAYERS, ...PAYERS].entries()) {
    const input: CreateSubscriptionInput = {
      valueCents: AMOUNT,
      interval: nth < 3 ? 'weekly' : 'monthly',
      customer: { email },
      endsAfterCycles: nth % 2 === 0 ? null : 4,
      idempotencyKey: `assinatura-${nth}`,
    };
    let created: string | null = null;
    while (created === null) {
      created = await core.subscriptions.create(core.tenant, input).then(
        ({ subscription }) => subscription.subscriptionId,
        () => null,
      );
      if (created === null) await core.pass(15_000);
    }
    made.push(created);
    await core.pix.pay({ txid: txidOf(created) });
    await core.pass(60_000);
  }
  for (let day = 0; day < 45; day += 1) {
    await core.pass(DAY_MS);
    const id = random.pick(made);
    if (day % 11 === 10) await core.subscriptions.cancel(core.tenant, id);
    if (day % 13 === 12) await core.pix.endByPayer(txidOf(id));
    if (day % 9 === 8) await core.pix.pay({ txid: txidOf(id) });
  }
  for (const id of made) await core.subscriptions.cancel(core.tenant, id);
  // The day of each open cycle is over within a month, and a debit that the bank made all the same is looked up.
  await core.pass(35 * DAY_MS);
  return core;
}

/** Finds rows of the bank and of the service that break a law. */
async function violations(core: Core): Promise<string[]> {
  const { accountId } = core.tenant;
  const laws: Record<string, ReturnType<typeof sql>> = {
    'a payer is debited once for a cycle': sql`
      select split_part(debit.id, '.', 1) as what from simulated_pix_debit debit
      join simulated_pix_code using (txid) where account_id = ${accountId} and outcome = 'paid'
      group by 1 having count(*) > 1`,
    'a cycle has at most four attempts, on different days': sql`
      select split_part(debit.id, '.', 1) as what from simulated_pix_debit debit
      join simulated_pix_code using (txid) where account_id = ${accountId}
      group by 1 having count(*) > 4 or count(distinct due_at) < count(*)`,
    'all that the bank has sent is recorded once': sql`
      select end_to_end_id as what from simulated_pix_credit
      join simulated_pix_code using (txid)
      left join pix_credit using (account_id, environment, end_to_end_id)
      where account_id = ${accountId} and pix_credit.received_at is null`,
    'a cycle is paid where its money was accepted, and nowhere else': sql`
      select payment_id as what from (
        select payment_id from subscription_cycle where account_id = ${accountId} and status = 'paid'
      ) cycle full join (
        select payment_id from pix_credit where account_id = ${accountId} and cause is null
      ) credit using (payment_id) full join (
        select payment_id from payment where account_id = ${accountId} and paid_at is not null
      ) payment using (payment_id)
      where cycle.payment_id is null or credit.payment_id is null or payment.payment_id is null`,
    'what is not accepted is sent back': sql`
      select end_to_end_id as what from pix_credit
      where account_id = ${accountId} and cause is not null and returned_at is null`,
    'one cycle is open at most, and none of what has ended': sql`
      select subscription_id as what from subscription_cycle join pix_subscription s using (subscription_id)
      where s.account_id = ${accountId} and subscription_cycle.status in ('scheduled', 'retrying')`,
    'nothing waits any more': sql`select kind || ' ' || key as what from task where account_id = ${accountId}`,
  };
  const found: string[] = [];
  for (const [law, query] of Object.entries(laws)) {
    const { rows } = await query.execute(database.sql);
    found.push(...(rows as { what: string }[]).map(({ what }) => `${law}: ${what}`));
  }
  const { rows: paid } = await sql<{ count: number }>`
    select count(*) from payment where account_id = ${accountId} and paid_at is not null`.execute(
    database.sql,
  );
  const balances = await core.balances();
  if (balances.merchant_balance !== paid[0]!.count * AMOUNT) found.push('the balance is what was paid');
  if (balances.refunds_in_transit !== 0) found.push('nothing is on its way back');
  return found;
}

describe('subscriptions at a bank that loses requests and answers', () => {
  test.each(firstInSample([1, 2, 3]))(
    'No payer is debited twice, and no money is lost: seed %d',
    async (seed) => {
      const random = createRandom(seed);
      const core = await play(random, (rail) => faulty(rail, random));
      expect(await violations(core)).toEqual([]);
      const counts = await sql<{ status: string }>`
      select distinct status from subscription_cycle where account_id = ${core.tenant.accountId}`.execute(
        database.sql,
      );
      // A service that refused everything would break no law either.
      expect(counts.rows.map(({ status }) => status)).toEqual(
        expect.arrayContaining(['paid', 'failed', 'canceled']),
      );
    },
  );

  if (runsAll())
    test('The laws notice an attempt that is sent again under another id', async () => {
      const core = await play(createRandom(1), forgetful);
      expect((await violations(core)).join()).toContain('a payer is debited once for a cycle');
    });
});
