import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DashboardData, MORE_FAILED } from '../../../widget/demo/dashboard/dashboard-data.ts';
import { notices, stateOf } from '../../../widget/demo/dashboard/notices.ts';
import { textOf } from '../../support/lit.ts';

const EMPTY = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };

/** A page without a socket, whose server answers each query with empty lists. */
beforeEach(() => {
  const target = { addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.stubGlobal('addEventListener', target.addEventListener);
  vi.stubGlobal('removeEventListener', target.removeEventListener);
  vi.stubGlobal('document', { ...target, hidden: false });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', { href: 'http://127.0.0.1/demo/dashboard' });
  vi.stubGlobal(
    'WebSocket',
    class {
      static OPEN = 1;
      close = () => undefined;
    },
  );
  answer = (query) => ({ data: answerTo(query) });
  asked.length = 0;
  filters.length = 0;
  vi.stubGlobal('fetch', async (path: string, { body }: { body?: string } = {}) => {
    if (path !== '/graphql') return Response.json(answerOf(path));
    const { query, variables } = JSON.parse(body!);
    asked.push(query);
    const [, name] = /^query (\w+)/.exec(query)!;
    filters.push(`${name} ${JSON.stringify({ ...variables, after: undefined })}`);
    return Response.json(await answer(query));
  });
});
afterEach(() => {
  opened?.hostDisconnected();
  opened = null;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The server's answer to each later query. */
let answer: (query: string) => object | Promise<object>;
const asked: string[] = [];
/** The name of each query, with its variables except the cursor. */
const filters: string[] = [];
let opened: DashboardData | null = null;
const HOST = {
  addController: () => undefined,
  removeController: () => undefined,
  requestUpdate: () => undefined,
  updateComplete: Promise.resolve(true),
};

function answerOf(path: string) {
  if (path.endsWith('config.json')) return { endpoint: '/graphql', simulated: true };
  if (path.endsWith('token'))
    return { token: 'ps_1', now: '2026-03-02T12:00:00Z', expiresAt: '2026-03-02T12:15:00Z' };
  throw new Error(`no answer to ${path}`);
}

const TOTALS = ['cardPayment', 'payment', 'charge', 'payout', 'subaccountPayout', 'refund'];
const FIELDS = ['cardPayments', 'subaccounts', 'webhookDeliveries', 'payments', 'charges', 'disputes'];
const OTHERS = ['refunds', 'subscriptions', 'deliveries', 'storeProducts'];

/** The root fields of a query, each empty, and a wallet. */
function answerTo(query: string): Record<string, unknown> {
  const lists = [...FIELDS, ...OTHERS].filter((field) => new RegExp(`\\b${field}\\(`).test(query));
  return {
    ...Object.fromEntries(lists.map((field) => [field, EMPTY])),
    ...(query.includes('DayTotals') &&
      Object.fromEntries(TOTALS.map((name) => [`${name}Totals`, { isExact: true, groups: [] }]))),
    ...(/\bwallet\{/.test(query) && { wallet: { balanceCents: 1_000 } }),
    ...(query.includes('updatesCursor') && { updatesCursor: '1' }),
  };
}

/** A facade's answer of this age. */
function aged(query: string, ageSeconds: number, stale: boolean, more: object = {}) {
  const data = answerTo(query);
  // The sums are of the facade's mirror: nothing is read from the service for them.
  const fields = Object.fromEntries(
    Object.keys(data).map((field) => [
      field,
      field.endsWith('Totals') ? { ageSeconds: null, stale: false } : { ageSeconds, stale },
    ]),
  );
  return { data, extensions: { upstream: { ageSeconds, stale, ...more, fields } } };
}

/** Opens a dashboard with a socket, whose time is the test's clock. */
async function openDashboard(): Promise<DashboardData> {
  vi.useFakeTimers();
  const data = new DashboardData(HOST);
  data.hostConnected();
  opened = data;
  await vi.waitFor(() => expect(data.phase).toBe('ready'), 60_000);
  data.connection = 'live';
  return data;
}

const said = (data: DashboardData) => textOf(notices(data)).replaceAll(/\s+/g, ' ');

test('A page whose stream is open learns that the service gives nothing newer, says the age, and takes it back', async () => {
  answer = (query) => aged(query, 0, false);
  const data = await openDashboard();
  expect([stateOf(data).label, said(data)]).toEqual(['Ao vivo', '']);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked.filter((query) => query.startsWith('query Wallet{'))).toHaveLength(1);
  expect(stateOf(data).name).toBe('live');

  answer = (query) => aged(query, 3, true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(said(data)).toContain('Os números aqui são de há instantes.');
  answer = (query) => aged(query, 78, true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stateOf(data)).toEqual({ name: 'stale', label: 'Sem contato com o serviço' });
  expect(said(data)).toContain('Os números aqui são de há 1 min.');
  data.missing.add('disputes');
  expect(said(data)).toContain('Não foi possível ler agora: as disputas. O painel tenta de novo sozinho.');

  answer = (query) => aged(query, 0.4, false);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stateOf(data).name).toBe('live');
  data.missing.add('disputes');
  expect(said(data)).toContain('O resto está em dia');
});

test('A service that answers to nobody is said while the page waits, and by a server that fails', async () => {
  answer = (query) => aged(query, 0, false);
  const data = await openDashboard();
  let fail = (_: Error): void => undefined;
  answer = () => new Promise((_, reject) => (fail = reject));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stateOf(data).name).toBe('live');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stateOf(data).name).toBe('stale');
  expect(said(data)).toContain('Os números aqui são de há 1 min.');
  fail(new TypeError('Failed to fetch'));
  await vi.advanceTimersByTimeAsync(0);
  expect(stateOf(data).name).toBe('stale');
});

test('A refused key is said to the operator, with the age of what is shown', async () => {
  answer = (query) => aged(query, 0, false);
  const data = await openDashboard();
  answer = (query) => ({
    ...aged(query, 0, false, { keyRefused: true }),
    data: { ...answerTo(query), ...(query.includes('wallet{') && { wallet: null }) },
    errors: [{ message: 'no', path: ['wallet'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }],
  });
  await vi.advanceTimersByTimeAsync(80_000);
  expect(stateOf(data)).toEqual({ name: 'refused', label: 'Chave recusada' });
  data.missing.add('disputes');
  expect(said(data)).toContain('O serviço de pagamentos recusou a chave desta loja.');
  expect(said(data)).not.toContain('O resto está em dia');
  expect(data.wallet).toEqual({ balanceCents: 1_000 });
});

test('Lists that were stale at the start are read again once the service answers', async () => {
  answer = (query) => aged(query, 130, true);
  const data = await openDashboard();
  expect(said(data)).toContain('Os números aqui são de há 2 min.');
  answer = (query) => aged(query, 0, false);
  asked.length = 0;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked.filter((query) => query.startsWith('query Start'))).toHaveLength(1);
  expect([stateOf(data).label, said(data)]).toEqual(['Ao vivo', '']);
});

test('Some lists alone that are old are named', async () => {
  answer = (query) => aged(query, 130, !query.includes('wallet{'));
  const data = await openDashboard();
  expect(stateOf(data).label).toBe('Em parte desatualizado');
  expect(said(data)).toContain('São de há 2 min: os pagamentos por PIX, as cobranças');
});

test('A server without a service behind it is asked for no wallet, and its page says nothing of one', async () => {
  const data = await openDashboard();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.filter((query) => query.startsWith('query WebhookDeliveries'))).toHaveLength(4);
  expect(asked.some((query) => query.startsWith('query Wallet{'))).toBe(false);
  expect([stateOf(data).label, said(data)]).toEqual(['Ao vivo', '']);
});

test('A new start takes back that older items could not be loaded, and keeps why a refund failed', async () => {
  const data = new DashboardData(HOST);
  data.hostConnected();
  await vi.waitFor(() => expect(data.phase).toBe('ready'), 60_000);
  data.failedRefunds.set('PSC-1', 'Conta encerrada');
  await data.loadMore({ loadMore: () => Promise.reject(new Error('refused')) });
  expect([data.moreFailed, data.announcement.text]).toEqual([true, MORE_FAILED]);
  data.retry();
  await vi.waitFor(() => expect(data.phase).toBe('ready'), 60_000);
  expect([data.moreFailed, data.failedRefunds.get('PSC-1')]).toEqual([false, 'Conta encerrada']);
  data.hostDisconnected();
});

test('Each filter of the page is an argument of the query for its list, also after a new start', async () => {
  const data = new DashboardData(HOST);
  data.hostConnected();
  await vi.waitFor(() => expect(data.phase).toBe('ready'), 60_000);
  const expected = [
    'MoreCardPayments {"status":["REFUNDED"]}',
    'PixPayments {"status":["REFUNDED"]}',
    'Charges {"status":["REFUNDED"]}',
    'Disputes {"status":["LOST"]}',
    'Subscriptions {"status":["PAST_DUE"]}',
    'MoreSubaccounts {"status":["FAILED"]}',
    'WebhookDeliveries {"status":["EXHAUSTED"]}',
    'ProductContents {"stock":["EMPTY"]}',
  ];
  await data.choose(data.cardPayments, 'REFUNDED');
  await data.choose(data.pixPayments, 'REFUNDED');
  await data.choose(data.charges, 'REFUNDED');
  await data.choose(data.disputes, 'LOST');
  await data.choose(data.subscriptions, 'PAST_DUE');
  await data.choose(data.subaccountPayouts, 'FAILED');
  await data.choose(data.deliveries, 'EXHAUSTED');
  await data.choose(data.catalogue.contents, 'EMPTY');
  expect(filters).toEqual(expect.arrayContaining(expected));
  filters.length = 0;
  data.retry();
  await vi.waitFor(() => expect(filters).toEqual(expect.arrayContaining(expected)), 60_000);
  data.hostDisconnected();
});
