import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { exportOf, moved, pagesOf, text } from '../../../../server/src/api/http/exports/export.ts';
import { createExportRoute } from '../../../../server/src/api/http/exports/routes.ts';
import { createHttpServer, type HttpServer } from '../../../../server/src/api/http/server.ts';
import type { Caller } from '../../../../server/src/kernel/caller.ts';
import { createCursors, newCursorKey } from '../../../../server/src/kernel/cursor.ts';
import { getExport, rowsOf } from '../../../support/exports.ts';

const KEY = {
  tenant: { accountId: 'acc_1', environment: 'live' },
  credential: { kind: 'api_key', id: 'key_1', permissions: [] },
  allowedOrigins: [],
} as unknown as Caller;
const MAX_ROWS = 700;

/** The length of the list; its page after the first fails if it is broken. */
let list: { rows: number; isBroken: boolean; note?: string } = { rows: 0, isBroken: false };
let open = 0;
const faults: unknown[] = [];
let http: HttpServer;
let url: string;
beforeAll(async () => {
  http = createHttpServer({ onFault: (fault) => faults.push(fault) });
  url = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  const numbers = exportOf<number, z.ZodRawShape>({
    name: 'numbers',
    rights: ['payouts.read'],
    query: {},
    columns: [moved('amount', (number) => number), text('note', () => list.note)],
    open: () => ({
      pages: (after) =>
        pagesOf(
          async ({ limit, after: last = list.rows + 1 }) => {
            if (list.isBroken && after !== last && last <= list.rows) throw new Error('the database is away');
            const items = Array.from({ length: Math.min(limit, last - 1) }, (_, index) => ({
              position: last - 1 - index,
            }));
            return { items, more: last - 1 > limit };
          },
          ({ position }) => position,
          after,
        ),
    }),
  });
  http.serve([
    createExportRoute({
      createExports: () => [numbers],
      isExact: true,
      updatesCursor: async () => 'newest',
      cursorsFor: createCursors(newCursorKey()),
      access: { admit: () => undefined, authenticate: () => KEY },
      addressOf: () => '127.0.0.1',
      watchCredential: async () => () => undefined,
      limits: {
        async open() {
          open += 1;
          return () => {
            open -= 1;
          };
        },
      },
      isFree: () => true,
      onFault: (fault) => faults.push(fault),
      maxRows: MAX_ROWS,
      partMs: 200,
    }),
  ]);
});
afterAll(() => http.close());

test('A file has the most rows that it may have, says that there are more, and goes on behind them', async () => {
  list = { rows: MAX_ROWS + 1, isBroken: false };
  const file = await getExport(url, 'numbers.ndjson', 'ps_live_key');
  expect(rowsOf(file)).toHaveLength(MAX_ROWS);
  expect(file.json.at(-1).end).toMatchObject({ rows: MAX_ROWS, more: true });
  const rest = await getExport(url, `numbers.ndjson?after=${rowsOf(file).at(-1)!.cursor}`, 'ps_live_key');
  expect(rest.json.slice(1)).toMatchObject([{ amountCents: 1 }, { end: { rows: 1, more: false } }]);

  list = { rows: MAX_ROWS, isBroken: false };
  const whole = await getExport(url, 'numbers.ndjson', 'ps_live_key');
  expect(whole.json.at(-1).end).toMatchObject({ rows: MAX_ROWS, more: false });
});

test('A file whose rows cannot be read to the end is cut off, and the fault is reported', async () => {
  list = { rows: MAX_ROWS, isBroken: true };
  await expect(getExport(url, 'numbers.csv', 'ps_live_key')).rejects.toThrow();
  expect(faults.splice(0)).toMatchObject([{ message: 'the database is away' }]);
  expect(open).toBe(0);
});

test('A client that does not take a part in its time loses the file, and its place', async () => {
  list = { rows: MAX_ROWS, isBroken: false, note: 'x'.repeat(30_000) };
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /exports/numbers.csv HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n');
  await once(socket, 'readable');
  await expect.poll(() => open, { timeout: 60_000 }).toBe(0);
  expect(faults).toEqual([]);
  socket.destroy();
});
