import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNot as whyNotToday } from '../../../server/architecture.mjs';
import { root } from '../../support/copied-sources.ts';
import type { Pair } from '../../support/pair.ts';
import { copyWithFamily, FOLDER, leaveOut, OUTSIDE, OWN, write } from './another-family/files.ts';

// Vouchers are a family of this file alone: a copy of the sources has them, is compiled, and serves them in both modes.

const copy = copyWithFamily();
afterAll(() => copy.remove());

/** Compiles the copy, and returns the errors. */
async function compile(): Promise<string> {
  return promisify(execFile)(join(root, 'node_modules', '.bin', 'tsc'), ['-p', copy.path]).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

test('A family imports what the house allows', async () => {
  const { whyNot } = (await import(
    join(copy.path, 'server/architecture.mjs')
  )) as typeof import('../../../server/architecture.mjs');
  expect(refusedImports(whyNot)).toEqual([]);
  // Without a room of its own it is on the ground of its wing.
  expect(refusedImports(whyNotToday)).not.toEqual([]);
});

function refusedImports(whyNot: typeof whyNotToday): string[] {
  return OWN.flatMap((file) => {
    const path = join(FOLDER, file);
    const text = readFileSync(join(copy.path, path), 'utf8');
    return [...text.matchAll(/from '(\.[^']+)'/g)].flatMap(([, imported]) => {
      const [from, to] = [path, join(path, '..', imported!)].map((each) => each.slice('server/src/'.length));
      return whyNot(from!, to!) ?? [];
    });
  });
}

/** An error of the compiler where a file outside of the folder is left out. */
const ERRORS: Readonly<Record<string, RegExp>> = {
  'server/src/kernel/caller.ts': /vouchers\/schema\.ts.*'"vouchers\.read"'/,
  'server/src/kernel/upstream-family.ts': /vouchers\/remote\/mirror\.ts.*'"voucher"'/,
  'server/src/webhooks/sent-events.ts': /webhooks\/sent-events\.ts.*lacks ending return/,
  'server/src/programs/modes/slices.ts': /programs\/modes\/embedded\.ts.*'vouchers' is missing/,
};

test('A family compiles, and does not where a source outside of its folder is left out', async () => {
  expect(await compile()).toBe('');
  const sources = Object.keys(OUTSIDE).filter((file) => file.endsWith('.ts'));
  // Without all of them at once there is an error for each.
  for (const file of sources) leaveOut(copy.path, file);
  const errors = await compile();
  for (const file of sources) {
    expect(errors).toMatch(ERRORS[file]!);
    write(copy.path, file);
  }
});

describe('a family that is one more entry of SLICES', () => {
  let pair: Pair;
  beforeAll(async () => {
    const support = <Module>(file: string): Promise<Module> => import(join(copy.path, 'test/support', file));
    const { createManualClock } = await support<typeof import('../../support/clock.ts')>('clock.ts');
    const { openFreshDatabase } = await support<typeof import('../../support/database.ts')>('database.ts');
    const { watchStatements } = await support<typeof import('../../support/statements.ts')>('statements.ts');
    const { startApp } = await support<typeof import('../../support/app.ts')>('app.ts');
    const { startPair } = await support<typeof import('../../support/pair.ts')>('pair.ts');
    const clock = createManualClock();
    const { database, statements } = watchStatements(await openFreshDatabase(clock));
    const app = await startApp({ database, clock, environment: { PSA_DEMO: 'on' } });
    const environment = { PSA_UPSTREAM_FAMILIES: 'vouchers' };
    pair = await startPair({ service: { app, clock, statements }, environment });
  });
  afterAll(async () => {
    await pair?.close();
    await pair?.service.close();
    expect(pair?.facade.faults).toEqual([]);
  });

  const CREATE = `mutation ($input: CreateVoucherInput!) {
    createVoucher(input: $input) {
      ... on CreateVoucherSuccess { replayed voucher { voucherId status amountCents description } }
      ... on ValidationError { fields { path message } }
      ... on IdempotencyError { message }
    }
  }`;
  const LIST = `query ($filter: VoucherFilter) {
    vouchers(filter: $filter) { totalCount nodes { voucherId status amountCents paidAt } }
  }`;
  const FOLLOW = `subscription ($voucherId: String!) {
    voucherUpdates(voucherId: $voucherId) { previousStatus voucher { status } }
  }`;

  async function create(side: 'service' | 'facade', input: object): Promise<Record<string, unknown>> {
    return (await pair[side].live.request(CREATE, { input })).createVoucher;
  }

  /** Pays a voucher by its control of the simulator. */
  async function pay(voucherId: unknown) {
    const { service } = pair;
    return fetch(`${service.url}/simulator/vouchers/${voucherId}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: service.url },
      body: '{}',
    });
  }

  test('A voucher is created once under its key, listed by a filter, paid in the simulator, and followed', async () => {
    const { live } = pair.service;
    const input = { valueCents: 5_000, description: 'Livro', idempotencyKey: 'um' };
    const made = await create('service', input);
    const shown = { status: 'OPEN', amountCents: 5_000, description: 'Livro' };
    expect(made).toMatchObject({ replayed: false, voucher: shown });
    expect(await create('service', input)).toEqual({ ...made, replayed: true });
    expect(await create('service', { ...input, valueCents: 1 })).toEqual({ message: expect.any(String) });
    expect(await create('service', { valueCents: 0 })).toEqual({
      fields: [{ path: 'input.valueCents', message: expect.stringContaining('at least') }],
    });
    const { voucherId } = made.voucher as { voucherId: string };

    const { wallet } = await live.request('{ wallet { balanceCents } }');
    const updates = live.sse(FOLLOW, { voucherId });
    expect((await updates.data()).voucherUpdates.voucher).toEqual({ status: 'OPEN' });
    expect((await pay(voucherId)).status).toBe(200);
    expect((await updates.data()).voucherUpdates).toEqual({
      previousStatus: 'OPEN',
      voucher: { status: 'PAID' },
    });
    expect((await pay(voucherId)).status).toBe(409);
    const after = await live.request('{ wallet { balanceCents } }');
    expect(after.wallet.balanceCents).toBe(wallet.balanceCents + 5_000);

    const listed = (filter: object) => live.request(LIST, { filter }).then(({ vouchers }) => vouchers);
    expect(await listed({ status: ['PAID'] })).toMatchObject({ totalCount: 1, nodes: [{ voucherId }] });
    expect(await listed({ status: ['OPEN'], amountCents: 5_000 })).toEqual({ totalCount: 0, nodes: [] });
  });

  test('A voucher is created, found and listed over REST, and described', async () => {
    const rest = pair.service.rest();
    const { status, body: made } = await rest.post('/vouchers', { valueCents: 700 });
    expect({ status, made }).toMatchObject({ status: 201, made: { status: 'open', amountCents: 700 } });
    expect((await rest.get(`/vouchers/${made.voucherId}`)).body).toEqual(made);
    expect((await rest.get('/vouchers?limit=1')).body).toMatchObject({ vouchers: [made], limit: 1 });
    expect((await rest.get('/vouchers/vou_1')).body.error).toContain('vou_ and 32 hex digits');
    const description = await (await fetch(`${pair.service.url}/v1/openapi.json`)).json();
    expect(Object.keys(description.paths['/v1/vouchers'])).toEqual(['post', 'get']);
    expect(Object.keys(description.webhooks)).toContain('voucher.paid');
  });

  test('A dashboard token reads and follows vouchers by their scope', async () => {
    const { createDashboardToken } = await pair.service.live.request(
      'mutation { createDashboardToken(input: { scopes: [VOUCHERS] }) { ... on CreateDashboardTokenSuccess { token } } }',
    );
    const dashboard = pair.service.client(createDashboardToken.token);
    expect((await dashboard.request(LIST)).vouchers.totalCount).toBeGreaterThan(0);
    const { updatesCursor } = await dashboard.request('{ updatesCursor }');
    await create('service', { valueCents: 100 });
    const all = dashboard.sse(
      'subscription ($after: String) { accountUpdates(after: $after, kinds: [VOUCHER]) { __typename } }',
      { after: updatesCursor },
    );
    expect((await all.data()).accountUpdates).toEqual({ __typename: 'VoucherUpdate' });
    await all.close();
  });

  test('A facade creates a voucher in the service, and gets its payment by the webhook', async () => {
    await pair.service.live.request(
      'mutation ($url: Url!) { configureWebhook(input: { url: $url, optionalEvents: [VOUCHER_PAID] }) { __typename } }',
      { url: `http://127.0.0.1:${pair.facade.port}/webhooks/psa` },
    );
    const made = await create('facade', { valueCents: 900, idempotencyKey: 'dois' });
    const { voucherId } = made.voucher as { voucherId: string };
    expect(made).toMatchObject({ replayed: false, voucher: { status: 'OPEN', amountCents: 900 } });
    const updates = pair.facade.live.sse(FOLLOW, { voucherId });
    expect((await updates.data()).voucherUpdates.voucher).toEqual({ status: 'OPEN' });
    await pay(voucherId);
    await pair.settled();
    expect((await updates.data()).voucherUpdates.voucher).toEqual({ status: 'PAID' });
    await pair.pass(5_000);
    const { vouchers } = await pair.facade.live.request(LIST, { filter: { status: ['PAID'] } });
    expect(vouchers).toMatchObject({ totalCount: 1, nodes: [{ voucherId, amountCents: 900 }] });
    const sent = pair.proxy.arrivals.filter(({ method }) => method === 'POST');
    expect(sent.map(({ path }) => path)).toEqual(['/v1/vouchers']);
  });
});
