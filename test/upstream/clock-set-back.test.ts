import { beforeAll, expect, test } from 'vitest';
import { createOffsetClock } from '../../server/src/kernel/clock.ts';
import { createRemoteCardPayments } from '../../server/src/money-in/card-payments/remote/service.ts';
import { createRemotePayouts } from '../../server/src/money-out/payouts/remote/service.ts';
import { createRemoteWallet } from '../../server/src/money-out/wallet/remote/service.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { selectMirrored } from '../../server/src/upstream/mirror-store.ts';
import { createManualClock } from '../support/clock.ts';
import { describeOnDatabase } from '../support/database.ts';
import { startFacade } from '../support/facade.ts';
import { scriptedUpstream } from '../support/scripted-upstream.ts';

const FIGURES = { disputeBlocked: 0, pendingRelease: 0, cryptoBalanceLtc: 0 };

describeOnDatabase('what was seen by a clock that was an hour ahead', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('the wallet and open payments are read and polled as the service shows them now', async () => {
    const manual = createManualClock();
    const clock = createOffsetClock(manual);
    clock.setOffset(60 * 60_000);
    let [balance, status] = [10, 'pending'];
    const upstream = scriptedUpstream(({ path }) =>
      path === '/v1/wallet'
        ? { body: { ...FIGURES, balance, withdrawable: balance } }
        : {
            body: {
              orderCode: path.split('/').at(-1),
              status,
              amountCents: 500,
              createdAt: '2026-03-02T12:00:00.000Z',
              expiresAt: '2026-03-02T20:00:00.000Z',
            },
          },
    );
    const facade = await startFacade({ database, upstream, clock: clock as never });
    const { tenant } = facade;
    const requester = { priority: 'merchant', subject: null, onRead: () => undefined } as const;
    const wallet = createRemoteWallet(facade).serviceFor(requester);
    const remote = createRemoteCardPayments({
      ...facade,
      callbackUrl: null,
      findProduct: async () => null,
      privateAddresses: false,
    });
    const payments = remote.serviceFor(requester);
    const read = async () => [
      (await wallet.read(tenant)).balanceCents,
      (await payments.find(tenant, 'P1'))?.status,
    ];
    expect(await read()).toEqual([1_000, 'pending']);
    await payments.find(tenant, 'P2');

    clock.setOffset(0);
    manual.advance(60_000);
    [balance, status] = [20, 'paid'];
    expect(await read()).toEqual([2_000, 'paid']);
    await remote.poll(tenant, { all: true, ids: [] });
    expect(await payments.list(tenant, { end: 'first', limit: 9 })).toMatchObject({
      items: [{ resource: { status: 'paid' } }, { resource: { status: 'paid' } }],
    });
  });

  test('an end of a payout is corrected by what the service shows now, and was seen now', async () => {
    const manual = createManualClock();
    const clock = createOffsetClock(manual);
    clock.setOffset(60 * 60_000);
    const id = 'a'.repeat(24);
    let status = 'negado';
    const upstream = scriptedUpstream(() => ({
      body: { payouts: [{ id, code: 'SAQ-1', amount: 25, method: 'pix', status }], total: 1 },
    }));
    const facade = await startFacade({ database, upstream, clock: clock as never });
    const { tenant } = facade;
    const remote = createRemotePayouts({ ...facade, readWallet: () => Promise.reject(new Error('no')) });
    const payouts = remote.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined });
    const read = async () => (await payouts.list(tenant, { end: 'first', limit: 1 })).items[0]?.payout.status;
    const seenAt = async () =>
      (await selectMirrored(facade.database.sql, tenant, 'payout', [id]))[0]?.observedAt;
    expect(await read()).toBe('denied');

    clock.setOffset(0);
    status = 'concluido';
    expect(await read()).toBe('completed');
    expect(await seenAt()).toEqual(clock.now());
    // An unchanged state gets the new instant, too.
    clock.setOffset(60 * 60_000);
    await read();
    clock.setOffset(0);
    manual.advance(10_000);
    await read();
    expect(await seenAt()).toEqual(clock.now());
  });
});
