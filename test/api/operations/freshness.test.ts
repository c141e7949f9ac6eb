import { expect, test } from 'vitest';
import { clearLoaders, createLoaders, type Loaders } from '../../../server/src/api/graphql/loaders.ts';
import type { PaymentsService } from '../../../server/src/api/graphql/services.ts';
import '../../../server/src/money-out/payouts/schema.ts';
import { createFreshness, payersOf } from '../../../server/src/api/operations/freshness.ts';
import { createManualClock } from '../../support/clock.ts';

test('Each root field has the age of what it has read, and the whole the age of the oldest part', () => {
  const clock = createManualClock();
  const freshness = createFreshness(null, clock);
  const nobody = {} as Loaders;
  const wallet = freshness.field('wallet', nobody).requester;
  const payouts = freshness.field('__proto__', nobody).requester;
  freshness.field('viewer', nobody);
  wallet.onRead(clock.now(), false);
  clock.advance(2_000);
  payouts.onRead(clock.now(), true);
  wallet.onRead(clock.now(), false);
  expect(JSON.stringify(freshness.state())).toBe(
    JSON.stringify({
      ageSeconds: 2,
      stale: true,
      fields: {
        wallet: { ageSeconds: 2, stale: false },
        ['__proto__']: { ageSeconds: 0, stale: true },
        viewer: { ageSeconds: null, stale: false },
      },
    }),
  );
});

test('A batch that root fields share counts for each of them that has loaded from it, and for no other', async () => {
  const clock = createManualClock();
  const freshness = createFreshness(null, clock);
  const batches: (readonly string[])[] = [];
  const caller = {
    tenant: { accountId: 'acc_1', environment: 'live' },
    credential: { kind: 'api_key' },
  } as never;
  const shared = createLoaders(caller, (loader, keys) => {
    const requester = freshness.batch(loader, keys);
    batches.push(keys);
    const findMany = async () => {
      requester.onRead(clock.now(), keys.includes('old'));
      return keys.map(() => null);
    };
    return { payouts: { findMany } } as unknown as PaymentsService;
  });
  const of = (responseKey: string) => freshness.field(responseKey, shared).loaders.payout;
  const [first, second, third, fourth] = [of('first'), of('second'), of('third'), of('fourth')];
  await Promise.all([first.load('old'), second.load('new')]);
  expect(batches).toEqual([['old', 'new']]);
  // A field also counts if its value was loaded before; a field of another batch does not.
  await third.load('old');
  await fourth.load('other');
  expect(batches).toEqual([['old', 'new'], ['other']]);
  const { fields, stale } = freshness.state();
  expect(stale).toBe(true);
  expect(Object.entries(fields).map(([key, age]) => [key, age.stale])).toEqual([
    ['first', true],
    ['second', true],
    ['third', true],
    ['fourth', false],
  ]);
});

test('A root field of a mutation keeps the age of its own batch when the next field loads the same key', async () => {
  const clock = createManualClock();
  const freshness = createFreshness(null, clock);
  const caller = {
    tenant: { accountId: 'acc_1', environment: 'live' },
    credential: { kind: 'api_key' },
  } as never;
  const shared = createLoaders(caller, (loader, keys) => {
    const requester = freshness.batch(loader, keys);
    const findMany = async () => {
      requester.onRead(clock.now(), false);
      return keys.map(() => null);
    };
    return { payouts: { findMany } } as unknown as PaymentsService;
  });
  for (const responseKey of ['first', 'second']) {
    const { loaders } = freshness.field(responseKey, shared);
    clearLoaders(loaders);
    await loaders.payout.load('one');
    clock.advance(1_000);
  }
  const { first, second } = freshness.state().fields;
  expect([first!.ageSeconds, second!.ageSeconds]).toEqual([2, 1]);
});

test('Payers are those of one token behind one network, and a payment token counts to those that have started it', () => {
  const of = (address: string, credential: object = { kind: 'checkout_token', id: 'tok_1', grant: {} }) =>
    payersOf({ credential } as never, address);
  const started = of('203.0.113.7')!;
  expect(started.token).toBe('tok_1');
  expect(of('203.0.113.8')).not.toEqual(started);
  expect(of('2001:db8::1')).toEqual(of('2001:db8:0:0:ffff::2'));
  expect(of('2001:db8:0:1::1')).not.toEqual(of('2001:db8::1'));
  // One host may have all the networks of a block of addresses.
  const blocks = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1'].map(
    (address) => of(address)!.network!.split('/')[0],
  );
  expect(blocks[1]).toBe(blocks[0]);
  expect(blocks[2]).not.toBe(blocks[0]);
  // Tokens of one order count as one.
  const ofOrder = { kind: 'checkout_token', id: 'tok_2', grant: { orderTokenId: 'tok_1' } };
  expect(of('203.0.113.7', ofOrder)).toEqual(started);
  const payment = { kind: 'payment_token', id: 'tok_3', orderCode: 'PEDIDO1' };
  expect(of('198.51.100.1', { ...payment, startedBy: started })).toEqual(started);
  expect(of('203.0.113.7', payment)).toEqual(of('203.0.113.7', { ...payment, id: 'tok_4' }));
  expect(of('203.0.113.7', { kind: 'api_key', id: 'key_1' })).toBeNull();
});
