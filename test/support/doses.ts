/**
 * How much of an attack runs: the first number in `npm test`, the second in `npm run attack`, which sets
 * `PSA_DOSE=full`. The variable of a dose's own name goes before both: `PSA_DOSE_KILLS=3`.
 */
const DOSES = {
  /** Requests of two facades over a network that fails. */
  FAULTY_CALLS: [1_500, 10_000],
  /** `kill -9` at a moment drawn at random, on each database. */
  KILLS: [8, 300],
  /** Rounds of 64 callers with one idempotency key, on each database. */
  ONE_KEY: [5, 500],
  /** Ways in which a payment's approval meets its expiry. */
  EXPIRIES: [40, 1_000],
  /** Histories of the engine, each 200 steps; `npm run sim` plays 10,000. */
  SEEDS: [500, 500],
} as const satisfies Record<string, readonly [test: number, attack: number]>;

export function dose(name: keyof typeof DOSES): number {
  const [test, attack] = DOSES[name];
  const own = process.env[`PSA_DOSE_${name}`];
  return own === undefined ? (process.env.PSA_DOSE === 'full' ? attack : test) : Number(own);
}
