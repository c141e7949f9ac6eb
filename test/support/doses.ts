/**
 * How much of an attack runs: the first number in `npm test`, the second in `npm run attack`, which sets
 * `PSA_DOSE=full`. The variable of a dose's own name goes before both: `PSA_DOSE_KILLS=3`.
 */
const DOSES = {
  /** Of the places where something is committed or sent, at how many a process dies, on each database. */
  BOUNDARIES: [4, Number.POSITIVE_INFINITY],
  /** How often it dies at each of them. */
  BOUNDARY_KILLS: [1, 20],
  /** Requests of two facades over a network that fails. */
  FAULTY_CALLS: [1_500, 10_000],
  /** Connections to PostgreSQL that are cut around a COMMIT, before it arrives and as often after it was done. */
  CUTS: [20, 300],
  /** The same of PGlite, which is lost with its worker. */
  WORKER_DEATHS: [1, 300],
  /** `kill -9` at a moment drawn at random, on each database. */
  KILLS: [8, 300],
  /** Rounds of 64 callers with one idempotency key, on each database. */
  ONE_KEY: [5, 500],
  /** Ways in which a payment's approval meets its expiry. */
  EXPIRIES: [40, 1_000],
  /** Amounts of cents, from 0, that are written in reais and read back. */
  AMOUNTS: [20_000_000, 20_000_000],
  /** Histories of the engine, each 200 steps; `npm run sim` plays 10,000. */
  SEEDS: [500, 500],
  /** Tenants whose names each tenant asks with by tokens and restricted keys; by its key it asks with those of all. */
  PAIRS_OF_TOKENS: [1, 3],
  /** Of a facade's credential, how far apart the places are at which it is changed. */
  PLACES_APART: [9, 1],
  /** Merchants whose receivers of webhooks hang at once, eight events each. */
  HANGING_RECEIVERS: [12, 100],
  /** WebSockets that are open at once. */
  SOCKETS: [200, 10_000],
  /** Followers that read nothing, by each transport. */
  PAUSED: [10, 200],
  /** What happens meanwhile: a queue holds 256, and buffers on the way some more. */
  PAUSED_EVENTS: [450, 5_000],
  /** Operations that one socket begins. */
  SUBSCRIPTIONS: [200, 5_000],
  /** Megabytes of a `connection_init`. */
  INIT_MB: [1, 50],
  /** Sockets and streams of a credential that expires. */
  EXPIRING: [20, 2_000],
  /** How often each refusal is asked for: what it costs is a median. */
  REFUSALS: [1, 20],
  /** Requests that are never sent to their end. */
  HALF_OPEN: [60, 1_000],
  /** Requests of a client that does as it should, meanwhile. */
  BESIDE: [20, 3_000],
  /** SIGTERM under load, on each database. */
  STOPS: [1, 50],
} as const satisfies Record<string, readonly [test: number, attack: number]>;

export function dose(name: keyof typeof DOSES): number {
  const [test, attack] = DOSES[name];
  const own = process.env[`PSA_DOSE_${name}`];
  return own === undefined ? (process.env.PSA_DOSE === 'full' ? attack : test) : Number(own);
}
