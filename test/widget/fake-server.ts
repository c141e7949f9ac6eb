// A fake GraphQL endpoint over the three transports, which tests control. It implements the part of the server's contract
// that the element relies on; the real server's own tests check the same contract.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import code from '../../widget/demo/gallery/pix-code.json' with { type: 'json' };

/** `mute` accepts a connection and then sends nothing, not even a pong. */
type Behaviour = 'ok' | 'refuse' | 'hang' | 'mute';

/** The fake server's behaviour for one token, and the requests that it has received with it. */
export interface Scenario {
  token: string;
  ws: Behaviour;
  sse: Behaviour;
  /**
   * The answer of startCheckout in place of a payment: a result of the union, or top-level errors. `hold` loses the
   * request, `lost` the answer.
   */
  start?: {
    result?: object;
    errors?: object[];
    status?: number;
    times?: number;
    hold?: boolean;
    lost?: boolean;
  } | null;
  amountCents: number;
  expiresInSeconds: number;
  checkoutUrl?: string;
  /** The methods that the token takes; null if the server does not return them, and `lost` if it does not answer. */
  methods: string[] | null | 'lost';
  /** The content of a paid payment; `unknown` if the server refuses the field, as an older one does. */
  delivered?: object[] | null | 'unknown';
  /** The age in reads of a payment, as from a server in front of another service. */
  upstream?: { ageSeconds: number; stale: boolean };
  /** Whether the bank has not given the code of a PIX yet. */
  withoutCode?: boolean;
  /** The inputs of startCheckout and startPixCheckout. */
  starts: { attemptId: string; amountCents?: number; method?: 'pix' }[];
  /** The number of reads of the delivered content. */
  contentReads: number;
  subscriptions: { transport: 'ws' | 'sse'; after: string | null }[];
  reads: number;
}

/** A card payment, or one by PIX. */
interface Payment extends Record<string, unknown> {
  status: string;
  version: number;
  expiresInSeconds: number;
}

interface Listener {
  orderCode: string;
  send: (update: object) => void;
  complete: () => void;
  drop: (code: number) => void;
}

export interface FakeServer {
  url: string;
  close: () => Promise<void>;
}

const FINAL = ['PAID', 'FAILED', 'REFUNDED'];

export interface FakeServerOptions {
  port?: number;
  /** The served folders by the prefix of their path, with headers for their files. */
  files?: Record<string, { folder: string; headers?: Record<string, string> }>;
  pages?: Record<string, { body: string; headers?: Record<string, string> }>;
}

export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const scenarios = new Map<string, Scenario>();
  const payments = new Map<
    string,
    {
      payment: Payment;
      member: 'payment' | 'cardPayment';
      scenario: Scenario;
      history: object[];
      attemptId: string;
      token: string;
    }
  >();
  const listeners = new Set<Listener>();
  const hanging = new Set<Duplex>();
  let count = 0;

  const server: Server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== '/graphql') return void hanging.add(socket);
    // A socket is refused at connection_init, which brings its token.
    sockets.handleUpgrade(request, socket, head, serveSocket);
  });

  function paymentOf(token: string, orderCode: string) {
    const entry = payments.get(orderCode);
    return entry?.token === token ? entry : undefined;
  }

  function change(orderCode: string, values: Partial<Payment>, cursor?: string): void {
    const entry = payments.get(orderCode);
    if (!entry) throw new Error(`no payment ${orderCode}`);
    entry.payment = { ...entry.payment, version: entry.payment.version + 1, ...values };
    const update = { cursor: cursor ?? `c${entry.payment.version}`, [entry.member]: entry.payment };
    entry.history.push(update);
    for (const listener of listeners) {
      if (listener.orderCode !== orderCode) continue;
      listener.send(update);
      if (FINAL.includes(entry.payment.status)) listener.complete();
    }
  }

  function start(
    scenario: Scenario,
    input: { attemptId: string; amountCents?: number },
    member: 'payment' | 'cardPayment',
  ): object {
    scenario.starts.push(member === 'payment' ? { ...input, method: 'pix' } : input);
    const known = [...payments.values()].find(
      (entry) =>
        entry.scenario === scenario && entry.attemptId === input.attemptId && entry.member === member,
    );
    if (known) return success(known);
    const number = String(++count).padStart(4, '0');
    const orderCode =
      member === 'payment'
        ? `psa_${randomBytes(14).toString('hex')}${number}`
        : `PSA-${number}-${Math.random().toString(36).slice(2, 6).toUpperCase()}`;
    const payment: Payment = {
      ...(member === 'payment'
        ? {
            __typename: 'Payment',
            paymentId: orderCode,
            pix: scenario.withoutCode ? null : code,
            returnedCredits: [],
          }
        : {
            __typename: 'CardPayment',
            orderCode,
            checkoutUrl: scenario.checkoutUrl ?? `${url}/checkout/${orderCode}`,
            failureReason: null,
          }),
      status: 'PENDING',
      amountCents: input.amountCents ?? scenario.amountCents,
      currency: 'BRL',
      expiresAt: '2031-01-01T12:00:00.000Z',
      expiresInSeconds: scenario.expiresInSeconds,
      description: null,
      paidAt: null,
      paidLate: false,
      orderPaid: false,
      orderRefunded: false,
      returned: false,
      canceledAt: null,
      refundedAt: null,
      version: 1,
    };
    const entry = {
      payment,
      member,
      scenario,
      attemptId: input.attemptId,
      history: [{ cursor: 'c1', [member]: payment }],
      token: `pay-${orderCode}`,
    };
    payments.set(orderCode, entry);
    return success(entry);
  }

  function success({
    payment,
    member,
    token,
  }: {
    payment: Payment;
    member: 'payment' | 'cardPayment';
    token: string;
  }): object {
    return { __typename: 'StartCheckoutSuccess', [member]: payment, paymentToken: token };
  }

  function listen(listener: Listener, after: string | null): () => void {
    const entry = payments.get(listener.orderCode);
    const missed = entry?.history ?? [];
    const from = after
      ? missed.findIndex((update) => (update as { cursor: string }).cursor === after) + 1
      : -1;
    for (const update of missed.slice(from)) listener.send(update);
    if (entry && FINAL.includes(entry.payment.status)) listener.complete();
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? '/', 'http://fake');
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') return void response.end();
    if (address.pathname === '/graphql') return graphql(request, response);
    if (address.pathname === '/scenario') return control(request, response);
    if (address.pathname === '/act') {
      const { orderCode, values, cursor, drop, deaf, endToken, silent } = JSON.parse(await bodyOf(request));
      const entry = payments.get(orderCode);
      // The token expires; startCheckout answers with another.
      if (endToken && entry) entry.token += '-again';
      const theirs = [...listeners].filter((listener) => listener.orderCode === orderCode);
      if (drop) for (const listener of theirs) listener.drop(drop);
      // The connection dies without a close.
      if (deaf) for (const listener of theirs) listeners.delete(listener);
      if (silent && entry) entry.payment = { ...entry.payment, ...values };
      else if (values) change(orderCode, values, cursor);
      return void json(response, {});
    }
    if (address.pathname === '/hang') return;
    const page = options.pages?.[address.pathname];
    if (page) {
      for (const [name, value] of Object.entries(page.headers ?? {})) response.setHeader(name, value);
      response.setHeader(
        'content-type',
        page.body.startsWith('{') ? 'application/json' : 'text/html; charset=utf-8',
      );
      const given = { url, ...Object.fromEntries(address.searchParams) } as Record<string, string>;
      return void response.end(page.body.replace(/{{(\w+)}}/g, (_, name) => given[name] ?? ''));
    }
    if (address.pathname.startsWith('/checkout/')) {
      // The response refuses to be framed, as the hosted page does.
      response.setHeader('x-frame-options', 'DENY');
      // With an opener policy the window looks closed to its opener.
      if (address.searchParams.has('coop')) response.setHeader('cross-origin-opener-policy', 'same-origin');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      return void response.end(
        '<!doctype html><html lang="pt-BR"><title>Pagamento</title><h1>Pagamento seguro</h1></html>',
      );
    }
    for (const [prefix, { folder, headers }] of Object.entries(options.files ?? {})) {
      if (!address.pathname.startsWith(prefix)) continue;
      const path = normalize(address.pathname.slice(prefix.length)) || 'index.html';
      for (const name of [path === '.' ? 'index.html' : path, `${path}.html`]) {
        const content = await readFile(join(folder, name)).catch(() => undefined);
        if (!content) continue;
        for (const [header, value] of Object.entries(headers ?? {})) response.setHeader(header, value);
        response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream');
        return void response.end(content);
      }
    }
    response.statusCode = 404;
    response.end();
  }

  async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = JSON.parse(await bodyOf(request)) as Partial<Scenario>;
    const old = scenarios.get(given.token ?? '');
    const scenario: Scenario = {
      ...(old ?? {
        token: `psa_ct_${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`,
        ws: 'ok',
        sse: 'ok',
        amountCents: 4990,
        expiresInSeconds: 1800,
        methods: ['PIX', 'CARD'],
        starts: [],
        subscriptions: [],
        reads: 0,
        contentReads: 0,
      }),
      ...given,
    };
    if (old) Object.assign(old, scenario);
    else scenarios.set(scenario.token, scenario);
    json(response, scenario);
  }

  async function graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    const { query, variables } = JSON.parse(await bodyOf(request));
    if (query.includes('viewer')) {
      const methods = scenarios.get(token)?.methods;
      if (methods === 'lost') return void json(response, {}, 502);
      return void json(response, { data: { viewer: { checkoutMethods: methods } } });
    }
    if (query.startsWith('mutation')) {
      const scenario = scenarios.get(token);
      if (!scenario) return void json(response, { errors: [error('UNAUTHENTICATED')] }, 401);
      const planned = scenario.start;
      if (planned?.hold) return;
      if (planned && !planned.lost && (planned.times === undefined || planned.times-- > 0)) {
        scenario.starts.push(variables.input);
        if (planned.errors) return void json(response, { errors: planned.errors }, planned.status ?? 200);
        if (planned.status) return void json(response, {}, planned.status);
        return void json(response, { data: { startCheckout: planned.result } });
      }
      const result = start(scenario, variables.input, query.includes('Pix') ? 'payment' : 'cardPayment');
      if (planned?.lost) return;
      return void json(response, { data: { startCheckout: result }, ...ageIn(scenario) });
    }
    const entry = paymentOf(token, variables.orderCode ?? variables.paymentId);
    if (!entry) return void json(response, { errors: [error('UNAUTHENTICATED')] }, 401);
    if (query.includes('delivered')) {
      const { delivered = null } = entry.scenario;
      entry.scenario.contentReads++;
      return void json(
        response,
        delivered === 'unknown'
          ? { errors: [error('GRAPHQL_VALIDATION_FAILED')] }
          : { data: { [entry.member]: { delivered } } },
      );
    }
    if (query.startsWith('query')) {
      entry.scenario.reads++;
      return void json(response, {
        data: { [entry.member]: entry.payment },
        ...ageIn(entry.scenario),
      });
    }
    if (entry.scenario.sse === 'hang') return;
    if (entry.scenario.sse === 'refuse') return void json(response, { errors: [error('BAD_REQUEST')] }, 406);
    entry.scenario.subscriptions.push({ transport: 'sse', after: variables.after ?? null });
    response.writeHead(200, { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' });
    response.write(':\n\n');
    const stop = listen(
      {
        orderCode: variables.orderCode ?? variables.paymentId,
        send: (update) =>
          response.write(
            `event: next\ndata: ${JSON.stringify({ data: { [`${entry.member}Updates`]: update } })}\n\n`,
          ),
        complete: () => response.end('event: complete\ndata:\n\n'),
        drop: () => response.destroy(),
      },
      variables.after ?? null,
    );
    response.on('close', stop);
  }

  function serveSocket(socket: WebSocket): void {
    let token = '';
    let mute = false;
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (data: unknown) => {
      const { type, id, payload } = JSON.parse(String(data));
      if (type === 'connection_init') {
        token = String(payload.authorization).replace('Bearer ', '');
        const entry = [...payments.values()].find((each) => each.token === token);
        if (!entry) return socket.close(4403, 'Forbidden');
        if (entry.scenario.ws === 'refuse') return socket.terminate();
        mute = entry.scenario.ws === 'mute';
        if (entry.scenario.ws !== 'hang') send({ type: 'connection_ack' });
      } else if (type === 'ping' && !mute) send({ type: 'pong' });
      else if (type === 'subscribe') {
        const { paymentId, orderCode = paymentId, after } = payload.variables;
        const entry = paymentOf(token, orderCode);
        if (!entry) return socket.close(4403, 'Forbidden');
        if (after === 'expired') return send({ type: 'error', id, payload: [error('CURSOR_EXPIRED')] });
        entry.scenario.subscriptions.push({ transport: 'ws', after: after ?? null });
        const stop = listen(
          {
            orderCode,
            send: (update) =>
              send({ type: 'next', id, payload: { data: { [`${entry.member}Updates`]: update } } }),
            complete: () => send({ type: 'complete', id }),
            drop: (code) => socket.close(code),
          },
          after ?? null,
        );
        socket.on('close', stop);
      }
    });
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      for (const socket of hanging) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export function error(code: string, retryAfterSeconds?: number): object {
  return { message: code, extensions: { code, ...(retryAfterSeconds && { retryAfterSeconds }) } };
}

export function json(response: ServerResponse, body: object, status = 200): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text || '{}';
}

/** The age of an answer of a server that asks another service. */
function ageIn({ upstream }: Pick<Scenario, 'upstream'>): object {
  return upstream ? { extensions: { upstream } } : {};
}
