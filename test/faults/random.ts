/** Random numbers from a seed, so that a run can be repeated. */
export interface Random {
  /** A whole number from 0 to `below` − 1. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
}

/** The seed in `PSA_FAULTS_SEED`, or a new one. */
export function chosenSeed(): number {
  return Number(process.env.PSA_FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
}

/** Creates a generator by the algorithm mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: (from) => from[below(from.length)]! };
}

export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const all = [...items];
  for (let index = all.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [all[index], all[other]] = [all[other]!, all[index]!];
  }
  return all;
}
