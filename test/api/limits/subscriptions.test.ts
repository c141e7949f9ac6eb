import { expect, test } from 'vitest';
import { createOpenSubscriptions } from '../../../server/src/api/limits/subscriptions.ts';
import type { Caller } from '../../../server/src/kernel/caller.ts';

const MB = 1_048_576;
const NOTHING = { operation: null, variables: 0 };

const limits = (perTenant = 2_000, heapBytes = 4_096 * MB) =>
  createOpenSubscriptions({ perTenant, heapBytes });
const caller = (credential: object, accountId = 'acc'): Caller => ({
  tenant: { accountId, environment: 'live' },
  credential: { id: '1', ...credential } as Caller['credential'],
  allowedOrigins: [],
  expiresAt: null,
  trustedDocumentsOnly: false,
  endsWith: [],
});
const key = (id = 'k', accountId?: string) => caller({ kind: 'api_key', id, permissions: null }, accountId);
const dashboard = (id = 'd') => caller({ kind: 'dashboard_token', id, scopes: [] });
const payer = (id = 'p', accountId?: string) =>
  caller({ kind: 'payment_token', id, paymentId: 'x' }, accountId);
const own = (index: number, bytes = 1_000) => ({
  operation: { key: `own ${index}`, bytes },
  variables: 0,
});

/** Opens subscriptions until one is refused. Returns the number of those before it, and the refusal. */
function fill(open: (index: number) => unknown): [count: number, refusal: string] {
  for (let count = 0; ; count += 1)
    try {
      open(count);
    } catch (error) {
      return [count, (error as Error).message.replace('Rate limit exceeded: ', '')];
    }
}

test('Payers have a pool of their own, which their networks share, and take nothing from keys and dashboards', () => {
  const all = limits();
  expect(fill(() => all.open(payer('one'), '10.0.0.1', NOTHING))).toEqual([
    10,
    '10 open subscriptions of one token',
  ]);
  expect(fill((index) => all.open(payer(`a${index}`), '10.0.0.1', NOTHING))).toEqual([
    40,
    '50 open subscriptions of one network’s payers',
  ]);
  // Two addresses of one network share its limit.
  expect(fill((index) => all.open(payer(`b${index}`), `2001:db8::${index + 1}`, NOTHING))[0]).toBe(50);
  expect(fill((index) => all.open(payer(`c${index}`), `10.1.${index}.1`, NOTHING))).toEqual([
    900,
    '1000 open subscriptions of one account’s payers',
  ]);
  // Payers of another account have their own limit, and so have all other payers of this account.
  expect(fill((index) => all.open(payer(`e${index}`, 'other'), '10.0.0.1', NOTHING))[0]).toBe(50);
  expect(fill(() => all.open(dashboard(), '10.0.0.1', NOTHING))).toEqual([
    100,
    '100 open subscriptions of one token',
  ]);
  expect(fill(() => all.open(key(), '10.0.0.1', NOTHING))).toEqual([
    1_000,
    '1000 open subscriptions of one API key',
  ]);
  expect(fill(() => all.open(key('other'), '10.0.0.1', NOTHING))).toEqual([
    900,
    '2000 open subscriptions of one account and environment',
  ]);
});

test('A payer’s token has five operations that are no trusted documents, however often it runs each', () => {
  const all = limits();
  const first = all.open(payer(), '10.0.0.1', own(0));
  expect(fill((index) => all.open(payer(), '10.0.0.1', own(index + 1)))).toEqual([
    4,
    '5 different operations in the open subscriptions of one token',
  ]);
  all.open(payer(), '10.0.0.1', own(4));
  all.open(payer(), '10.0.0.1', NOTHING);
  all.open(payer('other'), '10.0.0.1', own(9));
  first.release();
  all.open(payer(), '10.0.0.1', own(9));
});

test('What operations and variables hold is bounded for each credential, network and account, and for the process', () => {
  const held = (make: (index: number) => Caller, address = (index: number) => `10.0.${index}.1`) => {
    // The limit for all subscriptions together is 512 MB.
    const all = limits();
    return fill((index) => all.open(make(index), address(index), own(index, MB)));
  };
  const bytes = (mb: number, whose: string) =>
    `${mb * MB} bytes of operations and variables in the open subscriptions of one ${whose}`;
  expect(
    held(
      (index) => payer(`${index}`),
      () => '10.0.0.1',
    ),
  ).toEqual([8, bytes(8, 'network’s payers')]);
  expect(held((index) => payer(`${index}`))).toEqual([64, bytes(64, 'account’s payers')]);
  expect(held((index) => payer(`${index}`, `${index % 9}`))).toEqual([256, bytes(256, 'server’s payers')]);
  expect(held(() => dashboard())).toEqual([16, bytes(16, 'token')]);
  expect(held(() => key())).toEqual([64, bytes(64, 'API key')]);
  expect(held((index) => key(`${index % 5}`))).toEqual([128, bytes(128, 'account and environment')]);
  expect(held((index) => key('k', `${index % 9}`))).toEqual([512, bytes(512, 'server')]);
  // An operation of several subscriptions is counted once, and the variables of each separately.
  const all = limits();
  const variables = { operation: own(0, 60 * MB).operation, variables: MB };
  expect(fill(() => all.open(key(), '10.0.0.1', variables))).toEqual([4, bytes(64, 'API key')]);
});

test('The process has as many open subscriptions as its heap holds, and payers half of them', () => {
  const all = limits(1_000_000, 64 * MB);
  const open = (who: (index: number) => Caller) =>
    fill((index) => all.open(who(index), `10.${index >> 8}.${index & 255}.1`, NOTHING));
  expect(open((index) => payer(`${index}`, `${index % 9}`))).toEqual([
    524,
    '524 open subscriptions of one server’s payers',
  ]);
  expect(open(() => key())).toEqual([524, '1048 open subscriptions of one server']);
});

test('Unread bytes have their own bounds, also behind the end of a subscription, and leave no count behind', () => {
  const all = limits();
  const [one, other] = [all.open(payer(), '10.0.0.1', NOTHING), all.open(payer('q'), '10.0.0.2', NOTHING)];
  expect(one.hold(8 * MB)).toBe(true);
  expect(one.hold(1)).toBe(false);
  expect(other.hold(8 * MB)).toBe(true);
  one.release();
  expect(all.open(payer(), '10.0.0.1', NOTHING).hold(0)).toBe(false);
  one.sent(8 * MB);
  one.sent(1);
  expect(all.open(payer(), '10.0.0.1', NOTHING).hold(8 * MB)).toBe(true);
  // A result of an ended subscription is held by another one.
  other.sent(8 * MB);
  other.release();
  expect(other.hold(8 * MB)).toBe(true);
  const again = all.open(payer('q'), '10.0.0.2', NOTHING);
  expect(again.hold(1)).toBe(false);
  other.sent(8 * MB);
  again.sent(1);
  expect(again.hold(8 * MB)).toBe(true);
});
