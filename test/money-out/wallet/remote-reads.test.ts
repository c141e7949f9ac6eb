import { beforeAll, describe, expect, test } from 'vitest';
import { PermissionError, RateLimitError, UpstreamError } from '../../../server/src/kernel/errors.ts';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import { createRemoteWallet } from '../../../server/src/money-out/wallet/remote/service.ts';
import { readWallet } from '../../../server/src/money-out/wallet/wire.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { UpstreamFault } from '../../../server/src/upstream/upstream.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { startFacade } from '../../support/facade.ts';
import { lost, scriptedUpstream, unreachable } from '../../support/scripted-upstream.ts';

/** A body with only the documented names. */
const BODY = {
  balance: 1_000.1,
  disputeBlocked: 100,
  withdrawable: 600.1,
  withdrawableCents: 60_010,
  pendingRelease: 8.2,
  cryptoBalanceLtc: 0.1,
};
const WALLET = {
  environment: 'live',
  balanceCents: 100_010,
  disputeBlockedCents: 10_000,
  withdrawableCents: 60_010,
  pendingReleaseCents: 820,
  receivableCents: null,
  subaccountsBalanceCents: 30_000,
  assignableCents: 60_010,
  cryptoBalanceLitoshi: 10_000_000,
};

describe('a wallet that a service shows', () => {
  test('A service’s wallet is read by the names of the document', () => {
    expect(readWallet(BODY, 'live')).toEqual(WALLET);
    expect(readWallet({ ...BODY, moeda: 'BRL', saldoCentavos: 1, livre: null }, 'live')).toEqual(WALLET);
  });

  test('A service’s wallet has no underivable sum of subaccounts', () => {
    const unknown = { subaccountsBalanceCents: null, assignableCents: null };
    expect(readWallet({ ...BODY, withdrawable: 900.1, withdrawableCents: 90_010 }, 'live')).toMatchObject(
      unknown,
    );
    expect(readWallet({ ...BODY, subaccountsBalance: null }, 'live')).toMatchObject(unknown);
    // The withdrawable amount is never below 0: disputes may block more than the rest.
    expect(readWallet({ ...BODY, withdrawable: 0, withdrawableCents: 0 }, 'live')).toMatchObject(unknown);
  });

  test('A service’s wallet is read by the names of this project', () => {
    expect(readWallet({ ...BODY, subaccountsBalance: 0, assignableCents: 5 }, 'live')).toMatchObject({
      subaccountsBalanceCents: 0,
      assignableCents: 5,
    });
    expect(readWallet({ ...BODY, assignableCents: null }, 'live')).toMatchObject({ assignableCents: null });
    expect(readWallet({ ...BODY, receivableCents: 99_80 }, 'live')).toMatchObject({ receivableCents: 99_80 });
  });

  test('A service’s wallet may contain numbers as text', () => {
    expect(readWallet({ ...BODY, balance: '1000.10' }, 'live')).toEqual(WALLET);
  });

  test('A service’s wallet has null for each figure that is missing or unreadable', () => {
    const unknown = {
      disputeBlockedCents: null,
      pendingReleaseCents: null,
      cryptoBalanceLitoshi: null,
      receivableCents: null,
      subaccountsBalanceCents: null,
      assignableCents: null,
    };
    expect(readWallet({ withdrawableCents: 7 }, 'live')).toEqual({
      environment: 'live',
      balanceCents: null,
      withdrawableCents: 7,
      ...unknown,
    });
    expect(readWallet({ balance: 7 }, 'live')).toEqual({
      environment: 'live',
      balanceCents: 700,
      withdrawableCents: null,
      ...unknown,
    });
    for (const wrong of [{}, 'much', null, 1e300, -1e300, true])
      expect(readWallet({ ...BODY, pendingRelease: wrong, cryptoBalanceLtc: wrong }, 'live')).toEqual({
        ...WALLET,
        pendingReleaseCents: null,
        cryptoBalanceLitoshi: null,
      });
  });

  test('A service’s wallet of a merchant in debt has figures below 0', () => {
    const debt = { balance: -5, disputeBlocked: 10, withdrawable: -15, pendingRelease: -0.01 };
    const read = {
      balanceCents: -500,
      disputeBlockedCents: 1_000,
      withdrawableCents: -1_500,
      pendingReleaseCents: -1,
      subaccountsBalanceCents: null,
    };
    expect(readWallet(debt, 'live')).toMatchObject(read);
    const inCents = { balanceCents: -500, withdrawableCents: -1_500, pendingReleaseCents: '-1' };
    expect(readWallet({ disputeBlocked: '10', ...inCents }, 'live')).toMatchObject(read);
    // The subaccounts own the missing amount.
    expect(readWallet({ ...debt, withdrawable: -40 }, 'live')).toMatchObject({
      subaccountsBalanceCents: 2_500,
    });
    for (const ltc of [-0.5, '-0.5', '-0.50000000'])
      expect(readWallet({ ...debt, cryptoBalanceLtc: ltc }, 'live')).toMatchObject({
        cryptoBalanceLitoshi: -50_000_000,
      });
    for (const name of ['subaccountsBalance', 'receivableCents', 'assignableCents'])
      expect(readWallet({ ...debt, [name]: -2 }, 'live')).toMatchObject({
        [name.replace(/(Cents)?$/, 'Cents')]: name.endsWith('Cents') ? -2 : -200,
      });
  });

  test('A sandbox wallet has no disputes and no LTC, whether or not they are shown', () => {
    const none = { disputeBlockedCents: 0, cryptoBalanceLitoshi: 0 };
    expect(readWallet({ balance: 5, withdrawable: 5 }, 'sandbox')).toMatchObject({
      ...none,
      balanceCents: 500,
      pendingReleaseCents: null,
    });
    expect(readWallet({ ...BODY, disputeBlocked: 'x', cryptoBalanceLtc: 'x' }, 'sandbox')).toMatchObject({
      disputeBlockedCents: null,
      cryptoBalanceLitoshi: null,
    });
  });

  test.each([null, 'no', [], {}, { error: 'no' }, { balance: 'much' }, 5])(
    'No wallet is read from %j',
    (body) => {
      expect(readWallet(body, 'live')).toBeNull();
    },
  );
});

describeOnDatabase('the wallet in front of another service', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  async function start() {
    const upstream = scriptedUpstream(() => ({ body: BODY }));
    const facade = await startFacade({ database, upstream });
    const remote = createRemoteWallet(facade);
    const seen: { at: Date; stale: boolean }[] = [];
    const requester: Requester = {
      priority: 'merchant',
      subject: null,
      onRead: (at, stale) => seen.push({ at, stale }),
    };
    const { tenant, clock } = facade;
    const events = async () =>
      (await readAfter(facade.database.sql, tenant, { after: 0, topic: { resource: 'wallet' }, limit: 100 }))
        .events;
    return { upstream, remote, seen, service: remote.serviceFor(requester), tenant, clock, events };
  }

  test('The wallet is read once in two seconds, and shows its age', async () => {
    const { service, upstream, seen, tenant, clock } = await start();
    const at = clock.now();
    expect(await Promise.all([service.read(tenant), service.read(tenant)])).toEqual([WALLET, WALLET]);
    clock.advance(1_999);
    await service.read(tenant);
    expect(upstream.requestLines).toEqual(['GET /v1/wallet']);
    expect(seen).toEqual(Array(3).fill({ at, stale: false }));
    clock.advance(1);
    await service.read(tenant);
    expect(upstream.requestLines).toHaveLength(2);
  });

  test('The wallet is stale where a figure could not be read', async () => {
    const { service, upstream, seen, tenant, clock } = await start();
    const at = clock.now();
    upstream.script = () => ({ body: { ...BODY, pendingRelease: {} } });
    expect(await service.read(tenant)).toEqual({ ...WALLET, pendingReleaseCents: null });
    expect(seen).toEqual([{ at, stale: true }]);
  });

  test.each([
    [{ balance: 10, balanceCents: -500 }, { balanceCents: -500 }],
    [{ withdrawable: -15, withdrawableCents: 0 }, { withdrawableCents: -1_500 }],
    [{ pendingRelease: 1, pendingReleaseCents: 1 }, { pendingReleaseCents: 1 }],
  ])('The wallet is stale where two members contradict each other: %j', async (members, read) => {
    const { service, upstream, seen, tenant, clock } = await start();
    upstream.script = () => ({ body: { ...BODY, ...members } });
    expect(await service.read(tenant)).toMatchObject(read);
    expect(seen).toEqual([{ at: clock.now(), stale: true }]);
  });

  test('A change of the wallet is announced, and nothing else', async () => {
    const { remote, service, upstream, tenant, clock, events } = await start();
    await service.read(tenant);
    await remote.refresh(tenant, [], { priority: 'lookup' });
    expect(await events()).toMatchObject([
      { kind: 'wallet.changed', resourceId: 'wallet', snapshot: WALLET },
    ]);
    upstream.script = () => ({ body: { ...BODY, pendingRelease: 0 } });
    await remote.refresh(tenant, [], { priority: 'lookup' });
    clock.advance(10_000);
    await service.read(tenant);
    expect((await events()).map(({ snapshot }) => snapshot)).toEqual([
      WALLET,
      { ...WALLET, pendingReleaseCents: 0, entries: ['2'] },
    ]);
  });

  test.each([
    ['the service is down', lost],
    ['the budget is spent', () => new RateLimitError('the budget', 7)],
  ])('The last known wallet is shown where %s, also on an instance that never read it', async (_, fault) => {
    const { service, upstream, seen, tenant, clock } = await start();
    const at = clock.now();
    await service.read(tenant);
    upstream.script = fault;
    clock.advance(60_000);
    expect(await service.read(tenant)).toEqual(WALLET);
    const other = await startFacade({ database, upstream, tenant, clock });
    const saw: unknown[] = [];
    const requester: Requester = {
      priority: 'merchant',
      subject: null,
      onRead: (when, stale) => saw.push({ at: when, stale }),
    };
    expect(await createRemoteWallet(other).serviceFor(requester).read(tenant)).toEqual(WALLET);
    expect(seen.at(-1)).toEqual({ at, stale: true });
    expect(saw).toEqual([{ at, stale: true }]);
  });

  test('A wallet that was never read is an error where the service does not answer', async () => {
    const { service, upstream, tenant, clock } = await start();
    upstream.script = unreachable;
    await expect(service.read(tenant)).rejects.toBeInstanceOf(UpstreamError);
    upstream.script = () => new RateLimitError('the budget', 7);
    await expect(service.read(tenant)).rejects.toBeInstanceOf(RateLimitError);
    upstream.script = () => ({ body: { hello: 'world' } });
    await expect(service.read(tenant)).rejects.toThrow('cannot be read');
    clock.advance(2_000);
    upstream.script = () => ({ status: 401, body: { error: 'Invalid API key' } });
    await expect(service.readWithVersion(tenant)).rejects.toThrow('does not accept the key of this server');
  });

  test.each([
    [{ status: 404 }, UpstreamError, 'cannot be reached'],
    [new UpstreamFault('server_error', 'maybe', '501'), UpstreamError, 'cannot be reached'],
    [{ status: 403, body: { error: 'Not for you' } }, PermissionError, 'Not for you'],
    [{ status: 418, body: { error: 'no'.repeat(999) } }, UpstreamError, /status 418: (no){250}$/],
  ])('A refusal of the wallet carries the service’s message (%#)', async (said, kind, message) => {
    const { service, upstream, tenant } = await start();
    upstream.script = () => said;
    const refused = service.read(tenant);
    await expect(refused).rejects.toBeInstanceOf(kind);
    await expect(refused).rejects.toThrow(message);
  });

  test('A subscription begins with the known wallet, without a request', async () => {
    const { service, upstream, tenant, events } = await start();
    const first = await service.readWithVersion(tenant);
    expect(first).toEqual({ version: (await events()).at(-1)!.version, wallet: WALLET });
    expect(await service.readWithVersion(tenant)).toEqual(first);
    expect(upstream.requestLines).toHaveLength(1);
  });

  test('The wallet is polled every ten seconds by one of several instances, and at once after a hint', async () => {
    const { remote, upstream, tenant, clock } = await start();
    const other = createRemoteWallet(await startFacade({ database, upstream, tenant, clock }));
    const wanted = { all: true, ids: [] };
    const next = await remote.poll(tenant, wanted);
    expect(next!.getTime() - clock.now().getTime()).toBe(10_000);
    await other.poll(tenant, wanted);
    expect(upstream.requestLines).toHaveLength(1);
    clock.advance(1_000);
    await other.poll(tenant, { ...wanted, isChanged: true });
    expect(upstream.requestLines).toHaveLength(2);
    clock.advance(10_000);
    upstream.script = lost;
    await expect(remote.poll(tenant, wanted)).rejects.toBeInstanceOf(UpstreamFault);
    expect(upstream.requests.at(-1)!.requestOptions.priority).toBe('money_read');
  });

  test('A wallet whose poll failed after a hint is polled again a second later', async () => {
    const { remote, upstream, tenant, clock } = await start();
    const { script } = upstream;
    const wanted = { all: true, ids: [] };
    upstream.script = lost;
    await expect(remote.poll(tenant, { ...wanted, isChanged: true })).rejects.toBeInstanceOf(UpstreamFault);
    upstream.script = script;
    clock.advance(1_000);
    const asked = upstream.requests.length;
    for (let time = 0; time < 2; time += 1) {
      await remote.poll(tenant, wanted);
      expect(upstream.requests).toHaveLength(asked + 1);
      clock.advance(5_000);
    }
  });
});
