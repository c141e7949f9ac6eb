import type { Counts } from '../ops/erasure/rows.ts';
import {
  type BeginErasureInput,
  distinct,
  type ErasureStep,
  type ErasureSteps,
  type Kept,
} from '../ops/erasure/steps.ts';

export interface Erased {
  /** Null in a dry run. */
  readonly erasureId: string | null;
  /** The number of changed rows of each table. */
  readonly erased: Counts;
  readonly kept: readonly Kept[];
  /** The addresses and documents of the customers that were found, masked. */
  readonly found: readonly string[];
  readonly notReached: readonly string[];
}

/** Erases a person step by step. A call that was interrupted is repeated. */
export async function performErasure(steps: ErasureSteps, request: BeginErasureInput): Promise<Erased> {
  const { tenants, erasureId, isOfFacade } = await steps.beginErasure(request);
  const { accountId: _, requestedBy: __, isDryRun: ___, ...person } = request;
  const erased: Counts = {};
  const kept: Kept[] = [];
  const found = new Set<string>();
  for (const tenant of tenants)
    for (let place: ErasureStep['place'] = { table: 0, after: null }; place; ) {
      const step: ErasureStep = await steps.stepErasure({
        ...{ ...tenant, ...person, place, erasureId: erasureId ?? undefined },
      });
      for (const [table, count] of Object.entries(step.counts)) erased[table] = (erased[table] ?? 0) + count;
      kept.push(...step.kept);
      for (const each of step.found) found.add(each);
      place = step.place;
    }
  if (erasureId !== null) await steps.endErasure({ erasureId });
  return {
    ...{ erasureId, erased, kept: distinct(kept), found: [...found].sort() },
    notReached: isOfFacade ? [...NOT_REACHED, OF_SERVICE] : NOT_REACHED,
  };
}

const NOT_REACHED = [
  'backups and archives that were written before',
  'the webhooks, exports and answers that others have received',
  'the content of files in disputes about payments of others',
  'ids, idempotency keys and externalIds that the merchant has chosen',
];
const OF_SERVICE =
  'the service behind this facade, which keeps its own: what it shows again is kept again, so let it erase the person first';

/** Formats the result for a person. It repeats nothing of the one that was erased. */
export function formatErased({ erasureId, erased, kept, found, notReached }: Erased): string {
  const counts = Object.entries(erased).map(([table, count]) => `${count} of ${table}`);
  const rows = counts.length === 0 ? 'no rows' : `rows: ${counts.join(', ')}`;
  const end =
    erasureId === null
      ? `Dry run, nothing has changed: ${rows}.`
      : `Erased, ${rows}. Recorded as ${erasureId}.`;
  const stays = kept.map(({ resource, id, reason }) => `  ${resource} ${id}: ${reason}\n`).join('');
  return [
    `${end}\n`,
    stays && `\nKept for now; repeat the command once these have ended:\n${stays}`,
    found.length > 0 &&
      `\nTheir customers were named by ${found.join(', ')}. Give what else is of the person, too.\n`,
    `\nNot reached: ${notReached.join('; ')}.\n`,
  ]
    .filter(Boolean)
    .join('');
}
