import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Api } from '../../widget/console/api.ts';
import '../../widget/console/console.ts';
import { ConsoleContentForm } from '../../widget/console/products/content-form.ts';
import { ConsoleProducts } from '../../widget/console/products/list.ts';
import { ConsoleSubscriptions } from '../../widget/console/subscriptions/element.ts';
import { waitFor } from './patience.ts';

// The console's pages of products and subscriptions in front of a server that is made here, also one of another service.
// test/e2e/console.test.ts has the real one.

interface Asked {
  query: string;
  variables: { after: string | null };
}
/** The answer to a query. */
let answer: (asked: Asked) => object;

beforeEach(() => {
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) =>
    Response.json(answer(JSON.parse(body))),
  );
});

afterEach(() => {
  for (const page of document.querySelectorAll('console-products, console-subscriptions')) page.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const product = (nth: number) => ({
  productId: `${nth}`.padStart(24, '0'),
  name: `Curso ${nth}`,
  description: null,
  priceCents: 4990,
  createdAt: null,
});
const pageOf = (nodes: object[], endCursor: string | null = null) => ({
  nodes,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});
const ENTRY = {
  ...{ token: 't', now: '2026-03-02T10:35:00.000Z', environment: 'live', account: 'acc_1', scopes: [] },
  ...{ key: null, mayWrite: false, mayPaySubaccounts: false, actions: [] },
  documents: { graphiql: false, rest: false },
  keyRefused: true,
};
const NO_STOCKS = { data: { deliveries: pageOf([]) } };
const refusal = (field: string, code: string) => ({
  data: { [field]: null },
  errors: [{ message: 'x', path: [field], extensions: { code } }],
});

function openProducts(api: Partial<Api> = {}): ConsoleProducts {
  const now = () => new Date('2026-03-02T10:35:00Z');
  const page = new ConsoleProducts();
  page.api = {
    token: 't',
    now,
    leaving: new AbortController().signal,
    mayWrite: true,
    actions: [],
    ...api,
  } as Api;
  document.body.append(page);
  return page;
}

it('Products are read to the end of their list, and a stock that has ended is shown', async () => {
  answer = ({ query, variables: { after } }) => {
    if (query.includes('LowStocks')) {
      const low = {
        ...product(2),
        deliveryId: 'd',
        kind: 'CODES',
        deliveredCount: 1,
        remainingCount: 0,
        stock: 'EMPTY',
      };
      return { data: { deliveries: pageOf([low]) } };
    }
    return {
      data: { products: after === 'p1' ? pageOf([product(1)]) : pageOf([product(3), product(2)], 'p1') },
    };
  };
  const page = openProducts();
  await waitFor(() => expect(page.textContent).toContain('3 produtos'));
  const rows = [...page.querySelectorAll('.product summary')].map((row) =>
    [...row.children].map(({ textContent }) => textContent!.replace(/\s/g, ' ')),
  );
  expect(rows).toEqual([
    ['Curso 3', 'R$ 49,90'],
    ['Curso 2', 'Sem estoque', 'R$ 49,90'],
    ['Curso 1', 'R$ 49,90'],
  ]);
  page.stock = 'EMPTY';
  await page.updateComplete;
  expect(page.textContent).toContain('1 produto');
});

it('Another service that tells no stocks has no filter by them, and the age of old data is said', async () => {
  answer = ({ query }) =>
    query.includes('LowStocks')
      ? refusal('deliveries', 'NOT_OFFERED')
      : {
          data: { products: pageOf([product(1)]) },
          extensions: { upstream: { fields: { products: { ageSeconds: 120, stale: true } } } },
        };
  const page = openProducts();
  await waitFor(() => expect(page.textContent).toContain('1 produto'));
  expect(page.querySelector('[role=group]')).toBeNull();
  expect(page.textContent).toContain('Dados de 07:33: o serviço não os renovou desde então.');
});

it('The content of a product says its age, and stays where it cannot be read again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const content = { deliveryId: 'd', kind: 'TEXT', stock: 'READY', deliveredCount: 7, remainingCount: null };
  let next: object = {
    data: { deliveries: pageOf([content]) },
    extensions: { upstream: { fields: { deliveries: { ageSeconds: 120, stale: true } } } },
  };
  answer = ({ query }) => {
    if (query.includes('LowStocks')) return NO_STOCKS;
    return query.includes('deliveries') ? next : { data: { products: pageOf([product(1)]) } };
  };
  const page = openProducts();
  await waitFor(() => expect(page.textContent).toContain('1 produto'));
  page.querySelector<HTMLElement>('.product summary')!.click();
  const shows = (words: string) =>
    waitFor(() => expect(page.querySelector('console-product')?.textContent).toContain(words));
  await shows('Dados de 07:33: o serviço não os renovou desde então.');
  next = refusal('deliveries', 'UPSTREAM_UNAVAILABLE');
  await vi.advanceTimersByTimeAsync(30_000);
  await shows('Não foi possível ler o conteúdo agora.');
  await shows('7 entregas');
});

it('Products that cannot be read again stay, and a service without products is named', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let next: object = { data: { products: pageOf([product(1)]) } };
  answer = ({ query }) => (query.includes('LowStocks') ? NO_STOCKS : next);
  const page = openProducts();
  const shows = (words: string) =>
    waitFor(() =>
      expect([page.textContent, vi.getTimerCount()]).toEqual([expect.stringContaining(words), 1]),
    );
  await shows('1 produto');
  next = refusal('products', 'UPSTREAM_UNAVAILABLE');
  await vi.advanceTimersByTimeAsync(30_000);
  await shows('Não foi possível ler agora.');
  expect(page.textContent).toContain('Curso 1');
  next = refusal('products', 'NOT_OFFERED');
  await vi.advanceTimersByTimeAsync(30_000);
  await shows('O serviço desta conta não oferece produtos.');
  expect(page.querySelector('form')).toBeNull();
  page.remove();
  expect(vi.getTimerCount()).toBe(0);
});

it('Content that was added is added again under another key, and lost content under the same', async () => {
  const keys: string[] = [];
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    keys.push(JSON.parse(body).idempotencyKey);
    return Response.json({}, { status: keys.length === 1 ? 502 : 201 });
  });
  for (const [before, count] of [
    ['', 1],
    ['A-1', 2],
    ['', 3],
  ] as const) {
    // Each is the form of another page, as after a reload.
    const form = new ConsoleContentForm();
    form.productId = 'p';
    document.body.append(form);
    onTestFinished(() => form.remove());
    await form.updateComplete;
    const field = form.querySelector('textarea')!;
    expect([field.value, form.textContent!.includes('O último envio ficou sem resposta')]).toEqual([
      before,
      before !== '',
    ]);
    field.value = 'A-1';
    form.querySelector('form')!.requestSubmit();
    await waitFor(() => expect([keys.length, form.busy]).toEqual([count, false]));
    form.remove();
  }
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[1]);
});

it('A page that may not change anything has no forms', async () => {
  answer = ({ query }) =>
    query.includes('LowStocks') ? NO_STOCKS : { data: { products: pageOf([product(1)]) } };
  const page = openProducts({ mayWrite: false });
  await waitFor(() => expect(page.textContent).toContain('1 produto'));
  expect(page.querySelector('.new-product')).toBeNull();
});

it('In front of a service without recurring PIX the page of subscriptions says so', async () => {
  answer = () => refusal('subscriptions', 'NOT_OFFERED');
  const page = new ConsoleSubscriptions();
  Object.assign(page, { endpoint: '/graphql', token: 't', transport: 'poll' });
  document.body.append(page);
  await waitFor(() =>
    expect(page.shadowRoot!.textContent).toContain('O serviço desta conta não oferece assinaturas.'),
  );
  expect(page.shadowRoot!.querySelector('table')).toBeNull();
});

it('A key that the service behind the server refuses is said above a page, until it is accepted', async () => {
  let keyRefused: true | undefined = true;
  let isLimited = false;
  vi.stubGlobal('fetch', async (path: string) => {
    if (!path.endsWith('/graphql')) return Response.json(ENTRY, { status: 201 });
    if (isLimited) return Response.json({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
    const upstream = { keyRefused, fields: {} };
    return Response.json({ data: {}, extensions: { upstream } });
  });
  const app = document.createElement('console-app');
  document.body.append(app);
  onTestFinished(() => app.remove());
  const said = () => app.querySelector('[data-key-refused]')?.textContent ?? null;
  await waitFor(() => expect(said()).toContain('recusou a chave'));
  await waitFor(() => expect(app.textContent).toContain('Nada espera por você.'));
  isLimited = true;
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(app.textContent).toContain('Não foi possível ler agora.'));
  expect(said()).toContain('recusou a chave');
  isLimited = false;
  keyRefused = undefined;
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(said()).toBeNull());
});
