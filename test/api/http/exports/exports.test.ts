import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createExportLimits } from '../../../../server/src/api/limits/exports.ts';
import type { Caller } from '../../../../server/src/kernel/caller.ts';
import { addAccount, addKey, addToken } from '../../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../../support/app.ts';
import { type File, getExport, rowsOf } from '../../../support/exports.ts';
import { createRestClient } from '../../../support/rest.ts';

const MINUTE_MS = 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** Gets a file in a minute of its own, so that no limit is met. */
function get(file: string, credential: string | null = LIVE_KEY, headers = {}): Promise<File> {
  app.clock.advance(MINUTE_MS);
  return getExport(app.url, file, credential, headers);
}

async function openMerchant() {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment: 'live' } as const;
  return { tenant, key: await addKey(app, { accountId }) };
}

describe('the files', () => {
  test('The first figures of a statement with its sums are the last ones, also of a part of it', async () => {
    const { tenant, key } = await openMerchant();
    expect((await get('statement.ndjson', key)).json).toMatchObject([
      { start: { opening: null, export: 'statement', environment: 'live', isExact: true } },
      { end: { rows: 0, closing: null, sums: { amountCents: 0 } } },
    ]);
    for (let nth = 1; nth <= 3; nth += 1) await app.controls.credit(tenant, nth * 100);
    await app.controls.creditLtc(tenant, 5);
    const [start, first, ...others] = (await get('statement.ndjson', key)).json;
    expect(start.start.opening).toMatchObject({ balanceCents: 0, cryptoBalanceLtc: '0.00000000' });
    expect(first).toMatchObject({ kind: 'credit', amountCents: 100, balanceCents: 100, balance: '1.00' });
    expect(others.at(-1).end).toMatchObject({
      rows: 4,
      sums: { amountCents: 600, cryptoDeltaLtc: '0.00000005' },
      closing: { balanceCents: 600, balance: '6.00', cryptoBalanceLtc: '0.00000005' },
      more: false,
    });
    const [part, , , , end] = (await get(`statement.ndjson?after=${first.cursor}`, key)).json;
    expect(part.start.opening).toMatchObject({ balanceCents: 100 });
    expect(end.end).toMatchObject({ rows: 3, sums: { amountCents: 500 }, closing: { balanceCents: 600 } });
    // The rows of another filter lie between no figures.
    const [selected, , last] = (await get('statement.ndjson?amountCents=200', key)).json;
    expect([selected.start.opening, last.end]).toMatchObject([null, { rows: 1, closing: null }]);
  });

  test('The updates after the cursor of a file and the file are everything', async () => {
    const { tenant, key } = await openMerchant();
    const { headers } = await get('payouts.csv', key);
    await app.controls.credit(tenant, 100);
    const after = headers.get('psa-updates-cursor');
    const updates = app
      .client(key)
      .ws(`subscription { statementUpdates(after: "${after}") { entries { amountCents } } }`);
    expect(await updates.data()).toMatchObject({ statementUpdates: { entries: [{ amountCents: 100 }] } });
    await updates.close();
  });
});

describe('refusals', () => {
  test('A refusal has its status, and names the parameter', async () => {
    const restricted = await addKey(app, { permissions: ['subcontas.sacar'] });
    const dashboard = (changes: object) =>
      addToken(app, { kind: 'dashboard', grant: { scopes: ['payouts'] }, ...changes });
    const bound = await dashboard({ trustedDocumentsOnly: true });
    const onPage = await dashboard({ allowedOrigins: ['https://shop.example'] });
    const token = await dashboard({});
    const checkout = await addToken(app, {
      kind: 'checkout',
      grant: { amount: { fixedCents: 100 } } as never,
    });
    const REFUSALS: [file: string, credential: string | null, status: number, error: RegExp][] = [
      ['payouts.csv', null, 401, /API key/],
      ['payouts.csv', 'ps_live_unknown0123456789', 401, /API key/],
      ['payouts.csv', restricted, 403, /unrestricted/],
      ['payouts.csv', checkout, 403, /API key/],
      ['payouts.csv', bound, 403, /trusted documents/],
      ['payouts.csv', onPage, 403, /on this page/],
      ['statement.csv', token, 403, /scope wallet/],
      ['payments.csv', token, 403, /scope card_payments/],
      ['sales.csv', LIVE_KEY, 404, /there are statement, payouts, payments/],
      ['payouts', LIVE_KEY, 406, /\.csv or \.ndjson/],
      ['payouts.xlsx', LIVE_KEY, 406, /\.csv or \.ndjson/],
      ['payouts.csv?limit=5', LIVE_KEY, 400, /^limit: is no query parameter of GET \/exports\/payouts\.csv/],
      ['payouts.csv?status=concluido', LIVE_KEY, 400, /^status: must be one or several of pending/],
      ['payouts.csv?status=denied&status=denied', LIVE_KEY, 400, /^status: is given twice/],
      ['payouts.csv?requestedAfter=yesterday', LIVE_KEY, 400, /^requestedAfter: must be an ISO 8601 instant/],
      [
        'statement.csv?createdAfter=2026-02-01T00:00:00Z&createdBefore=2026-01-01T00:00:00Z',
        ...([LIVE_KEY, 400, /^createdBefore: must be later/] as const),
      ],
      ['payouts.csv?minAmountCents=-1', LIVE_KEY, 400, /^minAmountCents: must be a whole number/],
      ['payouts.csv?reference=%00', LIVE_KEY, 400, /^reference: /],
      ['payouts.csv?after=', LIVE_KEY, 400, /^after: is not a cursor of this export/],
      ['payouts.csv?after=0', LIVE_KEY, 400, /^after: is not a cursor of this export/],
      ['payouts.csv?excel=en-US', LIVE_KEY, 400, /^excel: must be pt-BR/],
      ['payouts.ndjson?excel=pt-BR', LIVE_KEY, 400, /^excel: is for \.csv/],
    ];
    for (const [file, credential, status, error] of REFUSALS) {
      const answer = await get(file, credential);
      expect([answer.status, JSON.parse(answer.text).error], file).toEqual([
        status,
        expect.stringMatching(error),
      ]);
    }
    const [own, other] = [await openMerchant(), await openMerchant()];
    await app.controls.credit(own.tenant, 100);
    const { cursor } = rowsOf(await get('statement.csv', own.key))[0]!;
    expect((await get(`statement.csv?after=${cursor}`, own.key)).status).toBe(200);
    expect((await get(`statement.csv?after=${cursor}`, other.key)).status).toBe(400);
    expect((await get(`payments.csv?after=${cursor}`, own.key)).status).toBe(400);
    const bookkeeper = await addKey(app, { permissions: ['statement.read'] });
    expect((await get('statement.csv', bookkeeper)).status).toBe(200);
    expect((await get('payouts.csv', bookkeeper)).status).toBe(403);
    expect((await get('payouts.csv', onPage, { origin: 'https://shop.example' })).status).toBe(200);
    const posted = await fetch(`${app.url}/exports/payouts.csv`, { method: 'POST' });
    expect(posted.status).toBe(405);
  });

  test('A credential begins six exports a minute', async () => {
    const { key } = await openMerchant();
    app.clock.advance(MINUTE_MS);
    const statuses: number[] = [];
    for (let nth = 0; nth < 7; nth += 1) statuses.push((await getExport(app.url, 'payouts.csv', key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
    const refused = await getExport(app.url, 'payouts.csv', key);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(JSON.parse(refused.text).error).toMatch(/6 exports a minute/);
    // The limit of `/v1` is another one.
    expect((await createRestClient(app.url, key).get('/payouts')).status).toBe(200);
  });

  test('An account has two open exports, and a server four', async () => {
    const { open } = createExportLimits({ sql: app.database.sql, clock: app.clock });
    const callerOf = (accountId: string) =>
      ({ tenant: { accountId, environment: 'live' }, credential: { id: accountId } }) as Caller;
    const close = [await open(callerOf('a')), await open(callerOf('a'))];
    await expect(open(callerOf('a'))).rejects.toThrow('2 open exports of one account');
    await Promise.all([open(callerOf('b')), open(callerOf('c'))]);
    await expect(open(callerOf('d'))).rejects.toThrow('4 open exports of one server');
    close[0]!();
    await expect(open(callerOf('d'))).resolves.toBeTypeOf('function');
  });

  test('A page may get a file from another origin', async () => {
    const { status, headers } = await fetch(`${app.url}/exports/payouts.csv`, { method: 'OPTIONS' });
    expect([status, headers.get('access-control-allow-headers')]).toEqual([204, 'authorization']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});
