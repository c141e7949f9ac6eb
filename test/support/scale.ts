/** How much a run tries: `npm test`, `test:all`, `nightly -- attack`, `attack`. The runner sets `PSA_SCALE`. */
type Scale = 'sample' | 'medium' | 'large' | 'full';

const SCALES: readonly Scale[] = ['sample', 'medium', 'large', 'full'];

/**
 * The size of each test that can be played in several sizes, from `sample` to `full`. The variable of a size's own name
 * goes before all of them: `PSA_SCALE_KILLS=3`.
 */
const SIZES = {
  /** Places of a commit or a send at which a process is killed, on each database. */
  BOUNDARIES: [2, 4, 20, Number.POSITIVE_INFINITY],
  /** Kills at each of these places. */
  BOUNDARY_KILLS: [1, 1, 1, 20],
  /** Requests of two facades over a network that fails. */
  FAULTY_CALLS: [100, 1_500, 4_000, 10_000],
  /** Connections to PostgreSQL that are cut around a COMMIT, before it arrives and as often after it was done. */
  CUTS: [2, 20, 60, 300],
  /** The same of PGlite, which is lost with its worker. */
  WORKER_DEATHS: [1, 1, 5, 300],
  /** Fields with a bad value, one at a time. */
  BAD_INPUTS: [300, 11_000, 20_000, 50_000],
  /** `kill -9` at a random moment, on each database. */
  KILLS: [3, 8, 25, 300],
  /** Rounds of 64 callers with one idempotency key, on each database. */
  ONE_KEY: [1, 5, 50, 500],
  /** Callers that ask for the same, or for the same money, at once. */
  CALLERS: [12, 64, 64, 64],
  /** Ways in which a payment's approval meets its expiry. */
  EXPIRIES: [20, 40, 200, 1_000],
  /** Amounts of cents, from 0, that are written in reais and read back. */
  AMOUNTS: [300_000, 20_000_000, 20_000_000, 20_000_000],
  /** Simulated histories of 200 steps each; `npm run sim` plays 10,000. */
  SEEDS: [6, 200, 500, 500],
  /** Stories of facades in front of a service that loses and contradicts; `npm run sim -- --facade` plays 10,000. */
  STORIES: [2, 100, 300, 1_000],
  /** Tenants whose names each tenant asks with by tokens and restricted keys; by its key it asks with those of all. */
  PAIRS_OF_TOKENS: [1, 1, 1, 3],
  /** The distance of the places at which a facade's credential is changed. */
  PLACES_APART: [33, 9, 3, 1],
  /** Merchants whose receivers of webhooks hang at once, eight events each. */
  HANGING_RECEIVERS: [4, 12, 25, 100],
  /** WebSockets that are open at once. */
  SOCKETS: [10, 200, 2_000, 10_000],
  /** Followers that read nothing, by each transport. */
  PAUSED: [2, 10, 50, 200],
  /** Event streams of one key that read nothing. */
  UNREAD_STREAMS: [5, 100, 500, 2_000],
  /** Events for them: a queue holds 256, and buffers on the way some more. */
  PAUSED_EVENTS: [450, 450, 1_000, 5_000],
  /** Operations that one socket begins. */
  SUBSCRIPTIONS: [120, 200, 1_000, 5_000],
  /** Megabytes of a `connection_init`. */
  INIT_MB: [1, 1, 10, 50],
  /** Sockets and streams of a credential that expires. */
  EXPIRING: [4, 20, 200, 2_000],
  /** How often each refusal is requested: its cost is a median. */
  REFUSALS: [1, 1, 5, 20],
  /** Requests, no two of them alike. */
  DISTINCT_REQUESTS: [600, 20_000, 100_000, 1_000_000],
  /** Random documents whose answers are compared with those of the execution that compiles nothing. */
  DOCUMENTS: [400, 5_000, 20_000, 100_000],
  /** The same of subscriptions. */
  SUBSCRIPTION_DOCUMENTS: [50, 1_000, 5_000, 20_000],
  /** Rows of each list; every page of it is read. */
  LIST_ROWS: [12_000, 12_000, 12_000, 1_000_000],
  /** Requests that are never sent to their end. */
  HALF_OPEN: [10, 60, 200, 1_000],
  /** Requests of a well-behaved client beside them. */
  BESIDE: [10, 20, 200, 3_000],
  /** SIGTERM under load, on each database. */
  STOPS: [1, 1, 5, 50],
  /** Milliseconds for which a database is away without a word. */
  OUTAGE_MS: [12_000, 30_000, 30_000, 30_000],
} as const satisfies Record<string, readonly [sample: number, medium: number, large: number, full: number]>;

/** The size of a test in this run. */
export function scale(name: keyof typeof SIZES): number {
  const own = process.env[`PSA_SCALE_${name}`];
  return own === undefined ? SIZES[name][SCALES.indexOf(currentScale())]! : Number(own);
}

/** Whether this run tries all that there is, as `npm run test:all` does, and not a sample. */
export function runsAll(): boolean {
  return currentScale() !== 'sample';
}

/**
 * Every `each`th of `cases` in `npm test`, and always the first and the last; all of them in `npm run test:all`. For
 * tables whose rows differ in nothing but their values.
 */
export function sampled<Case>(cases: readonly Case[], each: number): readonly Case[] {
  if (runsAll()) return cases;
  return cases.filter((_, index) => index % each === 0 || index === cases.length - 1);
}

/** How many of up to `most` generated cases are tried: a quarter of them in `npm test`, and all in `npm run test:all`. */
export function generated(most: number): number {
  return runsAll() ? most : Math.ceil(most / 4);
}

/** The first of `cases` in `npm test`; all of them in `npm run test:all`. For what repeats one thing in another form. */
export function firstInSample<Case>(cases: readonly Case[]): readonly Case[] {
  return runsAll() ? cases : cases.slice(0, 1);
}

/** `cases` in `npm run test:all`, and none of them in `npm test`. For what other tests of the file show in another form. */
export function onlyInAll<Case>(cases: readonly Case[]): readonly Case[] {
  return runsAll() ? cases : [];
}

function currentScale(): Scale {
  const given = (process.env.PSA_SCALE ?? 'sample') as Scale;
  if (!SCALES.includes(given)) throw new Error(`PSA_SCALE is ${given}, and must be one of ${SCALES}.`);
  return given;
}
