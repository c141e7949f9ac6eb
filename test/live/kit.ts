import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../support/graphql.ts';
import { CLIENTS, CLIENTS_BY_KEY, type Follower, type Following } from './clients.ts';
import { type Cutter, startCutter } from './cutter.ts';

export interface Dose {
  /** The address of /graphql. */
  endpoint: string;
  /** An unrestricted key. The kit creates payments with it, which are never paid. */
  key: string;
  /** The clients, by their names in `followBy`. */
  clients: readonly string[];
  /** The follower of each client; by default `CLIENTS`, which run in this process. */
  followBy?: Readonly<Record<string, Follower>> | undefined;
  /** The number of payments that are created: each is one event. */
  payments: number;
  /** The number of followers by each client. */
  followers: number;
  /** A key of another account. Followers of either account must not receive the other's updates. */
  otherKey?: string | undefined;
  /** Cursors that the server has to call expired; without them this is not checked. */
  expiredCursors?: readonly string[] | undefined;
  /** The time within which an update has to reach a connected follower. */
  patienceMs?: number | undefined;
  /** Called with each error of a follower that should have none. */
  onError?: (client: string, error: unknown) => void;
}

/** The findings on one client. All but `updates`, `renewals` and `cuts` have to be 0. */
export interface Findings {
  client: string;
  updates: number;
  missed: number;
  doubled: number;
  misplaced: number;
  foreign: number;
  errors: number;
  /** Expired cursors about which the application was not notified. */
  silentGaps: number;
  /** Tokens that were minted after the first; 0 for a client that presents the key. */
  renewals: number;
  /** The number of this client's connections that were cut. */
  cuts: number;
}

const FOLLOW = `subscription Updates($after: String) {
  update: allPaymentUpdates(after: $after) { cursor payment { paymentId } }
}`;
const CREATE = `mutation { createPayment(input: { valueCents: 1000 }) {
  ... on CreatePaymentSuccess { payment { paymentId } } ... on UserError { message } } }`;
const MINT = `mutation { createDashboardToken(input: { scopes: [PAYMENTS] }) {
  ... on CreateDashboardTokenSuccess { token expiresAt } ... on UserError { message } } }`;
const REVOKE = `mutation ($token: String!) { revokeToken(token: $token) { __typename ... on UserError { message } } }`;

/** A time that is longer than any client waits before it reconnects. */
const PATIENCE_MS = 60_000;

/**
 * Follows the payments of an account by each client, through cuts, outages and the end of tokens. Compares the
 * updates of each follower with the created payments.
 */
export async function conform(dose: Dose): Promise<Findings[]> {
  const { endpoint, key, otherKey, clients, payments } = dose;
  // Each client has a relay of its own, so that its cuts are counted separately.
  const cutters = new Map<string, Cutter>();
  for (const client of clients) cutters.set(client, await startCutter(endpoint));
  const each = (act: (cutter: Cutter) => void) => {
    for (const cutter of cutters.values()) act(cutter);
  };
  const account = await openAccount(dose, key, cutters);
  const other =
    otherKey === undefined ? null : await openAccount({ ...dose, followers: 1 }, otherKey, cutters);
  const create = async (times = 1) => {
    for (let index = 0; index < times; index += 1) {
      await account.create();
      await other?.create();
    }
  };
  const arrived = async () => {
    await Promise.all([account.arrived(), other?.arrived()]);
  };

  await create();
  await arrived();
  for (let round = 1; account.created.length < payments; round += 1) {
    const left = payments - account.created.length;
    switch (round % 4) {
      case 0:
        // The cut comes in the middle of the work that the event starts.
        await create();
        each((cutter) => cutter.cut('reset'));
        break;
      case 1:
        // After the reset of the round before, an orderly close needs a new connection.
        await arrived();
        each((cutter) => cutter.cut('end'));
        await create();
        break;
      case 2:
        // This outage has two events.
        each((cutter) => {
          cutter.down();
          cutter.cut('reset');
        });
        await create(Math.min(2, left));
        each((cutter) => cutter.up());
        break;
      default:
        await create();
        await arrived();
    }
    if (round === Math.ceil(payments / 3)) await account.revoke();
  }
  await arrived();
  await account.leave();
  await other?.leave();

  const findings: Findings[] = [];
  for (const client of clients) {
    const own = account.findings(client);
    const others = other?.findings(client);
    let silentGaps = 0;
    for (const expired of dose.expiredCursors ?? [])
      if (!(await learnsOfGap(client, dose, expired))) silentGaps += 1;
    findings.push({
      ...own,
      foreign: own.foreign + (others?.foreign ?? 0),
      missed: own.missed + (others?.missed ?? 0),
      errors: own.errors + (others?.errors ?? 0),
      silentGaps,
      cuts: cutters.get(client)!.cuts,
    });
  }
  for (const cutter of cutters.values()) await cutter.close();
  return findings;
}

/**
 * Whether the findings show what the protocol promises: each update once, in order, over cuts, and by a renewed
 * token.
 */
export function conforms(findings: readonly Findings[], { payments, followers, clients }: Dose): boolean {
  const isFlawless = ({ client, updates, renewals, cuts, ...found }: Findings) =>
    found.missed + found.doubled + found.misplaced + found.foreign + found.errors + found.silentGaps === 0 &&
    updates === payments * followers &&
    cuts > 0 &&
    (CLIENTS_BY_KEY.has(client) ? renewals === 0 : renewals >= followers);
  return findings.length === clients.length && findings.every(isFlawless);
}

/** The shortest wait that is made; a shorter one is left out, because the cutter says when a connection may succeed. */
const LONG_MS = 1_000;

/**
 * Waits until a connection may succeed. A long wait, which a server requests or which follows repeated refusals, is
 * made as well.
 */
export function waitFor(isUp: () => Promise<void>, sleep: typeof delay = delay) {
  return async (ms: number, signal: AbortSignal): Promise<void> => {
    await isUp();
    // The wait rejects if the follower leaves.
    if (ms > LONG_MS) await sleep(ms, undefined, { signal }).catch(() => undefined);
  };
}

/** Opens an account and its followers by each client, each behind the relay that cuts it. */
async function openAccount(
  { endpoint, clients, followBy = CLIENTS, followers, patienceMs = PATIENCE_MS, onError }: Dose,
  key: string,
  cutters: ReadonlyMap<string, Cutter>,
) {
  const direct = createClient(endpoint, key);
  const { updatesCursor } = await direct.request('{ updatesCursor }');
  const created: string[] = [];
  const all = clients.flatMap((client) => {
    const cutter = cutters.get(client)!;
    return Array.from({ length: followers }, () => {
      const minted: string[] = [];
      const received = recorder(patienceMs);
      const errors: unknown[] = [];
      const leave = followBy[client]!({
        endpoint: cutter.endpoint,
        async getToken() {
          const { token, expiresAt } = (await direct.request(MINT)).createDashboardToken;
          minted.push(token);
          return { token, expiresAt };
        },
        key,
        query: FOLLOW,
        variables: { after: updatesCursor },
        wait: waitFor(cutter.isUp),
        onData: ({ update }) => received.add((update as Update).payment.paymentId),
        onError(error) {
          errors.push(error);
          received.end();
          onError?.(client, error);
        },
        onComplete: () => received.end(),
      });
      return { client, minted, received, errors, leave };
    });
  });
  return {
    created,
    async create() {
      const { payment, message } = (await direct.request(CREATE)).createPayment;
      if (!payment) throw new Error(`No payment was created: ${message}`);
      created.push(payment.paymentId);
    },
    arrived: () => Promise.all(all.map(({ received }) => received.has(created.at(-1)!))),
    async revoke() {
      for (const { client, minted } of all)
        if (!CLIENTS_BY_KEY.has(client)) await direct.request(REVOKE, { token: minted.at(-1) });
    },
    async leave() {
      for (const { leave } of all) await leave();
    },
    findings(client: string) {
      const own = all.filter((each) => each.client === client);
      const sum = (of: (follower: (typeof own)[number]) => number) =>
        own.reduce((total, each) => total + of(each), 0);
      return {
        client,
        updates: sum(({ received }) => received.ids.length),
        missed: sum(({ received }) => created.filter((id) => !received.ids.includes(id)).length),
        doubled: sum(({ received }) => received.ids.length - new Set(received.ids).size),
        misplaced: sum(({ received }) => misplacedIn(received.ids, created)),
        foreign: sum(({ received }) => received.ids.filter((id) => !created.includes(id)).length),
        errors: sum(({ errors }) => errors.length),
        renewals: sum(({ minted }) => Math.max(0, minted.length - 1)),
      };
    },
  };
}

interface Update {
  payment: { paymentId: string };
}

/** Records the ids that one follower receives. */
function recorder(patienceMs: number) {
  const ids: string[] = [];
  const waiting = new Map<string, () => void>();
  /** Set once nothing more comes, or once an awaited update has not come. */
  let isOver = false;
  const end = () => {
    isOver = true;
    for (const resolve of waiting.values()) resolve();
  };
  return {
    ids,
    add(id: string) {
      ids.push(id);
      waiting.get(id)?.();
    },
    end,
    /** Resolves when this id has come, or when the wait for it is over. */
    has: (id: string) =>
      isOver || ids.includes(id)
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            const patience = setTimeout(end, patienceMs);
            waiting.set(id, () => {
              clearTimeout(patience);
              resolve();
            });
          }),
  };
}

/** Counts neighbouring updates that came in another order than they were created in. */
function misplacedIn(received: readonly string[], created: readonly string[]): number {
  const places = received.map((id) => created.indexOf(id));
  return places.filter((place, index) => index > 0 && place < places[index - 1]!).length;
}

/**
 * Whether a follower with an expired cursor is notified, continues from the given cursor, and gets the error if it
 * has none.
 */
async function learnsOfGap(
  client: string,
  { endpoint, key, followBy = CLIENTS, patienceMs = PATIENCE_MS }: Dose,
  expiredCursor: string,
): Promise<boolean> {
  const direct = createClient(endpoint, key);
  const { updatesCursor } = await direct.request('{ updatesCursor }');
  let gaps = 0;
  let created = '';
  const begin = (options: Pick<Following, 'onGap'>) =>
    new Promise<unknown>((resolve) => {
      const leave = followBy[client]!({
        endpoint,
        key,
        getToken: () => key,
        query: FOLLOW,
        variables: { after: expiredCursor },
        wait: waitFor(() => Promise.resolve()),
        onData: ({ update }) => settle((update as Update).payment.paymentId),
        onError: (error) => settle(error),
        onComplete: () => settle('complete'),
        ...options,
      });
      const patience = setTimeout(() => settle('silence'), patienceMs);
      const settle = (outcome: unknown) => {
        clearTimeout(patience);
        resolve(outcome);
        // The callback runs after `leave` is assigned.
        void Promise.resolve().then(() => leave());
      };
    });
  const next = await begin({
    async onGap() {
      gaps += 1;
      // Each client continues from an earlier cursor.
      created = (await direct.request(CREATE)).createPayment.payment.paymentId;
      return updatesCursor;
    },
  });
  const error = await begin({});
  return gaps === 1 && next === created && JSON.stringify([error, String(error)]).includes('cursor');
}
