import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, createSystemClock } from '../../server/src/kernel/clock.ts';

// A service written from the document alone. It behaves exactly as the document shows. Where the document shows nothing, it
// differs from the embedded service: Portuguese names, other HTTP statuses, unknown members. It has the endpoints that the
// document names, and no others: there is no list of card payments, no lookup of one payout of the main account, no way to
// open a subaccount.

/** The endpoints that the document names; it names `/v1/products` as a family. */
export const ENDPOINTS = [
  'GET /v1/wallet',
  'GET /v1/sandbox/wallet',
  'POST /v1/card-payments',
  'GET /v1/card-payments/{orderCode}',
  'POST /v1/subaccounts/{id}/payout',
  'GET /v1/subaccounts/{id}/payouts/{payoutId}',
  'GET /v1/payouts',
  'POST /v1/payouts',
  'GET /v1/products',
  'POST /v1/products',
  'DELETE /v1/products/{id}',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

type Environment = 'live' | 'sandbox';

interface Withdrawal {
  id: string;
  code: string;
  amountCents: number;
  method: string;
  destination: string;
  status: string;
  requestedAt: string;
  processedAt: string | null;
}

interface Card {
  orderCode: string;
  status: string;
  amountCents: number;
  callbackUrl: string | null;
  customer: { name?: string; email?: string } | null;
  metadata: string | null;
  createdAt: string;
  expiresAt: string;
  confirmedAt: string | null;
}

/** The object of section 2.2, and the references that find it. */
interface SubaccountPayout {
  body: Record<string, unknown> & { status: string; code: string; subaccountId: string; amountCents: number };
  references: string[];
}

interface Books {
  balanceCents: number;
  blockedCents: number;
  pendingCents: number;
  ltc: number;
  subaccounts: Map<string, number>;
  withdrawals: Withdrawal[];
  cards: Map<string, Card>;
  subaccountPayouts: SubaccountPayout[];
  products: Map<string, Record<string, unknown>>;
}

/** A webhook as it was sent; a test may send it again, in any order. */
export interface SentWebhook {
  url: string;
  body: string;
  headers: Record<string, string>;
}

export interface DocumentUpstream {
  readonly url: string;
  readonly liveKey: string;
  readonly testKey: string;
  readonly webhookSecret: string;
  /** The books of each environment, which a test may read and change. */
  readonly live: Books;
  readonly sandbox: Books;
  /** The method and the path of each request in order, including refused ones: `GET /v1/wallet`. */
  readonly requestLines: string[];
  /** The webhooks that were sent, in order. */
  readonly sent: SentWebhook[];
  /** The endpoints that the service does not have, with the status of its answer. */
  readonly missing: Map<Endpoint, 404 | 405>;
  /** The account's URL for webhooks; without one only a payment's own `callbackUrl` is called. */
  webhookUrl: string | null;
  /** The encoding of a webhook's signature. */
  signature: 'hex' | 'base64' | 'sha256=';
  cardsConfigured: boolean;
  /** Whether the next payouts of subaccounts are answered with 202, because they are verified first. */
  verifies: boolean;
  /** Additional members of every answer and every webhook, which the document does not show. */
  extra: object;
  /** Opens a subaccount with this balance, and returns its id. */
  openSubaccount(cents: number): string;
  /** Completes a payout of the main account or of a subaccount, or pays a card payment, and sends its webhook. */
  settle(reference: string): Promise<void>;
  /** Denies a payout and returns the money, or fails a subaccount's payout, whose money `reverse` returns. */
  deny(reference: string, reason?: string): Promise<void>;
  /** Marks a payout as being processed; no webhook reports it. */
  process(reference: string): void;
  reverse(reference: string): Promise<void>;
  pay(orderCode: string): Promise<void>;
  /** Sets any status, including an unknown one. No webhook is sent. */
  setStatus(reference: string, status: string): void;
  /** Sends a webhook, also repeatedly. Resolves with the status of the answer. */
  send(webhook: SentWebhook): Promise<number>;
  close(): Promise<void>;
}

interface Request {
  environment: Environment;
  books: Books;
  params: Record<string, string>;
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: a client may send anything
  body: any;
}

interface Answer {
  status: number;
  body: object;
}

/** Starts the service on a free port of 127.0.0.1. The caller closes it. */
export async function startDocumentUpstream({
  clock = createSystemClock(),
  limitPerMinute = Number.POSITIVE_INFINITY,
}: {
  clock?: Clock;
  limitPerMinute?: number;
} = {}): Promise<DocumentUpstream> {
  const now = () => clock.now().toISOString();
  const later = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
  let window = { since: Number.NEGATIVE_INFINITY, used: 0 };

  // ── Records, under this service's own names ──

  const withdrawalRecord = (each: Withdrawal) => ({
    identificador: each.id,
    codigo: each.code,
    // By the convention of section 2.1, records of withdrawals use `amount`, in reais.
    amount: each.amountCents / 100,
    status: each.status,
    metodo: each.method,
    chaveDestino: mask(each.destination),
    solicitadoEm: each.requestedAt,
    processadoEm: each.processedAt,
  });
  const cardRecord = (each: Card) => ({
    orderCode: each.orderCode,
    status: each.status,
    amount: each.amountCents / 100,
    moeda: 'BRL',
    criadoEm: each.createdAt,
    confirmadoEm: each.confirmedAt,
    cliente: each.customer,
    metadata: each.metadata,
  });

  // ── Endpoints ──

  const handlers: Record<Endpoint, (request: Request) => Answer> = {
    'GET /v1/wallet': ({ books, environment }) => ok(walletOf(books, environment)),
    'GET /v1/sandbox/wallet': ({ books, environment }) =>
      environment === 'sandbox'
        ? ok({ saldo: books.balanceCents / 100, saldoPendente: books.pendingCents / 100 })
        : refused(400, 'Somente com chave de teste'),

    'POST /v1/card-payments': ({ books, environment, body }) => {
      if (environment === 'sandbox') return refused(400, 'Cartão não existe em sandbox');
      if (!upstream.cardsConfigured) return refused(422, 'Pagamentos com cartão não configurados');
      if (!(body.valueCents >= 80)) return refused(400, 'valueCents must be at least 80');
      const card: Card = {
        orderCode: `PEDIDO${digits(10)}`,
        status: 'pending',
        amountCents: body.valueCents,
        callbackUrl: body.callbackUrl ?? null,
        customer: body.customer ?? null,
        metadata: body.metadata ?? null,
        createdAt: now(),
        expiresAt: later(30 * 60_000),
        confirmedAt: null,
      };
      books.cards.set(card.orderCode, card);
      const { orderCode, status, amountCents, expiresAt } = card;
      const checkoutUrl = `https://pagar.servico.example/${orderCode}`;
      return {
        status: 200,
        body: { orderCode, status, amountCents, currency: 'BRL', checkoutUrl, expiresAt },
      };
    },
    'GET /v1/card-payments/{orderCode}': ({ books, params }) => {
      const card = books.cards.get(params.orderCode!);
      return card ? ok(cardRecord(card)) : refused(404, 'Pagamento não encontrado');
    },

    'POST /v1/subaccounts/{id}/payout': ({ books, environment, params, body }) => {
      const balance = books.subaccounts.get(params.id!);
      if (environment === 'sandbox' || balance === undefined) return refused(404, 'Subaccount not found');
      const { amountCents, pixKey, idempotencyKey } = body;
      const existing = books.subaccountPayouts.find(
        ({ references }) => idempotencyKey && references.includes(`saq_idem_${idempotencyKey}`),
      );
      if (existing) return payoutAnswer(existing);
      if (!(amountCents > 0) || amountCents > balance) return refused(400, 'Saldo insuficiente na subconta');
      const id = upstream.verifies ? null : hex(12);
      const payoutId = idempotencyKey ? `saq_idem_${idempotencyKey}` : `saq_${hex(8)}`;
      const code = `TURBO-${digits(8)}`;
      const created: SubaccountPayout = {
        references: [payoutId, code, ...(id ? [id] : [])],
        body: {
          payoutId,
          withdrawalId: id,
          code,
          subaccountId: params.id!,
          status: 'processing',
          reversed: false,
          amountCents,
          feeCents: 50,
          platformFeeCents: 100,
          netAmountCents: amountCents - 150,
          pixKey: mask(String(pixKey)),
          endToEndId: null,
          recipientName: 'Bia Souza',
          recipientBankName: 'Banco do Povo',
          failureReason: null,
          createdAt: now(),
          completedAt: null,
          reversedAt: null,
        },
      };
      books.subaccounts.set(params.id!, balance - amountCents);
      books.balanceCents -= amountCents;
      books.subaccountPayouts.unshift(created);
      return payoutAnswer(created);
    },
    'GET /v1/subaccounts/{id}/payouts/{payoutId}': ({ books, environment, params }) => {
      if (!/^sacc_[0-9a-f]{32}$/.test(params.id!)) return refused(400, 'id inválido');
      if (environment === 'sandbox' || !books.subaccounts.has(params.id!))
        return refused(404, 'Subaccount not found');
      const found = books.subaccountPayouts.find(
        (each) => each.body.subaccountId === params.id && each.references.includes(params.payoutId!),
      );
      return found ? ok(found.body) : refused(404, 'Payout not found');
    },

    'GET /v1/payouts': ({ books, query }) =>
      ok(pageOf('saques', books.withdrawals.map(withdrawalRecord), query)),
    'POST /v1/payouts': ({ books, environment, body }) => {
      const amountCents = Math.round(body.amount * 100);
      const { withdrawableCents } = walletOf(books, environment);
      if (!(amountCents > 0)) return refused(400, 'amount inválido');
      if (body.method !== 'ltc' && amountCents > withdrawableCents)
        return refused(400, `Saldo insuficiente: disponível R$ ${withdrawableCents / 100}`);
      const created: Withdrawal = {
        id: hex(12),
        code: `SAQ-${digits(6)}`,
        amountCents,
        method: body.method,
        destination: body.walletAddress,
        status: 'pendente',
        requestedAt: now(),
        processedAt: null,
      };
      if (body.method !== 'ltc') books.balanceCents -= amountCents;
      books.withdrawals.unshift(created);
      // The answer does not wait for the webhook, which may have no receiver.
      notifyWithdrawal(environment, created, 'requested').catch(() => undefined);
      return { status: 201, body: withdrawalRecord(created) };
    },

    'GET /v1/products': ({ books, query }) =>
      ok(pageOf('itens', [...books.products.values()].reverse(), query)),
    'POST /v1/products': ({ books, body }) => {
      const _id = hex(12);
      const created = {
        _id,
        titulo: body.name,
        detalhes: body.description ?? null,
        precoCents: body.priceCents,
      };
      books.products.set(_id, created);
      return { status: 201, body: created };
    },
    'DELETE /v1/products/{id}': ({ books, params }) => {
      if (!/^[0-9a-f]{24}$/.test(params.id!)) return refused(400, 'Invalid product ID format');
      return books.products.delete(params.id!) ? ok({ deleted: true }) : refused(404, 'Product not found');
    },
  };

  const table = ENDPOINTS.map((endpoint) => {
    const [method, path] = endpoint.split(' ') as [string, string];
    return { endpoint, method, path: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) };
  });

  function answer(method: string, url: URL, authorization: string | undefined, body: unknown): Answer {
    const environment = environmentOf(authorization);
    if (!environment) return refused(401, 'Chave inválida');
    if (clock.now().getTime() >= window.since + 60_000) window = { since: clock.now().getTime(), used: 0 };
    if (++window.used > limitPerMinute) return refused(429, 'Muitas requisições');
    const rows = table.filter(({ path }) => path.test(url.pathname));
    const row = rows.find((each) => each.method === method);
    const gone = row && upstream.missing.get(row.endpoint);
    if (!row || gone) return refused(gone || (rows.length > 0 ? 405 : 404), 'Rota não encontrada');
    const params = row.path.exec(url.pathname)?.groups ?? {};
    return handlers[row.endpoint]({
      environment,
      books: upstream[environment],
      params: Object.fromEntries(
        Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]),
      ),
      query: url.searchParams,
      body,
    });
  }

  const environmentOf = (authorization: string | undefined): Environment | null => {
    if (authorization === `Bearer ${upstream.liveKey}`) return 'live';
    return authorization === `Bearer ${upstream.testKey}` ? 'sandbox' : null;
  };

  // ── Webhooks ──

  async function notify(url: string | null, event: object): Promise<void> {
    if (url === null) return;
    const body = JSON.stringify({ ...event, ...upstream.extra });
    const hmac = createHmac('sha256', upstream.webhookSecret).update(body);
    const signature = upstream.signature === 'base64' ? hmac.digest('base64') : hmac.digest('hex');
    const webhook: SentWebhook = {
      url,
      body,
      headers: {
        'content-type': 'application/json',
        'x-webhook-id': `entrega-${hex(8)}`,
        'x-webhook-signature': upstream.signature === 'sha256=' ? `sha256=${signature}` : signature,
      },
    };
    upstream.sent.push(webhook);
    await upstream.send(webhook);
  }

  function notifyWithdrawal(
    environment: Environment,
    each: Withdrawal,
    change: 'requested' | 'completed' | 'denied',
  ): Promise<void> {
    return notify(upstream.webhookUrl, {
      event: `withdrawal.${environment === 'sandbox' ? 'test.' : ''}${change}`,
      withdrawalId: each.id,
      code: each.code,
      amount: each.amountCents / 100,
      method: each.method,
      walletAddress: each.destination,
      status: each.status,
      ...(change === 'requested' && { requestedAt: each.requestedAt, sandbox: environment === 'sandbox' }),
      ...(each.processedAt && { processedAt: each.processedAt }),
    });
  }

  /** Sends the webhook of a subaccount's payout, which contains only its code, as far as the document shows. */
  const notifySubaccountPayout = ({ body }: SubaccountPayout) =>
    notify(upstream.webhookUrl, { tipo: 'subaccount.payout', code: body.code });

  // ── Controls ──

  type Found =
    | { kind: 'withdrawal'; environment: Environment; each: Withdrawal }
    | { kind: 'card'; environment: Environment; each: Card }
    | { kind: 'subaccount'; environment: Environment; each: SubaccountPayout };

  function find(reference: string): Found {
    for (const environment of ['live', 'sandbox'] as const) {
      const { withdrawals, cards, subaccountPayouts } = upstream[environment];
      const withdrawal = withdrawals.find(({ id, code }) => [id, code].includes(reference));
      if (withdrawal) return { kind: 'withdrawal', environment, each: withdrawal };
      const payout = subaccountPayouts.find(({ references }) => references.includes(reference));
      if (payout) return { kind: 'subaccount', environment, each: payout };
      const card = cards.get(reference);
      if (card) return { kind: 'card', environment, each: card };
    }
    throw new Error(`there is no ${reference}`);
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://upstream');
    upstream.requestLines.push(`${request.method} ${url.pathname}`);
    void bodyOf(request)
      .then((body) => answer(request.method ?? '', url, request.headers.authorization, body))
      .catch(() => refused(500, 'Internal error'))
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...upstream.extra, ...body }));
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const upstream: DocumentUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    liveKey: `ps_live_${hex(16)}`,
    testKey: `ps_test_${hex(16)}`,
    webhookSecret: `segredo-${hex(16)}`,
    live: emptyBooks(),
    sandbox: emptyBooks(),
    requestLines: [],
    sent: [],
    missing: new Map(),
    webhookUrl: null,
    signature: 'hex',
    cardsConfigured: true,
    verifies: false,
    extra: { versaoInterna: 7, etiquetas: ['a', 'b'], aninhado: { nulo: null, lista: [{ valor: 1.5 }] } },
    openSubaccount(cents) {
      const id = `sacc_${hex(16)}`;
      upstream.live.subaccounts.set(id, cents);
      upstream.live.balanceCents += cents;
      return id;
    },
    async settle(reference) {
      const { kind, environment, each } = find(reference);
      if (kind === 'card') return upstream.pay(reference);
      if (kind === 'subaccount') {
        Object.assign(each.body, { status: 'completed', completedAt: now(), endToEndId: `E${digits(31)}` });
        return notifySubaccountPayout(each);
      }
      Object.assign(each, { status: 'concluido', processedAt: now() });
      await notifyWithdrawal(environment, each, 'completed');
    },
    async deny(reference, reason = 'Conta encerrada') {
      const { kind, environment, each } = find(reference);
      if (kind === 'card') return upstream.setStatus(reference, 'failed');
      if (kind === 'subaccount') {
        const noRecipient = { recipientName: null, recipientBankName: null };
        Object.assign(each.body, { status: 'failed', failureReason: reason, ...noRecipient });
        return notifySubaccountPayout(each);
      }
      Object.assign(each, { status: 'negado', processedAt: now() });
      if (each.method !== 'ltc') upstream[environment].balanceCents += each.amountCents;
      await notifyWithdrawal(environment, each, 'denied');
    },
    process: (reference) => upstream.setStatus(reference, 'processing'),
    async reverse(reference) {
      const { kind, environment, each } = find(reference);
      if (kind !== 'subaccount') throw new Error(`${reference} is no payout of a subaccount`);
      const { subaccountId, amountCents } = each.body;
      const books = upstream[environment];
      Object.assign(each.body, { reversed: true, reversedAt: now() });
      books.subaccounts.set(subaccountId, books.subaccounts.get(subaccountId)! + amountCents);
      books.balanceCents += amountCents;
      await notifySubaccountPayout(each);
    },
    async pay(orderCode) {
      const card = upstream.live.cards.get(orderCode);
      if (!card) throw new Error(`there is no ${orderCode}`);
      Object.assign(card, { status: 'paid', confirmedAt: now() });
      upstream.live.pendingCents += card.amountCents;
      const { customer, metadata, amountCents } = card;
      await notify(card.callbackUrl ?? upstream.webhookUrl, {
        tipo: 'card_payment.paid',
        orderCode,
        amount: amountCents / 100,
        situacao: 'paid',
        confirmadoEm: card.confirmedAt,
        ...(customer && { cliente: { name: customer.name, email: customer.email } }),
        metadados: metadata,
      });
    },
    setStatus(reference, status) {
      const { kind, each } = find(reference);
      if (kind === 'subaccount') each.body.status = status;
      else each.status = status;
    },
    async send({ url, body, headers }) {
      const response = await fetch(url, { method: 'POST', body, headers });
      await response.arrayBuffer();
      return response.status;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return upstream;
}

/** Builds the wallet of section 2.4. Members whose name the document puts in parentheses have this service's own names. */
function walletOf(books: Books, environment: Environment) {
  const subaccounts = [...books.subaccounts.values()].reduce((sum, cents) => sum + cents, 0);
  const withdrawableCents = Math.max(0, books.balanceCents - books.blockedCents - subaccounts);
  return {
    moeda: 'BRL',
    balance: books.balanceCents / 100,
    saldoBrutoCents: books.balanceCents,
    disputeBlocked: books.blockedCents / 100,
    withdrawable: withdrawableCents / 100,
    withdrawableCents,
    pendingRelease: books.pendingCents / 100,
    aLiberarCents: books.pendingCents,
    totalSubcontas: subaccounts / 100,
    semDonoCents: withdrawableCents,
    cryptoBalanceLtc: books.ltc,
    ...(environment === 'sandbox' && { sandbox: true }),
  };
}

function payoutAnswer({ body }: SubaccountPayout): Answer {
  const { withdrawalId, code } = body;
  return withdrawalId === null
    ? { status: 202, body: { withdrawal: null, code, situacao: 'em_verificacao' } }
    : { status: 200, body: { withdrawal: { id: withdrawalId, valor: body.amountCents }, code } };
}

function emptyBooks(): Books {
  return {
    balanceCents: 0,
    blockedCents: 0,
    pendingCents: 0,
    ltc: 0,
    subaccounts: new Map(),
    withdrawals: [],
    cards: new Map(),
    subaccountPayouts: [],
    products: new Map(),
  };
}

/** Builds a page by section 2.1: `total`, `limit` and `offset` beside an array with a name of its own for each list. */
function pageOf(name: string, items: readonly object[], query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? 50);
  const offset = Number(query.get('offset') ?? 0);
  return { [name]: items.slice(offset, offset + limit), total: items.length, limit, offset };
}

const ok = (body: object): Answer => ({ status: 200, body });
const refused = (status: number, error: string): Answer => ({ status, body: { error } });
const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
const digits = (count: number): string => Array.from(randomBytes(count), (byte) => byte % 10).join('');
const mask = (text: string): string => `***${text.slice(-4)}`;

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}
