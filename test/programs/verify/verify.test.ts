import { type CompiledQuery, type KyselyPlugin, sql as raw } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { OutageError } from '../../../server/src/kernel/errors.ts';
import { pendingOf } from '../../../server/src/programs/verify/changes.ts';
import { LAWS } from '../../../server/src/programs/verify/laws/all.ts';
import { digestOf } from '../../../server/src/programs/verify/statement.ts';
import { saveCheckpoint, saveVerified, selectVerified } from '../../../server/src/programs/verify/store.ts';
import { createVerifier } from '../../../server/src/programs/verify/verifier.ts';
import { type Database, NoConnection, type Sql } from '../../../server/src/state/db/database.ts';
import { createRandom } from '../../faults/random.ts';
import { seedsFrom, textOfFailure } from '../../sim/failure.ts';
import { TOUR } from '../../sim/outcomes.ts';
import { openPrepared } from '../../sim/prepared.ts';
import { playSeeds } from '../../sim/seeds.ts';
import { scale } from '../../support/scale.ts';
import { plant, plantable } from './planted-rows.ts';

const PLANTED = scale('PLANTED_ROWS');

const verifierOf = (database: Database) =>
  createVerifier({ database, clock: createSystemClock(), isFacade: false, pause: async () => undefined });

const WHOLE = { sinceLast: false };

class TooLong extends OutageError {
  override readonly mayBeDone = false;
}

/** Connections on which the statement of the totals takes too long. */
function withSlow(database: Database): Database {
  const slowed = (sql: Sql) =>
    new Proxy(sql, {
      get(target, name) {
        if (name === 'executeQuery')
          return (query: CompiledQuery) =>
            query.sql.includes('days_count')
              ? Promise.reject(new TooLong('canceled'))
              : target.executeQuery(query);
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  return { ...database, transaction: (work) => database.transaction((sql) => work(slowed(sql))) };
}

/** A database where each seventh statement finds no connection. */
function withOutages(database: Database): Database {
  let statements = 0;
  const begin = () => {
    statements += 1;
    if (statements % 7 === 0) throw new NoConnection('the database is restarted');
  };
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      begin();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    ...database,
    sql: database.sql.withPlugin(plugin),
    async transaction(work) {
      begin();
      return database.transaction(work);
    },
    async maintenance(work) {
      begin();
      return database.maintenance(work);
    },
  };
}

test(`Beside writers nothing is found in sound books, and each of ${PLANTED} changed values is`, {
  timeout: 600_000 + PLANTED * 5_000,
}, async () => {
  const database = await openPrepared('PostgreSQL');
  onTestFinished(() => database.close());
  const verifier = verifierOf(database);

  const playing = playSeeds({ database, seeds: seedsFrom(1, 1), tour: TOUR });
  let plays = true;
  void playing.finally(() => {
    plays = false;
  });
  const wrong: unknown[] = [];
  while (plays) {
    const { findings, undecided } = await verifier.verify(WHOLE);
    wrong.push(...findings, ...undecided);
  }
  expect(wrong).toEqual([]);
  expect((await playing).failures.map(textOfFailure)).toEqual([]);

  if (PLANTED > 100) await playSeeds({ database, seeds: seedsFrom(2, 6) });
  const sound = await verifier.verify(WHOLE);
  expect(sound).toMatchObject({ holds: true, findings: [], undecided: [] });
  expect(sound.looked.transactions).toBeGreaterThan(50);

  expect(await verifier.verify({ ...WHOLE, law: 'balance-is-sum' })).toMatchObject({
    holds: true,
    findings: [],
  });
  const whole = await selectVerified(database.sql);
  const since = await verifier.verify({ sinceLast: true });
  expect(since).toMatchObject({ holds: true, looked: { transactions: 0, events: 0 } });
  expect(since.looked.resources).toBeLessThan(sound.looked.resources);
  // What has not changed was not looked at: each law is as old as before.
  expect(await selectVerified(database.sql)).toEqual(whole);
  // A law that is new was not decided for what was there before, and is shown only if it is broken.
  const added = 'evidence-has-files';
  await database.sql.deleteFrom('verified_law').where('law', '=', added).execute();
  await verifier.verify({ sinceLast: true });
  expect(await selectVerified(database.sql)).toEqual(whole.filter(({ law }) => law !== added));
  await saveVerified(database.sql, [{ law: added, findings: 2, verifiedAt: whole[0]!.verifiedAt }], {
    isWhole: false,
  });
  expect(await selectVerified(database.sql)).toContainEqual({
    ...{ law: added, findings: 2, verifiedAt: new Date(0) },
  });
  const named = await verifier.verify({ sinceLast: true, law: 'counts-of-lists' });
  expect(named.statements).toBeGreaterThan(0);
  const [oldest] = (await selectVerified(database.sql)).filter(({ law }) => law === 'counts-of-lists');
  expect(oldest!.verifiedAt.getTime()).toBeGreaterThan(whole[0]!.verifiedAt.getTime());
  // Where events are gone that would have named what has changed, everything is looked at.
  await database.sql.updateTable('verify_checkpoint').set({ version: -1 }).execute();
  expect(await verifier.verify({ sinceLast: true })).toMatchObject({ holds: true, looked: sound.looked });
  // A law that is new or corrected is decided on what was there before, too.
  await verifier.verify({ sinceLast: true });
  await database.sql.updateTable('verify_checkpoint').set({ laws: 'others' }).execute();
  expect(await verifier.verify({ sinceLast: true })).toMatchObject({ holds: true, looked: sound.looked });
  // A total that takes too long gets a connection without a deadline. Without one it holds nothing else up.
  const slow = withSlow(database);
  expect(await verifierOf(slow).verify(WHOLE)).toMatchObject({ holds: true, undecided: [] });
  const away = { ...slow, maintenance: () => Promise.reject(new TooLong('canceled')) };
  const { undecided: totals, findings: nothing } = await verifierOf(away).verify(WHOLE);
  expect(nothing).toEqual([]);
  expect(totals[0]!.laws).toContain('counts-of-lists');
  expect(totals[0]!.laws).not.toContain('balance-is-sum');
  // What was merely not decided leaves the place up to which nothing was found.
  expect(await verifier.verify({ sinceLast: true })).toMatchObject({
    looked: { transactions: 0, events: 0 },
  });
  expect(await verifierOf(withOutages(database)).verify(WHOLE)).toMatchObject({
    ...{ holds: true, undecided: [], looked: sound.looked },
  });
  const facade = createVerifier({
    database,
    clock: createSystemClock(),
    isFacade: true,
    pause: async () => undefined,
  });
  const { findings: none, undecided } = await facade.verify(WHOLE);
  expect(none).toEqual([]);
  expect(undecided).toMatchObject([{ account: null, reason: expect.stringContaining('not in this mode') }]);
  expect(undecided[0]!.laws).toContain('balance-is-sum');
  expect(undecided[0]!.laws).not.toContain('log-versions');

  const columns = await plantable(database.sql);
  const random = createRandom(5);
  const laws = digestOf(LAWS.filter(({ scope, onRequest }) => scope.length > 0 && !onRequest));
  const missed: string[] = [];
  let planted = 0;
  for (let n = 0; planted < PLANTED && n < PLANTED * 3; n += 1) {
    const column = columns[PLANTED < columns.length ? random.below(columns.length) : n % columns.length]!;
    const one = await plant(database, column, random);
    if (!one) continue;
    planted += 1;
    const { accountId } = one;
    const { findings } = await verifier.verify({ ...WHOLE, accountId });
    // Since a checkpoint at the beginning everything has changed.
    for (const environment of ['live', 'sandbox'] as const)
      await saveCheckpoint(
        database.sql,
        { accountId, environment },
        { number: 0, version: 0, sums: {}, sighting: 0, laws },
      );
    const { findings: afterAll } = await verifier.verify({ sinceLast: true, accountId });
    for (const [run, found] of Object.entries({ whole: findings, sinceLast: afterAll }))
      if (found.length === 0)
        missed.push(`${run}: ${one.table}.${one.column}: ${one.before} to ${one.after}`);
    await one.undo();
  }
  expect(missed).toEqual([]);
  expect(planted).toBe(PLANTED);
  expect(await verifier.verify(WHOLE)).toMatchObject({ holds: true });

  // A release of another amount, whose postings sum to zero.
  await database.transaction(async (sql) => {
    await raw`set local session_replication_role = replica`.execute(sql);
    await raw`update posting set amount = amount + sign(amount) where transaction_id = (
      select min(transaction_id) from posting where starts_with(transaction_id, 'card_payment.released:')
    )`.execute(sql);
  });
  const { findings: releases } = await verifier.verify({ ...WHOLE, law: 'card-pending' });
  expect(releases).toMatchObject([{ found: { pending: -1 } }]);
});

test('Pending payments and charges are found by a range of an index for each of their kinds', async () => {
  const database = await openPrepared('PostgreSQL');
  onTestFinished(() => database.close());
  const tenant = { accountId: 'acc_1', environment: 'live' } as const;
  for (const [family, column, kind] of [
    ['payment', 'method', 'pix'],
    ['charge', 'kind', 'single'],
  ] as const) {
    const plan = await database.transaction(async (sql) => {
      await raw`set local enable_seqscan = off`.execute(sql);
      // The empty table makes all indexes of the tenant's rows equal: only the one by status remains.
      await raw`
        do ${raw.raw(`$$ declare each record; begin
          for each in select indexrelid::regclass as name from pg_index
            where indrelid = '${family}'::regclass and not indisprimary
              and indexrelid <> '${family}_by_${column}_and_status'::regclass
              and not exists (select from pg_constraint where conindid = indexrelid)
          loop execute format('drop index %s', each.name); end loop;
        end $$`)}`.execute(sql);
      const { rows } = await raw<
        Record<string, string>
      >`explain ${pendingOf(tenant, family, { kind, after: 0 })}`.execute(sql);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(new RegExp(`Index Cond: .*${column} = .*status = 'pending'`));
  }
});
