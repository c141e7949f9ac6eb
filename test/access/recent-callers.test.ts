import { expect, test } from 'vitest';
import { createRecentCallers } from '../../server/src/access/recent-callers.ts';
import type { Caller } from '../../server/src/kernel/caller.ts';
import { UnauthenticatedError } from '../../server/src/kernel/errors.ts';
import { createManualClock } from '../support/clock.ts';
import { deferred } from '../support/deferred.ts';

const TENANT = { accountId: 'acc_1', environment: 'live' } as const;
const KEY = 'acc_1/live';

function start({ expiresAt = null }: { expiresAt?: Date | null } = {}) {
  const clock = createManualClock();
  const caller: Caller = {
    tenant: TENANT,
    credential: { kind: 'api_key', id: 'key_1', permissions: [] },
    allowedOrigins: [],
    expiresAt,
    trustedDocumentsOnly: false,
    endsWith: ['key_1'],
  };
  const state = { asked: 0, refused: false, wait: null as Promise<void> | null };
  const networks: string[] = [];
  const strangers = {
    take: (address: string) => void networks.push(address),
    putBack: (address: string) => void networks.splice(networks.indexOf(address), 1),
  };
  const callers = createRecentCallers({
    clock,
    strangers,
    access: {
      async authenticate() {
        state.asked += 1;
        const { refused } = state;
        await state.wait;
        if (refused) throw new UnauthenticatedError('Invalid API key');
        return caller;
      },
    },
  });
  const ask = (credential = 'a') => callers.authenticate(`Bearer ${credential}`);
  return { clock, state, callers, ask, caller, networks };
}

test('An authenticated caller is cached for a second, under the same credential alone', async () => {
  const { clock, state, ask, caller } = start();
  for (const credential of ['a', 'a', 'b', 'a']) expect(await ask(credential)).toBe(caller);
  expect(state.asked).toBe(2);
  clock.advance(999);
  await ask();
  expect(state.asked).toBe(2);
  clock.advance(1);
  await ask();
  expect(state.asked).toBe(3);
});

test('A change of the tenant invalidates a cached caller at once, another tenant’s does not', async () => {
  const { clock, state, callers, ask } = start();
  await ask();
  callers.revoked('acc_1/sandbox');
  await ask();
  expect(state.asked).toBe(1);
  state.refused = true;
  callers.revoked(KEY);
  await expect(ask()).rejects.toBeInstanceOf(UnauthenticatedError);
  state.refused = false;
  clock.advance(1_000);
  await ask();
  callers.revoked(null);
  await ask();
  expect(state.asked).toBe(4);
});

test('A result from before a change is not cached after it', async () => {
  const { state, callers, ask } = start();
  for (const key of [KEY, null]) {
    const answered = deferred();
    state.wait = answered.promise;
    const asking = ask();
    callers.revoked(key);
    answered.resolve();
    await asking;
    const before = state.asked;
    await ask();
    expect(state.asked).toBe(before + 1);
    callers.revoked(KEY);
  }
});

test('A refusal is cached for a second, with its message, and no longer', async () => {
  const { clock, state, callers, ask, caller } = start();
  state.refused = true;
  await expect(ask()).rejects.toThrow('Invalid API key');
  for (let time = 0; time < 3; time += 1) {
    expect(() => callers.authenticate('Bearer a')).toThrow(UnauthenticatedError);
    expect(() => callers.authenticate('Bearer a')).toThrow('Invalid API key');
  }
  expect(state.asked).toBe(1);
  state.refused = false;
  clock.advance(999);
  expect(() => callers.authenticate('Bearer a')).toThrow(UnauthenticatedError);
  clock.advance(1);
  expect(await ask()).toBe(caller);
});

test('The cache of refusals is bounded: the first of six thousand is looked up again', async () => {
  const { state, callers } = start();
  state.refused = true;
  const ask = async (credential: string) => callers.authenticate(credential);
  for (let index = 0; index < 6_000; index += 1) await ask(`a${index}`).catch(() => undefined);
  expect(state.asked).toBe(6_000);
  await expect(ask('a0')).rejects.toThrow();
  expect(state.asked).toBe(6_001);
});

test('A network is counted for requests without a credential and with an unknown one, and not for a known caller', async () => {
  const { clock, state, callers, networks } = start();
  await callers.admit(undefined, 'one');
  await callers.admit('', 'one');
  expect(networks).toEqual(['one', 'one']);
  networks.length = 0;
  await callers.admit('Bearer a', 'two');
  expect(networks).toEqual([]);
  // The caller is known now: nothing is counted, not even for a moment.
  expect(callers.admit('Bearer a', 'two')).toBeUndefined();
  clock.advance(60_000);
  expect(callers.admit('Bearer a', 'two')).toBeUndefined();
  state.refused = true;
  for (const credential of ['b', 'b', 'c']) await callers.admit(`Bearer ${credential}`, 'two');
  expect(networks).toEqual(['two', 'two', 'two']);
  expect(state.asked).toBe(3);
  // A caller was known until its key was revoked. It is counted once the revocation is seen.
  await expect(callers.authenticate('Bearer a')).rejects.toThrow();
  await callers.admit('Bearer a', 'two');
  expect(networks).toHaveLength(4);
});

test('A cached token is looked up again at the instant of its expiry', async () => {
  const { clock, state, ask } = start({ expiresAt: new Date(createManualClock().now().getTime() + 10) });
  await ask();
  clock.advance(9);
  await ask();
  expect(state.asked).toBe(1);
  clock.advance(1);
  await ask();
  expect(state.asked).toBe(2);
});

test('Two credentials on one connection are not confused', async () => {
  const clock = createManualClock();
  const callers = createRecentCallers({
    clock,
    strangers: { take: () => undefined, putBack: () => undefined },
    access: {
      async authenticate(authorization) {
        if (authorization === 'Bearer nobody') throw new UnauthenticatedError('Invalid API key');
        return {
          ...start().caller,
          credential: { kind: 'api_key', id: `${authorization}`, permissions: [] },
        };
      },
    },
  });
  const proxy = {};
  const by = async (credential: string) =>
    (await callers.authenticate(`Bearer ${credential}`, proxy)).credential.id;
  for (const credential of ['a', 'b', 'a', 'a', 'b'])
    expect(await by(credential)).toBe(`Bearer ${credential}`);
  await expect(by('nobody')).rejects.toBeInstanceOf(UnauthenticatedError);
  expect(await by('a')).toBe('Bearer a');
});
