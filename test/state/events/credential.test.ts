import { expect, test } from 'vitest';
import type { Caller } from '../../../server/src/kernel/caller.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { type PaymentError, UnauthenticatedError } from '../../../server/src/kernel/errors.ts';
import {
  type CredentialListener,
  createCredentialWatch,
} from '../../../server/src/state/events/credential.ts';
import type { LogTailer } from '../../../server/src/state/events/log-tailer.ts';
import { createManualClock } from '../../support/clock.ts';
import { deferred } from '../../support/deferred.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const SOON = plusMs(NOW, 60_000);
const TENANT = { accountId: 'acc_1', environment: 'live' } as const;

function caller(given: Partial<Caller> = {}): Caller {
  return {
    tenant: TENANT,
    credential: { kind: 'dashboard_token', id: 'tok_1', scopes: ['wallet'] },
    allowedOrigins: [],
    expiresAt: SOON,
    trustedDocumentsOnly: false,
    endsWith: ['tok_1', 'key_1'],
    ...given,
  };
}

/** A watch whose log is this test: it records the listened ids, and reports revocations. */
function start() {
  const clock = createManualClock(NOW);
  const listened: {
    tenant: Caller['tenant'];
    id: string | undefined;
    revoke: () => void;
    setBack: () => void;
  }[] = [];
  const asked: unknown[] = [];
  const faults: unknown[] = [];
  const at = {
    /** Called when the credential is checked. */
    look: async (): Promise<void> => undefined,
    /** Called before a listener joins. */
    listen: async (): Promise<void> => undefined,
  };
  const tailer: Pick<LogTailer, 'listen'> = {
    async listen(tenant, { resource, resourceId }, heard, setBack) {
      expect(resource).toBe('credential');
      await at.listen();
      const entry = { tenant, id: resourceId, revoke: () => heard({} as never), setBack };
      listened.push(entry);
      return () => void listened.splice(listened.indexOf(entry), 1);
    },
  };
  const watch = createCredentialWatch({
    access: {
      async authenticate(authorization) {
        asked.push(authorization);
        await at.look();
        return caller();
      },
    },
    tailer: tailer as LogTailer,
    clock,
    onFault: (fault) => faults.push(fault),
  });
  return { clock, listened, asked, at, watch, faults, ids: () => listened.map(({ id }) => id) };
}

function opened(): CredentialListener & { ends: PaymentError[] } {
  const ends: PaymentError[] = [];
  return { ends, credentialEnded: (error) => ends.push(error) };
}

test('what is open by a credential ends when it expires, at its instant and once', async () => {
  const { clock, watch, ids } = start();
  const one = opened();
  await watch('Bearer a', caller(), one);
  clock.advance(59_999);
  expect(one.ends).toEqual([]);
  clock.advance(1);
  expect(one.ends).toEqual([expect.any(UnauthenticatedError)]);
  expect(ids()).toEqual([]);
  clock.advance(60_000);
  expect(one.ends).toHaveLength(1);
});

test.each([0, 1])(
  'A subscription ends when its credential, or the key that minted it, is revoked',
  async (place) => {
    const { clock, listened, watch, ids } = start();
    const one = opened();
    await watch('Bearer a', caller(), one);
    expect(listened).toMatchObject([
      { tenant: TENANT, id: 'tok_1' },
      { tenant: TENANT, id: 'key_1' },
    ]);
    listened[place]!.revoke();
    expect(one.ends).toEqual([expect.any(UnauthenticatedError)]);
    expect(ids()).toEqual([]);
    expect(clock.nextAt()).toBeNull();
  },
);

test('A credential without an expiry sets no timer', async () => {
  const { clock, watch } = start();
  await watch('Bearer a', caller({ expiresAt: null }), opened());
  expect(clock.nextAt()).toBeNull();
});

test('all that is open by one credential is looked after as one, and ends together', async () => {
  const { asked, listened, watch } = start();
  const all = [opened(), opened(), opened()];
  for (const each of all) await watch('Bearer a', caller(), each);
  expect(listened).toHaveLength(2);
  expect(asked).toEqual(['Bearer a']);
  listened[0]!.revoke();
  for (const { ends } of all) expect(ends).toHaveLength(1);
});

test('a closed watch hears nothing more; the last one that closes leaves nothing behind', async () => {
  const { clock, listened, watch, ids } = start();
  const [one, other] = [opened(), opened()];
  const forgetOne = await watch('Bearer a', caller(), one);
  const forgetOther = await watch('Bearer a', caller(), other);
  forgetOne();
  expect(ids()).toEqual(['tok_1', 'key_1']);
  listened[0]!.revoke();
  expect(one.ends).toEqual([]);
  expect(other.ends).toHaveLength(1);
  forgetOther();

  const forget = await watch('Bearer a', caller(), opened());
  expect(ids()).toEqual(['tok_1', 'key_1']);
  forget();
  expect(ids()).toEqual([]);
  expect(clock.nextAt()).toBeNull();
});

test.each<[string, Partial<Caller>]>([
  ['another credential', { credential: { kind: 'api_key', id: 'key_2', permissions: null } }],
  ['another account', { tenant: { accountId: 'acc_2', environment: 'live' } }],
  ['another environment', { tenant: { accountId: 'acc_1', environment: 'sandbox' } }],
  ['another end', { expiresAt: plusMs(SOON, 1) }],
  ['no end', { expiresAt: null }],
])('%s is looked after by itself', async (_, different) => {
  const { asked, clock, watch } = start();
  const [one, other] = [opened(), opened()];
  await watch('Bearer a', caller(), one);
  await watch('Bearer b', caller(different), other);
  expect(asked).toEqual(['Bearer a', 'Bearer b']);
  if ('expiresAt' in different) {
    clock.moveTo(SOON);
    expect([one.ends.length, other.ends.length]).toEqual([1, 0]);
  }
});

test('a credential that has ended before it was listened to ends what is opened, before that is answered', async () => {
  const { at, watch, ids, clock } = start();
  const refusal = new UnauthenticatedError('Invalid or revoked token');
  at.look = async () => {
    // The ids are listened to now: later revocations are heard.
    expect(ids()).toEqual(['tok_1', 'key_1']);
    throw refusal;
  };
  const one = opened();
  await watch('Bearer a', caller(), one);
  expect(one.ends).toEqual([refusal]);
  expect(ids()).toEqual([]);
  expect(clock.nextAt()).toBeNull();
});

test('A credential that cannot be checked opens nothing, and is checked again for the next subscription', async () => {
  const { at, asked, watch, ids, clock } = start();
  at.look = async () => {
    throw new Error('no database');
  };
  const one = opened();
  await expect(watch('Bearer a', caller(), one)).rejects.toThrow('no database');
  expect(one.ends).toEqual([]);
  expect(ids()).toEqual([]);
  expect(clock.nextAt()).toBeNull();

  at.look = async () => undefined;
  await watch('Bearer a', caller(), opened());
  expect(asked).toHaveLength(2);
  expect(ids()).toEqual(['tok_1', 'key_1']);
});

test('A credential that expires while its watch begins to listen leaves no listener', async () => {
  const { at, asked, clock, watch, ids } = start();
  const listening = deferred();
  at.listen = () => listening.promise;
  const one = opened();
  const watched = watch('Bearer a', caller(), one);
  clock.moveTo(SOON);
  expect(one.ends).toHaveLength(1);
  listening.resolve();
  const forget = await watched;
  expect(ids()).toEqual([]);
  expect(asked).toEqual([]);
  forget();
});

test('where the log was set back, a credential whose revocation was not heard is found revoked', async () => {
  const { at, asked, listened, watch, ids, faults } = start();
  const one = opened();
  await watch('Bearer a', caller(), one);
  listened[0]!.setBack();
  await settle();
  // The credential is still valid, and is listened to as before.
  expect([asked.length, one.ends, ids()]).toEqual([2, [], ['tok_1', 'key_1']]);

  const refusal = new UnauthenticatedError('Invalid or revoked token');
  at.look = () => Promise.reject(refusal);
  listened[1]!.setBack();
  await settle();
  expect(one.ends).toEqual([refusal]);
  expect([ids(), faults]).toEqual([[], []]);
});

test('A credential that cannot be checked after the log was set back is checked until it can be', async () => {
  const { at, asked, clock, listened, watch, faults } = start();
  const one = opened();
  await watch('Bearer a', caller({ expiresAt: null }), one);
  const lost = new Error('no database');
  at.look = () => Promise.reject(lost);
  listened[0]!.setBack();
  await settle();
  clock.advance(5_000);
  await settle();
  expect([asked.length, one.ends, faults]).toEqual([3, [], [lost, lost]]);

  at.look = () => Promise.reject(new UnauthenticatedError('Invalid or revoked token'));
  clock.advance(5_000);
  await settle();
  expect(one.ends).toHaveLength(1);
  expect(clock.nextAt()).toBeNull();
});

test('A watch that is closed while its credential cannot be checked leaves nothing behind', async () => {
  const { at, clock, listened, watch, ids } = start();
  const forget = await watch('Bearer a', caller({ expiresAt: null }), opened());
  at.look = () => Promise.reject(new Error('no database'));
  listened[0]!.setBack();
  await settle();
  forget();
  expect([ids(), clock.nextAt()]).toEqual([[], null]);
});

/** Waits until the running checks have been answered. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a watch that ends late does not end the one that has come after it', async () => {
  const { clock, listened, watch, ids } = start();
  const forgetFirst = await watch('Bearer a', caller(), opened());
  listened[0]!.revoke();
  const second = opened();
  await watch('Bearer a', caller(), second);
  forgetFirst();
  const third = opened();
  await watch('Bearer a', caller(), third);
  expect(ids()).toEqual(['tok_1', 'key_1']);
  clock.moveTo(SOON);
  expect([second.ends.length, third.ends.length]).toEqual([1, 1]);
});
