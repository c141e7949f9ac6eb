import type { Context } from '../../../api/graphql/context.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { type Caller, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import type { PaymentStatus } from '../../receiving/model.ts';
import { PaymentStatusEnum } from '../../receiving/sale-schema.ts';
import type { PixReads, PixResource } from '../model.ts';

/** Statuses that complete a resource's stream; an expired one's stays open, for it may be paid late. */
const COMPLETES: ReadonlySet<string> = new Set<PaymentStatus>(['paid', 'failed', 'refunded']);

/** Creates the streams of one family. */
export function pixUpdates<Resource extends PixResource>({
  readsOf,
  mayRead,
  assertReader,
  statusSince,
  ...family
}: Pick<
  Parameters<typeof defineUpdates<'payment' | 'charge', Resource>>[0],
  'type' | 'kind' | 'covers' | 'resource' | 'title' | 'fields'
> & {
  readsOf(context: Context): Pick<PixReads<Resource, never>, 'assertId' | 'findWithVersion'>;
  /** Whether a resource exists for a caller. @throws PermissionError */
  mayRead(caller: Caller, id: string): boolean;
  /** @throws PermissionError if a caller may not read all of them */
  assertReader(caller: Caller): void;
  /** The instant at which a resource reached its status. */
  statusSince(resource: Resource): Date;
}) {
  const updates = defineUpdates<'payment' | 'charge', Resource>({
    ...family,
    description: `A change of a ${family.resource}: of its status, its code, its refunds or its returned credits.`,
    status: PaymentStatusEnum,
    keepsStatus: true,
    authorize: (context) => assertReader(callerOf(context)),
    isOver: ({ status }) => COMPLETES.has(status),
  });

  return {
    type: updates.type,

    /** Follows one resource: its state first, then each change. */
    follow(context: Context, id: string, after: string | null | undefined) {
      const caller = callerOf(context);
      return updates.follow(context, id, after, async () => {
        if (!mayRead(caller, id)) throw new NotFoundError(`${family.title} not found`);
        const reads = readsOf(context);
        reads.assertId(id);
        const found = await reads.findWithVersion(caller.tenant, id);
        return found && { version: found.version, item: found.resource, since: statusSince(found.resource) };
      });
    },

    /** Follows the resources of the family that a filter selects: no first state, only changes. */
    followAll: (
      context: Context,
      after: string | null | undefined,
      select: () => (resource: Resource) => boolean,
    ) =>
      updates.followAll(context, after, () => {
        const isSelected = select();
        return ({ snapshot }) => isSelected(snapshot as unknown as Resource);
      }),
  };
}
