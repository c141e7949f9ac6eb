import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  IdempotencyError,
  InsufficientFundsError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { objectId } from '../../server/src/kernel/ids.ts';
import type { State } from '../../server/src/state/commit/commit.ts';
import { type Database, NoConnection } from '../../server/src/state/db/database.ts';
import {
  InDoubtError,
  type LookupResult,
  type Operation,
  type OutcomeLookup,
  type RequestKind,
} from '../../server/src/upstream/intents/operations.ts';
import type { Intent } from '../../server/src/upstream/intents/transitions.ts';
import { mirrored, type Observation, writesOfMirrored } from '../../server/src/upstream/mirror.ts';
import { selectMirrored } from '../../server/src/upstream/mirror-store.ts';
import { type Upstream, UpstreamFault } from '../../server/src/upstream/upstream.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { describeOnDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { startFacade, type TestFacade } from '../support/facade.ts';
import { interceptStatements } from '../support/statements.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const TIMEOUT = new UpstreamFault('timeout', 'maybe');
const REFUSED = new ValidationError([{ path: 'input', message: 'is not to be' }]);

const NOBODY: Upstream = {
  send: () => Promise.reject(new Error('not asked for')),
  get: () => Promise.reject(new Error('not asked for')),
  state: () => {
    throw new Error('not asked for');
  },
  budget: () => {
    throw new Error('not asked for');
  },
  close: async () => undefined,
};

/** A service that does each request once; the test decides its answers. */
function createService() {
  const service = {
    /** The keys of the requests that it has done. */
    done: [] as string[],
    sent: 0,
    looked: 0,
    answer: (async (key) => service.do(key)) as (key: string, intent: Intent) => Promise<Observation>,
    look: (async ({ key }) => (service.done.includes(key) ? { found: seen(key) } : 'not_there')) as (
      intent: Intent,
    ) => Promise<LookupResult>,
    do(key: string): Observation {
      service.done.push(key);
      return seen(key);
    },
  };
  return service;
}
type Service = ReturnType<typeof createService>;

/** A payout in the mirror. */
function seen(key: string): Observation {
  const id = `made-${key}`;
  return {
    read: (reader) => reader.load(mirrored.payout, id),
    decide(state) {
      const version = (state.get(mirrored.payout, id)?.version ?? 0) + 1;
      const record = {
        resource: 'payout',
        id,
        version,
        status: 'pending',
        final: false,
        parent: null,
      } as const;
      return {
        resourceId: id,
        writes: writesOfMirrored({ ...record, snapshot: { id }, observedAt: state.now, event: null }),
      };
    },
  };
}

/** A kind whose requests are shown from when their outcome is unknown. */
function shownKind(look: OutcomeLookup): RequestKind {
  return {
    lookUp: look,
    idOf: ({ id }) => `made-${id}`,
    inDoubt: ({ id }) => seen(id),
    absent({ id }, { ifShown }) {
      const { read, decide } = seen(id);
      const isShown = (state: State) => state.get(mirrored.payout, `made-${id}`) !== null;
      return {
        read,
        decide: (state) => (isShown(state) || !ifShown ? decide(state) : { resourceId: id, writes: {} }),
      };
    },
  };
}

describeOnDatabase('a request that must not be made twice', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  async function start(of: Partial<Parameters<typeof startFacade>[0]> = {}) {
    const service = createService();
    const facade = await startFacade({ database, upstream: NOBODY, ...of });
    connect(facade, service);
    return { ...facade, service };
  }

  function connect(facade: TestFacade, service: Service) {
    const look: OutcomeLookup = async (_, intent) => {
      service.looked += 1;
      return service.look(intent);
    };
    facade.requests.move = { lookUp: look };
  }

  const operation = (
    service: Service,
    { key = null, input = { amount: 1 }, ...rest }: Partial<Operation<{ amount: number }>> = {},
  ): Operation<{ amount: number }> => ({
    name: 'move',
    input,
    key,
    summary: ({ amount }) => ({ amount }),
    send: (intent) => {
      service.sent += 1;
      return service.answer(intent.key, intent);
    },
    lookupReference: (intent) => `look_${intent.key}`,
    inWords: 'moving',
    ...rest,
  });

  /** Resolves when the next request begins to wait for the clock. */
  function waitsOf(clock: ManualClock): { begun: Promise<void> } {
    const begun = deferred();
    const { schedule } = clock;
    clock.schedule = (at, task) => {
      begun.resolve();
      return schedule(at, task);
    };
    return { begun: begun.promise };
  }

  const states = async ({ tenant }: TestFacade) =>
    (
      await database.sql
        .selectFrom('upstream_intent')
        .select(['state'])
        .where('account_id', '=', tenant.accountId)
        .execute()
    )
      .map(({ state }) => state)
      // Intents that are opened at one instant have no order.
      .sort();

  /** Advances to each lookup until no intent is open, or `ms` have passed. */
  async function pass({ clock, work }: TestFacade, ms: number) {
    const until = clock.now().getTime() + ms;
    await work.settled();
    while (clock.now().getTime() < until) {
      const { rows } = await sql<{ at: Date | null }>`
        select min(due_at) as at from task where kind = 'upstream.resolve'`.execute(database.sql);
      const next = rows[0]?.at?.getTime() ?? until;
      clock.moveTo(new Date(Math.min(Math.max(next, clock.now().getTime() + 1), until)));
      await work.settled();
    }
  }

  describe('an answered request', () => {
    test('an answered request is made once, and replayed to a caller with the same key', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      const first = await intents.run(tenant, operation(service, { key: 'k' }));
      expect(first).toEqual({ resourceId: 'made-k', replayed: false });
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: true,
      });
      expect(service.sent).toBe(1);
      expect(await states(facade)).toEqual(['done']);
      expect(facade.faults).toEqual([]);
    });

    test('a request without a key gets a generated one, each another, and is never replayed', async () => {
      const { tenant, intents, service } = await start();
      await intents.run(tenant, operation(service));
      await intents.run(tenant, operation(service));
      expect(new Set(service.done).size).toBe(2);
      for (const key of service.done) expect(key).toMatch(/^psa-[0-9a-f]{24}$/);
    });

    test('an answered request leaves no lookup behind', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      await intents.run(tenant, operation(service));
      await pass(facade, 5 * MINUTE);
      expect(service.looked).toBe(0);
    });

    test('a key that was used with another input is a conflict, and sends nothing', async () => {
      const { tenant, intents, service } = await start();
      await intents.run(tenant, operation(service, { key: 'k' }));
      const other = operation(service, { key: 'k', input: { amount: 2 } });
      await expect(intents.run(tenant, other)).rejects.toThrow(IdempotencyError);
      expect(service.sent).toBe(1);
    });

    test('a request that is refused when it is opened is not sent, and its key stays free', async () => {
      const { tenant, intents, service } = await start();
      let refuses = true;
      const guarded = operation(service, {
        key: 'k',
        open: {
          read: async () => undefined,
          decide: () => {
            if (refuses) throw REFUSED;
            return {};
          },
        },
      });
      await expect(intents.run(tenant, guarded)).rejects.toBe(REFUSED);
      expect(service.sent).toBe(0);
      refuses = false;
      expect(await intents.run(tenant, guarded)).toMatchObject({ replayed: false });
    });
  });

  describe('a refused request', () => {
    test.each([
      ['by the service', REFUSED, ValidationError],
      ['for want of a slot', new RateLimitError('120 requests', 3), RateLimitError],
      ['because nothing can be sent', new UpstreamFault('unreachable', 'no'), UpstreamError],
    ])(
      'a request that is refused %s is not done, and its key may be used again, with another input too',
      async (_, error, kind) => {
        const facade = await start();
        const { tenant, intents, service } = facade;
        const works = service.answer;
        service.answer = () => Promise.reject(error);
        const refusal = await failure(intents.run(tenant, operation(service, { key: 'k' })));
        expect(refusal).toBeInstanceOf(kind);
        if (refusal instanceof UpstreamError)
          expect(refusal).toMatchObject({ retryable: true, moneyMayHaveMoved: false });
        expect(await states(facade)).toEqual(['refused']);
        service.answer = works;
        const again = operation(service, { key: 'k', input: { amount: 2 } });
        expect(await intents.run(tenant, again)).toEqual({ resourceId: 'made-k', replayed: false });
        await pass(facade, 20 * MINUTE);
        expect(service).toMatchObject({ sent: 2, looked: 0, done: ['k'] });
      },
    );

    test('a key that is repeated right after a refusal is sent, and does not get the old refusal', async () => {
      const { tenant, intents, service } = await start();
      const works = service.answer;
      service.answer = () => {
        service.answer = works;
        return Promise.reject(REFUSED);
      };
      const run = () => intents.run(tenant, operation(service, { key: 'k' }));
      const again = Array.from({ length: 8 }, () => run().catch(() => run()));
      for (const done of await Promise.all(again)) expect(done.resourceId).toBe('made-k');
      expect(service.done).toEqual(['k']);
    });

    test('a refusal reaches its caller even where it cannot be recorded', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = async () => {
        // The intent is gone: recording its end is an internal fault.
        await database.sql.deleteFrom('upstream_intent').where('account_id', '=', tenant.accountId).execute();
        throw REFUSED;
      };
      await expect(intents.run(tenant, operation(service, { key: 'k' }))).rejects.toBe(REFUSED);
      expect(facade.faults).toHaveLength(1);
    });

    test.each([
      ['and its key is used again', false],
      ['and its task records that', true],
    ])(
      'a request that the budget could not count because the database was away was not done, %s',
      async (_, isLeft) => {
        let isAway = false;
        const facade = await start({
          database: {
            ...database,
            transaction: (work) =>
              isAway ? Promise.reject(new NoConnection('away')) : database.transaction(work),
          },
        });
        const { tenant, intents, service } = facade;
        const works = service.answer;
        service.answer = () => {
          isAway = true;
          // The budget, which is stored in the database, fails like this.
          return Promise.reject(new NoConnection('away'));
        };
        const run = () => intents.run(tenant, operation(service, { key: 'k' }));
        expect(await failure(run())).toMatchObject({ name: 'NoConnection', mayBeDone: false });
        // Only this instance knows that the request was not done.
        expect(await failure(run())).toBeInstanceOf(NoConnection);
        isAway = false;
        service.answer = works;
        if (isLeft) {
          await pass(facade, 2 * MINUTE);
          expect(await states(facade)).toEqual(['refused']);
        }
        expect(await run()).toEqual({ resourceId: 'made-k', replayed: false });
        expect(service).toMatchObject({ sent: 2, looked: 0, done: ['k'] });
      },
    );

    test('a lost record of a refusal ends no later attempt with its key', async () => {
      let isLost = false;
      const facade = await start({
        database: {
          ...database,
          async transaction(work) {
            const result = await database.transaction(work);
            if (!isLost) return result;
            throw new NoConnection('away');
          },
        },
      });
      const { tenant, intents, service, clock } = facade;
      const run = () => failure(intents.run(tenant, operation(service, { key: 'k' })));
      service.answer = async () => {
        isLost = true;
        throw REFUSED;
      };
      expect(await run()).toBe(REFUSED);
      expect(await states(facade)).toEqual(['refused']);
      isLost = false;
      clock.advance(SECOND);
      service.answer = async () => {
        throw TIMEOUT;
      };
      service.look = async () => 'unclear';
      for (let time = 0; time < 2; time += 1) expect(await run()).toBeInstanceOf(InDoubtError);
      expect(await states(facade)).toEqual(['in_doubt']);
      expect(service.sent).toBe(2);
    });

    test('a refusal of a shared request reaches all callers who share it', async () => {
      const { tenant, intents, service } = await start();
      const asked = deferred();
      service.answer = async () => {
        await asked.promise;
        throw new InsufficientFundsError('too little', {
          requestedCents: 1,
          withdrawableCents: 0,
          balanceCents: 0,
          disputeBlockedCents: 0,
          subaccountsBalanceCents: null,
          cryptoBalanceLitoshi: null,
        });
      };
      const runs = Array.from({ length: 4 }, () =>
        failure(intents.run(tenant, operation(service, { key: 'k' }))),
      );
      asked.resolve();
      for (const refusal of await Promise.all(runs)) expect(refusal).toBeInstanceOf(InsufficientFundsError);
    });
  });

  describe('an unknown outcome', () => {
    test.each([
      ['a timeout', TIMEOUT],
      ['a reset', new UpstreamFault('reset', 'maybe')],
      ['a 502', new UpstreamFault('server_error', 'maybe', '502')],
      ['an answer that says so', new UpstreamError('OUTCOME_UNKNOWN', '?', { moneyMayHaveMoved: true })],
    ])(
      'a request is looked up at once after %s, and answered as if nothing had happened',
      async (_, error) => {
        const { tenant, intents, service } = await start();
        service.answer = async (key) => {
          service.do(key);
          throw error;
        };
        expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
          resourceId: 'made-k',
          replayed: false,
        });
        expect(service).toMatchObject({ sent: 1, looked: 1 });
      },
    );

    test('an unknown outcome is an error until a lookup finds the request, and nothing is sent again', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = () => Promise.reject(TIMEOUT);
      const error = await failure(intents.run(tenant, operation(service, { key: 'k' })));
      expect(error).toMatchObject({ retryable: false, moneyMayHaveMoved: true, lookupReference: 'look_k' });
      expect(await states(facade)).toEqual(['in_doubt']);
      expect((await intents.open(tenant, 'move')).map(({ key }) => key)).toEqual(['k']);
      // A repeated request gets the same error.
      expect(await failure(intents.run(tenant, operation(service, { key: 'k' })))).toMatchObject({
        moneyMayHaveMoved: true,
      });
      service.do('k');
      await pass(facade, MINUTE);
      expect(await states(facade)).toEqual(['done']);
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: true,
      });
      expect(service.sent).toBe(1);
    });

    test('an unknown outcome of a shared request is replayed to all callers but the one whose request was sent', async () => {
      const { tenant, intents, service } = await start();
      const asked = deferred();
      service.answer = async () => {
        await asked.promise;
        throw TIMEOUT;
      };
      const runs = Array.from({ length: 4 }, () =>
        failure(intents.run(tenant, operation(service, { key: 'k' }))),
      );
      asked.resolve();
      const replays = (await Promise.all(runs)).map((error) => (error as InDoubtError).replayed);
      expect(replays.sort()).toEqual([false, true, true, true]);
      expect(service.sent).toBe(1);
    });

    test('an unknown outcome is looked up soon, then less and less often, for as long as it takes', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = async () => 'unclear';
      await failure(intents.run(tenant, operation(service)));
      const looks: number[] = [];
      for (const ms of [10 * SECOND, 50 * SECOND, 9 * MINUTE, 23 * 60 * MINUTE]) {
        const before = service.looked;
        await pass(facade, ms);
        looks.push(service.looked - before);
      }
      expect(looks).toEqual([4, 2, 4, 23]);
      expect(await states(facade)).toEqual(['in_doubt']);
    });

    test.each([
      ['unclear', async () => 'unclear'],
      ['without an answer', () => Promise.reject(new UpstreamFault('circuit_open', 'no'))],
    ] satisfies [string, Service['look']][])(
      'a request that moves money is logged once after a quarter of an hour whose lookups are %s; another never',
      async (_, look) => {
        for (const movesMoney of [true, false]) {
          const facade = await start();
          const { tenant, intents, service, requests } = facade;
          requests.move = { ...requests.move!, movesMoney };
          service.answer = () => Promise.reject(TIMEOUT);
          service.look = look;
          await failure(intents.run(tenant, operation(service, { key: 'k' })));
          await pass(facade, 14 * MINUTE);
          expect(facade.faults).toEqual([]);
          await pass(facade, 3 * 60 * MINUTE);
          const message = expect.stringMatching(/^The outcome of move int_\w+ has been unknown since/);
          expect(facade.faults).toEqual(movesMoney ? [expect.objectContaining({ message })] : []);
        }
      },
    );

    test('an unknown outcome stays open for as long as the service cannot be asked', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = () => Promise.reject(new UpstreamFault('circuit_open', 'no'));
      await failure(intents.run(tenant, operation(service, { key: 'k' })));
      await pass(facade, 60 * MINUTE);
      expect(await states(facade)).toEqual(['in_doubt']);
      service.look = async () => ({ found: service.do('k') });
      await pass(facade, 60 * MINUTE);
      expect(await states(facade)).toEqual(['done']);
      expect(facade.faults).toEqual([]);
    });

    test.each([
      ['when there may be a slot', new RateLimitError('120 requests', 7), 7 * SECOND],
      ['twice a minute while the service is down', new UpstreamFault('unreachable', 'no'), 30 * SECOND],
    ])('a lookup that could not be made is repeated %s', async (_, reason, after) => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = () => Promise.reject(reason);
      await failure(intents.run(tenant, operation(service, { key: 'k' })));
      await pass(facade, SECOND);
      for (let round = 0; round < 20; round += 1) {
        const before = service.looked;
        await pass(facade, after);
        expect(service.looked).toBe(before + 1);
      }
      expect(await intents.open(tenant, 'move')).toMatchObject([{ lookups: 0 }]);
      service.look = async () => ({ found: service.do('k') });
      await pass(facade, after);
      expect(await states(facade)).toEqual(['done']);
    });

    test('a request is in doubt where an internal fault hides the answer', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = async (key) => {
        service.do(key);
        throw new TypeError('not a function');
      };
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toMatchObject({
        resourceId: 'made-k',
      });
      expect(facade.faults).toHaveLength(1);
    });
  });

  describe('a request that the service has never begun', () => {
    async function startAbsent() {
      const started = await start();
      const { tenant, intents, service } = started;
      const works = service.answer;
      service.answer = () => Promise.reject(TIMEOUT);
      await failure(intents.run(tenant, operation(service, { key: 'k' })));
      service.answer = works;
      await pass(started, 21 * MINUTE);
      expect(await states(started)).toEqual(['absent']);
      return started;
    }

    test('a request is given up after a quarter of an hour; its key may be used again with the same input alone', async () => {
      const facade = await startAbsent();
      const { tenant, intents, service } = facade;
      expect(await intents.open(tenant, 'move')).toEqual([]);
      const other = operation(service, { key: 'k', input: { amount: 2 } });
      await expect(intents.run(tenant, other)).rejects.toThrow(IdempotencyError);
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: false,
      });
      expect(service).toMatchObject({ sent: 2, done: ['k'] });
    });

    test('a request that was given up and is found after all is not sent again', async () => {
      const { tenant, intents, service } = await startAbsent();
      service.do('k');
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: true,
      });
      expect(service.sent).toBe(1);
    });

    test('a request that was given up is not sent again where the service cannot be asked once more', async () => {
      const { tenant, intents, service } = await startAbsent();
      service.look = () => Promise.reject(new UpstreamFault('unreachable', 'no'));
      expect(await failure(intents.run(tenant, operation(service, { key: 'k' })))).toMatchObject({
        retryable: true,
        moneyMayHaveMoved: false,
      });
      service.look = async () => 'unclear';
      expect(await failure(intents.run(tenant, operation(service, { key: 'k' })))).toMatchObject({
        moneyMayHaveMoved: true,
      });
      expect(service.sent).toBe(1);
    });

    describe('a kind that records what was never done', () => {
      async function startShown() {
        const started = await start();
        const { tenant, intents, service } = started;
        started.requests.move = shownKind(async (_, intent) => service.look(intent));
        const works = service.answer;
        service.answer = () => Promise.reject(TIMEOUT);
        const { intent } = (await failure(
          intents.run(tenant, operation(service, { key: 'k' })),
        )) as InDoubtError;
        service.answer = works;
        await pass(started, 21 * MINUTE);
        expect(await states(started)).toEqual(['absent']);
        return { ...started, shownAs: `made-${intent.id}` };
      }

      test.each<[string, (intent: Intent) => Promise<LookupResult>]>([
        ['does not have it', async () => 'not_there'],
        ['does not say', async () => 'unclear'],
        ['cannot be asked', () => Promise.reject(new UpstreamFault('unreachable', 'no'))],
        ['has no room', () => Promise.reject(new RateLimitError('120 requests a minute', 30))],
      ])(
        'a request that is recorded as never done is never sent again, where the service %s',
        async (_, look) => {
          const facade = await startShown();
          const { tenant, intents, service, shownAs } = facade;
          service.look = look;
          const again = () => intents.run(tenant, operation(service, { key: 'k' }));
          for (const each of await Promise.all([again(), again(), again()]))
            expect(each).toEqual({ resourceId: shownAs, replayed: true });
          const other = operation(service, { key: 'k', input: { amount: 2 } });
          await expect(intents.run(tenant, other)).rejects.toThrow(IdempotencyError);
          expect(await states(facade)).toEqual(['absent']);
          expect(service.sent).toBe(1);
        },
      );

      test('a request that an earlier version gave up unrecorded is recorded when its key is used again', async () => {
        const facade = await startAbsent();
        const { tenant, intents, service } = facade;
        facade.requests.move = shownKind(async (_, intent) => service.look(intent));
        const { resourceId, replayed } = await intents.run(tenant, operation(service, { key: 'k' }));
        expect(replayed).toBe(true);
        expect(await selectMirrored(database.sql, tenant, 'payout', [resourceId])).toHaveLength(1);
        expect(service.sent).toBe(1);
      });

      test('a request that is recorded as never done and found after all is done', async () => {
        const facade = await startShown();
        const { tenant, intents, service } = facade;
        service.do('k');
        const again = () => intents.run(tenant, operation(service, { key: 'k' }));
        expect(await again()).toEqual({ resourceId: 'made-k', replayed: true });
        expect(await states(facade)).toEqual(['done']);
        expect(await again()).toEqual({ resourceId: 'made-k', replayed: true });
        expect(service.sent).toBe(1);
      });
    });

    test('a request that was given up is sent once, though many callers repeat its key', async () => {
      const { tenant, intents, service } = await startAbsent();
      const runs = Array.from({ length: 8 }, () => intents.run(tenant, operation(service, { key: 'k' })));
      const done = await Promise.all(runs);
      expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(service.done).toEqual(['k']);
    });
  });

  describe('after a crash', () => {
    /** An instance that dies at this moment, after which it records nothing. */
    async function crashing(at: 'before it is sent' | 'before its answer is recorded') {
      const clock = createManualClock();
      const dead = await start({ clock });
      const reached = deferred();
      dead.service.answer = (key) => {
        if (at === 'before its answer is recorded') dead.service.do(key);
        reached.resolve();
        return new Promise(() => undefined);
      };
      void dead.intents.run(dead.tenant, operation(dead.service, { key: 'k' }));
      await reached.promise;
      await dead.work.close();
      const living = await startFacade({ database, upstream: NOBODY, clock, tenant: dead.tenant });
      connect(living, dead.service);
      return { ...living, service: dead.service };
    }

    test('a request whose instance died before it was sent is never sent, and given up', async () => {
      const facade = await crashing('before it is sent');
      await pass(facade, 30 * SECOND);
      expect(facade.service.looked).toBe(0);
      await pass(facade, 30 * MINUTE);
      expect(await states(facade)).toEqual(['absent']);
      expect(facade.service.sent).toBe(1);
    });

    test('a request whose instance died between answer and commit is found by another instance', async () => {
      const facade = await crashing('before its answer is recorded');
      await pass(facade, 2 * MINUTE);
      expect(await states(facade)).toEqual(['done']);
      const again = await facade.intents.run(facade.tenant, operation(facade.service, { key: 'k' }));
      expect(again).toEqual({ resourceId: 'made-k', replayed: true });
      expect(facade.service).toMatchObject({ sent: 1, looked: 1 });
    });

    test('a key that is repeated after its instance died is looked up, and not sent', async () => {
      const facade = await crashing('before its answer is recorded');
      const again = await facade.intents.run(facade.tenant, operation(facade.service, { key: 'k' }));
      expect(again).toEqual({ resourceId: 'made-k', replayed: true });
      expect(facade.service.sent).toBe(1);
    });

    test('a request whose commit alone fails is in doubt for a second', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      const broken: Observation = {
        read: () => Promise.reject(new Error('the disk is full')),
        decide: () => ({ resourceId: '', writes: {} }),
      };
      service.answer = async (key) => {
        service.do(key);
        return broken;
      };
      expect(await failure(intents.run(tenant, operation(service, { key: 'k' })))).toMatchObject({
        moneyMayHaveMoved: true,
        lookupReference: 'look_k',
      });
      await pass(facade, 2 * SECOND);
      expect(await states(facade)).toEqual(['done']);
      expect(facade.faults).toHaveLength(1);
    });
  });

  describe('on two instances', () => {
    /** Refuses all requests after `refused` is resolved. */
    function refusing(service: Service) {
      const [sent, refused] = [deferred(), deferred()];
      service.answer = async () => {
        sent.resolve();
        await refused.promise;
        throw REFUSED;
      };
      return { sent, refused };
    }

    async function startTwo() {
      const clock = createManualClock();
      const one = await start({ clock });
      const two = await startFacade({ database, upstream: NOBODY, clock, tenant: one.tenant });
      connect(two, one.service);
      return { one, two: { ...two, service: one.service }, service: one.service, tenant: one.tenant };
    }

    test('a request to two instances is sent by one of them', async () => {
      const { one, two, service, tenant } = await startTwo();
      const runs = Array.from({ length: 16 }, (_, index) =>
        [one, two][index % 2]!.intents.run(tenant, operation(service, { key: 'k' })).catch((error) => error),
      );
      const outcomes = await Promise.all(runs);
      expect(service.done).toEqual(['k']);
      for (const outcome of outcomes)
        if (outcome instanceof UpstreamError) expect(outcome).toMatchObject({ moneyMayHaveMoved: true });
        else expect(outcome.resourceId).toBe('made-k');
      expect(outcomes.filter(({ replayed }) => replayed === false).length).toBeLessThanOrEqual(1);
      expect(await states(one)).toEqual(['done']);
    });

    test('a request that the other instance finds before its own answer comes is done once', async () => {
      const { one, two, service, tenant } = await startTwo();
      const [done, answered] = [deferred(), deferred()];
      service.answer = async (key) => {
        const observation = service.do(key);
        done.resolve();
        await answered.promise;
        return observation;
      };
      const first = one.intents.run(tenant, operation(service, { key: 'k' }));
      await done.promise;
      expect(await two.intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: true,
      });
      answered.resolve();
      expect(await first).toEqual({ resourceId: 'made-k', replayed: false });
      expect(await states(one)).toEqual(['done']);
    });

    test.each(['not_there', 'early'] as const)(
      'a request that the service does not show whole (%s) while one instance sends it is waited for by the other',
      async (seenAs) => {
        const { one, two, service, tenant } = await startTwo();
        const [sent, looked, answered] = [deferred(), deferred(), deferred()];
        service.answer = async (key) => {
          sent.resolve();
          await answered.promise;
          return service.do(key);
        };
        service.look = async ({ key }) => {
          looked.resolve();
          return seenAs === 'early' ? { found: seen(key), provisional: true } : seenAs;
        };
        const first = one.intents.run(tenant, operation(service, { key: 'k' }));
        await sent.promise;
        const second = two.intents.run(tenant, operation(service, { key: 'k' }));
        await looked.promise;
        expect(await states(one)).toEqual(['sending']);
        answered.resolve();
        expect(await first).toEqual({ resourceId: 'made-k', replayed: false });
        expect(await second).toEqual({ resourceId: 'made-k', replayed: true });
        expect(service.sent).toBe(1);
        expect([...one.faults, ...two.faults]).toEqual([]);
      },
    );

    test.each([true, false])(
      'a request that takes long is in doubt for the other instance, where that one hears notifications: %s',
      async (hears) => {
        const one = await start({ clock: createManualClock() });
        const { service, tenant } = one;
        const deaf: Database = {
          ...database,
          listen: (channel, heard) =>
            channel === 'psa_intent' ? new Promise(() => undefined) : database.listen(channel, heard),
        };
        const of = { database: hears ? database : deaf, upstream: NOBODY, clock: one.clock, tenant };
        const two = await startFacade(of);
        connect(two, service);
        const [sent, looked, answered] = [deferred(), deferred(), deferred()];
        service.answer = async (key) => {
          sent.resolve();
          await answered.promise;
          return service.do(key);
        };
        const first = one.intents.run(tenant, operation(service, { key: 'k' }));
        await sent.promise;
        const waits = waitsOf(two.clock);
        service.look = async () => {
          looked.resolve();
          return 'not_there';
        };
        const second = failure(two.intents.run(tenant, operation(service, { key: 'k' })));
        await looked.promise;
        await waits.begun;
        two.clock.advance(5 * SECOND);
        expect(await second).toMatchObject({ moneyMayHaveMoved: true, lookupReference: 'look_k' });
        answered.resolve();
        expect(await first).toEqual({ resourceId: 'made-k', replayed: false });
      },
    );

    test.each(['done', 'refused'] as const)(
      'a request that is %s during any step of the other instance’s lookup is never in doubt there without being shown so',
      async (end) => {
        const clock = createManualClock();
        const one = await start({ clock });
        const { service, tenant } = one;
        const schedule = clock.schedule;
        // A caller does not wait long for a request that another instance sends.
        let isAboutToWait = false;
        clock.schedule = (at, task) => {
          const cancel = schedule(at, task);
          if (isAboutToWait && at.getTime() - clock.now().getTime() === 5 * SECOND) {
            isAboutToWait = false;
            queueMicrotask(() => clock.advance(5 * SECOND));
          }
          return cancel;
        };
        const look: OutcomeLookup = async () => {
          isAboutToWait = true;
          return 'not_there';
        };
        const outcomes = new Set<string>();
        for (let at = 0, reached = true; reached; at += 1) {
          const key = `key-${at}`;
          const [sent, ended] = [deferred(), deferred()];
          service.answer = async () => {
            sent.resolve();
            await ended.promise;
            if (end === 'refused') throw REFUSED;
            return service.do(key);
          };
          const first = one.intents.run(tenant, operation(service, { key })).catch((error) => error);
          await sent.promise;
          let point = 0;
          reached = false;
          const slow = interceptStatements(database, async () => {
            if (point++ !== at) return;
            reached = true;
            ended.resolve();
            await first;
          });
          const two = await startFacade({ database: slow, upstream: NOBODY, clock, tenant });
          two.requests.move = { lookUp: look, inDoubt: ({ id }) => seen(id) };
          point = 0;
          const outcome = await two.intents
            .run(tenant, operation(service, { key }))
            .catch((error: unknown) => error);
          ended.resolve();
          await first;
          outcomes.add(outcome instanceof InDoubtError ? 'in doubt' : end);
          if (outcome instanceof InDoubtError)
            expect(
              await selectMirrored(database.sql, tenant, 'payout', [`made-${outcome.intent.id}`]),
              `point ${at}`,
            ).toHaveLength(1);
          else if (end === 'refused') expect(outcome, `point ${at}`).toBe(REFUSED);
          else expect(outcome, `point ${at}`).toMatchObject({ resourceId: `made-${key}` });
        }
        expect([...outcomes].sort()).toEqual([end, 'in doubt'].sort());
      },
    );

    test('a request that is given up during the other instance’s lookup is not sent again by that one', async () => {
      const { one, two, service, tenant } = await startTwo();
      service.answer = async () => {
        throw TIMEOUT;
      };
      service.look = async () => 'unclear';
      await failure(one.intents.run(tenant, operation(service, { key: 'k' })));
      await two.work.close();
      await pass(one, 16 * MINUTE);
      service.look = async () => {
        service.look = async () => 'not_there';
        await pass(one, 61 * MINUTE);
        expect(await states(one)).toEqual(['absent']);
        return 'not_there';
      };
      const second = await failure(two.intents.run(tenant, operation(service, { key: 'k' })));
      expect(second).toBeInstanceOf(InDoubtError);
      expect(service.sent).toBe(1);
      expect(await states(one)).toEqual(['absent']);
    });

    test('a request that is given up during the other instance’s lookup is given to that one as it is shown', async () => {
      const { one, two, service, tenant } = await startTwo();
      const kind = shownKind(async (_, intent) => service.look(intent));
      for (const { requests } of [one, two]) requests.move = kind;
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = async () => 'unclear';
      const { intent } = (await failure(
        one.intents.run(tenant, operation(service, { key: 'k' })),
      )) as InDoubtError;
      await two.work.close();
      await pass(one, 16 * MINUTE);
      service.look = async () => {
        service.look = async () => 'not_there';
        await pass(one, 61 * MINUTE);
        expect(await states(one)).toEqual(['absent']);
        return 'not_there';
      };
      expect(await two.intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: `made-${intent.id}`,
        replayed: true,
      });
      expect(service.sent).toBe(1);
    });

    test('a request that is refused after the other instance has shown it in doubt is not sent again under its key', async () => {
      const { one, two, service, tenant } = await startTwo();
      const kind = shownKind(async () => 'not_there');
      for (const { requests } of [one, two]) requests.move = kind;
      const works = service.answer;
      const { sent, refused } = refusing(service);
      const first = failure(one.intents.run(tenant, operation(service, { key: 'k' })));
      await sent.promise;
      const waits = waitsOf(two.clock);
      const second = failure(two.intents.run(tenant, operation(service, { key: 'k' })));
      await waits.begun;
      two.clock.advance(5 * SECOND);
      const { intent } = (await second) as InDoubtError;
      refused.resolve();
      expect(await first).toBe(REFUSED);
      expect(await states(one)).toEqual(['absent']);
      service.answer = works;
      for (const { intents } of [one, two])
        expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
          resourceId: `made-${intent.id}`,
          replayed: true,
        });
      expect(service.sent).toBe(1);
    });

    test('a request is answered though no instance can be notified', async () => {
      const mute: Database = { ...database, notify: () => new Promise(() => undefined) };
      const { intents, tenant, service } = await start({ database: mute });
      expect(await intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: false,
      });
    });

    test('a request that is refused during the other instance’s lookup is sent by the other', async () => {
      const { one, two, service, tenant } = await startTwo();
      const works = service.answer;
      const { sent, refused } = refusing(service);
      const first = failure(one.intents.run(tenant, operation(service, { key: 'k' })));
      await sent.promise;
      service.look = async () => {
        service.answer = works;
        refused.resolve();
        await first;
        return 'not_there';
      };
      expect(await two.intents.run(tenant, operation(service, { key: 'k' }))).toEqual({
        resourceId: 'made-k',
        replayed: false,
      });
      expect(await first).toBe(REFUSED);
      expect(service.done).toEqual(['k']);
    });

    test('a refusal that comes when the key is in use again ends nothing of the new attempt', async () => {
      const { one, two, service, tenant } = await startTwo();
      const works = service.answer;
      const { sent, refused } = refusing(service);
      const first = failure(one.intents.run(tenant, operation(service, { key: 'k' })));
      await sent.promise;
      await one.work.close();
      await pass(two, 21 * MINUTE);
      expect(await states(two)).toEqual(['absent']);
      const [sentAgain, answered] = [deferred(), deferred()];
      service.answer = async (key, intent) => {
        sentAgain.resolve();
        await answered.promise;
        return works(key, intent);
      };
      const second = two.intents.run(tenant, operation(service, { key: 'k' }));
      await sentAgain.promise;
      refused.resolve();
      expect(await first).toBe(REFUSED);
      expect(await states(two)).toEqual(['sending']);
      answered.resolve();
      expect(await second).toMatchObject({ replayed: false });
      expect(await states(two)).toEqual(['done']);
    });

    test('an answer that comes after the request was given up is recorded all the same', async () => {
      const { one, two, service, tenant } = await startTwo();
      const [sent, answered] = [deferred(), deferred()];
      service.answer = async (key) => {
        sent.resolve();
        await answered.promise;
        return service.do(key);
      };
      const first = one.intents.run(tenant, operation(service, { key: 'k' }));
      await sent.promise;
      await one.work.close();
      await pass(two, 21 * MINUTE);
      answered.resolve();
      expect(await first).toMatchObject({ resourceId: 'made-k' });
      expect(await states(two)).toEqual(['done']);
    });
  });

  describe('recognition by traits', () => {
    test('a request is not taken for a resource that another request has made', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      await intents.run(tenant, operation(service, { key: 'a' }));
      expect(await intents.claimed(tenant, 'move', ['made-a', 'made-b'])).toEqual(new Set(['made-a']));
      expect(await intents.claimed(tenant, 'other', ['made-a'])).toEqual(new Set());
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = async () => ({ found: { ...seen('a'), resourceId: 'made-a' } });
      expect(await failure(intents.run(tenant, operation(service, { key: 'b' })))).toMatchObject({
        moneyMayHaveMoved: true,
      });
      expect(await states(facade)).toEqual(['done', 'in_doubt']);
    });

    test('of two requests that are answered with one resource the second is in doubt, and one that is safe to repeat is an error', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = async () => ({ ...seen('a'), resourceId: 'made-a' });
      service.look = async () => 'not_there';
      await intents.run(tenant, operation(service, { key: 'a' }));
      expect(await failure(intents.run(tenant, operation(service, { key: 'b' })))).toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        moneyMayHaveMoved: true,
      });
      expect(await states(facade)).toEqual(['done', 'in_doubt']);
      const sale = operation(service, { key: 'c', safeToRepeat: true });
      expect(await failure(intents.run(tenant, sale))).toMatchObject({
        code: 'UPSTREAM_REFUSED',
        retryable: false,
        moneyMayHaveMoved: false,
      });
      expect(await states(facade)).toEqual(['done', 'in_doubt', 'refused']);
      expect(facade.faults.splice(0).map(String)).toEqual(
        Array(2).fill(
          'Error: The payments service was asked for moving, and has answered with what belongs to another request',
        ),
      );
    });

    test('of two lost requests that are looked up together one is found', async () => {
      const facade = await start();
      const { tenant, intents, service } = facade;
      service.answer = () => Promise.reject(TIMEOUT);
      service.look = async () => ({ found: { ...seen('x'), resourceId: 'made-x' } });
      const runs = ['a', 'b'].map((key) =>
        intents.run(tenant, operation(service, { key, name: `move:${objectId()}` })).catch(() => null),
      );
      expect((await Promise.all(runs)).filter(Boolean)).toHaveLength(1);
      expect(await states(facade)).toEqual(['done', 'in_doubt']);
    });
  });

  test('a request at a faster pace is given up as much sooner', async () => {
    const facade = await start({ pace: 0.01 });
    const { tenant, intents, service } = facade;
    service.answer = () => Promise.reject(TIMEOUT);
    await failure(intents.run(tenant, operation(service)));
    await pass(facade, 13 * SECOND);
    expect(await states(facade)).toEqual(['absent']);
  });
});

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('was not refused');
    },
    (error) => error,
  );
}
