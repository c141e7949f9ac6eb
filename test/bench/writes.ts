import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBefore, type EarlierBuild } from './before.ts';
import { createBenchDatabase } from './databases.ts';
import { ensurePeer } from './peers/install.ts';
import { type Child, startChild } from './processes/child.ts';
import { inTurns, progress, QUICK, size } from './report.ts';
import { countRows, type KindName, type Round, rowsOf, type WriterName } from './writes-rows.ts';

const CALLERS = size(64, 4);
const MANY = size(10_000, 40);
const ROUNDS = size(4, 1);
const ROUND_MS = size(600, 20);
const WARM_UP_MS = size(800, 20);
/** The time in which the flushes of a command are counted, and after which PostgreSQL's processes report them. */
const COUNT_MS = size(1_500, 20);
const REPORTED_MS = size(1_200, 20);

interface Tenant {
  key: string;
  accountId: string;
  subaccountIds: string[];
}

/** A server that writes: its process, and how the load speaks with it. */
interface Writer {
  child: Child;
  party: { url: string; bankUrl: string; speaks: 'both' | 'rest' | 'graphql' };
  hot?: Tenant;
}
type Writers = { ours: Writer; floor: Writer } & Partial<Record<'mercurius' | 'before', Writer>>;

export const KINDS: readonly KindName[] = ['cardGraphQL', 'cardREST', 'transfer', 'payout', 'pix'];

/**
 * Measures commands that write, over HTTP with key, limits, log and idempotency keys: all of one tenant, one tenant for each
 * caller, and two of each of many tenants. `before`: an earlier commit, whose build is measured too.
 */
export async function measureWrites(postgresUrl: string, before?: string) {
  const mercurius = QUICK ? null : await ensurePeer('mercurius');
  const build = before === undefined ? null : await buildBefore(before);
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const rows = [];
  try {
    const engines = {
      PGlite: async (name: string) => ({ PSA_DATA_DIR: join(folder, name) }),
      PostgreSQL: async () => ({ DATABASE_URL: await createBenchDatabase(postgresUrl) }),
    };
    for (const [engine, environmentOf] of Object.entries(engines)) {
      // A quick run leaves out PGlite: the code is the same, and its folders take time.
      if (QUICK && engine === 'PGlite') continue;
      const peer = engine === 'PostgreSQL' ? mercurius : null;
      rows.push(...(await measureEngine(engine, environmentOf, { mercurius: peer, build })));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    build?.remove();
  }
  return rows;
}

async function measureEngine(
  engine: string,
  environmentOf: (name: string) => Promise<Record<string, string>>,
  { mercurius, build }: { mercurius: string | null; build: EarlierBuild | null },
) {
  const children: Child[] = [];
  const open = (program: string, env?: Record<string, string>) => {
    const child = startChild(program, env);
    children.push(child);
    return child;
  };
  const load = open('writes-load.mjs');
  const { url: receiver } = await load.ask('receive');

  async function start(name: string, program: string, speaks: Writer['party']['speaks'], env = {}) {
    progress(`writes, ${engine}: starting ${name}`);
    const child = open(program, env);
    const given = { environment: await environmentOf(name), callers: CALLERS, many: MANY, receiver };
    const { url, bankUrl, hot } = await child.ask('start', given);
    return { child, party: { url, bankUrl, speaks }, hot };
  }
  try {
    const writers: Writers = {
      ours: await start('ours', 'writes-server.mjs', 'both'),
      floor: await start('floor', 'writes-floor.mjs', 'rest'),
      ...(mercurius && { mercurius: await start('mercurius', 'writes-mercurius.mjs', 'graphql') }),
      ...(build && { before: await start('before', 'writes-server.mjs', 'both', build.env) }),
    };
    const rows = [];
    for (const kind of KINDS) {
      const rounds = await measureKind(kind, writers, load, engine);
      const named = { kind, engine, callers: CALLERS, many: MANY, mercurius, before: build?.commit ?? null };
      rows.push(...rowsOf(named, rounds));
      if (engine === 'PostgreSQL')
        rows.push(...countRows(named, rounds, await countFlushes(kind, writers.ours, load)));
    }
    for (const { child } of [writers.ours, writers.before].filter((each) => each !== undefined))
      await child.ask('close');
    return rows;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function measureKind(kind: KindName, writers: Writers, load: Child, engine: string) {
  const { ours, floor, mercurius, before } = writers;
  const spread = (writer: Writer) => (ms: number) => run(load, writer, kind, {}, ms);
  const parties: Partial<Record<WriterName, (ms: number) => Promise<Round>>> = {
    one: (ms) => run(load, ours, kind, { hot: ours.hot! }, ms),
    each: spread(ours),
    many: (ms) => run(load, ours, kind, { many: MANY }, ms),
    floor: spread(floor),
    ...(mercurius && { mercurius: spread(mercurius) }),
    ...(before && { before: spread(before) }),
  };
  const called = `writes, ${kind}, ${engine}`;
  progress(`${called}: warming up`);
  for (const party of Object.values(parties)) await party(WARM_UP_MS);
  return inTurns<Round, WriterName>(
    ROUNDS,
    Object.fromEntries(
      Object.entries(parties).map(([name, party]) => [name, () => party(ROUND_MS)]),
    ) as Record<WriterName, () => Promise<Round>>,
    called,
  );
}

/** Runs the callers for some time. Returns the rate, and what each command has cost. */
async function run(
  load: Child,
  { child, party }: Writer,
  kind: KindName,
  tenants: { hot?: Tenant; many?: number },
  ms: number,
): Promise<Round> {
  const before = await child.ask('totals');
  const { commands, perSecond, webhooks } = await load.ask('run', {
    ...{ party, kind, callers: CALLERS, ms, ...tenants },
  });
  const after = await child.ask('totals');
  const each = (name: string) => (after[name] - before[name]) / commands;
  return {
    ...{ perSecond, webhooks },
    ...{ cpuUs: each('cpuUs'), databaseCpuUs: each('databaseCpuUs'), statements: each('statements') },
    transactions: each('transactions') - each('transactionsOfRails'),
    ...{ walBytes: each('walBytes'), diskBytes: each('diskBytes') },
  };
}

/** Counts the flushes of a command of as many tenants as callers. */
async function countFlushes(kind: KindName, { child, party }: Writer, load: Child): Promise<number> {
  const work = (ms: number): Promise<{ commands: number }> =>
    load.ask('run', { party, kind, callers: CALLERS, ms });
  /** A process of PostgreSQL reports what it has done with its next transaction. */
  const reported = async () => {
    await new Promise((resolve) => setTimeout(resolve, REPORTED_MS));
    const { commands } = await work(0);
    return { commands, flushes: (await child.ask('flushes')) as number };
  };
  const before = await reported();
  const { commands } = await work(COUNT_MS);
  const after = await reported();
  return (after.flushes - before.flushes) / (commands + after.commands);
}
