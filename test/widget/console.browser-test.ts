import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSharedFilter } from '../../widget/console/address.ts';
import { type Api, query } from '../../widget/console/api.ts';
import '../../widget/console/console.ts';
import { KeptRequest } from '../../widget/console/kept-request.ts';
import { askForKey } from '../../widget/console/key-dialog.ts';
import type { ConsoleTasks } from '../../widget/console/tasks.ts';
import { answerTo, requestWithKey, uploadFile } from '../../widget/console/write.ts';
import { waitFor } from './patience.ts';

// The console in front of a server that is made here. test/e2e/console.test.ts has the real one.

/** The requests to the console's own routes. */
let posted: { path: string; input: unknown }[];
let tokens: number;
let account: string;
let scopes: string[];
/** The token that has not expired. */
let valid: string;
/** The answers of the routes, besides the token's. */
let answers: Record<string, [status: number, body: object]>;

beforeEach(() => {
  posted = [];
  tokens = 0;
  account = 'acc_1';
  scopes = [];
  answers = {};
  vi.stubGlobal('fetch', async (path: string, { headers, body }: RequestInit & { body: string }) => {
    if (path.endsWith('/graphql')) {
      const isValid = new Headers(headers).get('authorization') === `Bearer ${valid}`;
      return Response.json(
        isValid ? { data: {} } : { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
      );
    }
    posted.push({ path, input: typeof body === 'string' ? JSON.parse(body) : body });
    const [status, answer] = path.endsWith('/token') ? [201, enter()] : (answers[path] ?? [201, {}]);
    return Response.json(answer, { status });
  });
});

afterEach(() => {
  document.querySelector('console-app')?.remove();
  sessionStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function enter(): object {
  valid = `token-${++tokens}`;
  const now = '2026-03-02T10:35:00.000Z';
  const key = { name: null, hint: null };
  const documents = { graphiql: false, rest: true };
  const may = { mayWrite: true, mayPaySubaccounts: true, actions: ['refund'] };
  return { token: valid, now, environment: 'live', account, scopes, key, ...may, documents };
}

/** Opens the console's first page. */
async function open(): Promise<Api> {
  document.body.append(document.createElement('console-app'));
  let api: Api | undefined;
  await waitFor(() => {
    api = document.querySelector<ConsoleTasks>('console-tasks')?.api;
    expect(api?.token).toBe('token-1');
  });
  return api!;
}

const dialog = () => document.querySelector<HTMLDialogElement>('.key-dialog');
const given = (status: number, code: string) => ({
  ok: false as const,
  refusal: { status, code, fields: [] },
});

it('a token that has expired is renewed once, for all later queries of the page', async () => {
  const api = await open();
  valid = '';
  for (let time = 0; time < 3; time++) await query(api, '{a}', {});
  expect([tokens, api.token]).toEqual([2, 'token-2']);
});

it('each page of the navigation opens in the same tab', async () => {
  scopes = 'payments subscriptions disputes products wallet payouts subaccounts webhooks'.split(' ');
  const before = location.href;
  onTestFinished(() => history.replaceState(null, '', before));
  history.replaceState(null, '', '/console/');
  answers['./keys'] = [503, {}];
  await open();
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a')];
  for (const link of links) {
    link.click();
    await waitFor(() => {
      const content = document.querySelector('console-app .page')!.textContent;
      expect(link.getAttribute('aria-current')).toBe('page');
      expect(content).not.toContain('Abrindo…');
    });
    expect(document.querySelector('.page')!.textContent).not.toContain('A página não carregou.');
  }
  expect(links).toHaveLength(9);
});

it('what a tab has kept of an account is not offered to another one', async () => {
  const kept = new KeptRequest<string>('payout');
  answers['./payouts'] = [502, {}];
  const api = await open();
  await kept.post('./payouts', 'of 1', {});
  valid = '';
  await query(api, '{a}', {});
  expect(new KeptRequest('payout').restore()).toBe('of 1');
  valid = '';
  account = 'acc_2';
  await query(api, '{a}', {});
  expect(api.leaving.aborted).toBe(true);
  expect(new KeptRequest('payout').restore()).toBeNull();
});

describe('the key that is asked for again', () => {
  const words = { title: 'Estornar', declined: 'Não.' };

  it('the dialog leaves with its page, and nothing is requested', async () => {
    const answer = requestWithKey(await open(), './refunds', {}, words);
    expect(dialog()?.open).toBe(true);
    dispatchEvent(new Event('popstate'));
    expect(await answer).toEqual({ message: 'Não.' });
    expect(dialog()).toBeNull();
    expect(posted.map(({ path }) => path)).toEqual(['./token']);
  });

  it('no dialog opens over the page that came after', async () => {
    expect(await askForKey('Sacar', AbortSignal.abort())).toBeNull();
    expect(dialog()).toBeNull();
  });

  it('the dialog leaves with the session', async () => {
    const answer = askForKey('Estornar', (await open()).leaving);
    document.querySelector<HTMLElement>('.session button')!.click();
    expect(await answer).toBeNull();
  });
});

it.each([
  [
    'an ended session',
    given(401, 'UNAUTHENTICATED'),
    'A sessão terminou. Entre de novo em outra aba, e repita o envio aqui.',
  ],
  [
    'a balance that does not suffice',
    given(409, 'INSUFFICIENT_FUNDS'),
    'O saldo disponível não basta para isso.',
  ],
  ['a payment that is too old', given(409, 'NOT_REFUNDABLE'), 'Este pagamento não pode mais ser estornado.'],
  [
    'a dispute after its deadline',
    given(409, 'DISPUTE_STATE'),
    'Esta disputa não permite mais isso: foi decidida, o prazo acabou, ou já teve 10 envios.',
  ],
])('the words for %s', (_, result, message) => {
  expect(answerTo(result)).toEqual({ message });
});

it('a refund of what is disputed has words of its own', async () => {
  const api = { ...(await open()), asksForKey: false };
  answers['./refunds'] = [409, { code: 'DISPUTE_STATE' }];
  const sales = await import('../../widget/console/sales.ts');
  const { render } = await import('lit');
  const page = document.createElement('div');
  render(sales.render(api, [], null), page);
  const answer = Promise.withResolvers<{ message: string }>();
  const detail = {
    sale: { __typename: 'Payment', reference: 'psa_1' },
    amountCents: 1,
    respondWith: answer.resolve,
  };
  page.querySelector('psa-sales')!.dispatchEvent(new CustomEvent('psa-refund-request', { detail }));
  expect((await answer.promise).message).toMatch(/^O banco de quem pagou está pedindo este valor de volta/);
});

it('the sums of a month that goes on are read again, and stay where that fails', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { ConsoleReport } = await import('../../widget/console/report.ts');
  const report = new ConsoleReport();
  let count = 0;
  vi.stubGlobal('fetch', async () => {
    count++;
    const lines = [{ kind: 'SALE', count, amountCents: 1, serviceFeeCents: 0 }];
    const balance = { balanceCents: 0 };
    const closing = { opening: balance, closing: balance, lines, unexplainedCents: 0 };
    return Response.json({ data: count === 3 ? { wallet: null } : { wallet: { closing } } });
  });
  const month = {
    name: '2026-03',
    label: 'março',
    startsAt: '2026-03-01T00:00:00-03:00',
    endsAt: '2026-04-01T00:00:00-03:00',
  };
  const api = { token: '', now: () => new Date('2026-03-31T12:00:00Z') };
  document.body.append(Object.assign(report, { api, month }));
  const counted = () => report.querySelector('tbody tr:nth-child(2) td')?.textContent;
  for (const shown of ['1', '2', '2', '4']) {
    await waitFor(() => expect([counted(), vi.getTimerCount()]).toEqual([shown, 1]));
    await vi.advanceTimersByTimeAsync(30_000);
  }
  report.remove();
  await vi.advanceTimersByTimeAsync(90_000);
  expect(count).toBe(5);
  vi.useRealTimers();
});

it('a search is read from the address, and never written into it', async () => {
  const before = location.href;
  const list = Object.assign(document.createElement('p'), {
    ...{ search: '', sort: '', updateComplete: Promise.resolve(true) },
  });
  const filter = createSharedFilter(['search', 'sort']);
  history.replaceState(null, '', '?search=PSC-1');
  filter.attach(list);
  expect(list.search).toBe('PSC-1');
  Object.assign(list, { search: 'ana@example.com', sort: 'amount' });
  await filter.share(list as never);
  const { search } = location;
  history.replaceState(null, '', before);
  expect(search).toBe('?sort=amount');
});

it('a file of 5 MB may take as long as the server waits for it', async () => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  const bytes = 5 * 1024 ** 2;
  await uploadFile('dsp_1', new File([new Uint8Array(bytes)], 'a.pdf', { type: 'application/pdf' }));
  expect(posted.map(({ path }) => path)).toEqual(['./disputes/dsp_1/files?name=a.pdf']);
  expect(limits.mock.calls[0]![0]).toBeGreaterThan(30_000 + bytes / 32);
});

describe('what waits for a person', () => {
  const hostile = '<img src=x onerror="throw 1">';

  async function tasksOf(data: object, extensions = {}): Promise<HTMLElement> {
    vi.stubGlobal('fetch', async () => Response.json({ data, extensions }));
    const { ConsoleTasks: Tasks } = await import('../../widget/console/tasks.ts');
    const tasks = new Tasks();
    document.body.append(
      Object.assign(tasks, { api: { token: '', now: () => new Date('2026-03-02T12:00:00Z') } }),
    );
    onTestFinished(() => tasks.remove());
    await waitFor(() =>
      expect(tasks.querySelector('.task, .empty')?.textContent ?? 'Lendo…').not.toBe('Lendo…'),
    );
    return tasks;
  }

  const linksOf = (tasks: HTMLElement, name: string) =>
    [...tasks.querySelectorAll(`[data-task=${name}] a`)].map((link) => link.getAttribute('href'));

  const ltcOf = (paymentId: string, receivedLtc: string | null) => ({
    ...{ paymentId, amountCents: 5_000, createdAt: '2026-03-01T12:00:00Z', ltc: { receivedLtc } },
  });

  it('LTC that came without paying is shown until it is credited, and not where nobody can say', async () => {
    const payments = {
      nodes: [ltcOf('psa_1', '0.25'), ltcOf('psa_2', '0.5'), ltcOf('psa_3', '0'), ltcOf('psa_4', null)],
    };
    const wallet = { statement: { nodes: [{ reference: 'psa_2' }, { reference: null }] } };
    const tasks = await tasksOf({ payments, wallet });
    expect(linksOf(tasks, 'ltc')).toEqual(['sales?methods=LTC&statuses=FAILED+EXPIRED', 'sales/psa_1']);
    expect(tasks.textContent).toContain('0,25 LTC de uma venda de R$\u00a050,00');
    expect(linksOf(await tasksOf({ payments, wallet: null }), 'ltc')).toEqual([]);
  });

  it('each line leads to the page of its resource, and texts of others do nothing', async () => {
    const tasks = await tasksOf({
      requestsInDoubt: {
        nodes: [
          {
            requestId: 'int_1',
            operation: 'REQUEST_PAYOUT',
            amountCents: 1,
            requestedAt: '2026-03-02T11:00:00Z',
          },
        ],
        pageInfo: { hasNextPage: true },
      },
      disputes: { totalCount: 1, nodes: [{ disputeId: hostile, amountCents: 1, evidenceDueAt: null }] },
      webhookDeliveries: {
        totalCount: 3,
        nodes: [{ reference: 'PSC-1' }, { withdrawalId: 'a1' }, { of: { reference: 'psa_1' } }, {}, null].map(
          (resource, index) => ({
            webhookId: `whd_${index}`,
            event: hostile,
            createdAt: '2026-03-02T11:00:00Z',
            resource,
          }),
        ),
      },
      refunds: {
        totalCount: 1,
        nodes: [
          {
            refundId: 'ref_1',
            amountCents: 1,
            failureReason: hostile,
            failedAt: null,
            of: { reference: 'psc_1' },
          },
        ],
      },
    });
    expect(linksOf(tasks, 'doubts')).toEqual(['payouts']);
    expect(linksOf(tasks, 'disputes')).toEqual([
      'disputes?statuses=OPEN&sort=due',
      `disputes/${encodeURIComponent(hostile)}`,
    ]);
    expect(linksOf(tasks, 'webhooks')).toEqual([
      'developers?status=EXHAUSTED',
      'sales/PSC-1',
      'payouts/a1',
      'sales/psa_1',
    ]);
    expect(linksOf(tasks, 'refunds')).toEqual(['sales/psc_1']);
    expect(tasks.querySelector('img')).toBeNull();
    expect(tasks.textContent).toContain(hostile);
  });

  it('figures that the service behind the server did not renew say from when they are', async () => {
    const tasks = await tasksOf(
      {},
      { upstream: { fields: { refunds: { stale: true, ageSeconds: 3_600 } } } },
    );
    expect(tasks.textContent).toContain('Dados de 08:00: o serviço não responde agora.');
    expect(
      (await tasksOf({}, { upstream: { fields: { refunds: { stale: false, ageSeconds: 2 } } } })).textContent,
    ).not.toContain('Dados de');
  });

  it('what was read stays where the next reading fails, and is read again while the page is visible', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const tasks = await tasksOf({ disputes: { totalCount: 7, nodes: [] } });
    let isAway = true;
    vi.stubGlobal('fetch', async () =>
      isAway ? Promise.reject(new TypeError('away')) : Response.json({ data: {} }),
    );
    await vi.advanceTimersByTimeAsync(30_000);
    await waitFor(() => expect(tasks.textContent).toContain('Não foi possível ler agora'));
    expect(tasks.querySelector('[data-task=disputes] strong')?.textContent).toBe('7');
    isAway = false;
    await vi.advanceTimersByTimeAsync(30_000);
    await waitFor(() => expect(tasks.textContent).toContain('Nada espera por você.'));
    expect(tasks.textContent).not.toContain('Não foi possível');
  });
});

it('a chart says where there may be more sales than it knows', async () => {
  const totals = (isExact: boolean) => ({ isExact, count: 1, amountCents: 500, groups: [] });
  const { ConsoleChart } = await import('../../widget/console/chart.ts');
  for (const isExact of [false, true]) {
    vi.stubGlobal('fetch', async () => Response.json({ data: { salesTotals: totals(isExact) } }));
    const chart = new ConsoleChart();
    document.body.append(
      Object.assign(chart, { api: { token: '', now: () => new Date('2026-03-02T12:00:00Z') } }),
    );
    await waitFor(() => expect(chart.textContent).toContain('1 venda'));
    expect(chart.textContent?.includes('ao menos R$')).toBe(!isExact);
    chart.remove();
  }
});

it('a list says that the service has none, that it is stale, and that it could not be read again', async () => {
  const { ConsoleSubaccounts } = await import('../../widget/console/subaccounts.ts');
  const refused = { path: ['subaccounts'], extensions: { code: 'NOT_OFFERED' } };
  const ana = {
    subaccountId: 'sacc_1',
    name: '<b>Ana</b>',
    externalId: null,
    balanceCents: 5,
    createdAt: null,
  };
  const page = { totalCount: 1, nodes: [ana], pageInfo: { hasNextPage: false, endCursor: null } };
  const upstream = { fields: { subaccounts: { ageSeconds: 120, stale: true } } };
  const bodies: (object | null)[] = [
    { data: { subaccounts: null }, errors: [refused] },
    { data: { subaccounts: page }, extensions: { upstream } },
    null,
  ];
  vi.stubGlobal('fetch', async () => {
    const body = bodies.shift();
    if (!body) throw new TypeError('no network');
    return Response.json(body);
  });
  const api = { token: '', now: () => new Date('2026-03-02T10:35:00Z') };
  const list = Object.assign(new ConsoleSubaccounts(), { api });
  document.body.append(list);
  await waitFor(() => expect(list.textContent).toContain('não mostra a lista das subcontas'));
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(list.textContent).toContain('Sem contato com o serviço: dados de 07:33.'));
  expect(list.querySelector('.rows a')?.textContent).toBe('<b>Ana</b>');
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(list.textContent).toContain('Não foi possível ler agora.'));
  expect(list.querySelector('.rows a')?.textContent).toBe('<b>Ana</b>');
  list.remove();
});
