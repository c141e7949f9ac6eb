import { askedOf, type Condition } from '../../../kernel/list-filter.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Family } from '../../../upstream/family-mirror.ts';
import { createFamilyReads, type RemoteReads } from '../../../upstream/family-reads.ts';
import { withNotOffered } from '../../../upstream/responses.ts';
import { PAYMENT_STATUSES } from '../../receiving/model.ts';
import { POLLED_STATUSES, pollInterval } from '../../receiving/poll-interval.ts';
import type { PixFilter, PixResource } from '../model.ts';

/** Creates the reads of a family of PIX codes, in front of another service. */
export function createRemotePixReads<
  R extends PixResource,
  C extends { status: string | null },
  Filter extends object,
  Listed extends PixFilter,
>(
  facade: UpstreamDependencies,
  {
    path,
    inWords,
    lookup,
    conditions,
    kind,
    kinds,
    filterOf,
    ...family
  }: {
    family: Family<R, C>;
    /** The path of the family, below which a resource is found by its id. */
    path: `/v1/${string}`;
    /** The name of the family, and of its lookup, for an error. */
    inWords: string;
    lookup: string;
    isId: (text: string) => boolean;
    /**
     * The conditions of the filter, and the filter member that divides the lists, with its values. In the
     * mirror that member is the parent.
     */
    conditions: Readonly<Record<string, Condition>>;
    kind: keyof Listed & string;
    kinds: readonly string[];
    /** Translates a filter of the port into one of lists. */
    filterOf: (filter: Filter) => Listed;
    readClaim: (body: unknown) => C | null;
    readEvent: (payload: unknown) => C | null;
  },
): RemoteReads<R, C, Filter> {
  return createFamilyReads<R, C, Filter>(facade, {
    ...family,
    endpoint: { name: `GET ${path}/{id}`, inWords: `looking ${lookup} up` },
    pathOf: (id) => `${path}/${id}`,
    ofFamily: { name: `GET ${path}`, inWords, path },
    offered: (read) => withNotOffered(`Looking ${lookup} up`, read),
    allOf: { parent: kinds, status: [...PAYMENT_STATUSES, 'unknown'] },
    rangeOf(filter) {
      const { status, createdAfter, createdBefore, [kind]: parent, ...details } = filterOf(filter);
      return {
        status,
        parent: parent as readonly string[] | undefined,
        period: { from: createdAfter, before: createdBefore },
        details: { asked: askedOf(conditions, details) },
      };
    },
    pollInterval,
    polledStatuses: POLLED_STATUSES,
  });
}
