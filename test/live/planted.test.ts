import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import { insertAccount, insertApiKey, selectCursorKey } from '../../server/src/access/store.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import { hashSecret, objectId } from '../../server/src/kernel/ids.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { LIVE_KEY, TEST_KEY } from '../support/app.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { ofToday } from '../support/scale.ts';
import { CLIENTS } from './clients.ts';
import type { Findings } from './kit.ts';
import { copyWith, FAULTS } from './planted.ts';

const OTHER_KEY = 'ps_live_other0123456789abcdef';
/** The number of payments; the last is created without a cut, which would let a follower catch up. */
const PAYMENTS = 10;

let databaseUrl: string;
let database: Database;
/** A cursor in the log of the account, with the mark of another log. */
let strange: string;
let whole: Awaited<ReturnType<typeof startServer>> & ReturnType<typeof copyWith>;

beforeAll(async () => {
  databaseUrl = await createPostgresDatabase();
  const copy = copyWith(null);
  whole = { ...copy, ...(await startServer(copy.path)) };
  const clock = createSystemClock();
  database = await connectTo(databaseUrl, clock);
  const { id: first } = await database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  const id = `acc_${objectId()}`;
  await insertAccount(database.sql, { id, name: 'Outra Loja', ...DEFAULT_SETTINGS }, clock.now());
  await insertApiKey(
    database.sql,
    { accountId: id, environment: 'live' },
    {
      id: `key_${objectId()}`,
      secretHash: hashSecret(OTHER_KEY),
      permissions: [],
      createdAt: clock.now(),
    },
  );
  const cursorsFor = createCursors((await selectCursorKey(database.sql))!);
  strange = cursorsFor({ accountId: first, environment: 'live' }, 'updates').encode(1, 1);
});
afterAll(async () => {
  await whole?.end();
  whole?.remove();
  await database?.close();
});

test('the kit passes every client of the sources as they are', async () => {
  const { code, findings } = await conformance(whole.path, whole.url, Object.keys(CLIENTS), 60);
  expect(findings.map(({ client, updates }) => [client, updates])).toEqual(
    Object.keys(CLIENTS).map((client) => [client, PAYMENTS]),
  );
  expect(code).toBe(0);
});

test.each(ofToday(Object.entries(FAULTS)))(
  'the kit turns red where %s',
  async (_, { clients, shows, ...fault }) => {
    const copy = copyWith(fault);
    const server = fault.file.startsWith('server/') ? await startServer(copy.path) : null;
    try {
      // A client that ends with an error may need seconds for it, and a missing update is waited for as long.
      const patience = shows === 'errors' ? 60 : 3;
      const { code, findings } = await conformance(copy.path, server?.url ?? whole.url, clients, patience);
      expect(findings.map(({ client, [shows]: found }) => [client, found > 0])).toEqual(
        clients.map((client) => [client, true]),
      );
      expect(code).toBe(1);
    } finally {
      await server?.end();
      copy.remove();
    }
  },
);

/** Starts the server of a copy, on the database that all copies share. */
async function startServer(copy: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'server/src/programs/main.ts'], {
    cwd: copy,
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: databaseUrl,
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_BOOTSTRAP_TEST_KEY: TEST_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
      PSA_DRAIN_SECONDS: '0',
      PSA_DEMO: 'off',
    },
  });
  const ended = once(child, 'close');
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const address = /PSA is running at ([^\s,]+)/.exec(output)?.[1];
        if (address) resolve(address);
      });
    void ended.then(() => reject(new Error(output)));
  });
  return {
    url,
    async end() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

/** Runs the kit of a copy, as `npm run conformance` does. */
function conformance(copy: string, url: string, clients: readonly string[], patience: number) {
  const args = [
    ...['--endpoint', `${url}/graphql`, '--key', LIVE_KEY, '--other-key', OTHER_KEY, '--json'],
    ...['--payments', String(PAYMENTS), '--patience', String(patience), '--expired', strange],
    ...clients.flatMap((client) => ['--client', client]),
  ];
  return new Promise<{ code: number; findings: Findings[] }>((resolve, reject) => {
    const program = ['--import', 'tsx', 'test/live/main.ts', ...args];
    const child = execFile(process.execPath, program, { cwd: copy }, (_, stdout, stderr) => {
      try {
        resolve({ code: child.exitCode ?? -1, findings: JSON.parse(stdout) as Findings[] });
      } catch {
        reject(new Error(stderr || stdout));
      }
    });
  });
}
