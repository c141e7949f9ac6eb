import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seed } from '../../../state/db/list-rows.ts';
import { addAccount, addKey, addToken } from '../../../support/accounts.ts';
import { startApp, type TestApp } from '../../../support/app.ts';
import { createManualClock } from '../../../support/clock.ts';
import { openFreshDatabase } from '../../../support/database.ts';
import { getExport, rowsOf } from '../../../support/exports.ts';
import { scale } from '../../../support/scale.ts';
import { recordStatements } from '../../../support/statements.ts';

const ROWS = scale('EXPORTED_ROWS');
const CREDITS = 3_000;
/** More than the buffers of the system hold. */
const UNREAD_ROWS = 60_000;

let app: TestApp;
let statements: string[];
beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  ({ statements } = recorded);
  app = await startApp({ clock, database: recorded.database });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** An account with payouts, whose ids begin with the letter. */
async function openMerchant(rows: number, letter: string) {
  const accountId = await addAccount(app);
  await seed(
    app.database,
    `set local session_replication_role = replica; ${payouts(accountId, letter, 1, rows)}`,
  );
  return { accountId, key: await addKey(app, { accountId }) };
}

const payouts = (accountId: string, letter: string, from: number, to: number) => `
  insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
      destination, requested_at)
    select '${accountId}', 'live', '${letter}' || lpad(to_hex(nth), 23, '0'), 'SAQ-${letter.toUpperCase()}' || nth, 2, 'pix',
      'pending', 10000 + nth, 100, 'ana@example.com', timestamptz '2026-01-01' + nth * interval '1 second'
    from generate_series(${from}, ${to}) nth order by nth`;

/** Requests payouts, one after the other as under the lock of their tenant, and completes others until the work is done. */
async function underWriters(accountId: string, work: () => Promise<void>): Promise<number> {
  let written = 0;
  let isDone = false;
  const request = async () => {
    for (let nth = ROWS + 1; !isDone; nth += 1) {
      await seed(
        app.database,
        `set local session_replication_role = replica; ${payouts(accountId, 'a', nth, nth)}`,
      );
      written += 1;
    }
  };
  const complete = async (first: number) => {
    for (let nth = first; !isDone; nth = (nth + 7919) % ROWS) {
      await sql`update payout set status = 'completed', processed_at = now()
        where account_id = ${accountId} and withdrawal_id = ${idOf(nth + 1)}`.execute(app.database.sql);
      written += 1;
    }
  };
  const writers = [request(), complete(0), complete(1), complete(2)];
  await work();
  isDone = true;
  await Promise.all(writers);
  return written;
}

const idOf = (nth: number) => `a${nth.toString(16).padStart(23, '0')}`;

describe('an export under writers', () => {
  test('A list has each row once, also where it was cut off and went on', async () => {
    const { accountId, key } = await openMerchant(ROWS, 'a');
    const ids: string[] = [];
    const written = await underWriters(accountId, async () => {
      let cut = await cutExport(key, 'payouts.csv', ROWS * 40);
      for (let nth = 0; nth < 2; nth += 1) {
        ids.push(...cut.map(({ withdrawalId }) => withdrawalId!));
        cut = await cutExport(key, `payouts.csv?after=${cut.at(-1)!.cursor}`, ROWS * 20);
      }
      ids.push(...cut.map(({ withdrawalId }) => withdrawalId!));
      const rest = rowsOf(await getExport(app.url, `payouts.csv?after=${cut.at(-1)!.cursor}`, key));
      ids.push(...rest.map(({ withdrawalId }) => String(withdrawalId)));
    });
    expect(written).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
    // Newest first from the first row on: all that had been requested by then, and nothing that was later.
    const first = Number.parseInt(ids[0]!.slice(1), 16);
    expect(ids).toEqual(Array.from({ length: first }, (_, index) => idOf(first - index)));
    expect(first).toBeGreaterThanOrEqual(ROWS);
  });

  test('A statement ends with the entry that was its newest, and its figures add up', async () => {
    const accountId = await addAccount(app);
    const tenant = { accountId, environment: 'live' } as const;
    const key = await addKey(app, { accountId });
    const credit = () => app.controls.credit(tenant, 100);
    await Promise.all(Array.from({ length: CREDITS }, credit));
    let isDone = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isDone) await credit();
    });
    const { json } = await getExport(app.url, 'statement.ndjson', key);
    isDone = true;
    await Promise.all(writers);
    const { rows, sums, closing } = json.at(-1).end;
    expect(rows).toBeGreaterThanOrEqual(CREDITS);
    expect([json.length - 2, sums.amountCents, closing.balanceCents]).toEqual([rows, rows * 100, rows * 100]);
    expect(json.slice(1, -1).map(({ balanceCents }) => balanceCents)).toEqual(
      Array.from({ length: rows }, (_, index) => (index + 1) * 100),
    );
  });
});

describe('a client that does not read', () => {
  test('Nothing is read ahead of it, two of them are the most, and the end of their token ends them', async () => {
    const { accountId, key } = await openMerchant(UNREAD_ROWS, 'b');
    const token = await addToken(app, { kind: 'dashboard', accountId, grant: { scopes: ['payouts'] } });
    statements.length = 0;
    const sockets = [await openUnread(token), await openUnread(token)];
    const isPage = (statement: string) => statement.includes('from "payout"');
    const pagesRead = () => statements.filter(isPage).length;
    // Each round asks the database, too, so that a page that was being read has come.
    let before = -1;
    for (let same = 0; same < 100; ) {
      const now = pagesRead();
      same = now === before ? same + 1 : 0;
      before = now;
      await sql`select 1`.execute(app.database.sql);
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan((2 * UNREAD_ROWS) / 500);
    expect((await getExport(app.url, 'payouts.csv', key)).status).toBe(429);

    const ended = sockets.map(readToEnd);
    await app
      .client(key)
      .request('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', { token });
    for (const text of await Promise.all(ended)) {
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(text.endsWith('0\r\n\r\n')).toBe(false);
    }
    expect(pagesRead()).toBeLessThan((2 * UNREAD_ROWS) / 500);
  });
});

const requestOf = (key: string, file: string) =>
  `GET /exports/${file} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`;

async function openUnread(key: string): Promise<Socket> {
  const socket = connect(app.port, '127.0.0.1');
  socket.write(requestOf(key, 'payouts.csv'));
  // The answer has begun; the socket is read no further.
  await once(socket, 'readable');
  return socket;
}

async function readToEnd(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('error', () => undefined);
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

/** Reads some bytes of a file and leaves. Returns the whole rows among them. */
async function cutExport(key: string, file: string, bytes: number) {
  const abort = new AbortController();
  const answer = await fetch(`${app.url}/exports/${file}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: abort.signal,
  });
  expect(answer.status).toBe(200);
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of answer.body!) {
    text += decoder.decode(part, { stream: true });
    if (text.length > bytes) break;
  }
  abort.abort();
  const whole = text.slice(0, text.lastIndexOf('\r\n') + 2);
  return rowsOf({ status: 200, headers: answer.headers, text: whole, json: [] }) as Record<string, string>[];
}
