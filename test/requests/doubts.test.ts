import { beforeAll, expect, test } from 'vitest';
import { payoutIdOf } from '../../server/src/money-out/payouts/model.ts';
import { createRemotePayouts } from '../../server/src/money-out/payouts/remote/service.ts';
import { createDoubts } from '../../server/src/programs/modes/doubts.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { UpstreamFault } from '../../server/src/upstream/upstream.ts';
import { describeOnDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { startFacade } from '../support/facade.ts';
import { lost, scriptedUpstream } from '../support/scripted-upstream.ts';

describeOnDatabase('what no lookup can settle', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  /** A service that answers no request, and lists payouts with masked keys. */
  async function start({ post = async () => lost() }: { post?: () => Promise<UpstreamFault> } = {}) {
    const list: object[] = [];
    const upstream = scriptedUpstream(({ method }) =>
      method === 'POST' ? post() : { body: { payouts: list, total: list.length } },
    );
    const facade = await startFacade({ database, upstream });
    const remote = createRemotePayouts({
      ...facade,
      readWallet: () => Promise.reject(new Error('not asked for')),
    });
    Object.assign(facade.requests, remote.requests);
    const service = remote.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined });
    const doubts = createDoubts(facade);
    const shown = (code: string, amount: number) => ({
      id: code.at(-1)!.repeat(24),
      code,
      amount,
      method: 'pix',
      status: 'pendente',
      walletAddress: 'a***@padaria.example',
      requestedAt: facade.clock.now().toISOString(),
    });
    async function request(idempotencyKey: string) {
      const { payout } = await service.request(facade.tenant, {
        method: 'pix',
        amountCents: 10_000,
        destination: 'ana@padaria.example',
        idempotencyKey,
      });
      return payoutIdOf(payout);
    }
    const mine = async () =>
      (await doubts.listDoubts()).doubts.filter(({ accountId }) => accountId === facade.tenant.accountId);
    const find = async (id: string) => (await service.findMany(facade.tenant, [id]))[0];
    return { ...facade, list, doubts, shown, request, mine, find };
  }

  test('a doubt is settled by the name of the resource that was made, as far as that can be it', async () => {
    const { list, shown, request, doubts, mine, find, tenant } = await start();
    list.push(shown('SAQ-2', 55), shown('SAQ-1', 100));
    const id = await request('one');
    expect(await mine()).toEqual([
      {
        id,
        ...tenant,
        operation: 'requestPayout',
        key: 'one',
        amountCents: 10_000,
        lookups: 0,
        requestedAt: expect.any(Date),
        finding: null,
      },
    ]);
    for (const [made, message] of [
      ['SAQ-9', 'is no payout that this server has seen'],
      ['SAQ-2', 'is of another amount, method or destination'],
    ] as const)
      await expect(doubts.settleDoubt({ id, made })).rejects.toThrow(`made: ${message}`);
    expect(await mine()).toHaveLength(1);
    expect(await doubts.settleDoubt({ id, made: 'SAQ-1' })).toMatchObject({ doubt: { id }, made: 'SAQ-1' });
    expect(await find(id)).toMatchObject({ code: 'SAQ-1', status: 'pending', requestId: id });
    expect(await mine()).toEqual([]);
    await expect(doubts.settleDoubt({ id, made: null })).rejects.toThrow('settled already');
    // No other request has created it either.
    const other = await request('two');
    await expect(doubts.settleDoubt({ id: other, made: 'SAQ-1' })).rejects.toThrow('made by another request');
    await expect(doubts.settleDoubt({ id: `int_${'0'.repeat(24)}`, made: null })).rejects.toThrow(
      'not found',
    );
  });

  test('a doubt is settled by a payout whose key the service masks in another way', async () => {
    const { list, shown, request, doubts, find } = await start();
    list.push({ ...shown('SAQ-1', 100), walletAddress: '(oculto)****' });
    const id = await request('one');
    expect(await doubts.settleDoubt({ id, made: 'SAQ-1' })).toMatchObject({ made: 'SAQ-1' });
    expect(await find(id)).toMatchObject({ code: 'SAQ-1' });
  });

  test('a doubt is not settled by a payout whose whole destination is known to be another', async () => {
    const { list, shown, request, doubts, mine } = await start();
    // The payout's mask is that of the request's destination.
    list.push({ ...shown('SAQ-1', 100), walletAddress: 'alice@padaria.example' });
    const id = await request('one');
    await expect(doubts.settleDoubt({ id, made: 'SAQ-1' })).rejects.toThrow(
      'made: is of another amount, method or destination',
    );
    expect(await mine()).toHaveLength(1);
  });

  test('a doubt is not settled as never made while the request is sent, nor where it has ended meanwhile', async () => {
    const [sent, goesOn] = [deferred(), deferred()];
    const { request, doubts, mine } = await start({
      async post() {
        sent.resolve();
        await goesOn.promise;
        return lost();
      },
    });
    const requested = request('one');
    await sent.promise;
    const { id } = (await mine())[0]!;
    await expect(doubts.settleDoubt({ id, made: null })).rejects.toThrow('id: is being sent');
    goesOn.resolve();
    await requested;
    const both = [1, 2].map(() => doubts.settleDoubt({ id, made: null }));
    expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
    await expect(doubts.settleDoubt({ id, made: null })).rejects.toThrow('is settled already');
  });

  test('a doubt is settled as never made, and its key gives that', async () => {
    const { list, shown, request, doubts, mine, find, upstream } = await start();
    list.push(shown('SAQ-1', 100));
    const id = await request('one');
    await doubts.settleDoubt({ id, made: null });
    expect(await mine()).toEqual([]);
    expect(await find(id)).toMatchObject({ status: 'denied', inDoubt: false });
    const posts = () =>
      (upstream as ReturnType<typeof scriptedUpstream>).requestLines.filter((asked) =>
        asked.startsWith('POST'),
      ).length;
    list.length = 0;
    expect(posts()).toBe(1);
    expect(await request('one')).toBe(id);
    expect(posts()).toBe(1);
    expect(await find(id)).toMatchObject({ status: 'denied', inDoubt: false });
  });
});
