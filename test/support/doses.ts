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
  /** SIGTERM under load, on each database. */
  STOPS: [1, 50],
} as const satisfies Record<string, readonly [test: number, attack: number]>;

export function dose(name: keyof typeof DOSES): number {
  const [test, attack] = DOSES[name];
  const own = process.env[`PSA_DOSE_${name}`];
  return own === undefined ? (process.env.PSA_DOSE === 'full' ? attack : test) : Number(own);
}
