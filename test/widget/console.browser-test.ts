import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSharedFilter } from '../../widget/console/address.ts';
import { type Api, query } from '../../widget/console/api.ts';
import '../../widget/console/console.ts';
import { askForKey } from '../../widget/console/key-dialog.ts';
import type { ConsoleTasks } from '../../widget/console/tasks.ts';
import { answerTo, requestWithKey, uploadFile } from '../../widget/console/write.ts';
import { KeptRequest } from '../../widget/demo/shared/kept-request.ts';
import { waitFor } from './patience.ts';

// The console in front of a server that is made here. test/e2e/console.test.ts has the real one.

/** The requests to the console's own routes. */
let posted: { path: string; input: unknown }[];
let tokens: number;
let account: string;
let scopes: string[];
let isFacade: boolean;
/** The root fields that a query is refused, each with its code. */
let refused: Record<string, string>;
/** The token that has not expired. */
let valid: string;
/** The answers of the routes, besides the token's. */
let answers: Record<string, [status: number, body: object]>;

beforeEach(() => {
  posted = [];
  tokens = 0;
  account = 'acc_1';
  scopes = [];
  isFacade = false;
  refused = {};
  answers = {};
  vi.stubGlobal('fetch', async (path: string, { headers, body }: RequestInit & { body: string }) => {
    if (path.endsWith('/graphql')) {
      const isValid = new Headers(headers).get('authorization') === `Bearer ${valid}`;
      return Response.json(
        isValid
          ? {
              data: {},
              errors: Object.entries(refused).map(([name, code]) => ({ path: [name], extensions: { code } })),
            }
          : { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
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
  return { token: valid, now, environment: 'live', account, scopes, key, ...may, isFacade, documents };
}

/** Opens the console's first page. */
async function open(parent = document.body): Promise<Api> {
  parent.append(document.createElement('console-app'));
  let api: Api | undefined;
  await waitFor(() => {
    api = document.querySelector<ConsoleTasks>('console-tasks')?.api;
    expect(api?.token).toBe(`token-${tokens}`);
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
  expect(new KeptRequest('payout').lost).toBe('of 1');
  valid = '';
  account = 'acc_2';
  await query(api, '{a}', {});
  expect(api.leaving.aborted).toBe(true);
  expect(new KeptRequest('payout').lost).toBeNull();
});

it('a page that the browser has kept begins again', async () => {
  const { leaving } = await open();
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }));
  expect(leaving.aborted).toBe(false);
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  expect(leaving.aborted).toBe(true);
});

it('the navigation leaves out what the service behind the server does not have', async () => {
  isFacade = true;
  refused = { products: 'NOT_OFFERED', subaccounts: 'NOT_OFFERED', disputes: 'FORBIDDEN' };
  await open();
  const names = () => [...document.querySelectorAll('nav a')].map(({ textContent }) => textContent);
  await waitFor(() => expect(names()).not.toContain('Produtos'));
  expect(names()).not.toContain('Subcontas');
  expect(names()).toContain('Disputas');
  expect(names()).toContain('Assinaturas');
});

describe('a request whose answer was lost, after a reload', () => {
  const keysOf = (path: string) =>
    posted
      .filter((each) => each.path === path)
      .map(({ input }) => (input as { idempotencyKey: string }).idempotencyKey);
  /** Places a form as a page does that has just been opened. */
  async function place<Form extends HTMLElement & { updateComplete: Promise<boolean> }>(
    form: Form,
    values: object,
  ): Promise<Form> {
    const api = { ...(await open()), asksForKey: false };
    document.body.append(Object.assign(form, { api }, values));
    onTestFinished(() => form.remove());
    await form.updateComplete;
    return form;
  }
  const subaccount = { subaccountId: 'sacc_1', name: 'Ana' };
  const lose = async (name: string, path: string, input: unknown) => {
    answers[path] = [502, {}];
    await new KeptRequest<unknown>(name).post(path, input, {});
  };

  it('a transfer is offered under its key, for its own subaccount alone', async () => {
    const path = './subaccounts/transfers';
    const { ConsoleTransfer } = await import('../../widget/console/subaccount-transfer.ts');
    await lose('transfer sacc_1', path, 5_000);
    const form = await place(new ConsoleTransfer(), { subaccount });
    expect(form.querySelector('input')!.value).toBe('50,00');
    expect(form.textContent).toContain('O último pedido ficou sem resposta');
    answers[path] = [201, { refId: 'x', replayed: true }];
    form.querySelector('form')!.requestSubmit();
    await waitFor(() => expect(form.textContent).toContain('foram transferidos uma vez'));
    expect(form.textContent).not.toContain('Esquecer');
    expect(keysOf(path)[1]).toBe(keysOf(path)[0]);

    await lose('transfer sacc_1', path, 5_000);
    document.querySelector('console-app')!.remove();
    const other = { subaccount: { subaccountId: 'sacc_2', name: 'Bia' } };
    expect((await place(new ConsoleTransfer(), other)).querySelector('input')!.value).toBe('');
  });

  it('a transfer that is dropped is a new one', async () => {
    const path = './subaccounts/transfers';
    const { ConsoleTransfer } = await import('../../widget/console/subaccount-transfer.ts');
    await lose('transfer sacc_1', path, 5_000);
    const form = await place(new ConsoleTransfer(), { subaccount });
    form.querySelector<HTMLElement>('.secondary')!.click();
    await form.updateComplete;
    expect(form.querySelector('.secondary')).toBeNull();
    answers[path] = [201, { refId: 'x', replayed: false }];
    form.querySelector('input')!.value = '50,00';
    form.querySelector('form')!.requestSubmit();
    await waitFor(() => expect(form.textContent).toContain('transferidos.'));
    expect(keysOf(path)[1]).not.toBe(keysOf(path)[0]);
  });

  it('a payout of a subaccount is offered under its key, and another one in its place conflicts', async () => {
    const path = './subaccounts/payouts';
    const { ConsoleSubaccountPayout } = await import('../../widget/console/subaccount-payout.ts');
    const draft = {
      ...{ subaccountId: 'sacc_1', amountCents: 2_000 },
      ...{ pixKey: 'ana@example.com', pixKeyType: 'email' },
    };
    await lose('subaccount payout sacc_1', path, draft);
    const form = await place(new ConsoleSubaccountPayout(), { subaccount });
    const values = [...form.querySelectorAll<HTMLInputElement>('input, select')].map(({ value }) => value);
    expect(values).toEqual(['20,00', 'ana@example.com', 'email']);
    form.querySelector('input')!.value = '30,00';
    answers['./subaccounts/payout-terms'] = [201, { pixKey: 'ana@example.com', fees: null }];
    answers[path] = [409, { code: 'IDEMPOTENCY_CONFLICT', fields: [] }];
    form.querySelector('form')!.requestSubmit();
    await waitFor(() => expect(form.querySelector('.buttons .primary')).not.toBeNull());
    form.querySelector<HTMLElement>('.buttons .primary')!.click();
    await waitFor(() => expect(form.textContent).toContain('O saque anterior chegou'));
    expect(keysOf(path)[1]).toBe(keysOf(path)[0]);
  });

  it('a refund is offered under its key by the pages of its sale and of all', async () => {
    const path = './refunds';
    const { ConsoleLostRefunds, requestRefund } = await import('../../widget/console/refunds.ts');
    const refund = { type: 'payment', reference: 'psa_1', amountCents: 500 } as const;
    answers[path] = [502, {}];
    const api = { ...(await open()), asksForKey: false };
    await expect(requestRefund(api, refund)).rejects.toThrow();
    document.querySelector('console-app')!.remove();
    const other = await place(new ConsoleLostRefunds(), { reference: 'psa_2' });
    expect(other.textContent).toBe('');
    document.querySelector('console-app')!.remove();
    const notice = await place(new ConsoleLostRefunds(), {});
    expect(notice.querySelector('[data-refund]')!.textContent).toMatch(/R\$\s5,00 da venda\s+psa_1/);
    answers[path] = [201, {}];
    notice.querySelector<HTMLElement>('.primary')!.click();
    await waitFor(() => expect(notice.querySelector('.done')!.textContent).toMatch(/5,00 pedido, uma vez/));
    expect(notice.querySelector('[data-refund]')).toBeNull();
    await requestRefund(api, refund);
    const [lost, repeated, next] = keysOf(path);
    expect(repeated).toBe(lost);
    expect(next).not.toBe(lost);
  });
});

describe('a payout that is like another one', () => {
  const paid = { payoutId: 'a1', code: 'SAQ-1', requestedAt: null, inDoubt: false };
  async function place<Page extends HTMLElement & { updateComplete: Promise<boolean> }>(page: Page) {
    const card = Object.assign(document.createElement('div'), { className: 'card' });
    card.append(Object.assign(page, { api: { ...(await open()), asksForKey: false } }));
    document.body.append(card);
    onTestFinished(() => card.remove());
    await page.updateComplete;
    return page;
  }

  it('is named, but where it may be the lost request that is repeated', async () => {
    const { ConsolePayoutForm } = await import('../../widget/console/payout-form.ts');
    const draft = {
      method: 'PIX',
      amount: '150,00',
      destination: 'ana@a.example',
      keyType: '',
      externalId: '',
    };
    answers['./payouts'] = [502, {}];
    await new KeptRequest<object>('payout').post('./payouts', draft, {});
    const hourly = { most: 10, left: 9, mostOfMethod: null };
    const terms = { feeCents: 100, destination: 'ana@a.example', destinationKind: 'email', hourly };
    answers['./payouts/terms'] = [200, { ...terms, paidBefore: paid, possibleAt: '2026-03-02T09:00:00Z' }];
    const form = await place(new ConsolePayoutForm());
    const ask = async () => {
      form.querySelector('form')!.requestSubmit();
      await waitFor(() => expect(dialog()).not.toBeNull());
      const words = dialog()!.textContent;
      dialog()!.querySelector<HTMLElement>('.secondary')!.click();
      await waitFor(() => expect(form.textContent).toContain('Ver tarifa e confirmar'));
      return words;
    };
    expect(await ask()).not.toContain('Um saque igual foi pedido');
    const amount = form.querySelector<HTMLInputElement>('#payout-amount')!;
    amount.value = '90,00';
    amount.dispatchEvent(new InputEvent('input'));
    expect(await ask()).toContain('Um saque igual foi pedido nos últimos 7 dias: SAQ-1');
  });

  it('is asked for in a batch, and the focus follows the choice', async () => {
    const { ConsolePayoutBatch } = await import('../../widget/console/payout-batch.ts');
    const check = {
      ...{ errors: [], count: 1, totalCents: 15_000, feesCents: null, duplicates: [] },
      ...{ destinationKinds: ['email'], confirmedBefore: null, paidBefore: [{ row: 1, ...paid }] },
      ...{ lacksSince: null, endsAt: '2026-03-02T11:00:00Z' },
    };
    answers['./payouts/batches/check'] = [200, check];
    const batch = await place(new ConsolePayoutBatch());
    const button = (words: string) =>
      [...batch.querySelectorAll('button')].find(({ textContent }) => textContent?.trim() === words);
    const press = async (words: string) => {
      await waitFor(() => expect(button(words)).toBeDefined());
      button(words)!.focus();
      button(words)!.click();
    };
    batch.querySelector('textarea')!.value = 'valor;destino\n150,00;ana@a.example';
    batch.querySelector<HTMLFormElement>('form.paste')!.requestSubmit();
    await press('Pagar também, de novo');
    await waitFor(() => expect(document.activeElement).toBe(button('Confirmar um saque, um de novo')));
    await press('Descartar');
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Saques em lote'));
  });

  it('a file that is too large ends the check of the one before, and keeps no mistake of it waiting', async () => {
    const { ConsolePayoutBatch } = await import('../../widget/console/payout-batch.ts');
    const batch = await place(new ConsolePayoutBatch());
    answers['./payouts/batches/check'] = [503, {}];
    const paste = (text: string) => {
      batch.querySelector('textarea')!.value = text;
      batch.querySelector<HTMLFormElement>('form.paste')!.requestSubmit();
    };
    paste('valor;destino\nx;ana@a.example');
    await waitFor(() => expect(batch.textContent).toContain('Não foi possível conferir.'));
    expect(batch.textContent).toContain('Não é um valor, como 1.234,56.');
    paste('valor;destino\n150,00;ana@a.example');
    const chosen = new DataTransfer();
    chosen.items.add(new File([new Uint8Array(1_000_001)], 'lote.csv'));
    const input = batch.querySelector<HTMLInputElement>('#batch-file')!;
    input.files = chosen.files;
    input.dispatchEvent(new Event('change'));
    await waitFor(() => expect(batch.textContent).toContain('O arquivo é grande demais'));
    expect(batch.textContent).not.toContain('Um momento…');
  });
});

it('deliveries that a lost request has sent again are not said to be sent now', async () => {
  const { ConsoleDeliveries } = await import('../../widget/console/deliveries.ts');
  const now = '2026-03-02T10:35:00Z';
  const row = {
    ...{ webhookId: 'whd_1', event: 'payment.paid', status: 'EXHAUSTED', url: 'https://a.example' },
    ...{ createdAt: now, nextAttemptAt: null },
  };
  const page = { totalCount: 1, nodes: [row], pageInfo: { hasNextPage: false, endCursor: null } };
  const results = [
    { total: 1, replayed: true },
    { total: 1, replayed: false },
  ];
  vi.stubGlobal('fetch', async (path: string) =>
    Response.json(path.endsWith('redeliver-all') ? results.shift() : { data: { webhookDeliveries: page } }),
  );
  const leaving = new AbortController().signal;
  const api = { token: '', now: () => new Date(now), mayWrite: true, leaving };
  const list = Object.assign(new ConsoleDeliveries(), { api, status: 'EXHAUSTED' });
  document.body.append(list);
  onTestFinished(() => list.remove());
  for (const words of ['O pedido anterior já tinha chegado.', 'Uma entrega é reenviada.']) {
    await waitFor(() => expect(list.querySelector('.filter button')).not.toBeNull());
    list.querySelector<HTMLElement>('.filter button')!.click();
    await waitFor(() => expect(dialog()).not.toBeNull());
    dialog()!.querySelector<HTMLElement>('.primary')!.click();
    await waitFor(() => expect(list.querySelector('.done')!.textContent).toContain(words));
  }
});

it('an open delivery is read again, at once where it is sent again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const now = '2026-03-02T10:35:00Z';
  const row = {
    ...{ webhookId: 'whd_1', event: 'payment.paid', status: 'EXHAUSTED', url: 'https://a.example' },
    ...{ createdAt: now, nextAttemptAt: null },
  };
  let count = 1;
  let isAway = false;
  vi.stubGlobal('fetch', async (path: string, { body }: { body: string }) => {
    if (path.endsWith('redeliver')) {
      count += 1;
      return Response.json({});
    }
    if (!JSON.parse(body).query.includes('ConsoleDelivery('))
      return Response.json({
        data: {
          webhookDeliveries: {
            totalCount: 1,
            nodes: [row],
            pageInfo: { hasNextPage: false, endCursor: null },
          },
        },
      });
    if (isAway) throw new TypeError('away');
    const attempts = Array.from({ length: count }, (_, index) => ({
      ...{ number: index + 1, at: now, responseStatus: 500, error: null, durationMs: 1 },
      ...{ responseBody: null, responseBodyTruncated: false },
    }));
    return Response.json({ data: { webhookDelivery: { payload: '{}', attempts } } });
  });
  const { ConsoleDeliveries } = await import('../../widget/console/deliveries.ts');
  const api = { token: '', now: () => new Date(now), mayWrite: true };
  const list = Object.assign(new ConsoleDeliveries(), { api });
  document.body.append(list);
  onTestFinished(() => list.remove());
  await waitFor(() => expect(list.querySelector('details')).not.toBeNull());
  expect(list.querySelector('summary')!.textContent).toContain('Não entregue');
  list.querySelector('details')!.open = true;
  const shows = (nth: number) => waitFor(() => expect(list.textContent).toContain(`${nth}ª tentativa`));
  await shows(1);
  list.querySelector<HTMLElement>('details button')!.click();
  await shows(2);
  count = 3;
  await vi.advanceTimersByTimeAsync(15_000);
  await shows(3);
  isAway = true;
  await vi.advanceTimersByTimeAsync(15_000);
  await shows(3);
  expect(list.textContent).not.toContain('não pôde ser lido');
});

it('the requests of this minute and of this day are shown', async () => {
  const requests = { limit: 120, remaining: 118, resetAt: '2026-03-02T10:36:00Z', today: 1234 };
  answers['./keys'] = [200, { keys: [], mostKeys: 10, permissions: [], ownKeyId: null, requests }];
  const api = await open();
  const { ConsoleKeys } = await import('../../widget/console/keys.ts');
  const page = Object.assign(new ConsoleKeys(), { api });
  document.body.append(page);
  onTestFinished(() => page.remove());
  await waitFor(() => expect(page.textContent).toContain('usou 2 de 120 requisições'));
  expect(page.textContent).toContain('Hoje foram 1.234, com as recusadas.');
});

it('the focus stays in its card where its row goes, and goes to the page with the session', async () => {
  const token = {
    ...{ tokenId: 'tok_1', kind: 'checkout', status: 'active', createdAt: '2026-03-02T10:35:00Z' },
    ...{ expiresAt: null, allowedOrigins: [], ofConsole: false, scopes: null },
  };
  answers['./tokens'] = [201, { tokens: [token], next: null }];
  const main = document.createElement('main');
  main.tabIndex = -1;
  document.body.append(main);
  onTestFinished(() => main.remove());
  const api = await open(main);
  const { ConsoleTokens } = await import('../../widget/console/tokens.ts');
  const page = Object.assign(new ConsoleTokens(), { api, className: 'card' });
  document.body.append(page);
  onTestFinished(() => page.remove());
  await waitFor(() => expect(page.querySelector('li button')).not.toBeNull());
  answers['./tokens'] = [201, { tokens: [], next: null }];
  page.querySelector<HTMLElement>('li button')!.focus();
  page.querySelector<HTMLElement>('li button')!.click();
  await waitFor(() => expect(dialog()).not.toBeNull());
  dialog()!.querySelector<HTMLElement>('.primary')!.click();
  await waitFor(() => expect(page.textContent).toContain('Nenhum token.'));
  expect(document.activeElement?.textContent).toBe('Token encerrado.');
  page.remove();

  document.querySelector<HTMLElement>('.session button')!.focus();
  document.querySelector<HTMLElement>('.session button')!.click();
  await waitFor(() => expect(document.querySelector('#key')).not.toBeNull());
  expect(document.activeElement).toBe(main);
});

it('a sale that was canceled is said so where its button was', async () => {
  const { ConsoleCancel } = await import('../../widget/console/cancel.ts');
  const sale = { __typename: 'CardPayment', reference: 'PSC-1', status: 'PENDING' };
  const card = document.createElement('section');
  card.className = 'card';
  const button = Object.assign(new ConsoleCancel(), { api: { actions: ['cancel'] }, sale });
  card.append(button);
  document.body.append(card);
  onTestFinished(() => card.remove());
  await button.updateComplete;
  button.querySelector('button')!.click();
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Manter a venda'));
  button.querySelector<HTMLElement>('.primary')!.focus();
  button.querySelector<HTMLElement>('.primary')!.click();
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Venda cancelada.'));
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
    expect(tasks.textContent).toContain('Dados de 08:00: o serviço não os renovou desde então.');
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
  await waitFor(() =>
    expect(list.textContent).toContain('Dados de 07:33: o serviço não os renovou desde então.'),
  );
  expect(list.querySelector('.rows a')?.textContent).toBe('<b>Ana</b>');
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(list.textContent).toContain('Não foi possível ler agora.'));
  expect(list.querySelector('.rows a')?.textContent).toBe('<b>Ana</b>');
  list.remove();
});
