import { derivedFor } from '../../server/src/programs/verify/laws/derived.ts';
import type { Law } from '../../server/src/programs/verify/laws/law.ts';

/** The queries of laws over whole tables, by the laws in words. */
export function queriesOf(laws: readonly Law[]): Record<string, string> {
  return Object.fromEntries(
    laws.map(({ explain, sql }) => {
      const derived = derivedFor(sql);
      return [explain, derived.length > 0 ? `with ${derived.join()} ${sql}` : sql];
    }),
  );
}
