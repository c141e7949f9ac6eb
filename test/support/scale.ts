/** The scale of a run: `npm test`, `test:all`, `nightly -- attack`, `attack`. The runner sets `PSA_SCALE`. */
export type Scale = 'sample' | 'medium' | 'large' | 'full';

const SCALES: readonly Scale[] = ['sample', 'medium', 'large', 'full'];

/**
 * The size of each test that runs in several sizes, from `sample` to `full`. A variable with the size's name overrides
 * all of them: `PSA_SCALE_KILLS=3`.
 */
const SIZES = {
  /** Points of a commit or a send at which a process is killed, on each database. */
  BOUNDARIES: [2, 4, 20, Number.POSITIVE_INFINITY],
  /** Minutes in which a stranger spends the budget of a facade. */
  STRANGER_MINUTES: [1, 2, 10, 10],
  /** The number of kills at each of these boundaries. */
  BOUNDARY_KILLS: [1, 1, 1, 20],
  /** Requests of two facades over a network that fails. */
  FAULTY_CALLS: [36, 700, 4_000, 10_000],
  /** Histories of payouts whose answers are lost, and which a facade finds in a list. */
  LOST_ANSWERS: [8, 60, 200, 200],
  /** Connections to PostgreSQL that are cut before a COMMIT arrives, and as many after it was done. */
  CUTS: [1, 6, 60, 300],
  /** Deaths of PGlite's worker around a COMMIT, which lose the connection to it. */
  WORKER_DEATHS: [1, 1, 5, 300],
  /** Fields with a bad value, one at a time. */
  BAD_INPUTS: [200, 3_000, 20_000, 50_000],
  /** `kill -9` at a random moment, on each database. */
  KILLS: [2, 4, 25, 300],
  /** Groups of commands of several tenants, which two instances commit at once. */
  GROUPS_OF_TENANTS: [20, 1_000, 5_000, 5_000],
  /** Rounds of 64 callers with one idempotency key, on each database. */
  ONE_KEY: [1, 5, 50, 500],
  /** Concurrent callers that request the same operation, or the same money. */
  CALLERS: [12, 64, 64, 64],
  /** Histories of what a facade sees of a service’s money. */
  SEEN_STATEMENTS: [10, 100, 1_000, 5_000],
  /** Attempts that are paid by card and by PIX at the same moment, by two instances. */
  ATTEMPTS: [24, 300, 1_000, 1_000],
  /** Interleavings of a payment's approval and its expiry. */
  EXPIRIES: [20, 40, 200, 1_000],
  /** Amounts of cents, from 0, that are written in reais and read back. */
  AMOUNTS: [300_000, 20_000_000, 20_000_000, 20_000_000],
  /** Simulated histories of 200 steps each; `npm run sim` plays 10,000. */
  SEEDS: [2, 40, 500, 500],
  /** Values of single rows that are changed behind the back of the books, and found. */
  PLANTED_ROWS: [5, 300, 1_000, 10_000],
  /** Histories of orders that every party sees; `npm run sim -- --orders` plays 10,000. */
  ORDERS: [20, 100, 1_000, 10_000],
  /** Histories of facades in front of an unreliable service; `npm run sim -- --facade` plays 10,000. */
  STORIES: [2, 20, 300, 1_000],
  /**
   * Tenants that use others' ids with tokens and restricted keys. With unrestricted keys all of them do, or two in
   * `npm test`.
   */
  TENANTS_WITH_TOKENS: [1, 1, 4, 4],
  /** The levels of objects that a tenant selects with an unrestricted key. */
  LEVELS: [2, 3, 4, 4],
  /** The number of other tenants whose ids each tenant uses with tokens; with its own key it uses those of all. */
  PAIRS_OF_TOKENS: [1, 1, 1, 3],
  /** The distance of the positions at which a credential is altered. */
  PLACES_APART: [16, 1, 1, 1],
  /** The distance at a facade, whose check is the same code. */
  FACADE_PLACES_APART: [33, 9, 3, 1],
  /** Merchants whose receivers of webhooks hang at once, eight events each. */
  HANGING_RECEIVERS: [2, 12, 25, 100],
  /** Webhooks of a redelivery whose server is killed again and again. */
  RESENT: [600, 2_000, 5_000, 5_000],
  /** Places in its work at which it is killed. */
  RESEND_KILLS: [3, 8, 40, 40],
  /** Histories of endpoints that change while events happen. */
  ENDPOINT_HISTORIES: [20, 40, 1_000, 1_000],
  /** WebSockets that are open at once. */
  SOCKETS: [10, 200, 2_000, 10_000],
  /** Followers that read nothing, by each transport. */
  PAUSED: [2, 10, 50, 200],
  /** Event streams of one key that read nothing. */
  UNREAD_STREAMS: [0, 100, 500, 2_000],
  /** Events for the paused followers: a queue holds 256, and buffers on the way hold some more. */
  PAUSED_EVENTS: [450, 450, 1_000, 5_000],
  /** Operations that one socket begins. */
  SUBSCRIPTIONS: [120, 200, 1_000, 5_000],
  /** Event streams, and as many subscriptions over WebSockets, each with an operation of its own, for each credential. */
  OWN_OPERATIONS: [24, 200, 1_000, 3_000],
  /** Minutes in which these operations are opened again. */
  OWN_OPERATIONS_MINUTES: [3, 3, 5, 10],
  /** Rows of a list that is exported while others write. */
  EXPORTED_ROWS: [2_000, 100_000, 100_000, 100_000],
  /** Cursors that are followed while the log loses its oldest events. */
  AGED_CURSORS: [100, 2_000, 10_000, 10_000],
  /** Megabytes of a `connection_init`. */
  INIT_MB: [1, 1, 10, 50],
  /** Sockets and streams of a credential that expires. */
  EXPIRING: [4, 20, 200, 2_000],
  /** Requests for each refusal, whose cost is measured as their median. */
  REFUSALS: [1, 1, 5, 20],
  /** Requests that all differ. */
  DISTINCT_REQUESTS: [320, 10_000, 100_000, 1_000_000],
  /** Random documents whose answers are compared with those of the execution that compiles nothing. */
  DOCUMENTS: [60, 1_000, 20_000, 100_000],
  /** Random subscriptions, compared in the same way. */
  SUBSCRIPTION_DOCUMENTS: [20, 600, 5_000, 20_000],
  /** Rows of each list, whose pages are all read. */
  LIST_ROWS: [3_000, 6_000, 12_000, 1_000_000],
  /** Requests that are never sent to their end. */
  HALF_OPEN: [10, 60, 200, 1_000],
  /** Requests of a well-behaved client beside the half-open ones. */
  BESIDE: [10, 20, 200, 3_000],
  /**
   * Payments that stock clients follow through cuts. In three of four rounds every connection is cut. With ten clients 90
   * payments take 486 of the 600 root fields that the tokens of an account have in a minute of the test's clock.
   */
  RESUMED: [12, 90, 90, 90],
  /** Payouts that `<psa-payouts>` shows, each of them with a cut of its connection. */
  CUT_PAYOUTS: [6, 24, 24, 24],
  /** Followers of accounts with frequent payments, at three instances. */
  DOSE_ACTIVE: [20, 20, 200, 2_000],
  /** Followers of accounts without events, at the same time. */
  DOSE_IDLE: [40, 40, 800, 8_000],
  /** Connections of these followers that are cut. */
  DOSE_CUTS: [60, 60, 1_000, 10_000],
  /** Rolling restarts of the three instances in the meantime. */
  DOSE_RESTARTS: [1, 1, 1, 2],
  /** The number of instances that are killed by `kill -9`. */
  DOSE_KILLS: [1, 1, 2, 4],
  /** The number of times that some followers read nothing for a while. */
  DOSE_SLOW_READS: [1, 1, 2, 5],
  /** SIGTERM under load, on each database. */
  STOPS: [1, 1, 5, 50],
  /** Bundlers and frameworks whose pages are tested by a purchase: one of each kind, or all. */
  FRAMEWORKS: [3, 3, 99, 99],
  /** Engines and looks in which all pages of a full account are drawn: Chromium's light one, or all. */
  ENGINE_LOOKS: [1, 1, 99, 99],
  /** Milliseconds for which a database is silent. */
  OUTAGE_MS: [12_000, 30_000, 30_000, 30_000],
} as const satisfies Record<string, readonly [sample: number, medium: number, large: number, full: number]>;

export type SizeName = keyof typeof SIZES;

/** The size of a test in this run. */
export function scale(name: SizeName): number {
  const own = process.env[`PSA_SCALE_${name}`];
  return own === undefined ? sizeAt(currentScale(), name) : Number(own);
}

/** The size of a test in a run of this scale. */
export function sizeAt(of: Scale, name: SizeName): number {
  return SIZES[name][SCALES.indexOf(of)]!;
}

/** Whether this run tries all cases, as `npm run test:all` does, and not a sample. */
export function runsAll(): boolean {
  return currentScale() !== 'sample';
}

/**
 * Selects every `step`th of `cases` in `npm test`, and always the first and the last; all of them in `npm run
 * test:all`. For tables whose rows differ only in their values.
 */
export function sampled<Case>(cases: readonly Case[], step: number): readonly Case[] {
  if (runsAll()) return cases;
  return cases.filter((_, index) => index % step === 0 || index === cases.length - 1);
}

/**
 * The number of generated cases: all in `npm run test:all`; in `npm test` a tenth of `max`, or another part if each
 * case is a long history.
 */
export function generated(max: number, part = 10): number {
  return generatedAt(currentScale(), max, part);
}

/** The number of generated cases in a run of this scale. */
export function generatedAt(of: Scale, max: number, part = 10): number {
  return of === 'sample' ? Math.ceil(max / part) : max;
}

/**
 * Selects a third of `cases` in `npm run test:all`, another third each day, and all of them in `npm run nightly -- planted`.
 * For planted faults, which show that a checker sees.
 */
export function ofToday<Case>(cases: readonly Case[]): readonly Case[] {
  if (currentScale() !== 'medium') return cases;
  const today = Math.floor(Date.now() / 86_400_000);
  return cases.filter((_, index) => index % 3 === today % 3);
}

/** Selects the first of `cases` in `npm test`; all of them in `npm run test:all`. For variants of one case. */
export function firstInSample<Case>(cases: readonly Case[]): readonly Case[] {
  return runsAll() ? cases : cases.slice(0, 1);
}

/** Selects `cases` in `npm run test:all`, and none in `npm test`. For variants of the file's other tests. */
export function onlyInAll<Case>(cases: readonly Case[]): readonly Case[] {
  return runsAll() ? cases : [];
}

function currentScale(): Scale {
  const name = (process.env.PSA_SCALE ?? 'sample') as Scale;
  if (!SCALES.includes(name)) throw new Error(`PSA_SCALE is ${name}, and must be one of ${SCALES}.`);
  return name;
}
