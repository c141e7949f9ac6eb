import type { Context } from '../../../api/graphql/context.ts';
import type { Caller } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import type { PaymentStatus } from '../../receiving/model.ts';
import type { PixReads, PixResource } from '../model.ts';

/** A change of a resource that a PIX code pays, or its first state. */
export interface PixUpdate<R extends PixResource> {
  cursor: string;
  occurredAt: Date;
  previousStatus: R['status'] | null;
  resource: R;
}

/** Statuses that complete a resource's stream; an expired one's stays open, for it may be paid late. */
const COMPLETES: ReadonlySet<string> = new Set<PaymentStatus>(['paid', 'failed', 'refunded']);

type Resource = 'payment' | 'charge';

/** Creates the streams of one family. */
export function pixUpdates<R extends PixResource>({
  resource,
  title,
  readsOf,
  mayRead,
  statusSince,
}: {
  resource: Resource;
  /** The resource at the beginning of a sentence. */
  title: string;
  readsOf(context: Context): Pick<PixReads<R, never>, 'assertId' | 'findWithVersion'>;
  /** Whether a resource exists for a caller. @throws PermissionError */
  mayRead(caller: Caller, id: string): boolean;
  /** The instant at which a resource reached its status. */
  statusSince(resource: R): Date;
}) {
  /** An update with the state at the time of the change. */
  function toItem(event: StoredEvent, cursor: string): PixUpdate<R> {
    if (event.resource !== resource) throw new TypeError(`${event.kind} is not a ${resource}'s event`);
    const { occurredAt, previousStatus, snapshot } = event;
    return { cursor, occurredAt, previousStatus, resource: snapshot as unknown as R };
  }

  return {
    toItem,

    /** Follows one resource: its state first, then each change. */
    follow(context: Context, caller: Caller, id: string, after: string | null | undefined) {
      return context.subscribe({
        topic: { resource, resourceId: id },
        after,
        async begin() {
          if (!mayRead(caller, id)) throw new NotFoundError(`${title} not found`);
          const reads = readsOf(context);
          reads.assertId(id);
          const found = await reads.findWithVersion(caller.tenant, id);
          if (!found) throw new NotFoundError(`${title} not found`);
          return {
            version: found.version,
            first: (cursor: string): PixUpdate<R> => ({
              cursor,
              occurredAt: statusSince(found.resource),
              previousStatus: null,
              resource: found.resource,
            }),
            isOver: COMPLETES.has(found.resource.status),
          };
        },
        toItem,
        isLast: (event) => event.resource === resource && COMPLETES.has(event.snapshot.status),
      });
    },

    /** Follows the resources of the family that a filter selects: no first state, only changes. */
    followAll: (context: Context, after: string | null | undefined, isSelected: (resource: R) => boolean) =>
      context.subscribe({
        topic: { resource },
        matches: (event) => event.resource === resource && isSelected(event.snapshot as unknown as R),
        after,
        toItem,
        isLast: () => false,
      }),
  };
}
