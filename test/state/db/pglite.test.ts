import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Clock, createSystemClock } from '../../../server/src/kernel/clock.ts';
import { DataDirLockedError, lockDataDir } from '../../../server/src/state/db/lock.ts';
import { openPglite, type Pglite } from '../../../server/src/state/db/pglite.ts';
import { deferred } from '../../support/deferred.ts';
import { firstInSample, runsAll } from '../../support/scale.ts';
import { onFatal, silent } from '../../support/templates.ts';

let folder: string;
let dataDir: string;
const opened: Pglite[] = [];
const children: ChildProcessWithoutNullStreams[] = [];

async function newFolder(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'psa pglite-'));
  dataDir = join(folder, 'data');
}

async function clear(): Promise<void> {
  await Promise.all(opened.splice(0).map((database) => database.close()));
  await Promise.all(children.splice(0).map(kill));
  await rm(folder, { recursive: true });
}

async function open(clock: Clock = createSystemClock()): Promise<Pglite> {
  const database = await openPglite({
    ...inject('templates').pglite,
    dataDir,
    clock,
    log: silent,
    onFatal,
  });
  opened.push(database);
  return database;
}

function startChild(task: string, env: NodeJS.ProcessEnv = {}) {
  const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const preload = env.BROKEN ? ['--import', file('./break-disk.mjs')] : [];
  const child = spawn(
    process.execPath,
    ['--liftoff-only', ...preload, file('./pglite-child.mjs'), dataDir, task, env.BREAK_DISK ?? ''],
    { cwd: file('.'), env: { ...process.env, SEED: inject('templates').pglite.seed, ...env } },
  );
  child.stderr.pipe(process.stderr);
  children.push(child);
  return child;
}

async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function* says(child: ChildProcessWithoutNullStreams): AsyncGenerator<unknown> {
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
}

describe('a folder that was closed and is opened again, in which somebody has switched the flushes off', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  let scheduled = deferred<() => void>();
  const clock: Clock = {
    now: () => now,
    ms: () => now.getTime(),
    schedule(_at, task) {
      scheduled.resolve(task);
      return () => undefined;
    },
  };
  let database: Pglite;
  beforeAll(async () => {
    await newFolder();
    await (await open()).close();
    await writeFile(join(dataDir, 'pgdata', 'postgresql.conf'), 'fsync = off\nsynchronous_commit = off\n');
    database = await open(clock);
  });
  afterAll(clear);

  test('A reopened folder has its flushes on, although its settings switch them off', async () => {
    const { rows } =
      await sql`select current_setting('fsync') fsync, current_setting('synchronous_commit') sync`.execute(
        database.sql,
      );
    expect(rows).toEqual([{ fsync: 'on', sync: 'on' }]);
  });

  test('every commit reaches the disk before it is answered', async () => {
    await sql`create table note (id int)`.execute(database.sql);
    for (let id = 0; id < 10; id++) {
      const before = database.flushes();
      await sql`insert into note values (${id})`.execute(database.sql);
      expect(database.flushes()).toBeGreaterThan(before);
    }
    const before = database.flushes();
    await database.transaction((tx) => sql`insert into note values (11)`.execute(tx));
    expect(database.flushes()).toBeGreaterThan(before);
  });

  test('A folder cannot be opened a second time by the same process', async () => {
    await expect(open()).rejects.toBeInstanceOf(DataDirLockedError);
  });

  test('timers fire while a statement runs', async () => {
    let ticks = 0;
    let running = true;
    const tick = () => {
      ticks += 1;
      if (running) setTimeout(tick, 1);
    };
    tick();
    await sql`select count(*) from generate_series(1, 1000000) a`.execute(database.sql);
    running = false;
    expect(ticks).toBeGreaterThan(10);
  });

  test('PGlite makes checkpoints and vacuums by the clock, and not when nothing has changed', async () => {
    const minutePasses = async () => {
      const task = await scheduled.promise;
      scheduled = deferred();
      task();
      await scheduled.promise;
    };
    const checkpoint = async () =>
      (await sql`select redo_lsn::text as at from pg_control_checkpoint()`.execute(database.sql)).rows;

    await sql`create table "Odd name" as select generate_series(1, 1000) as id`.execute(database.sql);
    await sql`delete from "Odd name" where id > 500`.execute(database.sql);
    const atFirst = await checkpoint();
    await minutePasses();
    const afterwards = await checkpoint();
    expect(afterwards).not.toEqual(atFirst);
    const vacuumed = await sql`
      select vacuum_count, analyze_count from pg_stat_user_tables where relname = 'Odd name'`.execute(
      database.sql,
    );
    expect(vacuumed.rows).toEqual([{ vacuum_count: 1, analyze_count: 1 }]);

    await minutePasses();
    expect(await checkpoint()).toEqual(afterwards);
  });
});

const FAULTS = [
  {
    broken: 'fdatasyncSync',
    task: 'commit on a broken disk',
    outcome: 'CommitOutcomeUnknown',
    says: /flush .* failed: EIO/,
  },
  // PGlite swallows this PANIC: its own `query` may even resolve, without rows.
  { broken: 'writeSync', task: 'write on a broken disk', outcome: 'CommitOutcomeUnknown', says: /PANIC/ },
];

describe('a process', () => {
  beforeEach(newFolder);
  afterEach(clear);

  // The server is compiled at its start and then recovers, which takes half a minute on a busy machine.
  test('A process locks its folder against a second one, and what it acknowledged survives its kill', async () => {
    const acknowledged: number[] = [];
    for (const enough of firstInSample([30, 80])) {
      const child = startChild('write for ever');
      for await (const said of says(child)) {
        if (said !== 'open') acknowledged.push((said as { id: number }).id);
        if (acknowledged.length === 1) await expectRefused();
        if (acknowledged.length >= enough) child.kill('SIGKILL');
      }
      await kill(child);
    }
    const { rows } = await sql<{ id: number }>`select id from note`.execute((await open()).sql);
    expect(acknowledged[0]).toBe(1);
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
  });

  async function expectRefused(): Promise<void> {
    const refused = open();
    await expect(refused).rejects.toBeInstanceOf(DataDirLockedError);
    await expect(refused).rejects.toThrow(
      `${dataDir} is in use by another process. Stop that one first, or set PSA_DATA_DIR to another folder`,
    );
  }

  if (runsAll())
    test('A process that is killed while it creates its folder does not spoil it', async () => {
      await mkdir(dataDir);
      const child = startChild('write for ever');
      const watcher = watch(dataDir);
      await new Promise<void>((resolve) => {
        watcher.on('change', (_event, name) => name === 'pgdata' && resolve());
      });
      await kill(child);
      watcher.close();
      expect(existsSync(join(dataDir, 'pgdata.unfinished'))).toBe(true);
      const { rows } = await sql`select 1 as one`.execute((await open()).sql);
      expect(rows).toEqual([{ one: 1 }]);
      expect(existsSync(join(dataDir, 'pgdata.unfinished'))).toBe(false);
    });

  test('A folder stays locked where it is renamed, under both names', async () => {
    const unlock = await lockDataDir(dataDir);
    const renamed = join(folder, 'renamed');
    await rename(dataDir, renamed);
    await expect(lockDataDir(renamed)).rejects.toThrow(DataDirLockedError);
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirLockedError);
    await unlock();
    await (await lockDataDir(renamed))();
    await (await lockDataDir(dataDir))();
  });

  test('A process leaves a folder with other content unchanged, and releases its lock', async () => {
    await mkdir(join(dataDir, 'pgdata'), { recursive: true });
    await writeFile(join(dataDir, 'pgdata', 'thesis.txt'), 'years of work');
    await expect(open()).rejects.toThrow('is not a database');
    expect(existsSync(join(dataDir, 'pgdata', 'thesis.txt'))).toBe(true);
    await (await lockDataDir(dataDir))();
  });

  test.each(firstInSample(FAULTS))(
    'A failing $broken ends the database of its process: $task',
    async ({ broken, task, outcome, says: reason }) => {
      const child = startChild(task, { BROKEN: broken, BREAK_DISK: join(folder, 'break') });
      const said: unknown[] = [];
      for await (const line of says(child)) said.push(line);
      expect(said).toEqual([
        'open',
        { id: 1 },
        { fatal: expect.stringMatching(reason) },
        { failed: outcome, message: expect.any(String) },
        { failed: 'NoConnection', message: expect.stringMatching(reason) },
        'closed',
      ]);
      // PostgreSQL recovers the acknowledged row.
      const { rows } = await sql`select id from note where id = 1`.execute((await open()).sql);
      expect(rows).toEqual([{ id: 1 }]);
    },
  );
});
