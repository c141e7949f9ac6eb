import { beforeAll, expect, test } from 'vitest';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import { isWallet } from '../../../server/src/money-out/wallet/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { readHead } from '../../../server/src/state/events/log.ts';
import { subscribe } from '../../../server/src/state/events/subscribe.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { ledgerTransaction } from '../../support/ledger.ts';

const QUEUE_LIMIT = 256;
const cursorsFor = createCursors(Buffer.alloc(16, 'key'));

describeOnDatabase('a subscription that coalesces', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A coalescing subscription gives a fast reader the state at once and then each change', async () => {
    const core = await startCore({ database });
    await core.controls.credit(core.tenant, 100);
    const updates = await follow(core);
    expect(await balance(updates)).toBe(100);
    for (const expected of [200, 300, 400]) {
      const next = balance(updates);
      await core.controls.credit(core.tenant, 100);
      expect(await next).toBe(expected);
    }
    await updates.return!();
  });

  test('A coalescing subscription gives a slow reader the newest state, and never disconnects it', async () => {
    const core = await startCore({ database });
    const { instance, joined } = observed(core);
    const updates = await follow(instance);
    expect(await balance(updates)).toBe(0);
    const first = balance(updates);
    await joined;
    await core.controls.credit(core.tenant, 1);
    expect(await first).toBe(1);

    const heard = heardOf(core, QUEUE_LIMIT + 9);
    for (let count = 0; count < QUEUE_LIMIT + 9; count += 1) await core.controls.credit(core.tenant, 1);
    await heard;
    expect(await balance(updates)).toBe(QUEUE_LIMIT + 10);

    const next = balance(updates);
    await core.controls.credit(core.tenant, 1);
    expect(await next).toBe(QUEUE_LIMIT + 11);
    await updates.return!();
  });

  test('A coalescing subscription gives the newest state behind a cursor, and nothing that was seen before', async () => {
    const core = await startCore({ database });
    await core.controls.credit(core.tenant, 100);
    const seen = await readHead(database.sql, core.tenant);
    for (let count = 0; count < 150; count += 1) await core.controls.credit(core.tenant, 1);
    const updates = await follow(core, seen);
    expect(await balance(updates)).toBe(250);
    await updates.return!();

    // The snapshot has nothing of what was posted since.
    const head = await readHead(database.sql, core.tenant);
    await unseen(core);
    const again = await follow(core, head);
    const next = balance(again);
    await core.controls.credit(core.tenant, 1);
    expect(await next).toBe(251);
    await again.return!();
  });

  test('A coalescing subscription gives no state twice in a row', async () => {
    const core = await startCore({ database });
    await core.controls.credit(core.tenant, 100);
    const updates = await follow(core);
    expect(await balance(updates)).toBe(100);
    const next = balance(updates);
    await unseen(core);
    await unseen(core);
    await core.controls.credit(core.tenant, 1);
    expect(await next).toBe(101);
    await updates.return!();
  });

  test('A coalescing subscription ends when it is left, also while it waits', async () => {
    const core = await startCore({ database });
    const updates = await follow(core);
    await updates.next();
    const next = updates.next();
    await updates.return!();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

/** Follows the merchant's balance alone, where `walletUpdates` follows the whole wallet. */
function follow(
  { database, tailer, tenant, wallet }: Pick<Core, 'database' | 'tailer' | 'tenant' | 'wallet'>,
  after?: number,
): Promise<AsyncIterableIterator<number>> {
  return subscribe<number>({
    database,
    tailer: tailer,
    cursorsFor,
    tenant,
    topic: { resource: 'wallet' },
    after: after === undefined ? null : cursorsFor(tenant, 'updates').encode(after),
    async begin() {
      const { version, wallet: state } = await wallet.readWithVersion(tenant);
      return { version, first: () => state.balanceCents!, isOver: false };
    },
    toItem: (event) =>
      event.resource === 'wallet' && !isWallet(event.snapshot) ? event.snapshot.merchant_balance : Number.NaN,
    isLast: () => false,
    coalesce: (left, right) => left === right,
    signal: new AbortController().signal,
  });
}

async function balance(updates: AsyncIterableIterator<number>): Promise<number> {
  return (await updates.next()).value;
}

/** Posts a sale, which is not in the balance yet. */
function unseen({ committer, tenant }: Core): Promise<void> {
  sales += 1;
  const sale = ledgerTransaction(`sale:${sales}`, [{ from: 'acquirer', to: 'merchant_pending', amount: 5 }]);
  return committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({ outcome: undefined, writes: { transactions: [sale] } }),
  });
}
let sales = 0;

/** `joined` resolves when the subscription waits at the live end. */
function observed(core: Core): { instance: Core; joined: Promise<void> } {
  const { promise, resolve } = deferred();
  const join: Core['tailer']['join'] = (tenant, listener) => {
    const leave = core.tailer.join(tenant, listener);
    if (leave) resolve();
    return leave;
  };
  return { instance: { ...core, tailer: { ...core.tailer, join } }, joined: promise };
}

function unexpected(): never {
  return expect.unreachable('the log was set back');
}

/** Resolves when this number of changes has been delivered to the listeners. */
async function heardOf(core: Core, count: number): Promise<void> {
  const { promise, resolve } = deferred();
  let heard = 0;
  const hear = () => {
    heard += 1;
    if (heard === count) resolve();
  };
  const leave = await core.tailer.listen(core.tenant, { resource: 'wallet' }, hear, unexpected);
  await promise;
  leave();
}
