// A fake GraphQL endpoint with an account's payouts, which tests control. It implements the part of the server's contract
// that <psa-payouts> relies on; the real server's own tests check the same contract.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { WholeDispute } from '../../widget/src/disputes/operations.ts';
import type {
  Payout,
  PayoutDetails,
  PayoutPageVariables,
  PayoutStatus,
} from '../../widget/src/payouts/operations.ts';
import type { Sale, SaleDetails } from '../../widget/src/sales/operations.ts';
import {
  answerMoney,
  type FakeMoney,
  isSelected,
  type Movement,
  moneyOf,
  move,
  payoutOf,
  totalsOf,
  wholeEntry,
  wholePayout,
} from './fake-account.ts';
import { answerDisputes, changeDispute, type DisputeAct, disputeOf } from './fake-disputes.ts';
import { addSale, answerSales, changeSale, kindOfSale, type SaleChange, saleOf } from './fake-sales.ts';
import { bodyOf, error, json } from './fake-server.ts';

type Behaviour = 'ok' | 'refuse' | 'hang';

/** The state of one fake account, and the requests that it has received. */
export interface PayoutsWorld {
  token: string;
  ws: Behaviour;
  sse: Behaviour;
  /** The numbers of payouts, of entries of the statement, of sales and of disputes at the start. */
  count: number;
  entryCount: number;
  saleCount: number;
  disputeCount: number;
  /** The kinds of updates that the token may follow; all by default. */
  updateKinds?: string[];
  /** Whether the totals of sales and of payouts are exact. */
  isExact?: boolean;
  /** The failure of the next answers to queries: top-level errors, a status, or no answer with `hold`. */
  fail?: { code?: string; status?: number; times: number; retryAfterSeconds?: number; hold?: boolean };
  /** The name of the failing queries; the others succeed. Without one those of totals succeed, which come at any time. */
  failOnly?: string;
  /** The scope that the token lacks: queries whose names begin so, and streams of this kind, are FORBIDDEN. */
  forbids?: string;
  /** The age in answers to queries, as from a server in front of another service. */
  upstream?: { ageSeconds: number | null; stale: boolean; keyRefused?: boolean };
  /** Whether old updates are deleted, so that a cursor is refused. */
  forgotten: boolean;
  /** The received queries, without those of totals. */
  queries: { name: string; variables: PayoutPageVariables & { ids?: string[] } }[];
  subscriptions: {
    transport: 'ws' | 'sse';
    after: string | null;
    token: string;
    kinds: string[];
  }[];
}

/** The request of a test to `/world`. */
export type WorldRequest = Partial<PayoutsWorld> & { renew?: boolean; release?: boolean };

/** A test's change to a fake account. */
export interface PayoutsAct {
  token: string;
  /** Adds a payout with these values. */
  add?: Partial<Payout>;
  /** Changes the payout with this number; 1 is the oldest. */
  change?: { number: number; values: Partial<PayoutDetails> };
  /** Changes the amounts of this number of payouts, one after another and some of them twice. */
  burst?: number;
  /** Moves money of the wallet. */
  move?: Movement;
  addSale?: Partial<SaleDetails>;
  changeSale?: SaleChange;
  /** Changes a dispute, or adds one. */
  dispute?: DisputeAct;
  /** Whether subscribers do not receive the change. */
  silent?: boolean;
  /** Closes every socket and stream. */
  drop?: boolean;
  /** Makes the token expire. */
  expire?: boolean;
}

interface World extends PayoutsWorld {
  payouts: Payout[];
  money: FakeMoney;
  sales: SaleDetails[];
  disputes: WholeDispute[];
  /** The answers that were held. */
  held: (() => void)[];
  history: object[];
  listeners: Set<{ token: string; send(update: object): void; drop(code: number): void }>;
}

export async function startFakePayouts(): Promise<{
  url: string;
  /** Runs the actions that a test posts to `/act`. */
  act: (what: PayoutsAct) => object;
  close: () => Promise<void>;
}> {
  const worlds = new Map<string, World>();
  const hanging = new Set<Duplex | ServerResponse>();
  let tokens = 0;

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, serveSocket);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') return void response.end();
    const body = JSON.parse(await bodyOf(request));
    if (request.url === '/world') return json(response, open(body));
    if (request.url === '/act') return json(response, act(body));
    return graphql(request, response, body);
  }

  /** Creates a world or reads one; with `renew` it gets another token, with `release` held answers are sent. */
  function open({ renew, release, ...given }: WorldRequest): PayoutsWorld {
    const old = worlds.get(given.token ?? '');
    const token = renew || !old ? `ps_dash_${++tokens}_${Math.random().toString(36).slice(2)}` : old.token;
    const world: World = old ?? {
      token,
      ws: 'ok',
      sse: 'ok',
      count: 3,
      entryCount: 0,
      saleCount: 0,
      disputeCount: 0,
      forgotten: false,
      queries: [],
      subscriptions: [],
      payouts: [],
      money: moneyOf(0),
      sales: [],
      disputes: [],
      held: [],
      history: [],
      listeners: new Set(),
      ...given,
    };
    if (!renew) Object.assign(world, given);
    const { saleCount } = world;
    if (!old) world.sales = Array.from({ length: saleCount }, (_, index) => saleOf(index + 1, saleCount));
    if (!old) world.money = moneyOf(world.entryCount);
    if (!old)
      world.disputes = Array.from({ length: world.disputeCount }, (_, index) =>
        disputeOf(index + 1, world.disputeCount),
      );
    if (!old)
      world.payouts = Array.from({ length: world.count }, (_, index) => payoutOf(index + 1, world.count));
    worlds.set(token, world);
    if (release) for (const answerHeld of world.held.splice(0)) answerHeld();
    const { payouts, money, sales, disputes, held, history, listeners, ...visible } = world;
    return { ...visible, token };
  }

  function act(what: PayoutsAct): object {
    const { token, add, change, burst = 0, move: movement, dispute, silent, drop, expire } = what;
    const world = worlds.get(token);
    if (!world) throw new Error(`no world of ${token}`);
    const publishAny = (values: object) => {
      if (silent) return;
      const update = { cursor: `u${world.history.length + 1}`, ...values };
      world.history.push(update);
      for (const { send } of world.listeners) send(update);
    };
    const publish = (payout: Payout, previousStatus: PayoutStatus | null) =>
      publishAny({ previousStatus, payout });
    if (what.addSale) publishAny(addSale(world.sales, what.addSale));
    if (what.changeSale) publishAny(changeSale(world.sales, what.changeSale));
    if (movement) publishAny(move(world.money, movement));
    if (dispute) publishAny(changeDispute(world.disputes, dispute));
    if (add) {
      const number = world.payouts.length + 1;
      const payout = {
        ...payoutOf(number, world.count),
        status: 'PENDING' as const,
        isFinal: false,
        processedAt: null,
        deniedReason: null,
        version: 1,
        ...add,
      };
      world.payouts.push(payout);
      publish(payout, null);
    }
    if (change) {
      const previous = world.payouts[change.number - 1]!;
      const status = change.values.status ?? previous.status;
      const isFinal = status === 'COMPLETED' || status === 'DENIED';
      const payout = { ...previous, isFinal, version: previous.version + 1, ...change.values };
      world.payouts[change.number - 1] = payout;
      publish(payout, previous.status);
    }
    for (let time = 0; time < burst; time++) {
      const nth = world.history.length;
      const place = (nth * 7_919) % world.payouts.length;
      const previous = world.payouts[place]!;
      const amountCents = 1_000 + ((nth * 104_729) % 99_991);
      world.payouts[place] = { ...previous, amountCents, version: previous.version + 1 };
      publish(world.payouts[place], previous.status);
    }
    if (expire) worlds.delete(token);
    for (const listener of [...world.listeners]) {
      if (drop) listener.drop(1012);
      if (expire && listener.token === token) listener.drop(4403);
    }
    return burst > 0 ? { amounts: world.payouts.map(({ amountCents }) => amountCents) } : {};
  }

  async function graphql(
    request: IncomingMessage,
    response: ServerResponse,
    {
      query,
      variables,
    }: {
      query: string;
      variables: PayoutPageVariables & { ids?: string[]; after?: string; kinds?: string[] };
    },
  ): Promise<void> {
    const token = tokenOf(request.headers.authorization);
    const world = worlds.get(token);
    if (!world) return json(response, { errors: [error('UNAUTHENTICATED')] }, 401);
    const name = /\w+ (\w+)/.exec(query)?.[1] ?? '';
    if (isForbidden(world, name, variables.kinds)) return json(response, { errors: [error('FORBIDDEN')] });
    const { fail } = world;
    const isOfTotals = name.endsWith('Totals');
    if (fail && fail.times > 0 && (world.failOnly ? world.failOnly === name : !isOfTotals)) {
      fail.times--;
      if (fail.hold) {
        const data = answer(world, variables);
        world.held.push(() => json(response, { data }));
        return void hanging.add(response);
      }
      return json(
        response,
        fail.code ? { errors: [error(fail.code, fail.retryAfterSeconds)] } : {},
        fail.status,
      );
    }
    if (query.startsWith('subscription')) return stream(world, token, variables, response);
    if (!isOfTotals) world.queries.push({ name, variables });
    const { upstream } = world;
    json(response, { data: answer(world, variables), ...(upstream && { extensions: { upstream } }) });
  }

  function stream(
    world: World,
    token: string,
    { after = null, kinds = [] }: StreamVariables,
    response: ServerResponse,
  ): void {
    if (world.sse === 'hang') {
      hanging.add(response);
      return;
    }
    if (world.sse === 'refuse') {
      json(response, { errors: [error('BAD_REQUEST')] }, 406);
      return;
    }
    if (world.forgotten && after) {
      json(response, { errors: [error('CURSOR_EXPIRED')] });
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' });
    response.write(':\n\n');
    const stop = listen(
      world,
      'sse',
      token,
      { after, kinds },
      {
        send: (update) =>
          response.write(`event: next\ndata: ${JSON.stringify({ data: { accountUpdates: update } })}\n\n`),
        drop: () => response.destroy(),
      },
    );
    response.on('close', stop);
  }

  function serveSocket(socket: WebSocket): void {
    let token = '';
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (data: unknown) => {
      const { type, id, payload } = JSON.parse(String(data));
      if (type === 'connection_init') {
        token = tokenOf(payload.authorization);
        const world = worlds.get(token);
        if (!world) return socket.close(4403, 'Forbidden');
        if (world.ws === 'refuse') return socket.terminate();
        if (world.ws === 'ok') send({ type: 'connection_ack' });
      } else if (type === 'ping') send({ type: 'pong' });
      else if (type === 'subscribe') {
        const world = worlds.get(token);
        if (!world) return socket.close(4403, 'Forbidden');
        const { after = null, kinds = [] }: StreamVariables = payload.variables;
        if (world.forgotten && after) return send({ type: 'error', id, payload: [error('CURSOR_EXPIRED')] });
        if (isForbidden(world, '', kinds)) return send({ type: 'error', id, payload: [error('FORBIDDEN')] });
        const stop = listen(
          world,
          'ws',
          token,
          { after, kinds },
          {
            send: (update) => send({ type: 'next', id, payload: { data: { accountUpdates: update } } }),
            drop: (code) => socket.close(code),
          },
        );
        socket.on('close', stop);
      }
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    act,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      for (const each of hanging) each.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(
  world: World,
  transport: 'ws' | 'sse',
  token: string,
  { after = null, kinds = [] }: StreamVariables,
  listener: { send(update: object): void; drop(code: number): void },
): () => void {
  world.subscriptions.push({ transport, after, token, kinds });
  const send = (update: object) => {
    if (kinds.includes(kindOf(update))) listener.send(update);
  };
  if (after) for (const update of world.history.slice(Number(after.slice(1)))) send(update);
  const entry = { ...listener, send, token };
  world.listeners.add(entry);
  return () => void world.listeners.delete(entry);
}

function kindOf(update: object): string {
  if ('sale' in update || 'refund' in update) return kindOfSale(update as { sale?: Sale });
  return 'payout' in update ? 'PAYOUT' : 'dispute' in update ? 'DISPUTE' : 'WALLET';
}

function isForbidden({ forbids }: World, name: string, kinds: readonly string[] = []): boolean {
  return forbids !== undefined && (name.startsWith(forbids) || kinds.includes(forbids.toUpperCase()));
}

interface StreamVariables {
  after?: string | null;
  kinds?: string[];
}

/** Builds the server's answer to a query for a page, newest first; a cursor is a payout's number. */
function answer(
  { payouts, money, sales, disputes, history, updateKinds, isExact = true }: World,
  variables: PayoutPageVariables & { id?: string; ids?: string[] },
): object {
  const { first, after, last, before, filter, id, ids } = variables;
  const matches = (payout: Payout) => isSelected(payout, filter);
  const end = before ? Number(before) : 0;
  const size = last ?? first ?? 50;
  const page: { number: number; payout: Payout }[] = [];
  // One more row than a page, to know whether another page exists.
  if (last)
    for (let number = end + 1; number <= payouts.length && page.length <= size; number++) {
      const payout = payouts[number - 1]!;
      if (matches(payout)) page.unshift({ number, payout });
    }
  else
    for (
      let number = after ? Number(after) - 1 : payouts.length;
      number > 0 && page.length <= size;
      number--
    ) {
      const payout = payouts[number - 1]!;
      if (matches(payout)) page.push({ number, payout });
    }
  const more = page.length > size;
  if (more && last) page.shift();
  else if (more) page.pop();
  const answered = {
    ...answerSales(sales, variables as object, isExact),
    ...answerDisputes(disputes, variables as object),
  };
  return {
    ...answered,
    ...(updateKinds && { updateKinds }),
    updatesCursor: `u${history.length}`,
    wallet: answerMoney(money, variables as object),
    // A page of many rows is asked for often, and its totals are not.
    ...(Object.keys(variables).every((member) => member === 'filter') && {
      payoutTotals: totalsOf(payouts.filter(matches), isExact),
    }),
    ...nodeOf(payouts, money, id),
    payouts: {
      totalCount: payouts.filter(matches).length,
      nodes: page.map(({ payout }) => payout),
      pageInfo: {
        hasNextPage: last ? Boolean(before) : more,
        hasPreviousPage: last ? more : Boolean(after),
        startCursor: page[0] ? String(page[0].number) : null,
        endCursor: page.at(-1) ? String(page.at(-1)?.number) : null,
      },
    },
    ...(ids &&
      !('nodes' in answered) && {
        nodes: ids.map((id) => payouts.find((payout) => payout.id === id) ?? null),
      }),
  };
}

/** The whole payout or the whole entry with an id. */
function nodeOf(payouts: readonly Payout[], { entries }: FakeMoney, id = ''): object {
  const payout = payouts.find((each) => each.id === id);
  const entry = entries.find((each) => each.id === id);
  if (payout) return { node: wholePayout(payout, payout) };
  return entry ? { node: wholeEntry(entry) } : {};
}

function tokenOf(authorization: unknown): string {
  return String(authorization).replace('Bearer ', '');
}
