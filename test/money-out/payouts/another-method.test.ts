import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createAccountInput } from '../../../server/src/access/keys.ts';
import { DEFAULT_SETTINGS } from '../../../server/src/access/model.ts';
import type { DestinationKind, MethodRecord } from '../../../server/src/kernel/payout-methods/method.ts';
import {
  METHODS,
  PAYOUT_METHODS,
  type PayoutMethod,
} from '../../../server/src/kernel/payout-methods/registry.ts';
import { canBeSame, fingerprintOf } from '../../../server/src/money-out/payouts/destinations.ts';
import { maskDestination, nextStatuses } from '../../../server/src/money-out/payouts/model.ts';
import { mergeUpstreamPayout } from '../../../server/src/money-out/payouts/upstream-payout.ts';
import { payoutWebhook, readPayout } from '../../../server/src/money-out/payouts/wire.ts';
import { parseCommand } from '../../../server/src/programs/cli/commands.ts';
import { formatResult } from '../../../server/src/programs/cli/format.ts';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { startApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { fund } from '../../support/funds.ts';
import { type Pair, startPair } from '../../support/pair.ts';
import { watchStatements } from '../../support/statements.ts';
import { PAYOUT, UPSTREAM_PAYOUT } from './examples.ts';

// A method that only this file's registry has. It differs from PIX in every member, and its destination is always
// masked.

vi.mock('../../../server/src/kernel/payout-methods/registry.ts', async (importOriginal) => {
  const original =
    await importOriginal<typeof import('../../../server/src/kernel/payout-methods/registry.ts')>();
  const madeUp: MethodRecord = {
    graphql: { name: 'MADE_UP', description: 'A payout to a made-up number.' },
    label: 'Made up',
    cli: { inWords: 'by a made-up way', column: 'made up' },
    destination: {
      inWords: 'made-up number',
      mustBe: 'must be a made-up number of 20 digits',
      parse: (text) => (/^made-up-\d{20}$/.test(text) ? text : null),
      refusal: () => null,
      variantOf: () => null,
      mask: (text) => (/^made-up-\d{20}$/.test(text) ? `****${text.slice(-4)}` : null),
      isPublic: false,
      inText: [[/made-up-\d{20}/g, '…']],
    },
    defaultFeeCents: 350,
    debits: 'brl',
    ceiling: null,
    dustLitoshi: null,
    leavesUnconfirmed: false,
    hourly: { most: 2, inWords: 'made-up withdrawals' },
    rail: { simulatedMs: 60_000, comesBack: false, namesRecipient: false },
  };
  // The registry's functions close over its record, so the method is added to that record.
  Object.assign(original.METHODS, { made_up: madeUp });
  (original.PAYOUT_METHODS as string[]).push('made_up');
  return original;
});

const MADE_UP = 'made_up' as PayoutMethod;
const DESTINATION = 'made-up-34191790010104351004';
const MASKED = '****1004';
const SECRET_PART = DESTINATION.slice(8, 20);

const REQUEST = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) {
    ... on RequestPayoutSuccess { payout { withdrawalId code method destination feeCents status } }
    ... on UserError { message }
    ... on ValidationError { fields { path message } }
    ... on RateLimitError { limit }
  }
}`;
const LIST = `query ($method: PayoutMethod!) {
  payouts(filter: { method: [$method] }) { nodes { method destination status feeCents } }
}`;
const FOLLOW = `subscription ($after: String) {
  allPayoutUpdates(after: $after) { payout { method destination status feeCents } }
}`;

/** The migration of a new method: a column for its fee, and the checks that name the methods. */
const MIGRATION = [
  'alter table account add column payout_fee_made_up_cents bigint not null default 0',
  ...['payout', 'simulated_transfer'].flatMap((table) => [
    `alter table ${table} drop constraint ${table}_method_check`,
    `alter table ${table} add constraint ${table}_method_check
      check (method in ('pix', 'pix_turbo', 'ltc', 'usd', 'made_up'))`,
  ]),
];

async function openDatabase(clock = createManualClock()): Promise<Database> {
  const database = await openFreshDatabase(clock);
  for (const statement of MIGRATION) await sql.raw(statement).execute(database.sql);
  return database;
}

describe('a payout method that is one more record in the registry', () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  let pair: Pair;
  beforeAll(async () => {
    const clock = createManualClock();
    const { database, statements } = watchStatements(await openDatabase(clock));
    const app = await startApp({ database, clock, log });
    pair = await startPair({ service: { app, clock, statements }, open: openDatabase });
    await fund(
      { database, tenant: { accountId: pair.accountIds.service, environment: 'live' } },
      { cents: 100_000 },
    );
  });
  afterAll(async () => {
    await pair?.close();
    await pair?.service.close();
    expect(pair?.facade.faults).toEqual([]);
  });
  /** An hour later the limit of two payouts an hour is free again. */
  const nextHour = () => pair.pass(3_600_001);

  const input = { method: 'MADE_UP', amountCents: 10_000, destination: DESTINATION };
  const shown = { method: 'MADE_UP', destination: MASKED, feeCents: 350 };

  test('a new method is paid over GraphQL, and its destination is masked in each answer and update', async () => {
    await nextHour();
    const { updatesCursor } = await pair.service.live.request('{ updatesCursor }');
    const { requestPayout } = await pair.service.live.request(REQUEST, { input });
    expect(requestPayout.payout).toMatchObject({ ...shown, status: 'PENDING' });
    await pair.pass(60_000);
    const updates = pair.service.live.sse(FOLLOW, { after: updatesCursor });
    for (const status of ['PENDING', 'COMPLETED'])
      expect((await updates.data()).allPayoutUpdates.payout).toEqual({ ...shown, status });
    await updates.close();
    const { payouts } = await pair.service.live.request(LIST, { method: 'MADE_UP' });
    expect(payouts.nodes).toEqual([{ ...shown, status: 'COMPLETED' }]);
  });

  test('a new method is paid over REST, and its destination is masked in each answer', async () => {
    await nextHour();
    const rest = pair.service.rest();
    const body = { amount: 100, method: 'made_up', walletAddress: DESTINATION };
    const { status, body: made } = await rest.post('/payouts', body);
    expect({ status, made }).toMatchObject({
      status: 201,
      made: { method: 'made_up', walletAddress: MASKED, fee: 3.5 },
    });
    const found = await rest.get(`/payouts/${made.code}`);
    expect(found.body.walletAddress).toBe(MASKED);
    const list = await rest.get('/payouts');
    expect(list.body.payouts[0].walletAddress).toBe(MASKED);
    expect(JSON.stringify(list.body)).not.toContain(SECRET_PART);
  });

  test('the simulator’s page masks the destination of a new method', async () => {
    await nextHour();
    await pair.service.live.request(REQUEST, { input });
    await pair.service.work.settled();
    const state = await (await fetch(`${pair.service.url}/simulator/state`)).json();
    expect(state.transfers).toMatchObject([{ method: 'made_up', destination: MASKED, status: 'queued' }]);
  });

  test('a facade masks the destination of a new method, and has it whole nowhere in its database', async () => {
    await nextHour();
    const { requestPayout } = await pair.facade.live.request(REQUEST, { input });
    expect(requestPayout.payout).toMatchObject(shown);
    await pair.pass(120_000);
    const { payouts } = await pair.facade.live.request(LIST, { method: 'MADE_UP' });
    expect(payouts.nodes[0]).toEqual({ ...shown, status: 'COMPLETED' });
    const { rows } = await sql<{ text: string }>`
      select snapshot::text as text from event union all select snapshot::text from observed
      union all select summary::text from upstream_intent`.execute(pair.facade.database.sql);
    expect(rows.some(({ text }) => text.includes(MASKED))).toBe(true);
    expect(rows.filter(({ text }) => text.includes(SECRET_PART))).toEqual([]);
  });

  test('a new method refuses a PIX key in its own words', async () => {
    for (const destination of ['ana@padaria.example', '12345678909', DESTINATION.slice(1)]) {
      const { requestPayout } = await pair.service.live.request(REQUEST, {
        input: { ...input, destination },
      });
      expect(requestPayout.fields).toEqual([
        { path: 'input.destination', message: 'must be a made-up number of 20 digits' },
      ]);
    }
  });

  test('a new method has its own hourly limit', async () => {
    await nextHour();
    const request = async () => (await pair.service.live.request(REQUEST, { input })).requestPayout;
    expect([await request(), await request()]).toMatchObject([{ payout: {} }, { payout: {} }]);
    expect(await request()).toMatchObject({ limit: '2 made-up withdrawals an hour' });
  });

  test('a payout by a new method arrives without the receipt of a PIX', async () => {
    await nextHour();
    const { requestPayout } = await pair.service.live.request(REQUEST, { input });
    await pair.pass(60_000);
    const rows = await pair.service.database.sql
      .selectFrom('payout')
      .select(['method', 'status', 'end_to_end_id'])
      .where('withdrawal_id', '=', requestPayout.payout.withdrawalId)
      .execute();
    expect(rows).toEqual([{ method: 'made_up', status: 'completed', end_to_end_id: null }]);
  });

  test('no line of the log shows the destination of a new method, also where an error repeats it', () => {
    const cause = new Error(`no bank takes ${DESTINATION}`);
    log.error({ err: new Error(`refused: ${DESTINATION}`, { cause }) }, 'a payout was not sent');
    log.error({ err: cause, transfer: { destination: DESTINATION } }, 'a payout was not sent');
    expect(lines.at(-1)).toContain('no bank takes …');
    expect(lines.join()).not.toContain(SECRET_PART);
  });

  test('the webhook of the document has the destination of a new method whole', () => {
    const payout = { ...PAYOUT, method: MADE_UP, destination: DESTINATION };
    expect(payoutWebhook(payout, 'live')).toMatchObject({ method: 'made_up', walletAddress: DESTINATION });
  });

  test('a kind of destination without a mask does not compile', () => {
    const { mask: _, ...forgotten } = METHODS.pix.destination;
    // @ts-expect-error the mask is missing
    const kind: DestinationKind = forgotten;
    expect(kind).not.toHaveProperty('mask');
  });

  test('the command line has an option and a column for the fee of a new method', async () => {
    const { input: settings } = parseCommand([
      'accounts',
      'set',
      'acc_1',
      '--payout-fee-made-up',
      '1.25',
    ]) as {
      input: object;
    };
    expect(settings).toEqual({ id: 'acc_1', payoutFeesCents: { made_up: 125 } });
    const help = parseCommand(['accounts', 'set', '--help']);
    expect(help).toMatchObject({
      text: expect.stringMatching(/--payout-fee-made-up <REAIS> +the fee of a payout by a made-up way/),
    });
    const account = {
      id: 'acc_1',
      name: 'Loja',
      activeKeys: 1,
      createdAt: '2026-03-02',
      ...DEFAULT_SETTINGS,
    };
    expect(formatResult('accounts.list', { accounts: [account] })).toMatch(
      /made up +markup .*\n.* 3\.50 +0\.50 /,
    );
    expect(createAccountInput.parse({ name: 'Loja', payoutFeesCents: { made_up: 5 } })).toEqual({
      name: 'Loja',
      payoutFeesCents: { made_up: 5 },
    });
  });

  describe('in front of another service', () => {
    const source = { by: 'service' as const, at: new Date(), knownAt: null };

    test.each([[MADE_UP], ['unknown' as const]])(
      'an upstream destination of a new method is masked where the method is %s',
      (method) => {
        const merged = mergeUpstreamPayout(
          null,
          { ...UPSTREAM_PAYOUT, method, destination: DESTINATION },
          source,
        );
        expect(merged?.destination).toBe(MASKED);
        for (const masksPublic of [true, false])
          expect(maskDestination({ method, destination: DESTINATION }, { masksPublic })).toBe(MASKED);
      },
    );

    test('a text that is no destination of a new method is hidden whole', () => {
      for (const destination of ['ana@padaria.example', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', '5'])
        expect(maskDestination({ method: MADE_UP, destination }, { masksPublic: false })).toBe('****');
    });

    test('an upstream payout by a new method is read by the method’s name, its destination only where masked', () => {
      const record = { id: '0'.repeat(24), amount: 100, method: 'made_up' };
      expect(readPayout({ ...record, paidTo: MASKED })).toMatchObject({
        method: MADE_UP,
        destination: MASKED,
      });
      expect(readPayout({ ...record, paidTo: DESTINATION })?.destination).toBeNull();
    });

    test('destinations of a new method are compared by its own mask', () => {
      const of = (destination: string) => ({ method: MADE_UP, destination });
      expect(canBeSame(of(DESTINATION), of(MASKED))).toBe(true);
      expect(canBeSame(of(`${DESTINATION.slice(0, -1)}9`), of(MASKED))).toBe(false);
      expect(fingerprintOf(MADE_UP, 1, DESTINATION)).not.toBe(fingerprintOf('pix', 1, DESTINATION));
    });
  });

  test('a new method is the last in every list, and completes without an unconfirmed state', () => {
    expect(PAYOUT_METHODS.at(-1)).toBe(MADE_UP);
    expect(nextStatuses({ method: MADE_UP, status: 'pending' })).toEqual(['completed', 'denied']);
  });
});
