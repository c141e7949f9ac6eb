import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  PermissionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import {
  isSettled,
  type PayoutRange,
  payoutIdOf,
  type RequestPayoutInput,
  UnclearRefusal,
} from '../../../server/src/money-out/payouts/model.ts';
import { createRemotePayouts } from '../../../server/src/money-out/payouts/remote/service.ts';
import type { OwnWallet } from '../../../server/src/money-out/wallet/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { selectMirrored } from '../../../server/src/upstream/mirror-store.ts';
import { claimPoll } from '../../../server/src/upstream/poll-store.ts';
import { UpstreamFault, type UpstreamRequest } from '../../../server/src/upstream/upstream.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { readAfter } from '../../support/events.ts';
import { startFacade } from '../../support/facade.ts';
import { scale } from '../../support/scale.ts';
import { lost, type Script, scriptedUpstream, unreachable } from '../../support/scripted-upstream.ts';

const MINUTE = 60_000;
const KEY = 'ana@padaria.example';
const MASKED = 'a***@padaria.example';
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';

const WALLET: OwnWallet = {
  environment: 'live',
  balanceCents: 50_000,
  disputeBlockedCents: 0,
  withdrawableCents: 20_000,
  pendingReleaseCents: 0,
  receivableCents: 0,
  subaccountsBalanceCents: null,
  assignableCents: null,
  cryptoBalanceLitoshi: 5,
};

interface WirePayout {
  id: string;
  code?: string;
  amount: number;
  method: string;
  walletAddress?: string;
  status: string;
  requestedAt?: string | undefined;
  processedAt?: string;
  fee?: number;
}

describeOnDatabase('payouts in front of another service', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  /** A service with a list of withdrawals, which fulfils each request unless `post` says otherwise. */
  async function start({
    dates = true,
    readWallet = async () => WALLET,
  }: {
    dates?: boolean;
    readWallet?: () => Promise<OwnWallet>;
  } = {}) {
    /** The withdrawals, newest first. */
    const list: WirePayout[] = [];
    let made = 0;
    let post: Script = ({ body }) => ({ status: 201, body: add(body as Partial<WirePayout>) });
    let get: Script | null = null;
    const script: Script = (request) => {
      const said = request.method === 'POST' ? post(request) : get?.(request);
      if (said || request.method === 'POST') return said;
      const [, id] = /^\/v1\/payouts\/(.+)$/.exec(request.path) ?? [];
      const url = new URL(request.path, 'http://service');
      if (id)
        return list.some((each) => each.id === id)
          ? { body: list.find((each) => each.id === id) }
          : undefined;
      if (url.pathname !== '/v1/payouts') return undefined;
      const [limit, offset] = ['limit', 'offset'].map((name) => Number(url.searchParams.get(name)));
      return { body: { payouts: list.slice(offset, offset! + limit!), total: list.length, limit, offset } };
    };
    const upstream = scriptedUpstream(script);
    const facade = await startFacade({ database, upstream });
    const { clock, tenant } = facade;
    const create = (on: typeof facade) => {
      const remote = createRemotePayouts({ ...on, readWallet });
      Object.assign(on.requests, remote.requests);
      return remote;
    };
    const remote = create(facade);
    const seen: { at: Date; stale: boolean }[] = [];
    const requester: Requester = {
      priority: 'merchant',
      subject: null,
      onRead: (at, stale) => seen.push({ at, stale }),
    };

    function add({ amount = 100, method = 'pix', ...members }: Partial<WirePayout> = {}): WirePayout {
      made += 1;
      const payout: WirePayout = {
        id: made.toString(16).padStart(24, '0'),
        code: `SAQ-${made}`,
        amount,
        method,
        status: 'pendente',
        ...(dates && { requestedAt: clock.now().toISOString() }),
        ...members,
        walletAddress: method === 'ltc' ? 'ltc1qw…n4n9' : MASKED,
      };
      list.unshift(payout);
      return payout;
    }

    return {
      upstream,
      facade,
      remote,
      clock,
      tenant,
      list,
      add,
      seen,
      requester,
      service: remote.serviceFor(requester),
      /** Starts another instance on the same database. */
      other: async () => {
        await facade.committer.idle();
        const there = await startFacade({ database, upstream, tenant, clock });
        return { facade: there, service: create(there).serviceFor(requester), remote: create(there) };
      },
      answering(scripts: { post?: Script; get?: Script | null }) {
        if (scripts.post) post = scripts.post;
        if (scripts.get !== undefined) get = scripts.get;
      },
      /** Runs the next lookup of an intent in the background. */
      async look() {
        clock.advance(MINUTE);
        await facade.work.settled();
      },
      /** Receives a webhook. */
      async tell(payload: object) {
        const { observation, inputHash } = remote.readWebhook(payload)!;
        await facade.committer.change({
          tenant,
          read: observation.read,
          decide: (state) => ({ outcome: undefined, writes: observation.decide(state).writes }),
        });
        if (inputHash) await facade.intents.lookUpSoon(tenant, inputHash);
        await facade.work.settled();
      },
      doubts: async () => (await facade.intents.open(tenant, 'requestPayout')).map(({ finding }) => finding),
      posts: () => upstream.requests.filter(({ method }) => method === 'POST'),
      gets: () => upstream.requestLines.filter((asked) => asked.startsWith('GET')),
      async events() {
        const { events } = await readAfter(facade.database.sql, tenant, {
          after: 0,
          topic: { resource: 'payout' },
          limit: 500,
        });
        return events.map(({ kind, resourceId }) => ({ kind, resourceId }));
      },
    };
  }

  /**
   * Asserts that the payout is in doubt once it is requested, that it stays so after lookups and repeated requests,
   * and that it is sent once.
   */
  async function expectDoubt({ service, tenant, look, posts }: Awaited<ReturnType<typeof start>>) {
    const request = async () => (await service.request(tenant, pix({ idempotencyKey: 'one' }))).payout;
    expect(await request()).toMatchObject({ inDoubt: true });
    for (let minute = 0; minute < 25; minute += 1) await look();
    expect(await request()).toMatchObject({ inDoubt: true });
    expect(posts()).toHaveLength(1);
  }

  /** The webhook of a payout as it was requested, with its unmasked key. */
  const eventOf = (
    { id, code, amount = 100, method = 'pix', requestedAt }: Partial<WirePayout>,
    to = KEY,
  ) => ({
    event: 'withdrawal.requested',
    withdrawalId: id,
    code,
    amount,
    method,
    walletAddress: to,
    status: 'pendente',
    requestedAt: requestedAt ?? '2026-03-02T12:00:00.000Z',
  });

  const pix = (input: Partial<RequestPayoutInput> = {}): RequestPayoutInput => ({
    method: 'pix',
    amountCents: 10_000,
    destination: KEY,
    ...input,
  });
  const page = { end: 'first', limit: 10 } as const;

  describe('a request', () => {
    test('a request is sent once with its whole destination, and is kept masked', async () => {
      const { service, tenant, posts, events, facade } = await start();
      const { payout, replayed } = await service.request(tenant, pix({ idempotencyKey: 'one' }));
      expect(replayed).toBe(false);
      expect(payout).toMatchObject({
        status: 'pending',
        amountCents: 10_000,
        destination: MASKED,
        code: 'SAQ-1',
      });
      expect(posts()).toMatchObject([
        {
          path: '/v1/payouts',
          body: { amount: 100, method: 'pix', walletAddress: KEY, idempotencyKey: 'one' },
          requestOptions: { priority: 'money' },
        },
      ]);
      expect(await service.request(tenant, pix({ idempotencyKey: 'one' }))).toEqual({
        payout,
        replayed: true,
      });
      expect(posts()).toHaveLength(1);
      const twice = service.request(tenant, pix({ idempotencyKey: 'one', amountCents: 1 }));
      await expect(twice).rejects.toBeInstanceOf(IdempotencyError);
      expect(await events()).toEqual([{ kind: 'payout.pending', resourceId: payout.withdrawalId }]);
      expect(facade.polledResources).toContain('payout');
      expect(facade.polledResources).toContain('wallet');
      const { rows } = await allOf(database);
      expect(JSON.stringify(rows)).not.toContain(KEY);
    });

    test('a refusal that repeats the service’s own secrets shows none of them', async () => {
      const { service, tenant, answering } = await start();
      const error = 'Key ps_live_abc123 of https://api.service.example/v1/payouts may not';
      answering({ post: () => ({ status: 403, body: { error } }) });
      await expect(service.request(tenant, pix())).rejects.toThrow(/^Key … of … may not$/);
    });

    test('a request whose caller gives no key carries none', async () => {
      const { service, tenant, posts } = await start();
      await service.request(tenant, pix());
      expect(posts()[0]!.body).toEqual({ amount: 100, method: 'pix', walletAddress: KEY });
    });

    test('an answer that lacks members is completed from the request', async () => {
      const { service, tenant, answering } = await start();
      answering({ post: () => ({ body: { ok: true, withdrawal: { id: 'f'.repeat(24) } } }) });
      const { payout } = await service.request(tenant, pix({ method: 'ltc', destination: LTC }));
      expect(payout).toMatchObject({
        withdrawalId: 'f'.repeat(24),
        code: null,
        method: 'ltc',
        status: 'pending',
        destination: LTC,
        feeCents: null,
        requestedAt: null,
      });
    });

    test('a request whose answer names no payout is in doubt until a webhook names it', async () => {
      const { service, tenant, answering, add, posts, tell } = await start();
      answering({
        post({ body }) {
          add(body as Partial<WirePayout>);
          return { status: 202, body: { ok: true } };
        },
      });
      const { payout, replayed } = await service.request(tenant, pix());
      expect(payout).toMatchObject({ inDoubt: true, code: null, withdrawalId: null, status: 'processing' });
      expect(replayed).toBe(false);
      await tell(eventOf({ id: '1'.padStart(24, '0'), code: 'SAQ-1' }));
      const [known] = await service.findMany(tenant, [payoutIdOf(payout)]);
      expect(known).toMatchObject({ code: 'SAQ-1', requestId: payoutIdOf(payout) });
      expect(known).not.toHaveProperty('inDoubt');
      expect(posts()).toHaveLength(1);
    });

    test.each([
      [{ status: 403, body: { error: 'Not with this key' } }, PermissionError, 'Not with this key'],
      [{ status: 400, body: { error: 'No such key' } }, ValidationError, 'input: No such key'],
      [{ status: 401 }, UpstreamError, 'does not accept the key of this server'],
      [{ status: 418, body: { error: 'Tea' } }, UpstreamError, 'refused with status 418: Tea'],
      [{ status: 409, body: { error: 'Busy' } }, UpstreamError, 'refused with status 409: Busy'],
      [new RateLimitError('withdrawals', 60), RateLimitError, 'withdrawals'],
      [unreachable(), UpstreamError, 'cannot be reached'],
    ])('a request that the service refuses has made no payout (%#)', async (said, kind, message) => {
      const { service, tenant, answering, list, posts } = await start();
      answering({ post: () => said });
      const refused = service.request(tenant, pix());
      await expect(refused).rejects.toBeInstanceOf(kind);
      await expect(refused).rejects.toThrow(message);
      await expect(refused).rejects.not.toMatchObject({ moneyMayHaveMoved: true });
      expect(list).toEqual([]);
      expect(posts()).toHaveLength(1);
    });

    test.each([
      ...[302, 408, 460, 499].map((status) => ({ status, body: null })),
      { status: 200, body: { error: 'Failed', requestId: 'e'.repeat(24) } },
    ])('a request whose answer is no refusal may have made a payout (%#)', async (said) => {
      const { service, tenant, answering, facade, posts } = await start();
      answering({ post: () => said });
      expect((await service.request(tenant, pix())).payout).toMatchObject({ inDoubt: true });
      expect(await facade.intents.open(tenant, 'requestPayout')).toHaveLength(1);
      expect(posts()).toHaveLength(1);
    });

    test('a request under a key that the service knows from another input is a conflict', async () => {
      const { service, tenant, answering } = await start();
      answering({ post: () => ({ status: 409, body: { error: 'Used' } }) });
      const refused = service.request(tenant, pix({ idempotencyKey: 'one' }));
      await expect(refused).rejects.toBeInstanceOf(IdempotencyError);
    });

    test('a request for more than the withdrawable amount is refused with the figures of the wallet', async () => {
      const { service, tenant, answering } = await start();
      answering({ post: () => ({ status: 400, body: { error: 'Too much' } }) });
      const refused = service.request(tenant, pix({ amountCents: 20_001 }));
      await expect(refused).rejects.toBeInstanceOf(InsufficientFundsError);
      await expect(refused).rejects.toMatchObject({
        message: 'Too much',
        requestedCents: 20_001,
        withdrawableCents: 20_000,
        balanceCents: 50_000,
        cryptoBalanceLitoshi: null,
      });
      const inLtc = service.request(tenant, pix({ method: 'ltc', destination: LTC }));
      await expect(inLtc).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS', cryptoBalanceLitoshi: 5 });
    });

    test('a refusal without a field while the wallet cannot be read is unclear', async () => {
      const { service, tenant, answering } = await start({ readWallet: () => Promise.reject(unreachable()) });
      answering({ post: () => ({ status: 400, body: { error: 'Too much' } }) });
      await expect(service.request(tenant, pix())).rejects.toBeInstanceOf(UnclearRefusal);
      answering({ post: () => ({ status: 400, body: { error: 'walletAddress: is not paid to' } }) });
      await expect(service.request(tenant, pix())).rejects.not.toBeInstanceOf(UnclearRefusal);
    });

    test('a refusal with a code is what its code says, whatever the wallet shows', async () => {
      const { service, tenant, answering } = await start();
      const refuse = (code: string, error: string) =>
        answering({ post: () => ({ status: 400, body: { error }, headers: { 'x-error-code': code } }) });
      const inLtc = pix({ method: 'ltc', destination: LTC });
      refuse('BAD_USER_INPUT', 'walletAddress: is not paid to');
      await expect(service.request(tenant, inLtc)).rejects.toMatchObject({
        fields: [{ path: 'input.destination', message: 'is not paid to' }],
      });
      refuse('BAD_USER_INPUT', 'amount: must be more than the fee of 30000');
      await expect(service.request(tenant, pix({ amountCents: 20_001 }))).rejects.toMatchObject({
        fields: [{ path: 'input.amountCents', message: 'must be more than the fee of 30000' }],
      });
      refuse('INSUFFICIENT_FUNDS', 'Too much');
      await expect(service.request(tenant, pix({ amountCents: 19_999 }))).rejects.toMatchObject({
        code: 'INSUFFICIENT_FUNDS',
        requestedCents: 19_999,
        withdrawableCents: 20_000,
      });
    });

    test.each([{ status: 404 }, { status: 405 }, new UpstreamFault('server_error', 'maybe', '501')])(
      'a request that a proxy answers as if there were no such endpoint is refused, and sent at the next call (%#)',
      async (said) => {
        const { service, tenant, answering, posts } = await start();
        answering({ post: () => said });
        for (let time = 1; time <= 3; time += 1) {
          await expect(service.request(tenant, pix())).rejects.toMatchObject({
            code: 'UPSTREAM_UNAVAILABLE',
            retryable: true,
            moneyMayHaveMoved: false,
          });
          expect(posts()).toHaveLength(time);
        }
      },
    );
  });

  describe('a request whose answer is lost', () => {
    /** A service that creates the payout, and loses its answer. */
    const doneAndLost =
      (add: (members: Partial<WirePayout>) => unknown): Script =>
      ({ body }) => {
        add(body as Partial<WirePayout>);
        return lost();
      };

    test('a request whose answer is lost is a payout in doubt: listed, followed and found by its id, and not sent again', async () => {
      const { service, tenant, answering, add, posts, events, other } = await start();
      add({ amount: 100 });
      await service.list(tenant, page);
      answering({ post: doneAndLost(add) });
      const { payout, replayed } = await service.request(tenant, pix({ idempotencyKey: 'one' }));
      expect(payout).toMatchObject({
        inDoubt: true,
        status: 'processing',
        withdrawalId: null,
        code: null,
        feeCents: null,
        amountCents: 10_000,
        destination: MASKED,
        method: 'pix',
        version: 1,
      });
      expect(replayed).toBe(false);
      const id = payoutIdOf(payout);
      expect(await service.request(tenant, pix({ idempotencyKey: 'one' }))).toEqual({
        payout,
        replayed: true,
      });
      expect(posts()).toHaveLength(1);
      expect((await events()).filter(({ resourceId }) => resourceId === id)).toEqual([
        { kind: 'payout.processing', resourceId: id },
      ]);
      for (const { service: each } of [{ service }, await other()]) {
        expect(await each.findMany(tenant, [id])).toEqual([payout]);
        expect(await each.findWithVersion(tenant, id)).toMatchObject({ payout });
        expect((await each.list(tenant, page)).items[0]!.payout).toEqual(payout);
        expect(await each.count(tenant, {})).toBe(3);
        expect(await each.count(tenant, { status: ['processing'] })).toBe(1);
      }
    });

    test('a payout in doubt keeps its id when it is named, whichever id was followed before', async () => {
      const { service, tenant, answering, add, tell, events, list, remote } = await start();
      answering({ post: doneAndLost(add) });
      const { payout } = await service.request(tenant, pix({ idempotencyKey: 'one' }));
      const id = payoutIdOf(payout);
      // The list shows a created payout; it cannot be known yet that it is this one.
      const [, made] = (await service.list(tenant, page)).items;
      const { withdrawalId, code } = made!.payout;
      expect(made!.payout).toMatchObject({ code: 'SAQ-1', status: 'pending' });
      await tell(eventOf(list[0]!));
      const named = await service.findMany(tenant, [id, withdrawalId!, code!]);
      expect(new Set(named.map((each) => payoutIdOf(each!)))).toEqual(new Set([id]));
      expect(named[0]).toMatchObject({ withdrawalId, code, status: 'pending' });
      expect(named[0]!.version).toBeGreaterThan(payout.version);
      expect((await service.list(tenant, page)).items).toMatchObject([{ payout: { code, requestId: id } }]);
      expect(await remote.poll(tenant, { all: false, ids: [id] })).not.toBeNull();
      await tell({ ...eventOf(list[0]!), event: 'withdrawal.completed', status: 'concluido' });
      for (const resourceId of [id, withdrawalId])
        expect((await events()).filter((event) => event.resourceId === resourceId).at(-1)).toEqual({
          kind: 'payout.completed',
          resourceId,
        });
      expect(await service.request(tenant, pix({ idempotencyKey: 'one' }))).toMatchObject({
        replayed: true,
        payout: { code, status: 'completed', requestId: id },
      });
    });

    test('an end from before a restore is confirmed under the id of its request too', async () => {
      const { service, remote, facade, tenant, clock, answering, add, tell, gets, list } = await start();
      answering({ post: doneAndLost(add) });
      const { payout } = await service.request(tenant, pix({ idempotencyKey: 'one' }));
      const followed = { all: false, ids: [payoutIdOf(payout)] };
      await tell(eventOf(list[0]!));
      Object.assign(list[0]!, { status: 'concluido', processedAt: clock.now().toISOString() });
      clock.advance(MINUTE);
      expect(await service.find(tenant, list[0]!.id!)).toMatchObject({ status: 'completed' });
      clock.advance(MINUTE);
      await facade.records.restored({ since: plusMs(clock.now(), -MINUTE) });
      try {
        const asks = async () => {
          const before = gets().length;
          clock.advance(2 * MINUTE);
          expect(await remote.poll(tenant, followed)).toBeNull();
          return gets().length > before;
        };
        expect(await asks()).toBe(true);
        expect(await asks()).toBe(false);
      } finally {
        await facade.records.restored({ confirm: true });
      }
    });

    test('a payout in doubt is found in the list at once where that shows the whole of an address', async () => {
      const { service, tenant, answering, add, posts, list } = await start();
      answering({
        post({ body }) {
          add(body as Partial<WirePayout>);
          Object.assign(list[0]!, { walletAddress: LTC });
          return lost();
        },
      });
      const { payout } = await service.request(tenant, pix({ method: 'ltc', destination: LTC }));
      expect(payout).toMatchObject({ code: 'SAQ-1', status: 'pending' });
      expect(payout).not.toHaveProperty('inDoubt');
      expect(posts()).toHaveLength(1);
    });

    test('a payout in doubt is found by a webhook that came before the first look-up', async () => {
      const { service, tenant, answering, add, tell, posts, list } = await start();
      answering({
        async post({ body }) {
          add(body as Partial<WirePayout>);
          await tell(eventOf(list[0]!));
          return lost();
        },
      });
      const { payout } = await service.request(tenant, pix());
      expect(payout).toMatchObject({ code: 'SAQ-1', status: 'pending' });
      expect(posts()).toHaveLength(1);
    });

    test('a payout stays in doubt while the service cannot be reached', async () => {
      const { service, tenant, answering, add, posts, look, doubts, list, tell } = await start();
      answering({ post: doneAndLost(add), get: lost });
      await service.request(tenant, pix({ idempotencyKey: 'one' }));
      await look();
      expect(await doubts()).toEqual(['The payments service could not be asked']);
      answering({ get: null });
      await look();
      expect(await doubts()).toEqual(['SAQ-1 may be it, as far as the service shows it']);
      await tell(eventOf(list[0]!));
      expect(await doubts()).toEqual([]);
      expect((await service.request(tenant, pix({ idempotencyKey: 'one' }))).payout.code).toBe('SAQ-1');
      expect(posts()).toHaveLength(1);
    });

    test('a payout that was never made is denied after a quarter of an hour, and its key gives that payout from then on', async () => {
      const { service, tenant, answering, add, posts, look, facade } = await start();
      add({ amount: 55 });
      answering({ post: () => lost() });
      const again = async () => (await service.request(tenant, pix({ idempotencyKey: 'one' }))).payout;
      const id = payoutIdOf(await again());
      expect(await again()).toMatchObject({ inDoubt: true });
      for (let minute = 0; minute < 45; minute += 1) await look();
      expect(posts()).toHaveLength(1);
      const [over] = await service.findMany(tenant, [id]);
      expect(over).toMatchObject({ status: 'denied', inDoubt: false, withdrawalId: null });
      expect(over!.deniedReason).toMatch(/não chegou ao serviço/);
      expect(isSettled(over!)).toBe(true);
      expect(await service.count(tenant, {})).toBe(1);
      answering({ post: ({ body }) => ({ body: add(body as Partial<WirePayout>) }) });
      expect(await again()).toEqual(over);
      expect(posts()).toHaveLength(1);
      expect((await service.request(tenant, pix({ idempotencyKey: 'two' }))).payout.code).toBe('SAQ-2');
      expect(await again()).toEqual(over);
      expect(posts()).toHaveLength(2);
      expect(facade.faults).toEqual([]);
    });

    test.each([
      ['cannot be asked', lost],
      ['has no room', () => new RateLimitError('120 requests a minute', 30)],
    ])(
      'a payout that was never made stays denied when its key is used again and the service %s',
      async (_, fault) => {
        const { service, tenant, answering, look, posts } = await start();
        answering({ post: () => lost() });
        const again = () => service.request(tenant, pix({ idempotencyKey: 'one' }));
        const id = payoutIdOf((await again()).payout);
        for (let minute = 0; minute < 20; minute += 1) await look();
        answering({ get: fault });
        expect(await again()).toMatchObject({
          replayed: true,
          payout: { requestId: id, status: 'denied', inDoubt: false },
        });
        const [over] = await service.findMany(tenant, [id]);
        expect(over).toMatchObject({ status: 'denied', inDoubt: false });
        expect(posts()).toHaveLength(1);
      },
    );

    test('a payout that was never made, and that nobody looked up for a quarter of an hour, is shown as denied', async () => {
      const { service, tenant, answering, posts, facade, clock, other } = await start();
      const sent = deferred();
      answering({
        post() {
          sent.resolve();
          return new Promise(() => undefined);
        },
      });
      const input = pix({ idempotencyKey: 'one' });
      void service.request(tenant, input);
      await sent.promise;
      await facade.work.close();
      clock.advance(20 * MINUTE);
      const there = await other();
      clock.advance(MINUTE);
      await there.facade.work.settled();
      expect(await there.service.request(tenant, input)).toMatchObject({
        replayed: true,
        payout: { status: 'denied', withdrawalId: null, inDoubt: false, version: 2 },
      });
      expect(posts()).toHaveLength(1);
    });

    test('a payout in doubt at a service that permutes a list of several pages is never taken for one that was not made', async () => {
      const stand = await start();
      const { answering, list, add, clock } = stand;
      for (let hour = 0; hour < 110; hour += 1) {
        add({ amount: 1 });
        clock.advance(60 * MINUTE);
      }
      answering({
        post() {
          add();
          // A newer payout has moved to the first page, and the searched one to the second.
          list.push(list.shift()!);
          list.unshift(...list.splice(20, 30));
          return lost();
        },
      });
      await expectDoubt(stand);
    });

    test('a payout that stays in doubt is reported once more when it grows old, and logged', async () => {
      const { service, tenant, answering, add, look, events, facade } = await start();
      answering({ post: doneAndLost(add) });
      const id = payoutIdOf((await service.request(tenant, pix())).payout);
      const mine = async () => (await events()).filter(({ resourceId }) => resourceId === id);
      for (let minute = 0; minute < 12; minute += 1) await look();
      expect(await mine()).toHaveLength(1);
      for (let minute = 0; minute < 60; minute += 1) await look();
      expect(await mine()).toHaveLength(2);
      expect(facade.faults).toEqual([
        expect.objectContaining({ message: expect.stringMatching(/unknown since .*: see psa doubts list/) }),
      ]);
    });

    test.each([
      ['another amount', { amount: 101 }],
      ['another method', { method: 'pix_turbo' }],
      ['an older one', { requestedAt: '2026-03-02T11:58:00.000Z' }],
      ['one that was requested long after it', { requestedAt: '2026-03-02T12:17:00.000Z' }],
    ])('a payout in doubt is not taken for %s', async (_, members) => {
      const { service, tenant, answering, add, tell, list, doubts } = await start();
      answering({
        post() {
          add(members);
          return lost();
        },
      });
      await service.request(tenant, pix());
      await tell(eventOf(list[0]!));
      expect(await doubts()).toHaveLength(1);
    });

    test('a payout in doubt is not taken for one that was known before, nor for one that another request has made', async () => {
      const { service, tenant, answering, add, look, doubts, tell, list } = await start();
      add();
      await service.list(tenant, page);
      await service.request(tenant, pix());
      answering({ post: () => lost() });
      await service.request(tenant, pix());
      for (const each of list) await tell(eventOf(each));
      await look();
      expect(await doubts()).toHaveLength(1);
    });

    test.each([
      ['São Paulo', '2026-03-02T09:00:05.000Z'],
      ['Kolkata', '2026-03-02T17:30:00.000Z'],
      ['UTC', '2026-03-02T12:00:20.000Z'],
    ])('a payout in doubt is the one that a webhook shows with the time of %s', async (_, requestedAt) => {
      const { service, tenant, answering, add, look, tell, list, doubts } = await start();
      answering({
        post() {
          add({ requestedAt });
          return lost();
        },
      });
      const { payout } = await service.request(tenant, pix());
      await tell(eventOf(list[0]!));
      await look();
      expect(await doubts()).toEqual([]);
      expect(await service.find(tenant, payoutIdOf(payout))).toMatchObject({ code: 'SAQ-1' });
    });

    test('a payout in doubt is found by the clock that the service’s Date header shows', async () => {
      const { service, tenant, answering, add, look, tell, list, doubts, clock } = await start();
      const behind = () => plusMs(clock.now(), -7 * MINUTE);
      answering({
        post() {
          add({ requestedAt: behind().toISOString() });
          return lost();
        },
        get: ({ path }) => {
          if (!path.startsWith('/v1/payouts?')) return undefined;
          const headers = { date: behind().toUTCString() };
          return { headers, body: { payouts: list, total: list.length, limit: 100, offset: 0 } };
        },
      });
      const { payout } = await service.request(tenant, pix());
      await tell(eventOf(list[0]!));
      await look();
      expect(await doubts()).toEqual([]);
      expect(await service.find(tenant, payoutIdOf(payout))).toMatchObject({ code: 'SAQ-1' });
    });

    test.each([
      ['is shown by a clock far behind ours', { requestedAt: '2026-03-02T11:50:00.000Z' }],
      ['is shown with the time of São Paulo', { requestedAt: '2026-03-02T09:00:00.000Z' }],
      ['is shown by a clock far ahead of ours', { requestedAt: '2026-03-02T12:30:00.000Z' }],
      ['is masked in a way of its own', { walletAddress: 'an*********.example' }],
      ['is masked whole', { walletAddress: '********' }],
      ['is shown with an amount below 0', { amount: -100 }],
    ])('a payout in doubt that %s is never taken for one that was not made', async (_, members) => {
      const stand = await start();
      const { answering, list, add } = stand;
      answering({
        post() {
          Object.assign(add(), members);
          return lost();
        },
      });
      await expectDoubt(stand);
      expect(list).toHaveLength(1);
    });

    test('a payout in doubt at a service whose list begins with the oldest is never taken for one that was not made', async () => {
      const stand = await start();
      const { answering, list, add, clock } = stand;
      for (let hour = 0; hour < 100; hour += 1) {
        add({ amount: 1 });
        clock.advance(60 * MINUTE);
      }
      list.reverse();
      answering({
        post() {
          add();
          list.push(list.shift()!);
          return lost();
        },
      });
      await expectDoubt(stand);
    });

    test('a payout in doubt at a service that shows no dates is never taken for one that was not made, wherever it is listed', async () => {
      const stand = await start({ dates: false });
      const { service, tenant, answering, list, add } = stand;
      for (const amount of [1, 2]) add({ amount });
      await service.list(tenant, page);
      answering({
        post() {
          const made = add();
          // The payout stands between two known ones.
          list.splice(0, 3, list[1]!, made, list[2]!);
          return lost();
        },
      });
      await expectDoubt(stand);
    });

    test('two equal payouts in doubt are never distinguished', async () => {
      const { service, tenant, answering, add, look, list, doubts, tell } = await start();
      answering({ post: doneAndLost(add), get: lost });
      for (const idempotencyKey of ['one', 'two']) await service.request(tenant, pix({ idempotencyKey }));
      answering({ get: null });
      for (const each of [...list].reverse()) await tell(eventOf(each));
      for (let minute = 0; minute < 30; minute += 1) await look();
      expect(await doubts()).toEqual(Array(2).fill('SAQ-1, SAQ-2 are all as it was requested'));
    });

    test('two equal payouts in doubt with one payout to be found stay unclear', async () => {
      const { service, tenant, answering, add, look, doubts, tell, list } = await start();
      answering({ post: doneAndLost(add), get: lost });
      await service.request(tenant, pix());
      answering({ post: () => lost() });
      await service.request(tenant, pix());
      answering({ get: null });
      await tell(eventOf(list[0]!));
      for (let minute = 0; minute < 30; minute += 1) await look();
      expect(await doubts()).toEqual(
        Array(2).fill('SAQ-1 may be it, or may be of another request for the same'),
      );
    });

    test('a payout in doubt is not one that was known when it was requested, though that one is in doubt too', async () => {
      const { service, tenant, answering, add, list, doubts, tell } = await start();
      answering({ post: doneAndLost(add) });
      for (const idempotencyKey of ['one', 'two']) await service.request(tenant, pix({ idempotencyKey }));
      for (const each of [...list].reverse()) await tell(eventOf(each));
      expect(await doubts()).toEqual([]);
      for (const [idempotencyKey, code] of [
        ['one', 'SAQ-1'],
        ['two', 'SAQ-2'],
      ])
        expect((await service.request(tenant, pix({ idempotencyKey }))).payout.code).toBe(code);
    });

    test.each([
      ['done', { status: 201 }, { code: 'SAQ-1', status: 'pending' }],
      ['refused', { status: 403, body: { error: 'Not with this key' } }, { code: null, status: 'denied' }],
    ])(
      'a request that another instance is still sending is followed until it is %s',
      async (_, said, end) => {
        const { service, tenant, answering, add, other, clock } = await start();
        const [sent, answer] = [deferred(), deferred()];
        answering({
          async post({ body }) {
            sent.resolve();
            await answer.promise;
            return said.status === 201 ? { ...said, body: add(body as Partial<WirePayout>) } : said;
          },
        });
        const first = service
          .request(tenant, pix({ idempotencyKey: 'one' }))
          .catch((error: unknown) => error);
        const there = await other();
        await sent.promise;
        let isAnswered = false;
        const second = there.service.request(tenant, pix({ idempotencyKey: 'one' })).finally(() => {
          isAnswered = true;
        });
        // The statement waits up to five seconds for the other; the clock advances no faster than the database.
        while (!isAnswered) {
          clock.advance(500);
          await database.sql.selectFrom('account').select('id').limit(1).execute();
        }
        const { payout } = await second;
        expect(payout).toMatchObject({ inDoubt: true, status: 'processing' });
        const id = payoutIdOf(payout);
        expect(await there.service.findWithVersion(tenant, id)).toMatchObject({ payout: { inDoubt: true } });
        answer.resolve();
        await first;
        const [over] = await there.service.findMany(tenant, [id]);
        expect(over).toMatchObject({ ...end, requestId: id });
        expect(over!.inDoubt ?? false).toBe(false);
      },
    );

    test('payouts in doubt are listed before the rest, page by page in both directions', async () => {
      const { service, tenant, answering, add, clock } = await start();
      for (let count = 0; count < 3; count += 1) add({ amount: count + 1 });
      answering({ post: () => lost() });
      for (let count = 0; count < 3; count += 1) {
        clock.advance(1_000);
        await service.request(tenant, pix({ amountCents: 20_000 + count }));
      }
      const amounts = [20_002, 20_001, 20_000, 300, 200, 100];
      for (const limit of [1, 2, 4, 5]) {
        const seen: number[] = [];
        for (let after: number | undefined, more = true; more; ) {
          const listed = await service.list(tenant, { end: 'first', limit, after });
          seen.push(...listed.items.map(({ payout }) => payout.amountCents));
          after = listed.items.at(-1)!.position;
          more = listed.more;
        }
        expect(seen).toEqual(amounts);
        const back: number[] = [];
        for (let before: number | undefined, more = true; more; ) {
          const listed = await service.list(tenant, { end: 'last', limit, before });
          back.unshift(...listed.items.map(({ payout }) => payout.amountCents));
          before = listed.items[0]!.position;
          more = listed.more;
        }
        // The pages go back from the oldest: each is before the page that was read last.
        expect([...back].sort((left, right) => right - left)).toEqual(amounts);
      }
    });
  });

  /** Payouts to people whose keys have the same mask, for a client that follows the guidance. */
  test('no payout is ever reported as another one’s', async () => {
    const PEOPLE = ['ana@padaria.example', 'andre@padaria.example', 'alba@padaria.example'];
    const request = fc.record({
      by: fc.constantFrom('us', 'us', 'us', 'another'),
      to: fc.constantFrom(...PEOPLE),
      answer: fc.constantFrom('answered', 'lost', 'never arrives'),
      end: fc.constantFrom('concluido', 'negado', 'pendente'),
      webhooks: fc.subarray(['early', 'late', 'ended'] as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat(1_000)),
        async (requests, order) => {
          const { service, tenant, answering, add, list, tell, look, facade, clock } = await start();
          /** The person whom the service pays, by code. */
          const paid = new Map<string, string>();
          const asked: { to: string; key: string; made: string | null }[] = [];
          const later: (() => Promise<void>)[] = [];
          for (const [index, { by, to, answer, end, webhooks }] of requests.entries()) {
            clock.advance(10);
            const make = async () => {
              const payout = add();
              paid.set(payout.code!, to);
              const said = eventOf(payout, to);
              if (webhooks.includes('early')) await tell(said);
              later.push(async () => {
                if (end !== 'pendente') payout.status = end;
                if (webhooks.includes('late')) await tell(said);
                const event = `withdrawal.${end === 'negado' ? 'denied' : 'completed'}`;
                if (webhooks.includes('ended') && end !== 'pendente')
                  await tell({ ...said, event, status: end });
              });
              return payout;
            };
            if (by === 'another') {
              await make();
              continue;
            }
            const key = `key-${index}`;
            let made: string | null = null;
            answering({
              async post() {
                if (answer === 'never arrives') return lost();
                const payout = await make();
                made = payout.code!;
                return answer === 'lost' ? lost() : { status: 201, body: payout };
              },
            });
            await service.request(tenant, pix({ destination: to, idempotencyKey: key }));
            asked.push({ to, key, made });
          }
          // The service lists the payouts in an order of its own.
          list.sort(() => (order.next().value % 2 === 0 ? 1 : -1));
          later.sort(() => (order.next().value % 2 === 0 ? 1 : -1));
          const check = async () => {
            for (const { to, key, made } of asked) {
              answering({ post: () => lost() });
              const { payout } = await service.request(tenant, pix({ destination: to, idempotencyKey: key }));
              if (payout.withdrawalId === null) continue;
              expect(paid.get(payout.code!)).toBe(to);
              // Several payouts of one amount to one person cannot be distinguished.
              if (requests.filter((each) => each.to === to).length === 1) expect(payout.code).toBe(made);
            }
          };
          for (const each of later) {
            await each();
            await check();
          }
          await look();
          await check();
          expect(facade.faults).toEqual([]);
        },
      ),
      { numRuns: scale('LOST_ANSWERS') },
    );
  });

  describe('reading', () => {
    test.each(['.', '..'])(
      'a reference that would lead to another path (%s) sends no request',
      async (name) => {
        const { service, remote, tenant, upstream } = await start();
        expect(await service.find(tenant, name)).toBeNull();
        expect(upstream.requestLines).toEqual([]);
        await remote.refresh(tenant, [name], { priority: 'lookup' });
        expect(upstream.requestLines.filter((asked) => !asked.includes('?'))).toEqual([]);
      },
    );

    test('a poll of long ago is forgotten', async () => {
      const { tenant, clock } = await start();
      const claim = (name: string) =>
        claimPoll(database.sql, tenant, { name, now: clock.now(), intervalMs: 1 });
      expect(await claim('old')).toBe(true);
      clock.advance(25 * 60 * MINUTE);
      expect(await claim('new')).toBe(true);
      const left = database.sql.selectFrom('upstream_poll').select('name');
      expect(await left.where('account_id', '=', tenant.accountId).execute()).toEqual([{ name: 'new' }]);
    });

    test('polls go on where the clock was set back, but not by a clock that is a little behind', async () => {
      const { tenant, clock } = await start();
      const claimAt = (offsetMs: number) =>
        claimPoll(database.sql, tenant, {
          name: 'payout',
          now: plusMs(clock.now(), offsetMs),
          intervalMs: 15_000,
        });
      expect(await claimAt(0)).toBe(true);
      expect(await claimAt(-1_000)).toBe(false);
      expect(await claimAt(-60 * MINUTE)).toBe(true);
      expect(await claimAt(-60 * MINUTE + 14_999)).toBe(false);
      expect(await claimAt(-60 * MINUTE + 15_000)).toBe(true);
    });

    test('a page is observed once, and the same page again changes nothing', async () => {
      const { service, tenant, add, events, clock, list, gets } = await start();
      for (let count = 0; count < 3; count += 1) add();
      await service.list(tenant, page);
      clock.advance(MINUTE);
      await service.list(tenant, page);
      expect(await events()).toHaveLength(3);
      list[0]!.status = 'concluido';
      list[0]!.processedAt = clock.now().toISOString();
      expect((await service.list(tenant, page)).items[0]!.payout.status).toBe('pending');
      clock.advance(2_000);
      expect((await service.list(tenant, page)).items[0]!.payout).toMatchObject({
        status: 'completed',
        version: 2,
      });
      expect((await events()).at(-1)).toEqual({ kind: 'payout.completed', resourceId: list[0]!.id });
      expect(gets()).toHaveLength(3);
    });

    test('a final payout costs no further request', async () => {
      const { service, tenant, add, gets, clock } = await start();
      const { id, code } = add({ status: 'concluido' });
      const found = await service.find(tenant, id);
      clock.advance(MINUTE);
      expect(await service.find(tenant, code!)).toEqual(found);
      expect(await service.findMany(tenant, [code!, id, id])).toEqual([found, found, found]);
      expect(gets()).toHaveLength(1);
    });

    test('a payout is read by its key as by its other names, and shown as it was where the service does not show it', async () => {
      const { service, tenant, list, seen, clock, answering } = await start();
      const { payout } = await service.request(tenant, pix({ idempotencyKey: 'salary-7' }));
      expect(await service.findByKey(tenant, 'salary-7')).toEqual(payout);
      for (const unhelpful of [
        new UpstreamFault('unreachable', 'no'),
        { status: 403, body: { error: 'No' } },
      ]) {
        answering({ get: () => unhelpful });
        clock.advance(MINUTE);
        expect(await service.findByKey(tenant, 'salary-7')).toEqual(payout);
        expect(seen.at(-1)).toMatchObject({ stale: true });
      }
      answering({ get: null });
      list[0]!.status = 'concluido';
      clock.advance(MINUTE);
      expect(await service.findByKey(tenant, 'salary-7')).toMatchObject({ status: 'completed' });
      expect(seen.at(-1)).toEqual({ at: clock.now(), stale: false });
    });

    test('no payout is reported absent where one in the list cannot be read', async () => {
      const { service, tenant, add, list, clock } = await start();
      add();
      add({ amount: Number.NaN });
      const other = 'b'.repeat(24);
      await expect(service.find(tenant, other)).rejects.toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        message: expect.stringMatching(/cannot be read/),
      });
      expect(await service.find(tenant, list[1]!.id!)).toMatchObject({ withdrawalId: list[1]!.id });
      list[0]!.amount = 100;
      clock.advance(MINUTE);
      expect(await service.find(tenant, other)).toBeNull();
    });

    test('many open payouts cost one request', async () => {
      const { service, tenant, add, gets } = await start();
      const all = Array.from({ length: 60 }, () => add());
      const found = await service.findMany(tenant, [...all.map(({ id }) => id), 'a'.repeat(24)]);
      expect(found.map((payout) => payout?.withdrawalId ?? null)).toEqual([...all.map(({ id }) => id), null]);
      expect(gets()).toHaveLength(1);
    });

    test('a payout behind many others is found, by a request of its own where the list is long', async () => {
      const { service, tenant, add, gets } = await start();
      const { id } = add();
      for (let count = 0; count < 620; count += 1) add({ status: 'concluido' });
      expect((await service.find(tenant, id))?.withdrawalId).toBe(id);
      expect(gets()).toHaveLength(6);
      expect(gets().at(-1)).toBe(`GET /v1/payouts/${id}`);
      await expect(service.find(tenant, 'b'.repeat(24))).resolves.toBeNull();
    });

    test('a text that can be no reference sends no request', async () => {
      const { service, tenant, gets } = await start();
      expect(await service.findMany(tenant, ['', 'with \u0000', 'half \ud83e', 'a b'])).toEqual([
        null,
        null,
        null,
        null,
      ]);
      expect(gets()).toEqual([]);
    });

    test.each([
      ['down', lost],
      ['beyond the budget', () => new RateLimitError('the budget', 9)],
    ])('a known payout is served with its age where the service is %s', async (_, fault) => {
      const { service, tenant, add, answering, seen, clock, other } = await start();
      const at = clock.now();
      const { id } = add();
      const known = await service.find(tenant, id);
      answering({ get: fault });
      clock.advance(MINUTE);
      const there = await other();
      expect(await there.service.find(tenant, id)).toEqual(known);
      expect(seen.at(-1)).toEqual({ at, stale: true });
      await expect(there.service.find(tenant, 'c'.repeat(24))).rejects.toMatchObject({
        code: expect.stringMatching(/RATE_LIMITED|UPSTREAM_UNAVAILABLE/),
      });
      await expect(there.service.list(tenant, page)).rejects.not.toBeInstanceOf(UpstreamFault);
    });

    test('a subscription begins from the known state, without a request', async () => {
      const { service, tenant, add, gets } = await start();
      const { id } = add();
      const first = await service.findWithVersion(tenant, id);
      expect(first).toMatchObject({ version: 1, payout: { withdrawalId: id } });
      expect(await service.findWithVersion(tenant, id)).toEqual(first);
      expect(await service.findWithVersion(tenant, 'd'.repeat(24))).toBeNull();
      expect(gets()).toHaveLength(1);
    });

    test('the list is filtered and counted', async () => {
      const { service, tenant, add, clock } = await start();
      for (let count = 0; count < 30; count += 1) {
        add({ status: count % 3 === 0 ? 'negado' : 'concluido', method: count % 2 ? 'pix' : 'usd' });
        clock.advance(MINUTE);
      }
      expect(await service.count(tenant, {})).toBe(30);
      expect(await service.count(tenant, { status: ['denied'] })).toBe(10);
      const requestedAfter = new Date('2026-03-02T12:20:00.000Z');
      const denied = await service.list(tenant, {
        ...page,
        status: ['denied'],
        method: ['usd'],
        requestedAfter,
      });
      expect(denied.items.map(({ payout }) => payout.code)).toEqual(['SAQ-25']);
      expect(denied.more).toBe(false);
      expect(await service.listPage(tenant, { limit: 2, offset: 29 })).toMatchObject({
        items: [{ code: 'SAQ-1' }],
        total: 30,
      });
    });

    test('a payout with a number of the merchant’s is found behind any number of pages, without a request', async () => {
      const { service, tenant, add, list, gets, clock, seen } = await start();
      const externalId = 'repasse 7';
      const request = async (amountCents: number, number = externalId) => {
        clock.advance(1_000);
        const { payout } = await service.request(tenant, pix({ amountCents, externalId: number }));
        return payout;
      };
      const [first] = [await request(10_000), await request(20_000), await request(30_000, 'repasse 8')];
      for (const each of list)
        Object.assign(each, { status: 'concluido', processedAt: clock.now().toISOString() });
      await service.list(tenant, page);
      for (let count = 0; count < 1_100; count += 1) add({ status: 'concluido' });
      clock.advance(MINUTE);
      const before = gets().length;
      const amounts = async (range: Partial<PayoutRange>) => {
        const { items, more } = await service.list(tenant, { ...page, externalId, ...range });
        return { found: items.map(({ payout }) => payout.amountCents), more };
      };
      expect(await amounts({})).toEqual({ found: [20_000, 10_000], more: false });
      expect(await amounts({ limit: 1 })).toEqual({ found: [20_000], more: true });
      expect(await amounts({ end: 'last', limit: 1 })).toEqual({ found: [10_000], more: true });
      const [newer, older] = (await service.list(tenant, { ...page, externalId })).items;
      expect(older!.payout).toMatchObject({ withdrawalId: first!.withdrawalId, status: 'completed' });
      expect(await amounts({ after: newer!.position })).toEqual({ found: [10_000], more: false });
      expect(await amounts({ end: 'last', before: older!.position })).toEqual({
        found: [20_000],
        more: false,
      });
      expect(await amounts({ method: ['usd'] })).toEqual({ found: [], more: false });
      expect(await amounts({ method: ['pix'], status: ['completed'] })).toMatchObject({
        found: [20_000, 10_000],
      });
      expect(await amounts({ status: ['pending'] })).toMatchObject({ found: [] });
      const { requestedAt, processedAt, code, withdrawalId } = older!.payout;
      for (const one of [
        { amountCents: 10_000 },
        { reference: code! },
        { reference: withdrawalId! },
        { requestedBefore: new Date(requestedAt!.getTime() + 1) },
      ])
        expect(await amounts(one)).toEqual({ found: [10_000], more: false });
      expect(await amounts({ requestedAfter: newer!.payout.requestedAt! })).toMatchObject({
        found: [20_000],
      });
      expect(await amounts({ processedBefore: processedAt! })).toMatchObject({ found: [] });
      expect(await amounts({ processedAfter: processedAt!, limit: 1 })).toMatchObject({ more: true });
      expect(await service.count(tenant, { externalId, status: ['completed'] })).toBe(2);
      expect(gets()).toHaveLength(before);
      expect(seen.filter(({ stale }) => stale)).toEqual([]);
    });

    test('another account’s payout is not found by its number, nor is one in the other environment', async () => {
      const { service, tenant, gets } = await start();
      const externalId = 'repasse 7';
      await service.request(tenant, pix({ externalId }));
      const other = await start();
      const sandbox = { ...tenant, environment: 'sandbox' as const };
      expect(await other.service.list(other.tenant, { ...page, externalId })).toEqual({
        items: [],
        more: false,
      });
      expect(await service.list(sandbox, { ...page, externalId })).toEqual({ items: [], more: false });
      expect(await service.count(sandbox, { externalId })).toBe(0);
      expect([...gets(), ...other.gets()]).toEqual([]);
    });

    test('an open payout is read once with the newest page before it is listed by its number', async () => {
      const { service, tenant, add, list, answering, gets, clock, seen } = await start();
      const externalId = 'repasse 7';
      await service.request(tenant, pix({ externalId }));
      for (let count = 0; count < 1_100; count += 1) add({ status: 'concluido' });
      const [requested] = list.splice(-1);
      list.unshift(requested!);
      requested!.status = 'concluido';
      const filter = { externalId, status: ['completed'] } as const;
      answering({ get: unreachable });
      clock.advance(MINUTE);
      expect(await service.list(tenant, { ...page, ...filter })).toMatchObject({ items: [] });
      const { items } = await service.list(tenant, { ...page, externalId });
      expect(items).toMatchObject([{ payout: { status: 'pending' } }]);
      expect(seen.at(-1)).toMatchObject({ stale: true });
      answering({ get: null });
      const before = gets().length;
      expect(await service.list(tenant, { ...page, ...filter })).toMatchObject({
        items: [{ payout: { status: 'completed' } }],
      });
      expect(gets()).toHaveLength(before + 1);
      clock.advance(MINUTE);
      await service.list(tenant, { ...page, ...filter });
      expect(gets()).toHaveLength(before + 1);
    });

    test('payouts in doubt precede the others with their number, and one that was never made is not listed', async () => {
      const { service, tenant, answering, look, clock } = await start();
      const externalId = 'repasse 7';
      await service.request(tenant, pix({ amountCents: 10_000, externalId }));
      answering({ post: () => lost() });
      for (const amountCents of [20_000, 30_000]) {
        clock.advance(1_000);
        await service.request(tenant, pix({ amountCents, externalId }));
      }
      await service.request(tenant, pix({ amountCents: 40_000 }));
      const read = async (range: Partial<PayoutRange>) => {
        const { items, more } = await service.list(tenant, { ...page, externalId, ...range });
        return {
          found: items.map(({ payout }) => payout.amountCents),
          positions: items.map(({ position }) => position),
          more,
        };
      };
      const { found, positions } = await read({});
      expect(found).toEqual([30_000, 20_000, 10_000]);
      expect(await read({ limit: 2 })).toMatchObject({ found: [30_000, 20_000], more: true });
      expect(await read({ after: positions[1]! })).toMatchObject({ found: [10_000], more: false });
      expect(await read({ end: 'last', before: positions[2]! })).toMatchObject({ found: [30_000, 20_000] });
      expect(await service.count(tenant, { externalId })).toBe(3);
      for (let minute = 0; minute < 25; minute += 1) await look();
      expect(await read({})).toMatchObject({ found: [10_000] });
      const [listed] = (await service.list(tenant, page)).items;
      for (const range of [{ after: listed!.position, externalId }, { before: positions[2]! }])
        await expect(service.list(tenant, { ...page, ...range })).rejects.toThrow(ValidationError);
    });

    test('a word that this server does not know is shown as unknown', async () => {
      const { service, tenant, add, events } = await start();
      add({ status: 'em_analise', method: 'no_method' });
      expect((await service.list(tenant, page)).items[0]!.payout).toMatchObject({
        status: 'unknown',
        method: 'unknown',
      });
      expect(await events()).toMatchObject([{ kind: 'payout.unknown' }]);
    });

    test('an answer that is no list is an error, and no crash', async () => {
      const { service, tenant, answering } = await start();
      answering({ get: () => ({ body: '<html>' }) });
      await expect(service.list(tenant, page)).rejects.toThrow('cannot be read');
    });
  });

  describe('while it is followed', () => {
    const following = (...ids: string[]) => ({ all: false, ids });
    const ALL = { all: true, ids: [] };

    test('a turbo payout is polled every two seconds, an older one seldom, a final one never', async () => {
      const { service, remote, tenant, add, clock, list, events } = await start();
      const waitsFor = async (wanted: typeof ALL | ReturnType<typeof following>) => {
        const next = await remote.poll(tenant, wanted);
        return next && next.getTime() - clock.now().getTime();
      };
      const turbo = add({ method: 'pix_turbo' });
      const slow = add();
      await service.list(tenant, page);
      expect(await waitsFor(following(turbo.id))).toBe(2_000);
      clock.advance(5_000);
      expect(await waitsFor(following(slow.id))).toBe(5_000);
      expect(await waitsFor(ALL)).toBe(2_000);
      list[1]!.status = 'processing';
      clock.advance(5_000);
      await waitsFor(following(turbo.id));
      expect((await events()).at(-1)).toEqual({ kind: 'payout.processing', resourceId: turbo.id });
      clock.advance(30 * MINUTE);
      expect(await waitsFor(ALL)).toBeCloseTo(30_000, -3);
      clock.advance(300 * MINUTE);
      expect(await waitsFor(ALL)).toBe(60_000);
      for (const payout of list) payout.status = 'concluido';
      clock.advance(MINUTE);
      expect(await waitsFor(following(turbo.id, slow.id))).toBeNull();
      expect(await waitsFor(ALL)).toBe(30_000);
    });

    test('a followed payout is polled by one of several instances, and at once after a hint of a change', async () => {
      const { service, remote, tenant, add, gets, other, clock, upstream } = await start();
      const { id } = add();
      await service.list(tenant, page);
      const { remote: there } = await other();
      await remote.poll(tenant, following(id));
      await there.poll(tenant, following(id));
      expect(gets()).toHaveLength(2);
      clock.advance(1_000);
      await there.poll(tenant, { ...following(id), isChanged: true });
      expect(gets()).toHaveLength(3);
      expect(upstream.requests.at(-1)!.requestOptions.priority).toBe('money_read');
    });

    test('a payout that was requested elsewhere is seen by the poll', async () => {
      const { remote, tenant, add, events, clock } = await start();
      await remote.poll(tenant, ALL);
      const { id } = add();
      clock.advance(30_000);
      await remote.poll(tenant, ALL);
      expect(await events()).toEqual([{ kind: 'payout.pending', resourceId: id }]);
    });

    test('a followed payout behind the newest page is searched once a minute', async () => {
      const { service, remote, tenant, add, clock, gets, list } = await start();
      const { id } = add();
      await service.find(tenant, id);
      for (let count = 0; count < 150; count += 1) add({ status: 'concluido' });
      list.at(-1)!.status = 'negado';
      clock.advance(5_000);
      expect(await remote.poll(tenant, following(id))).toBeNull();
      expect(gets().length).toBeLessThanOrEqual(4);
      expect((await service.find(tenant, id))?.status).toBe('denied');
    });

    test('a poll that gets no answer fails', async () => {
      const { service, remote, tenant, add, answering } = await start();
      const { id } = add();
      await service.list(tenant, page);
      answering({ get: lost });
      await expect(remote.poll(tenant, following(id))).rejects.toBeInstanceOf(UpstreamFault);
      await expect(remote.refresh(tenant, [id], { priority: 'lookup' })).rejects.toBeInstanceOf(
        UpstreamFault,
      );
    });
  });

  describe('a webhook', () => {
    const EVENT = {
      event: 'withdrawal.completed',
      withdrawalId: 'e'.repeat(24),
      code: 'SAQ-9',
      amount: 100,
      method: 'pix',
      walletAddress: KEY,
      status: 'concluido',
      processedAt: '2026-03-02T11:59:00.000Z',
    };

    test('a webhook is a claim beside the known state; late, double and out of order it changes nothing', async () => {
      const { remote, tenant, facade, events, service, gets } = await start();
      const apply = async (payload: unknown) => {
        const { observation, reference } = remote.readWebhook(payload)!;
        expect(reference).toBe(EVENT.withdrawalId);
        await facade.committer.change({
          tenant,
          read: (reader) => observation.read(reader),
          decide(state) {
            const { resourceId, writes } = observation.decide(state);
            return { outcome: resourceId, writes };
          },
        });
      };
      const requested = {
        ...EVENT,
        event: 'withdrawal.requested',
        status: 'pendente',
        processedAt: undefined,
      };
      for (const payload of [
        EVENT,
        EVENT,
        requested,
        { ...EVENT, event: 'withdrawal.denied', status: 'negado' },
      ])
        await apply(payload);
      expect(await events()).toEqual([{ kind: 'payout.completed', resourceId: EVENT.withdrawalId }]);
      expect(await service.find(tenant, 'SAQ-9')).toMatchObject({ status: 'completed', destination: MASKED });
      expect(gets()).toHaveLength(1);
      const { rows } = await allOf(database);
      expect(JSON.stringify(rows)).not.toContain(KEY);
    });

    test('a webhook takes precedence over a page that was read a moment ago', async () => {
      const { remote, service, tenant, facade, add, gets, clock } = await start();
      const { id } = add();
      await service.list(tenant, page);
      clock.advance(1_000);
      const processedAt = clock.now().toISOString();
      const { observation } = remote.readWebhook({ ...EVENT, withdrawalId: id, processedAt })!;
      await facade.committer.change({
        tenant,
        read: (reader) => observation.read(reader),
        decide: (state) => ({ outcome: null, writes: observation.decide(state).writes }),
      });
      expect((await service.list(tenant, page)).items[0]!.payout.status).toBe('completed');
      expect(await service.find(tenant, id)).toMatchObject({ status: 'completed', version: 2 });
      expect(gets()).toHaveLength(1);
    });

    test('a webhook of another resource is not read as a payout’s', async () => {
      const { remote } = await start();
      for (const payload of [null, {}, { event: 'card_payment.paid' }, { event: 'withdrawal.requested' }])
        expect(remote.readWebhook(payload)).toBeNull();
    });

    test('a webhook is not confirmed by a service that repeats an older state', async () => {
      const { facade, remote, service, tenant, add, tell, clock } = await start();
      const { id } = add();
      await service.list(tenant, page);
      const said = { withdrawalId: id, code: 'SAQ-1', amount: 100, method: 'pix', status: 'concluido' };
      await tell({ ...said, event: 'withdrawal.completed' });
      // A page that was read before is out of date.
      const listed = (await service.list(tenant, page)).items.map(({ payout }) => payout.status);
      expect(listed).toContain('completed');
      clock.advance(MINUTE);
      const askedAt = clock.now();
      await remote.refresh(tenant, [id], { priority: 'lookup' });
      const [known] = await selectMirrored(facade.database.sql, tenant, 'payout', [id]);
      expect(known).toMatchObject({ status: 'completed' });
      expect(known!.observedAt.getTime()).toBeLessThan(askedAt.getTime());
    });

    test('a webhook is checked against the service', async () => {
      const { remote, tenant, add, events, upstream } = await start();
      const { id } = add();
      await remote.refresh(tenant, [id], { priority: 'lookup' });
      expect(upstream.requests.map(({ requestOptions }: UpstreamRequest) => requestOptions.priority)).toEqual(
        ['lookup'],
      );
      expect(await events()).toHaveLength(1);
    });
  });
});

/** All rows of payouts and of intents. */
async function allOf(database: Database) {
  const [observed, intents, events] = await Promise.all([
    database.sql.selectFrom('observed').selectAll().execute(),
    database.sql.selectFrom('upstream_intent').selectAll().execute(),
    database.sql.selectFrom('event').selectAll().execute(),
  ]);
  return { rows: [observed, intents, events] };
}
