import type { Law } from '../../server/src/programs/verify/laws/law.ts';

/** The queries of laws, by the laws in words. */
export function queriesOf(laws: readonly Law[]): Record<string, string> {
  return Object.fromEntries(laws.map(({ explain, sql }) => [explain, sql]));
}
