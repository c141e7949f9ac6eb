// Followers by unmodified clients, and the relay that cuts their connections, in a process of their own: their memory
// is not in that of the instances.
import { answerParent } from '../../bench/processes/answer.mjs';
import { createClient } from '../../support/graphql.ts';
import { CLIENTS } from '../clients.ts';
import { type Cut, type Relay, startRelay } from './relay.ts';
import { createTokens, type Holder } from './tokens.ts';
import { TOPICS, type TopicName } from './topics.ts';

/** One follower, as the dose describes it to this process. */
export interface FollowerSpec extends Holder {
  /** The number of the follower, unique among all processes. */
  number: number;
  /** The name of its client in `CLIENTS`. */
  client: string;
  tenant: number;
  topic: TopicName;
  after: string;
}

/** The updates that the followers of one process have received. */
export interface Received {
  /** Each different update, as `cursor id`. */
  updates: string[];
  /** The updates of each follower in the order of their arrival, as indexes into `updates`. */
  sequences: [number: number, places: number[]][];
  errors: [number: number, error: string][];
  /** The reasons why connections ended, in the clients' words. */
  causes: Record<string, number>;
  outages: Relay['outages'];
  /** The number of connections that ended without a cut. */
  ends: number;
  tokens: number;
}

interface Follower {
  spec: FollowerSpec;
  places: number[];
  /** The ids that are waited for. */
  waiting: Map<string, () => void>;
  leave: () => unknown;
}

let relay: Relay;
let tokens: ReturnType<typeof createTokens>;
const followers = new Map<number, Follower>();
const updates = new Map<string, number>();
/** The ids of updates, by the index of the update. */
const ids: string[] = [];
const errors: [number, string][] = [];
const causes: Record<string, number> = {};

function placeOf(cursor: string, id: string): number {
  const text = `${cursor} ${id}`;
  let place = updates.get(text);
  if (place === undefined) {
    place = ids.push(id) - 1;
    updates.set(text, place);
  }
  return place;
}

function follow(spec: FollowerSpec): void {
  const { query, idOf } = TOPICS[spec.topic];
  const follower: Follower = { spec, places: [], waiting: new Map(), leave: () => undefined };
  followers.set(spec.number, follower);
  const fail = (error: unknown) => errors.push([spec.number, textOf(error)]);
  follower.leave = CLIENTS[spec.client]!({
    endpoint: `http://127.0.0.1:${relay.port}/graphql?f=${spec.number}`,
    getToken: () => tokens.tokenOf(spec),
    key: spec.key,
    query,
    variables: { after: spec.after },
    onData(data) {
      const update = Object.values(data)[0] as { cursor: string };
      const id = idOf(update);
      follower.places.push(placeOf(update.cursor, id));
      follower.waiting.get(id)?.();
    },
    onRetry(cause) {
      const name = causeOf(cause);
      causes[name] = (causes[name] ?? 0) + 1;
    },
    onError: fail,
    onComplete: () => isLeaving || fail('complete'),
  });
}

// A rejection that a client does not handle would end the process and all its followers; the address of its socket
// names the follower.
process.on('unhandledRejection', (reason) => {
  const { code, reason: why, target } = Object(reason) as Partial<CloseEvent>;
  const [, number = -1] = /\?f=(\d+)/.exec((target as WebSocket | null)?.url ?? '') ?? [];
  errors.push([Number(number), `unhandled: ${code === undefined ? textOf(reason) : `close ${code} ${why}`}`]);
});

let isLeaving = false;

/**
 * The reason why an operation ended: a close code of a socket, a code of the server, the status of an answer, or the
 * network.
 */
function causeOf(cause: unknown): string {
  const { code, extensions, response } = Object(Array.isArray(cause) ? cause[0] : cause) as {
    code?: unknown;
    extensions?: { code?: string };
    response?: { status: number };
  };
  return String(extensions?.code ?? response?.status ?? (typeof code === 'number' ? code : 'network'));
}

function textOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : JSON.stringify(error);
}

/** Resolves with whether the update has arrived within this time. */
function has({ places, waiting }: Follower, id: string, withinMs: number): Promise<boolean> {
  // The awaited update is a recent one.
  for (let at = places.length - 1; at >= 0; at -= 1)
    if (ids[places[at]!] === id) return Promise.resolve(true);
  return within(withinMs, (settle) => waiting.set(id, settle)).finally(() => waiting.delete(id));
}

/** Resolves with whether `settle` was called within this time. */
function within(ms: number, begin: (settle: () => void) => unknown): Promise<boolean> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve(false), ms);
    begin(() => {
      clearTimeout(patience);
      resolve(true);
    });
  });
}

answerParent({
  async start({ ports }: { ports: number[] }) {
    relay = await startRelay(ports);
    tokens = createTokens(
      ports.map((port) => `http://127.0.0.1:${port}/graphql`),
      createClient,
    );
  },
  follow({ specs }: { specs: FollowerSpec[] }) {
    for (const spec of specs) follow(spec);
  },
  /** The followers that an update has not reached within this time. */
  async haveNot({ expected, withinMs }: { expected: [number, id: string][]; withinMs: number }) {
    const came = await Promise.all(expected.map(([number, id]) => has(followers.get(number)!, id, withinMs)));
    return expected.flatMap(([number], index) => (came[index] ? [] : [number]));
  },
  beginCut: ({ number, how, refuses }: { number: number; how: Cut; refuses: boolean }) =>
    relay.beginCut(number, how, refuses),
  isCut: ({ number, withinMs }: { number: number; withinMs: number }) =>
    within(withinMs, (settle) => relay.whenCut(number).then(settle)),
  restore: ({ number }: { number: number }) => relay.restore(number),
  /** The followers that have not connected to an instance within this time. */
  async notConnected({ numbers, withinMs }: { numbers: number[]; withinMs: number }) {
    const connected = await Promise.all(
      numbers.map((number) => within(withinMs, (settle) => relay.whenConnected(number).then(settle))),
    );
    return numbers.filter((_, index) => !connected[index]);
  },
  tokenOf: ({ number }: { number: number }) => tokens.lastOf(followers.get(number)!.spec),
  pause: ({ numbers }: { numbers: number[] }) => relay.pause(numbers),
  resume: ({ numbers }: { numbers: number[] }) => relay.resume(numbers),
  async leave() {
    isLeaving = true;
    await Promise.all([...followers.values()].map(({ leave }) => leave()));
    relay.close();
  },
  received: (): Received => ({
    updates: [...updates.keys()],
    sequences: [...followers.values()].map(({ spec, places }) => [spec.number, places]),
    errors,
    causes,
    outages: relay.outages,
    ends: relay.ends,
    tokens: tokens.minted,
  }),
});
