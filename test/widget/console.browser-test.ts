import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedFilter } from '../../widget/console/address.ts';
import { type Api, query } from '../../widget/console/api.ts';
import '../../widget/console/console.ts';
import { askForKey } from '../../widget/console/key-dialog.ts';
import type { ConsoleTasks } from '../../widget/console/tasks.ts';
import { answerTo, requestWithKey, uploadFile } from '../../widget/console/write.ts';
import { waitFor } from './patience.ts';

// The console in front of a server that is made here. test/e2e/console.test.ts has the real one.

/** The requests to the console's own routes. */
let posted: { path: string; input: unknown }[];
let tokens: number;
/** The token that has not expired. */
let valid: string;
/** The answers of the routes, besides the token's. */
let answers: Record<string, [status: number, body: object]>;

beforeEach(() => {
  posted = [];
  tokens = 0;
  answers = {};
  vi.stubGlobal('fetch', async (path: string, { headers, body }: RequestInit & { body: string }) => {
    if (path.endsWith('/graphql')) {
      const isValid = new Headers(headers).get('authorization') === `Bearer ${valid}`;
      return Response.json(
        isValid ? { data: {} } : { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
      );
    }
    posted.push({ path, input: typeof body === 'string' ? JSON.parse(body) : body });
    const [status, answer] = path === './token' ? [201, enter()] : (answers[path] ?? [201, {}]);
    return Response.json(answer, { status });
  });
});

afterEach(() => {
  document.querySelector('console-app')?.remove();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function enter(): object {
  valid = `token-${++tokens}`;
  const now = '2026-03-02T10:35:00.000Z';
  const key = { name: null, hint: null };
  const documents = { graphiql: false, rest: true };
  const may = { mayWrite: true, mayPaySubaccounts: true };
  return { token: valid, now, environment: 'live', scopes: [], key, ...may, documents };
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
  render(sales.render(api), page);
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
