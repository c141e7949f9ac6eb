import { createClient } from '../support/graphql.ts';
import { CLIENTS, type Following } from './clients.ts';
import { startCutter } from './cutter.ts';

export interface Dose {
  /** The address of /graphql. */
  endpoint: string;
  /** An unrestricted key. The kit creates payments with it, which nobody pays. */
  key: string;
  /** The clients, by their names in `CLIENTS`. */
  clients: readonly string[];
  /** Payments that are created: each is one event. */
  payments: number;
  /** Followers by each client. */
  followers: number;
  /** A cursor that the server has to call expired; without it that is not checked. */
  expiredCursor?: string | undefined;
  /** Called with each error of a follower that should have none. */
  onError?: (client: string, error: unknown) => void;
}

/** The findings on one client. All but `cuts`, `outages` and `renewals` have to be 0. */
export interface Findings {
  client: string;
  updates: number;
  missed: number;
  doubled: number;
  misplaced: number;
  foreign: number;
  errors: number;
  /** Expired cursors that the application did not learn of. */
  silentGaps: number;
  /** Tokens that were asked for after the first. */
  renewals: number;
  /** Connections that were cut, those of all clients. */
  cuts: number;
}

const FOLLOW = `subscription Updates($after: String) {
  update: allPaymentUpdates(after: $after) { cursor payment { paymentId } }
}`;
const CREATE = `mutation { createPayment(input: { valueCents: 1000 }) {
  ... on PaymentSuccess { payment { paymentId } } ... on UserError { message } } }`;
const MINT = `mutation { createDashboardToken(input: { scopes: [PAYMENTS] }) {
  ... on DashboardTokenSuccess { token expiresAt } ... on UserError { message } } }`;
const REVOKE = `mutation ($token: String!) { revokeToken(token: $token) { __typename ... on UserError { message } } }`;

/**
 * Follows the payments of an account by each client, through cuts, outages and the end of tokens, and compares what each
 * follower has received with what was created.
 */
export async function conform(dose: Dose): Promise<Findings[]> {
  const { endpoint, key, clients, payments, followers: count } = dose;
  const cutter = await startCutter(endpoint);
  const direct = createClient(endpoint, key);
  const { updatesCursor } = await direct.request('{ updatesCursor }');
  const all = clients.flatMap((client) =>
    Array.from({ length: count }, () => {
      const minted: string[] = [];
      const received = recorder();
      const errors: unknown[] = [];
      const leave = CLIENTS[client]!({
        endpoint: cutter.endpoint,
        async getToken() {
          const { token, expiresAt } = (await direct.request(MINT)).createDashboardToken;
          minted.push(token);
          return { token, expiresAt };
        },
        query: FOLLOW,
        variables: { after: updatesCursor },
        wait: () => cutter.isUp(),
        onData: ({ update }) => received.add((update as Update).payment.paymentId),
        onError(error) {
          errors.push(error);
          received.end();
          dose.onError?.(client, error);
        },
        onComplete: () => received.end(),
      });
      return { client, minted, received, errors, leave };
    }),
  );
  const created: string[] = [];
  const create = async () => {
    const { payment, message } = (await direct.request(CREATE)).createPayment;
    if (!payment) throw new Error(`No payment was created: ${message}`);
    created.push(payment.paymentId);
  };
  const arrived = () => Promise.all(all.map(({ received }) => received.has(created.at(-1)!)));

  await create();
  await arrived();
  for (let index = 1; index < payments; index += 1) {
    switch (index % 4) {
      case 0:
        // In the middle of what the event sets off.
        await create();
        cutter.cut('reset');
        break;
      case 1:
        cutter.cut('end');
        await create();
        break;
      case 2:
        // An outage with an event in it.
        cutter.down();
        cutter.cut('reset');
        await create();
        cutter.up();
        break;
      default:
        await create();
        await arrived();
    }
    if (index === Math.floor(payments / 2))
      for (const { minted } of all) await direct.request(REVOKE, { token: minted.at(-1) });
  }
  await arrived();
  for (const { leave } of all) await leave();

  const findings: Findings[] = [];
  for (const client of clients) {
    const own = all.filter((each) => each.client === client);
    const sum = (of: (follower: (typeof own)[number]) => number) =>
      own.reduce((total, each) => total + of(each), 0);
    const tellsGap = dose.expiredCursor === undefined || (await learnsOfGap(client, dose));
    findings.push({
      client,
      updates: sum(({ received }) => received.ids.length),
      missed: sum(({ received }) => created.filter((id) => !received.ids.includes(id)).length),
      doubled: sum(({ received }) => received.ids.length - new Set(received.ids).size),
      misplaced: sum(({ received }) => misplacedIn(received.ids, created)),
      foreign: sum(({ received }) => received.ids.filter((id) => !created.includes(id)).length),
      errors: sum(({ errors }) => errors.length),
      silentGaps: tellsGap ? 0 : 1,
      renewals: sum(({ minted }) => minted.length - 1),
      cuts: cutter.cuts,
    });
  }
  await cutter.close();
  return findings;
}

interface Update {
  payment: { paymentId: string };
}

/** Records the ids that one follower receives. */
function recorder() {
  const ids: string[] = [];
  const waiting = new Map<string, () => void>();
  let isOver = false;
  return {
    ids,
    add(id: string) {
      ids.push(id);
      waiting.get(id)?.();
    },
    /** Nothing more comes. */
    end() {
      isOver = true;
      for (const resolve of waiting.values()) resolve();
    },
    /** Resolves when this id has come, or nothing more does. */
    has: (id: string) =>
      isOver || ids.includes(id)
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiting.set(id, resolve);
          }),
  };
}

/** Neighbours among the updates that came in another order than they were created in. */
function misplacedIn(received: readonly string[], created: readonly string[]): number {
  const places = received.map((id) => created.indexOf(id));
  return places.filter((place, index) => index > 0 && place < places[index - 1]!).length;
}

/** Whether a follower with an expired cursor learns of it, goes on from the cursor that it is given, and gets the error without one. */
async function learnsOfGap(client: string, { endpoint, key, expiredCursor }: Dose): Promise<boolean> {
  const direct = createClient(endpoint, key);
  const { updatesCursor } = await direct.request('{ updatesCursor }');
  const { payment } = (await direct.request(CREATE)).createPayment;
  let gaps = 0;
  const begin = (options: Pick<Following, 'onGap'>) =>
    new Promise<unknown>((resolve) => {
      const leave = CLIENTS[client]!({
        ...{ endpoint, getToken: () => key, query: FOLLOW, variables: { after: expiredCursor } },
        wait: () => Promise.resolve(),
        onData: ({ update }) => settle((update as Update).payment.paymentId),
        onError: (error) => settle(error),
        onComplete: () => settle('complete'),
        ...options,
      });
      const settle = (outcome: unknown) => {
        resolve(outcome);
        // After `leave` is there.
        void Promise.resolve().then(() => leave());
      };
    });
  const next = await begin({
    onGap() {
      gaps += 1;
      return updatesCursor;
    },
  });
  const error = await begin({});
  return (
    gaps === 1 && next === payment.paymentId && JSON.stringify([error, String(error)]).includes('cursor')
  );
}
