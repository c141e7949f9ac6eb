import { createHash } from 'node:crypto';
import { sql as raw } from 'kysely';
import { plusMs } from '../../server/src/kernel/clock.ts';
import type { Environment } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { createRandom } from '../faults/random.ts';
import { balancesOf } from '../support/ledger.ts';
import { expectedWallet } from './laws.ts';
import { createOperations } from './operations.ts';
import { createRequests, type Effect } from './requests.ts';
import type { Violation } from './violation.ts';
import { openWorld, type Tamper, type World } from './world.ts';

export const STEPS = 200;

/** The outcome of one seed. */
export interface History {
  readonly seed: number;
  readonly accountId: string;
  /** Each step with its outcome, and in the end the log of events: the same for the same seed. */
  readonly lines: readonly string[];
  readonly digest: string;
  /** The numbers of steps that were done, refused, and made to fail. */
  readonly counts: ReadonlyMap<string, number>;
  readonly broken: readonly (Violation & { step: number })[];
  /** The keys of the records that its decisions have read. */
  readonly loaded: World['loaded'];
}

/** Steps in their order, repeated until they have this outcome. */
export type Tour = readonly { steps: readonly string[]; until: string }[];

export interface HistoryOptions {
  database: Database;
  seed: number;
  steps?: number;
  tamper?: Tamper | undefined;
  /** Steps in place of those that the seed draws, without faults. */
  tour?: Tour | undefined;
  /** Called whenever only late work is left: audits the tables more often than at the end. */
  audit?: (world: World, steps: number) => Promise<readonly Violation[]>;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** The final instants: late enough for everything to be decided, sent, returned, expired, released and reported. */
const LATER_MS = [4 * SECOND, 60 * SECOND, HOUR, 25 * HOUR, 80 * HOUR];
const ROUNDS_OF_THE_END = 60;
/** The number of steps between two pauses, in which all work but the late one ends. */
const PAUSES_ONE_IN = 24;

/** The most rounds of a tour's steps: an outcome of one round in six is missing in one tour in 10^15. */
const ROUNDS_OF_A_TOUR = 200;

/** Plays a number of steps of one account's life, and its end, without faults and with all work done. */
export async function playHistory({
  database,
  seed,
  steps = STEPS,
  tamper,
  tour,
  audit,
}: HistoryOptions): Promise<History> {
  const random = createRandom(seed);
  const lines: string[] = [];
  const counts = new Map<string, number>();
  const broken: (Violation & { step: number })[] = [];
  let step = 0;
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const found = (violation: Violation) => void broken.push({ ...violation, step });

  const world = await openWorld({
    database,
    random,
    count,
    tamper,
    broken: found,
    ...(tour && { announced: true, strikes: () => false }),
  });
  const { gate, clock } = world;
  const requests = createRequests(found);
  const operations = createOperations(world, {
    requests,
    random,
    freshKeys: tour !== undefined,
    note(what, outcome) {
      count(`${what}: ${outcome}`);
      lines.push(`${step} ${clock.now().toISOString()} ${what}: ${outcome}`);
    },
  });
  const begun = new Set<Promise<void>>();
  const begin = (operation: Promise<void>) => {
    const ended = operation
      .catch((error: Error) => found({ law: 'nothing fails but by a fault', what: `${error.stack}` }))
      .finally(() => begun.delete(ended));
    begun.add(ended);
  };
  const settle = async () => {
    await gate.run();
    for (const violation of (await audit?.(world, step)) ?? []) found(violation);
  };

  for (const { steps: names, until } of tour ?? [])
    for (let round = 0; round < ROUNDS_OF_A_TOUR && broken.length === 0 && !counts.has(until); round += 1)
      for (const name of names) {
        step += 1;
        begin(operations.step(name));
        await settle();
      }
  while (!tour && step < steps && broken.length === 0) {
    step += 1;
    begin(operations.begin());
    const next = random.below(PAUSES_ONE_IN);
    if (next === 0) {
      await settle();
      if (random.below(3) === 0) await look();
    } else if (next === 1) await gate.run(1 + random.below(3));
    if (random.below(10) === 0) gate.release();
  }

  world.faults.over();
  gate.release(true);
  await settle();
  for (const laterMs of LATER_MS) await passBy(laterMs);
  begin(operations.askAgain());
  await settle();
  begin(operations.end());
  await settle();
  for (let round = 0; round < ROUNDS_OF_THE_END; round += 1) {
    const due = await undelayed(world.dueFirst());
    if (!due && world.isIdle()) break;
    await passBy(due ? due.getTime() - clock.now().getTime() + HOUR : 0);
  }
  await look();
  if (begun.size > 0 || !world.isIdle() || gate.late() > 0)
    found({ law: 'what was begun ends', what: `${begun.size} callers, ${gate.late()} answers` });
  if (broken.length === 0) requests.compare(await effectsOf(world));
  const events = await eventsOf(world);
  for (const { kind } of events) count(`event: ${kind}`);
  lines.push(...(await textOf(world, events)));
  await leaveBooks(world);
  return {
    seed,
    accountId: world.live.accountId,
    lines,
    digest: createHash('sha256').update(lines.join('\n')).digest('hex'),
    counts,
    broken,
    loaded: world.loaded,
  };

  async function passBy(ms: number): Promise<void> {
    clock.moveTo(plusMs(clock.now(), Math.max(0, ms)));
    begin(world.work());
    await settle();
  }

  /** Passes the gate while nothing else waits there. */
  async function undelayed<Result>(asked: Promise<Result>): Promise<Result> {
    await gate.run();
    return asked;
  }

  /** Compares the shown wallet with the document's formula over the entries. */
  async function look(): Promise<void> {
    for (const tenant of [world.live, world.sandbox]) {
      const shown = await undelayed(world.slices.wallet.read(tenant).catch(() => null));
      if (!shown) continue;
      const subaccountsKnown = shown.subaccountsBalanceCents !== null;
      const expected = await expectedWallet(database, tenant, { subaccountsKnown });
      if (JSON.stringify(shown) !== JSON.stringify(expected))
        found({
          law: 'the wallet is what the document’s formula says',
          what: `${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`,
        });
    }
    count('look at the wallet');
  }
}

/** All rows that a request has caused. */
async function effectsOf({ database, live: { accountId } }: World): Promise<Effect[]> {
  const { rows } = await raw<Effect>`
    select case when checkout_attempt is null then 'createCardPayment' else 'startCheckout' end as made,
      environment::text, order_code as id, coalesce(product_id || metadata, amount_cents::text) as mark, status
    from card_payment where account_id = ${accountId}
    union all select case when checkout_attempt is null then 'createPayment' else 'startPixCheckout' end,
      environment, payment_id, coalesce(product_id || metadata, amount_cents::text), status
    from payment where account_id = ${accountId} and subscription_id is null
    union all select 'createSubscription', environment, subscription_id, amount_cents::text, status
    from pix_subscription where account_id = ${accountId}
    union all select 'createCharge', environment, charge_id, amount_cents::text, status
    from charge where account_id = ${accountId}
    union all select 'refund', environment, refund_id, reason, null
    from refund where account_id = ${accountId} and not automatic
    union all select 'requestPayout', environment, withdrawal_id, amount_cents::text, null
    from payout where account_id = ${accountId}
    union all select 'requestSubaccountPayout', environment, id, amount_cents::text, null
    from subaccount_payout where account_id = ${accountId}
    union all select 'transferToSubaccount', environment, ref_id, amount_cents::text, null
    from statement_entry where account_id = ${accountId} and kind = 'transfer_in'
    union all select 'createSubaccount', environment, id, name, null
    from subaccount where account_id = ${accountId}
    union all select 'createProduct', environment, id, name, null from product where account_id = ${accountId}
    union all select 'createTestPayment', environment, id, value_cents::text, null
    from test_payment where account_id = ${accountId}
    union all select 'openDispute', environment, id, amount_cents::text, null
    from dispute where account_id = ${accountId} and resource is null
    union all select case when transaction_id like 'credit:%' then 'credit' else 'creditLtc' end,
      environment, split_part(transaction_id, ':', 2), (-amount)::text, null
    from posting where account_id = ${accountId} and transaction_id like 'credit%'
      and ledger_account in ('received', 'ltc_received')
  `.execute(database.sql);
  return rows;
}

interface LoggedEvent {
  environment: Environment;
  version: number;
  kind: string;
  resource_id: string;
  previous_status: string | null;
  occurred_at: Date;
}

async function eventsOf({ database, live: { accountId } }: World): Promise<LoggedEvent[]> {
  const { rows } = await raw<LoggedEvent>`
    select environment, version, kind, resource_id, previous_status, occurred_at from event
    where account_id = ${accountId} order by environment, version
  `.execute(database.sql);
  return rows;
}

/** The log and the balances, with names numbered in the order of their first appearance. */
async function textOf({ database, live }: World, events: readonly LoggedEvent[]): Promise<string[]> {
  const names = new Map<string, number>();
  const balances = await balancesOf(database.sql, live);
  return [
    ...events.map(({ environment, version, kind, resource_id, previous_status, occurred_at }) => {
      if (!names.has(resource_id)) names.set(resource_id, names.size);
      return `${environment} ${version} ${kind} ${names.get(resource_id)} ${previous_status} ${occurred_at.toISOString()}`;
    }),
    JSON.stringify(balances),
  ];
}

/** Stores the rails' ledgers beside ours, for the audit. */
async function leaveBooks({ database, rails, live: { accountId } }: World): Promise<void> {
  const transfers = [...rails.transfers.values()].map((transfer) => ({
    id: transfer.id,
    account_id: accountId,
    environment: transfer.tenant.environment,
    method: transfer.method,
    destination: transfer.destination,
    amount_cents: transfer.amountCents,
    litoshi: transfer.litoshi,
    settles_at: transfer.settlesAt,
    outcome: transfer.outcome,
  }));
  const charges = [...rails.charges.values()].map((charge) => ({
    id: charge.id,
    account_id: accountId,
    amount_cents: charge.amountCents,
    status: charge.status,
    settles_at: charge.settlesAt,
  }));
  const refunds = [...rails.refunds.values()].map((refund) => ({
    id: refund.id,
    account_id: accountId,
    charge_id: refund.railChargeId,
    amount_cents: refund.amountCents,
    status: refund.outcome === 'complete' ? 'pending' : 'failed',
    settles_at: refund.settlesAt,
  }));
  const ltcOutputs = [...rails.litecoin.reports].flatMap(([id, report]) =>
    report.outputs.map(({ txid, vout, litoshi }) => ({ id, account_id: accountId, txid, vout, litoshi })),
  );
  const pixCredits = [...rails.pix.credits.values()].map((credit) => ({
    end_to_end_id: credit.endToEndId,
    account_id: accountId,
    txid: credit.txid,
    amount_cents: credit.amountCents,
    arrives_at: credit.at,
  }));
  const pixReturns = [...rails.pix.returns.values()].map((each) => ({
    id: each.id,
    account_id: accountId,
    end_to_end_id: each.railChargeId,
    amount_cents: each.amountCents,
    status: each.outcome === 'complete' ? 'completed' : 'failed',
  }));
  const pixDebits = [...rails.pix.debits.values()].map((debit) => ({
    id: debit.id,
    account_id: accountId,
    txid: debit.txid,
    amount_cents: debit.amountCents,
    due_at: debit.dueAt,
    outcome: debit.isRecalled ? 'canceled' : (debit.report?.status ?? 'open'),
  }));
  await raw`
    insert into sim.pix_debits select *
    from jsonb_populate_recordset(null::sim.pix_debits, ${JSON.stringify(pixDebits)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.ltc_outputs select *
    from jsonb_populate_recordset(null::sim.ltc_outputs, ${JSON.stringify(ltcOutputs)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.pix_credits select *
    from jsonb_populate_recordset(null::sim.pix_credits, ${JSON.stringify(pixCredits)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.pix_returns select *
    from jsonb_populate_recordset(null::sim.pix_returns, ${JSON.stringify(pixReturns)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.transfers select * from jsonb_populate_recordset(null::sim.transfers, ${JSON.stringify(transfers)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.charges select * from jsonb_populate_recordset(null::sim.charges, ${JSON.stringify(charges)}::jsonb)
  `.execute(database.sql);
  await raw`
    insert into sim.refunds select * from jsonb_populate_recordset(null::sim.refunds, ${JSON.stringify(refunds)}::jsonb)
  `.execute(database.sql);
}
