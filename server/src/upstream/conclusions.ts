import type { Writes } from '../state/commit/commit.ts';
import type { Family } from './family-mirror.ts';
import { knownAs, type Observation, readNamed } from './mirror.ts';

/** The conclusions of this server about a request whose outcome is unknown, and which the service does not show. */
export interface Conclusions<R> {
  /** The observation that the outcome is unknown. `again`: subscribers are notified once more. */
  inDoubtOf(request: R, at: Date, again: boolean): Observation;
  /** The observation that the service never did it. `ifShown`: recorded only if it was shown in doubt. */
  neverMadeOf(request: R, at: Date, options: { ifShown: boolean }): Observation;
}

/** Creates the conclusions about the requests of a family. A request is given as its resource in doubt. */
export function conclusionsOf<R extends { version: number; status: string; inDoubt?: boolean | undefined }>(
  { resource, fromJson }: Pick<Family<R, never>, 'resource' | 'fromJson'>,
  {
    namedBy,
    neverMade,
    writesOf,
  }: {
    /** The id of a request's record, and the names by which it is known. */
    namedBy: (request: R) => { id: string; names: readonly string[] };
    /** The end of a resource that was never made. */
    neverMade: (known: R, at: Date) => R;
    writesOf: (next: R, before: R | null, at: Date) => Writes;
  },
): Conclusions<R> {
  function conclusion(request: R, at: Date, decide: (known: R | null) => R | null): Observation {
    const named = namedBy(request);
    return {
      read: (reader) => readNamed(reader, resource, named),
      decide(state) {
        const row = knownAs(state, resource, named);
        const known = row && fromJson(row.snapshot);
        const next = decide(known);
        return { resourceId: row?.id ?? named.id, writes: next ? writesOf(next, known, at) : {} };
      },
    };
  }

  return {
    inDoubtOf: (request, at, again) =>
      conclusion(request, at, (known) =>
        // A resource that the service has shown, or that was never made, stays so.
        known && (!known.inDoubt || !again) ? null : { ...request, version: (known?.version ?? 0) + 1 },
      ),
    neverMadeOf: (request, at, { ifShown }) =>
      conclusion(request, at, (known) => {
        const isRecorded = known ? known.inDoubt === true : !ifShown;
        return isRecorded ? neverMade(known ?? request, at) : null;
      }),
  };
}
