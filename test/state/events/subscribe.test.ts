import { once } from 'node:events';
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import {
  CursorExpiredError,
  NotFoundError,
  UnauthenticatedError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import type {
  CardPaymentStatus,
  StoredCardPayment,
} from '../../../server/src/money-in/card-payments/model.ts';
import { snapshots } from '../../../server/src/programs/modes/parts.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createCredentialWatch } from '../../../server/src/state/events/credential.ts';
import type { StoredEvent } from '../../../server/src/state/events/event.ts';
import { readHead, type Topic } from '../../../server/src/state/events/log.ts';
import { createLogTailer } from '../../../server/src/state/events/log-tailer.ts';
import { subscribe } from '../../../server/src/state/events/subscribe.ts';
import { type LiveUpdates, SlowConsumerError } from '../../../server/src/state/events/subscription.ts';
import { approved } from '../../support/cards.ts';
import { type Core, revocationOf, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { interceptStatements, recordStatements } from '../../support/statements.ts';

const POLL_MS = 5_000;
const QUEUE_LIMIT = 256;
/** The cursors of every instance have one key, because they share a database. */
const cursorsFor = createCursors(Buffer.alloc(16, 'key'));

describeOnDatabase('a subscription', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describe('to one payment', () => {
    test('A subscription to a payment gives its state at once and each change, and ends behind the last', async () => {
      const core = await startCore({ database });
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      const updates = await follow(core, payment.orderCode);
      expect(await updates.next()).toMatchObject({ value: { status: 'pending', version: 1 } });
      await core.cardPayments.pay(payment.orderCode, approved());
      expect(await updates.next()).toMatchObject({ value: { status: 'paid', version: 2 } });
      expect(await updates.next()).toEqual({ done: true, value: undefined });
      expect(await updates.next()).toEqual({ done: true, value: undefined });
    });

    test('A subscription to a settled payment gives its state and ends', async () => {
      const core = await startCore({ database });
      const orderCode = await paid(core);
      expect(await all(await follow(core, orderCode))).toMatchObject([{ status: 'paid', version: 2 }]);
    });

    test('A subscription shows each change as it was then, not as the payment is today', async () => {
      const core = await startCore({ database });
      const before = await readHead(database.sql, core.tenant);
      const orderCode = await paid(core);
      await core.cardPayments.refund(core.tenant, orderCode);
      await core.work.settled();
      const statuses: CardPaymentStatus[] = [];
      const updates = await follow(core, orderCode, { after: before, last: ['refunded'] });
      for await (const { status } of updates) statuses.push(status);
      // The second `paid` is the refund that has begun.
      expect(statuses).toEqual(['pending', 'paid', 'paid', 'refunded']);
    });

    test('A subscription behind the final change of a payment ends without an event', async () => {
      const core = await startCore({ database });
      const orderCode = await paid(core);
      const after = await readHead(database.sql, core.tenant);
      expect(await all(await follow(core, orderCode, { after }))).toEqual([]);
      // The subscriber gets its events also while others go on.
      await paid(core);
      expect(await all(await follow(core, orderCode, { after }))).toEqual([]);
    });

    test('A subscription to a payment of another account is refused as if the payment did not exist', async () => {
      const [core, other] = [await startCore({ database }), await startCore({ database })];
      const orderCode = await paid(core);
      await expect(follow(other, orderCode)).rejects.toBeInstanceOf(NotFoundError);
    });

    test('A subscription leaves no gap, at whatever point of its start the payment is paid', async () => {
      const core = await startCore({ database });
      for (let at = 0, reached = true; reached; at += 1) {
        const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
        const pay = onlyOnce(() => core.cardPayments.pay(payment.orderCode, approved()));
        const { instance, passed } = slowStart(core, at, pay);

        const updates = await follow(instance, payment.orderCode);
        const first = (await updates.next()).value as StoredCardPayment;
        const second = first.status === 'paid' ? null : updates.next();
        reached = passed() > at;
        await pay();
        if (second)
          expect(await second, `statement ${at}`).toMatchObject({ value: { status: 'paid', version: 2 } });
        expect(await updates.next(), `statement ${at}`).toEqual({ done: true, value: undefined });
      }
    });
  });

  describe('to everything', () => {
    const EVERYTHING: Topic = { resource: 'credential' };

    test('A subscription to everything gives only changes, from now on', async () => {
      const core = await startCore({ database });
      await emit(core, 2);
      const changes = await watch(core, EVERYTHING);
      const next = changes.next();
      await emit(core, 2);
      expect(versions([(await next).value, (await changes.next()).value])).toEqual([3, 4]);
    });

    test('A subscription leaves no gap behind a cursor, at whatever point of its start an event occurs', async () => {
      const core = await startCore({ database });
      for (let at = 0, reached = true; reached; at += 1) {
        const head = await readHead(database.sql, core.tenant);
        await emit(core, 1);
        const happen = onlyOnce(() => emit(core, 1));
        const { instance, passed } = slowStart(core, at, happen);
        const changes = await watch(instance, EVERYTHING, { after: head });
        const seen = [await changes.next()];
        const second = changes.next();
        // It now waits at the live end, or for the event that interrupted its start.
        await new Promise((resolve) => setImmediate(resolve));
        reached = passed() > at;
        await happen();
        await emit(core, 1);
        seen.push(await second, await changes.next());
        expect(versions(seen.map(({ value }) => value)), `statement ${at}`).toEqual([
          head + 1,
          head + 2,
          head + 3,
        ]);
      }
    });

    test('A subscription whose client does not read drops what it can read again, and gives it later, in order', async () => {
      const core = await startCore({ database });
      await emit(core, 12);
      const { database: recorded, statements } = recordStatements(database);
      const reads = () => statements.filter((statement) => statement.includes('mark_before')).length;
      const changes = await watch({ ...core, ...freshFollower(core, recorded) }, EVERYTHING, { after: 0 });
      const seen = [(await changes.next()).value];
      changes.park();
      for (let count = 0; count < 4; count += 1) seen.push((await changes.next()).value);
      expect(reads()).toBe(1);
      for (let count = 0; count < 6; count += 1) seen.push((await changes.next()).value);
      expect(reads()).toBe(2);
      changes.park();
      const last = changes.next();
      await emit(core, 1);
      seen.push((await last).value, (await changes.next()).value);
      expect(versions(seen)).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
    });

    test('A subscription gives every event once under load, at any pace, also after it reconnects', async () => {
      const core = await startCore({ database });
      const total = 400;
      const readers = Array.from({ length: 6 }, async (_, reader) => {
        const seen: number[] = [];
        // Each subscriber leaves after this number of events and returns after the last, some to a new instance.
        const stint = [1000, 150, 70, 33, 13, 90][reader]!;
        let instance = core;
        while (seen.length < total) {
          const changes = await watch(instance, EVERYTHING, { after: seen.at(-1) ?? 0 });
          for (let taken = 0; taken < stint && seen.length < total; taken += 1)
            seen.push((await changes.next()).value.version);
          await changes.return!();
          if (reader % 2 === 1) instance = restarted(core);
        }
        return seen;
      });
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let written = 0; written < total / 4; written += 2) await emit(core, 2);
        }),
      );
      const expected = Array.from({ length: total }, (_, index) => index + 1);
      for (const seen of await Promise.all(readers)) expect(seen).toEqual(expected);
      expect(core.faults).toEqual([]);
    });

    test('A subscription reads a long history at its own pace, and then new events', async () => {
      const core = await startCore({ database });
      for (let count = 0; count < 8; count += 1) await emit(core, 50);
      const changes = await watch(core, EVERYTHING, { after: 0 });
      const seen: number[] = [];
      while (seen.length < 400) seen.push((await changes.next()).value.version);
      const next = changes.next();
      await emit(core, 1);
      seen.push((await next).value.version);
      expect(seen).toEqual(Array.from({ length: 401 }, (_, index) => index + 1));
    });

    test('Subscriptions that replay a long history read it one page at a time between them, and a live one goes first', async () => {
      const core = await startCore({ database });
      for (let count = 0; count < 8; count += 1) await emit(core, 50);
      let [reading, most] = [0, 0];
      const counted = interceptStatements(
        database,
        () => {
          reading += 1;
          most = Math.max(most, reading);
        },
        () => {
          reading -= 1;
        },
      );
      const live = await watch(core, EVERYTHING, { after: 400 });
      const next = live.next();
      const replays = await Promise.all(
        [1, 2, 3, 4].map(() => watch({ ...core, database: counted }, EVERYTHING, { after: 0 })),
      );
      const seen: number[] = [];
      const take = async (changes: AsyncIterableIterator<StoredEvent>, count: number) => {
        for (let taken = 0; taken < count; taken += 1) seen.push((await changes.next()).value.version);
      };
      // The first page may have all missed events.
      await Promise.all(replays.map((changes) => take(changes, 100)));
      most = 0;
      const rest = replays.map((changes) => take(changes, 300));
      await emit(core, 1);
      expect((await next).value).toMatchObject({ version: 401 });
      expect(seen.length).toBeLessThan(1_600);
      await Promise.all(rest);
      expect(most).toBe(1);
      expect(seen.sort((left, right) => left - right)).toEqual(
        Array.from({ length: 1_600 }, (_, index) => 1 + Math.floor(index / 4)),
      );
    });

    test('A subscription gives no event twice to a reader that requests several at once', async () => {
      const core = await startCore({ database });
      const changes = await watch(core, EVERYTHING, { after: 0 });
      const asked = [changes.next(), changes.next(), changes.next(), changes.next()];
      await emit(core, 2);
      await emit(core, 2);
      expect(versions((await Promise.all(asked)).map(({ value }) => value))).toEqual([1, 2, 3, 4]);
    });

    test('A subscription to one resource gives no changes of another', async () => {
      const core = await startCore({ database });
      const changes = await watch(core, { resource: 'credential', resourceId: '2' }, { after: 0 });
      await emit(core, 3);
      expect((await changes.next()).value).toMatchObject({ version: 2, resourceId: '2' });
      const next = changes.next();
      await emit(core, 1);
      await changes.return!();
      expect(await next).toEqual({ done: true, value: undefined });
    });

    test('A subscription that does not read is ended, at no cost to the others', async () => {
      const core = await startCore({ database });
      const joining = observed(core);
      const ends: unknown[] = [];
      const onEnd = (failure: unknown) => ends.push(failure);
      const [slow, quick] = [await watch(joining, EVERYTHING, { onEnd }), await watch(core, EVERYTHING)];
      const one = slow.next();
      await joining.joined;
      const seen: number[] = [];
      const reading = (async () => {
        for await (const event of quick) if (seen.push(event.version) === QUEUE_LIMIT * 2) return;
      })();
      for (let count = 0; count < QUEUE_LIMIT * 2; count += 32) await emit(core, 32);
      await reading;
      expect(seen).toEqual(Array.from({ length: QUEUE_LIMIT * 2 }, (_, index) => index + 1));

      expect((await one).value.version).toBe(1);
      await expect(slow.next()).rejects.toBeInstanceOf(SlowConsumerError);
      expect(await slow.next()).toEqual({ done: true, value: undefined });
      expect(ends).toEqual([expect.any(SlowConsumerError)]);
      // It reconnects with its last cursor, and has lost nothing.
      const again = await watch(core, EVERYTHING, { after: 1 });
      expect((await again.next()).value.version).toBe(2);
    });
  });

  describe('with a cursor', () => {
    test.each([
      ['nothing', () => ''],
      ['one character', () => 'x'],
      ['a version to be read', () => Buffer.from('v1:1').toString('base64url')],
      ['a cursor and a space', (core: Core) => `${cursorOf(core, 1)} `],
      ['a cursor in small letters', (core: Core) => cursorOf(core, 1).toLowerCase()],
      ['a cursor of a list', (core: Core) => cursorsFor(core.tenant, 'cardPayments').encode(1)],
      [
        'a cursor of the other environment',
        ({ tenant }: Core) => cursorOf({ tenant: { ...tenant, environment: 'sandbox' } }, 1),
      ],
    ])('A cursor that was not issued for this subscription is refused: %s', async (_, made) => {
      const core = await startCore({ database });
      await emit(core, 2);
      const refused = watch(core, { resource: 'credential' }, { after: made(core) });
      await expect(refused).rejects.toBeInstanceOf(ValidationError);
      await expect(refused).rejects.toMatchObject({ fields: [{ path: 'after' }] });
    });

    test('A cursor beyond the end of the log is refused', async () => {
      const core = await startCore({ database });
      await emit(core, 2);
      for (const after of [3, Number.MAX_SAFE_INTEGER])
        await expect(watch(core, { resource: 'credential' }, { after })).rejects.toBeInstanceOf(
          CursorExpiredError,
        );
    });

    test('A subscription continues behind the cursor of its first state or of any change', async () => {
      const core = await startCore({ database });
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      await emit(core, 1);
      const cursors: string[] = [];
      const last: CardPaymentStatus[] = ['refunded'];
      const updates = await follow(core, payment.orderCode, { last, cursors });
      await updates.next();
      await core.cardPayments.pay(payment.orderCode, approved());
      await updates.next();
      await emit(core, 1);
      await core.cardPayments.refund(core.tenant, payment.orderCode);
      await core.work.settled();
      await updates.next();
      await updates.next();

      const seen = cursors.map(async (after) =>
        (await all(await follow(core, payment.orderCode, { after, last }))).map(({ status }) => status),
      );
      expect(await Promise.all(seen)).toEqual([
        ['paid', 'paid', 'refunded'],
        ['paid', 'refunded'],
        ['refunded'],
        [],
      ]);
    });
  });

  describe('that is left', () => {
    test('A subscription that was left reads nothing more, neither by a wake nor by the poll', async () => {
      const core = await startCore({ database });
      let [statements, underWay] = [0, 0];
      const counted = interceptStatements(
        database,
        () => {
          statements += 1;
          underWay += 1;
        },
        () => {
          underWay -= 1;
        },
      );
      const instance = { ...core, ...freshFollower(core, counted) };
      const client = new AbortController();
      const aborted = await watch(instance, { resource: 'credential' }, { signal: client.signal });
      const returned = await watch(instance, { resource: 'credential' });
      const neverRead = await watch(instance, { resource: 'credential' });
      const waiting = [aborted.next(), returned.next()];
      await emit(core, 1);
      instance.tailer.wake(core.tenant);
      await Promise.all(waiting);

      const last = [aborted.next(), returned.next()];
      client.abort();
      await returned.return!();
      expect(await Promise.all(last)).toEqual(Array(2).fill({ done: true, value: undefined }));
      await neverRead.return!();
      // A read that was running ends.
      while (underWay > 0) await readHead(database.sql, core.tenant);
      statements = 0;
      await emit(core, 1);
      instance.tailer.wake(core.tenant);
      core.clock.advance(POLL_MS);
      await readHead(database.sql, core.tenant);
      expect(statements).toBe(0);
    });

    test('A subscription that is left before it has begun ends at once', async () => {
      const core = await startCore({ database });
      await emit(core, 1);
      const client = new AbortController();
      client.abort();
      const changes = await watch(core, { resource: 'credential' }, { after: 0, signal: client.signal });
      expect(await changes.next()).toEqual({ done: true, value: undefined });
    });

    test('A subscription that is left while it reads the log ends without another event', async () => {
      const core = await startCore({ database });
      await emit(core, 1);
      const client = new AbortController();
      const leave = () => client.abort();
      let armed = false;
      const instance = { ...core, database: interceptStatements(database, () => armed && leave()) };
      const changes = await watch(instance, { resource: 'credential' }, { after: 0, signal: client.signal });
      armed = true;
      expect(await changes.next()).toEqual({ done: true, value: undefined });
    });
  });

  test('A subscription is not disturbed by another whose listener has a fault', async () => {
    const core = await startCore({ database });
    const heard: number[] = [];
    const three = deferred();
    const fail = () => {
      throw new Error('an internal fault');
    };
    const hear = ({ version }: StoredEvent) => {
      if (heard.push(version) === 3) three.resolve();
    };
    for (const each of [fail, hear])
      await core.tailer.listen(core.tenant, { resource: 'credential' }, each, unexpected);
    await emit(core, 3);
    await three.promise;
    expect(heard).toEqual([1, 2, 3]);
    expect(core.faults).toHaveLength(3);
  });

  test('The subscriptions of a group ask once whether an event matches their filter', async () => {
    const { database: own, tailer, tenant, cardPayments } = await startCore({ database });
    const asked: number[] = [];
    const groups = new Map();
    const followers = await Promise.all(
      [1, 2, 3].map(() =>
        subscribe<StoredCardPayment>(
          {
            ...{
              database: own,
              tailer,
              cursorsFor,
              tenant,
              dedupeKey: 'one',
              isLast: () => false,
              after: null,
            },
            topic: { resource: 'card_payment' },
            matches({ version, snapshot }) {
              asked.push(version);
              return (snapshot as StoredCardPayment).amountCents > 1_000;
            },
            toItem: ({ snapshot }) => ({ ...(snapshot as StoredCardPayment) }),
            signal: new AbortController().signal,
          },
          groups,
        ),
      ),
    );
    const seen = followers.map((follower) => follower.next());
    // Once each has received a first update, all follow the live log.
    await cardPayments.create(tenant, { valueCents: 1_001 });
    await Promise.all(seen);
    asked.length = 0;
    const next = followers.map((follower) => follower.next());
    await cardPayments.create(tenant, { valueCents: 900 });
    await cardPayments.create(tenant, { valueCents: 1_002 });
    for (const { value } of await Promise.all(next)) expect(value).toMatchObject({ amountCents: 1_002 });
    expect(asked).toHaveLength(2);
  });

  test('A subscription continues at the next poll after a failed read of the log', async () => {
    const core = await startCore({ database });
    let broken = false;
    const flaky = interceptStatements(database, () => {
      if (broken) throw new Error('the connection was lost');
    });
    const instance = observed({ ...core, ...freshFollower(core, flaky) });
    const changes = await watch(instance, { resource: 'credential' }, { after: 0 });
    const first = changes.next();
    await instance.joined;
    broken = true;
    await emit(core, 1);
    while (core.faults.length === 0) await readHead(database.sql, core.tenant);
    broken = false;
    core.clock.advance(POLL_MS);
    expect((await first).value.version).toBe(1);
  });

  test('A subscription that cannot read fails once and ends, and leaves nothing with its connection', async () => {
    const core = await startCore({ database });
    let broken = false;
    const flaky = interceptStatements(database, () => {
      if (broken) throw new Error('the connection was lost');
    });
    const { signal } = new AbortController();
    const listeners = countListeners(signal);
    const changes = await watch({ ...core, database: flaky }, { resource: 'credential' }, { signal });
    expect(listeners()).toBe(1);
    broken = true;
    await expect(changes.next()).rejects.toThrow('the connection was lost');
    expect(listeners()).toBe(0);
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});

describeOnDatabase('a log that has let go of its beginning', (open) => {
  test('A log without its beginning refuses an older cursor, and accepts the one that it begins behind', async () => {
    const database = await open();
    const core = await startCore({ database });
    await emit(core, 5);
    await sql`update stream set kept_from = 3`.execute(database.sql);
    await sql`delete from event where version < 3`.execute(database.sql);
    const topic: Topic = { resource: 'credential' };
    for (const version of [0, 1, 2])
      await expect(watch(core, topic, { after: version })).rejects.toBeInstanceOf(CursorExpiredError);
    const changes = await watch(core, topic, { after: 3 });
    expect((await changes.next()).value.version).toBe(4);
  });
});

describeOnDatabase('a credential that something was opened with', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A revoked credential ends its subscription with the reason', async () => {
    const core = await startCore({ database });
    const { token, opened } = await dashboard(core);
    const { signal, stop } = await opened();
    const changes = await watch(core, { resource: 'card_payment' }, { signal });
    const next = changes.next();
    await core.access.revokeToken(core.tenant, token);
    await expect(next).rejects.toEqual(new UnauthenticatedError('This credential was revoked'));
    stop();
  });

  test('An expiring credential ends its subscription at the instant of its expiry, not before', async () => {
    const core = await startCore({ database });
    const { opened } = await dashboard(core);
    const { signal, stop } = await opened();
    core.clock.advance(60_000 - 1);
    expect(signal.aborted).toBe(false);
    core.clock.advance(1);
    expect(signal.reason).toEqual(new UnauthenticatedError('This token has expired'));
    stop();
  });

  test('A credential that is revoked while it is checked opens nothing', async () => {
    const core = await startCore({ database });
    const { token, opened } = await dashboard(core);
    const revoke = onlyOnce(() => core.access.revokeToken(core.tenant, token));
    const { signal } = await opened(interceptStatements(database, revoke));
    expect(signal.reason).toBeInstanceOf(UnauthenticatedError);
  });

  test('A credential is watched once, for as long as anything is open by it', async () => {
    const core = await startCore({ database });
    const { token, watched } = await dashboard(core);
    let looked = 0;
    const open = watched(database, (authorization) => {
      looked += 1;
      return core.access.authenticate(authorization);
    });
    const [left, ...stayed] = await Promise.all([open(), open(), open()]);
    expect([looked, left.listening()]).toEqual([1, 1]);
    left.stop();
    const ended = Promise.all(stayed.map(({ signal }) => once(signal, 'abort')));
    await core.access.revokeToken(core.tenant, token);
    await ended;
    for (const { signal } of stayed) expect(signal.reason).toBeInstanceOf(UnauthenticatedError);
    expect([left.signal.aborted, left.listening()]).toEqual([false, 0]);
    for (const { stop } of stayed) stop();
    // A subscription after its end does not use the cached credential.
    expect((await open()).signal.reason).toBeInstanceOf(UnauthenticatedError);
    expect([looked, left.listening()]).toEqual([2, 0]);
  });

  test('A credential that cannot be checked is not reported as revoked', async () => {
    const core = await startCore({ database });
    const { opened } = await dashboard(core);
    const lost = new Error('the connection was lost');
    await expect(opened(database, () => Promise.reject(lost))).rejects.toBe(lost);
  });
});

describe('two instances on one PostgreSQL', () => {
  test('Two instances wake each other', async () => {
    const [one, two] = await startTwoCores();
    const changes = await watch(two, { resource: 'credential' }, { after: 0 });
    for (let version = 1; version <= 3; version += 1) {
      const next = changes.next();
      await emit(version % 2 ? one : two, 1);
      expect((await next).value.version).toBe(version);
    }
  });

  test('Two instances give each listener every event once and in order, while both write', async () => {
    const [one, two] = await startTwoCores();
    const [writers, each] = [12, 20];
    const total = writers * each;
    const heard = await Promise.all(
      [one, two].map(async ({ tailer, tenant }) => {
        const versions: number[] = [];
        const all = deferred();
        const hear = ({ version }: StoredEvent) => {
          if (versions.push(version) === total) all.resolve();
        };
        await tailer.listen(tenant, { resource: 'credential' }, hear, unexpected);
        return { versions, all: all.promise };
      }),
    );
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let turn = 0; turn < each; turn += 1) await emit(writer % 2 ? one : two, 1);
      }),
    );
    await Promise.all(heard.map(({ all }) => all));
    const inOrder = Array.from({ length: total }, (_, index) => index + 1);
    for (const { versions } of heard) expect(versions).toEqual(inOrder);
  });

  test('A lost notification delays events by a few seconds, and loses none', async () => {
    const [one, two] = await startTwoCores({ announces: false });
    const joining = observed(two);
    const changes = await watch(joining, { resource: 'credential' }, { after: 0 });
    const seen: number[] = [];
    const three = (async () => {
      while (seen.length < 3) seen.push((await changes.next()).value.version);
    })();
    await joining.joined;
    await emit(one, 3);
    expect(seen).toEqual([]);
    two.clock.advance(POLL_MS);
    await three;
    expect(seen).toEqual([1, 2, 3]);
  });

  test('A credential that one instance revokes ends what it has opened on the other', async () => {
    const [one, two] = await startTwoCores();
    const { token } = await dashboard(one);
    const authorization = `Bearer ${token}`;
    const caller = await two.access.authenticate(authorization);
    const watchCredential = createCredentialWatch({
      access: two.access,
      tailer: two.tailer,
      clock: two.clock,
      onFault: (fault) => two.faults.push(fault),
    });
    const ended = deferred<unknown>();
    const stop = await watchCredential(authorization, caller, { credentialEnded: ended.resolve });
    await one.access.revokeToken(one.tenant, token);
    expect(await ended.promise).toBeInstanceOf(UnauthenticatedError);
    stop();
  });
});

// ── Builders ────────────────────────────────────────────────────────────────────────────────────

type Instance = Pick<Core, 'database' | 'tailer' | 'tenant' | 'cardPayments'>;

/** A version in place of its cursor. */
type After = string | number;

function cursorOf({ tenant }: Pick<Core, 'tenant'>, version: number): string {
  return cursorsFor(tenant, 'updates').encode(version);
}

/**
 * Follows one payment as `cardPaymentUpdates` does, until one of the `last` statuses; `cursors` collects the received
 * ones.
 */
function follow(
  { database, tailer, tenant, cardPayments }: Instance,
  orderCode: string,
  {
    after,
    last = ['paid', 'failed', 'refunded'],
    cursors = [],
  }: { after?: After; last?: CardPaymentStatus[]; cursors?: string[] } = {},
): Promise<AsyncIterableIterator<StoredCardPayment>> {
  const given = (payment: StoredCardPayment, cursor: string) => {
    cursors.push(cursor);
    return payment;
  };
  return subscribe<StoredCardPayment>({
    database,
    tailer: tailer,
    cursorsFor,
    tenant,
    topic: { resource: 'card_payment', resourceId: orderCode },
    after: typeof after === 'number' ? cursorOf({ tenant }, after) : after,
    async begin() {
      const found = await cardPayments.findWithVersion(tenant, orderCode);
      if (!found) throw new NotFoundError('Card payment not found');
      const { version, resource: payment } = found;
      return { version, first: (cursor) => given(payment, cursor), isOver: last.includes(payment.status) };
    },
    toItem: (event, cursor) => given(event.snapshot as StoredCardPayment, cursor),
    isLast: (event) => last.includes((event.snapshot as StoredCardPayment).status),
    signal: new AbortController().signal,
  });
}

/** Follows changes only, without an end. */
function watch(
  { database, tailer, tenant }: Pick<Core, 'database' | 'tailer' | 'tenant'>,
  topic: Topic,
  {
    after,
    signal = new AbortController().signal,
    onEnd = () => undefined,
  }: { after?: After; signal?: AbortSignal; onEnd?: (failure: unknown) => void } = {},
): Promise<LiveUpdates<StoredEvent>> {
  return subscribe<StoredEvent>({
    database,
    tailer: tailer,
    cursorsFor,
    tenant,
    topic,
    after: typeof after === 'number' ? cursorOf({ tenant }, after) : after,
    toItem: (event) => event,
    isLast: () => false,
    signal,
    onEnd,
  });
}

/** Emits `count` events in one commit, about the resources 1, 2, …. */
function emit({ committer, tenant }: Core, count: number): Promise<void> {
  return committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        events: Array.from({ length: count }, (_, index) => revocationOf(String(index + 1))),
      },
    }),
  });
}

async function paid(core: Core): Promise<string> {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
  await core.cardPayments.pay(payment.orderCode, approved());
  return payment.orderCode;
}

/** An instance whose start `happen` interrupts at this point between two statements. */
function slowStart(core: Core, at: number, happen: () => Promise<unknown>) {
  let point = 0;
  const slow = interceptStatements(core.database, () => (point++ === at ? happen() : undefined));
  return { instance: { ...core, ...freshFollower(core, slow) }, passed: () => point };
}

/** A follower of its own over the same log, notified by the core's NOTIFY and polled by its clock. */
function freshFollower({ clock, faults }: Core, database: Database) {
  const tailer = createLogTailer({ database, snapshots, clock, onError: (error) => faults.push(error) });
  const started = tailer.start();
  onTestFinished(async () => {
    await started;
    await tailer.close();
  });
  return { database, tailer };
}

function restarted(core: Core): Core {
  return { ...core, ...freshFollower(core, core.database) };
}

/** `joined` resolves when a subscription has read the existing events and waits at the live end. */
function observed<Some extends Pick<Core, 'tailer'>>(instance: Some): Some & { joined: Promise<void> } {
  const { promise, resolve } = deferred();
  const join: Core['tailer']['join'] = (tenant, listener) => {
    const leave = instance.tailer.join(tenant, listener);
    if (leave) resolve();
    return leave;
  };
  return { ...instance, tailer: { ...instance.tailer, join }, joined: promise };
}

function unexpected(): never {
  return expect.unreachable('the log was set back');
}

/** The number of listeners of `abort`. */
function countListeners(signal: AbortSignal): () => number {
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners += 1;
    add(...listener);
  };
  signal.removeEventListener = (...listener: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...listener);
  };
  return () => listeners;
}

/** Creates a checkout token, in place of a dashboard's, that expires in a minute, and a watch of it. */
async function dashboard(core: Core) {
  const { token } = await core.checkoutTokens.create(core.tenant, null, {
    amount: { fixedCents: 4990 },
    expiresInSeconds: 60,
  });
  const authorization = `Bearer ${token}`;
  const caller = await core.access.authenticate(authorization);
  /** The returned function may be called again, for another subscription of the same credential. */
  function watched(database = core.database, authenticate = core.access.authenticate) {
    const { tailer } = freshFollower(core, database);
    const watchCredential = createCredentialWatch({
      access: { authenticate },
      tailer,
      clock: core.clock,
      onFault: (fault) => core.faults.push(fault),
    });
    return async () => {
      const ended = new AbortController();
      const stop = await watchCredential(authorization, caller, {
        credentialEnded: (error) => ended.abort(error),
      });
      return { signal: ended.signal, stop, listening: () => tailer.listenerCount(core.tenant) };
    };
  }
  return {
    token,
    watched,
    opened: (...of: Parameters<typeof watched>) => watched(...of)(),
  };
}

function onlyOnce<T>(task: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= task();
    return result;
  };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

function versions(events: StoredEvent[]): number[] {
  return events.map(({ version }) => version);
}
