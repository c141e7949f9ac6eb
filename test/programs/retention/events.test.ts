import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../../server/src/kernel/clock.ts';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import { CursorExpiredError } from '../../../server/src/kernel/errors.ts';
import { KEEP_ALL, type Keep } from '../../../server/src/programs/retention/model.ts';
import { openRetention } from '../../../server/src/programs/retention/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { NewEvent } from '../../../server/src/state/events/event.ts';
import { readPosition } from '../../../server/src/state/events/log.ts';
import { subscribe } from '../../../server/src/state/events/subscribe.ts';
import { encodeCursor, updatesCursors } from '../../../server/src/state/events/subscription-group.ts';
import type { Task } from '../../../server/src/state/work/store.ts';
import { type Core, revocationOf, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { scale } from '../../support/scale.ts';
import { wrapStatements } from '../../support/statements.ts';

const cursorsFor = createCursors(Buffer.alloc(16, 'key'));
const DAYS = 30;
const KEEP: Keep = { ...KEEP_ALL, events: DAYS };

describeOnDatabase('the age of events', (open) => {
  test('Beside writers and removal, each cursor is followed by all that came after it, or is expired', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const log = await write(core, 40, 30);
    const retain = await retention(core);
    const counts = { whole: 0, expired: 0, interrupted: 0 };
    const cursors = scale('AGED_CURSORS');
    const random = createRandom(57);
    for (let round = 0; round < cursors; round += 20) {
      const removing = (async () => {
        for (let run = 0; run < 2; run += 1) await retain();
      })();
      const writing = write(core, 1, 10, log);
      const reading = Promise.all(
        Array.from({ length: 20 }, async () => {
          const version = Math.floor(random() * log.length);
          // A cursor is read two pages on, and some to the end.
          const most = random() < 0.05 ? Number.POSITIVE_INFINITY : 250;
          counts[await readOn(core, log, version, most)] += 1;
        }),
      );
      await Promise.all([removing, writing, reading]);
    }
    const { kept_from: keptFrom } = await placesOf(core);
    expect(keptFrom).toBeGreaterThan(100);
    expect(await versionsOf(core)).toEqual(
      Array.from({ length: log.length - keptFrom }, (_, index) => keptFrom + index),
    );
    // Both outcomes have been seen often.
    expect(Math.min(counts.whole, counts.expired)).toBeGreaterThan(cursors / 10);
    expect(counts.whole + counts.expired + counts.interrupted).toBe(Math.ceil(cursors / 20) * 20);
  });

  test('Wherever removal is interrupted, no cursor misses an event, and the next run goes on', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const log = await write(core, 40, 12);
    for (let at = 0, isInterrupted = true; isInterrupted; at += 1) {
      let statement = 0;
      isInterrupted = false;
      // The statement is done, and its answer is lost, as is the process.
      const dying = wrapStatements(core.database, async (run) => {
        const answer = await run();
        if (statement++ === at) {
          isInterrupted = true;
          throw new Error('killed');
        }
        return answer;
      });
      const retain = await retention(core, { database: dying });
      await retain().catch(() => undefined);
      for (const version of [0, 5, 11, 12, 100, log.length - 1]) await readOn(core, log, version);
      await write(core, 1, 12, log);
    }
    const { kept_from: keptFrom } = await placesOf(core);
    const retain = await retention(core);
    for (let run = 0; run < 5; run += 1) await retain();
    const after = await placesOf(core);
    expect(after.kept_from).toBeGreaterThanOrEqual(keptFrom);
    expect(after.removed_to).toBe(after.kept_from);
    expect((await versionsOf(core))[0]).toBe(after.kept_from);
  });

  test('The log has no event that is too old but the one at which it begins, and all younger ones', async () => {
    const core = await startCore({ database: await open(), follows: false });
    await write(core, 40, 3);
    const retain = await retention(core);
    for (let run = 0; run < 3; run += 1) await retain();
    const { rows } = await sql<{ occurred_at: Date }>`
      select occurred_at from event where account_id = ${core.tenant.accountId} order by version`.execute(
      core.database.sql,
    );
    const limit = core.clock.ms() - DAYS * DAY_MS;
    expect(rows.map(({ occurred_at: at }) => at.getTime() < limit)).toEqual([
      true,
      ...Array.from({ length: rows.length - 1 }, () => false),
    ]);
    expect(rows).toHaveLength(1 + 3 * DAYS);
  });

  test('An account that has stood still for years keeps its last event, and its cursor goes on', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const log = await write(core, 1, 3);
    const position = await readPosition(core.database.sql, core.tenant);
    core.clock.advance(1_000 * DAY_MS);
    const retain = await retention(core);
    for (let run = 0; run < 3; run += 1) await retain();
    expect(await versionsOf(core)).toEqual([3]);
    expect(await readPosition(core.database.sql, core.tenant)).toEqual(position);
    await write(core, 1, 2, log);
    expect(await readOn(core, log, 3)).toBe('whole');
    expect(await readOn(core, log, 2)).toBe('expired');
  });

  describe('the guard of the database', () => {
    test('The database lets no event go that a cursor can be followed by, nor a log begin behind its end', async () => {
      const core = await startCore({ database: await open(), follows: false });
      await write(core, 1, 5);
      const { sql: db } = core.database;
      const of = sql`where account_id = ${core.tenant.accountId}`;
      const REFUSED = /append-only/;
      await expect(sql`delete from event ${of} and version = 1`.execute(db)).rejects.toThrow(REFUSED);
      await expect(sql`update stream set kept_from = 6 ${of}`.execute(db)).rejects.toThrow(/log_is_whole/);
      await sql`update stream set kept_from = 3 ${of}`.execute(db);
      await expect(sql`delete from event ${of} and version <= 3`.execute(db)).rejects.toThrow(REFUSED);
      await sql`delete from event ${of} and version < 3`.execute(db);
      expect(await versionsOf(core)).toEqual([3, 4, 5]);
    });
  });
});

// ── Builders ────────────────────────────────────────────────────────────────────────────────────

/** Writes events on each of some days, those of a day in one commit. Returns the marks of all, by their versions. */
async function write(
  core: Core,
  days: number,
  aDay: number,
  marks: number[] = [0],
  eventOf: (index: number) => NewEvent = (index) => revocationOf(String(index)),
): Promise<number[]> {
  for (let day = 0; day < days; day += 1) {
    await core.committer.change({
      tenant: core.tenant,
      read: async () => undefined,
      decide: () => ({
        outcome: undefined,
        writes: { events: Array.from({ length: aDay }, (_, index) => eventOf(index)) },
      }),
    });
    const { mark } = await readPosition(core.database.sql, core.tenant);
    marks.push(...Array.from({ length: aDay }, () => mark));
    core.clock.advance(DAY_MS);
  }
  return marks;
}

/** Opens the removal of events, as a function that does one run. */
async function retention(
  core: Core,
  { database = core.database }: { database?: Database } = {},
): Promise<() => Promise<void>> {
  const { tasks } = await openRetention({
    ...{ database, clock: core.clock, keep: KEEP },
    onFault: (fault) => core.faults.push(fault),
  });
  return () => tasks.retention({ ...core.tenant, kind: 'retention', key: '' } as Task);
}

/**
 * Follows a cursor through `most` events, at most to the end that the log has now. Fails if an event is missing or out of
 * place.
 */
async function readOn(
  { database, tailer, tenant }: Core,
  marks: readonly number[],
  version: number,
  most = Number.POSITIVE_INFINITY,
): Promise<'whole' | 'expired' | 'interrupted'> {
  const end = Math.min(marks.length - 1, version + most);
  const signal = new AbortController();
  onTestFinished(() => signal.abort());
  let last = version;
  try {
    const updates = await subscribe<number>({
      ...{ database, tailer, cursorsFor, tenant, topic: {}, signal: signal.signal },
      after: encodeCursor(updatesCursors(cursorsFor, tenant), { version, mark: marks[version]! }),
      toItem: (event) => event.version,
      isLast: () => false,
    });
    while (last < end) {
      const { value } = await updates.next();
      expect(value).toBe(last + 1);
      last = value;
    }
    return 'whole';
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error;
    const { kept_from: keptFrom } = await placesOf({ database, tenant });
    expect(last).toBeLessThan(keptFrom);
    return last === version ? 'expired' : 'interrupted';
  } finally {
    signal.abort();
  }
}

async function placesOf({ database, tenant }: Pick<Core, 'database' | 'tenant'>) {
  return database.sql
    .selectFrom('stream')
    .select(['kept_from', 'removed_to'])
    .where('account_id', '=', tenant.accountId)
    .executeTakeFirstOrThrow();
}

async function versionsOf({ database, tenant }: Core): Promise<number[]> {
  const rows = await database.sql
    .selectFrom('event')
    .select('version')
    .where('account_id', '=', tenant.accountId)
    .orderBy('version')
    .execute();
  return rows.map(({ version }) => version);
}

/** Random numbers from 0 up to 1, the same ones each time. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
