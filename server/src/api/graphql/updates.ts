import { NotFoundError } from '../../kernel/errors.ts';
import type { EventTypes, Resource, StoredEvent } from '../../state/events/event.ts';
import { AccountUpdate, addAccountUpdates } from './account-updates.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import type { Fields, Types } from './mutations.ts';

export type EventOf<R extends Resource> = Extract<StoredEvent, { resource: R }>;

/** A change of a resource, with its state at that time, or its first state. */
export interface Update<Item> {
  cursor: string;
  occurredAt: Date;
  previousStatus: string | null;
  item: Item;
}

interface Definition<R extends Resource, Item> {
  /** The name of the GraphQL type. */
  type: `${string}Update`;
  description?: string;
  /** The kind in `accountUpdates`. */
  kind: string;
  /** The resources, at the beginning of a sentence. */
  covers: string;
  resource: R;
  /** The resource at the beginning of a sentence. */
  title: string;
  /** The enum of `previousStatus`, if a resource has a status. */
  status?: PothosSchemaTypes.EnumRef<Types, string>;
  /** Whether an update may leave the status as it was. */
  keepsStatus?: boolean;
  /** Whether a first state is dated by the time of its read. */
  isDatedByReading?: boolean;
  /** The fields of this type, after those that all updates have. */
  fields: Fields<Update<Item>>;
  /** @throws PermissionError if a caller may not follow all of them */
  authorize(context: Context): void;
  /** Selects the events that a caller sees; all if left out. */
  isVisible?(context: Context): (event: EventOf<R>) => boolean;
  /** Refuses what the service behind the facade does not offer. */
  assertOffered?(context: Context): void;
  /** The item of an event; its snapshot if left out. */
  itemOf?(event: EventOf<R>, context: Context): Item;
  /** Whether a stream that begins with this state has completed; never if left out. */
  isOver?(item: Item): boolean;
  /** Whether an event completes its stream, if its state alone does not say so. */
  isLast?(event: EventOf<R>): boolean;
  /** Compares two items, if only the newest state counts. */
  isSame?(left: Item, right: Item): boolean;
}

/** A resource that was read. `since` is the instant of its state, or null if it is unknown. */
interface Found<Item> {
  version: number;
  item: Item;
  since: Date | null;
}

/**
 * Makes the type of a resource's updates, adds them to `accountUpdates`, and returns the type with two functions for the
 * subscriptions of its slice.
 */
export function defineUpdates<R extends Resource, Item = EventTypes[R]['snapshot']>({
  resource,
  authorize,
  isVisible = () => () => true,
  assertOffered,
  itemOf = ({ snapshot }) => snapshot as Item,
  isOver = () => false,
  isSame,
  ...definition
}: Definition<R, Item>) {
  const isOurs = (event: StoredEvent): event is EventOf<R> => event.resource === resource;

  const makerOf = (context: Context) => (event: StoredEvent, cursor: string) => {
    if (!isOurs(event)) throw new TypeError(`${event.kind} is not an event of ${resource}`);
    const { occurredAt, previousStatus } = event;
    return { cursor, occurredAt, previousStatus, item: itemOf(event, context) };
  };

  addAccountUpdates(definition.kind, {
    covers: definition.covers,
    typename: definition.type,
    resource,
    follow(context) {
      authorize(context);
      const isSeen = isVisible(context);
      return { matches: (event) => isOurs(event) && isSeen(event), toItem: makerOf(context) };
    },
    ...(assertOffered && { assertOffered }),
  });

  return {
    type: updateType(definition),

    /**
     * Follows one resource, or the account's only one: its state first, then each change. `find` returns null if
     * there is none.
     */
    follow(
      context: Context,
      resourceId: string | null,
      after: string | null | undefined,
      find: () => Promise<Found<Item> | null>,
    ) {
      const { isLast = (event) => isOver(itemOf(event, context)) } = definition;
      return context.subscribe<Update<Item>>({
        topic: { resource, ...(resourceId !== null && { resourceId }) },
        after,
        async begin() {
          const found = await find();
          if (!found) throw new NotFoundError(`${definition.title} not found`);
          const { version, item, since } = found;
          const occurredAt = since ?? context.clock.now();
          return {
            version,
            first: (cursor) => ({ cursor, occurredAt, previousStatus: null, item }),
            isOver: isOver(item),
          };
        },
        toItem: makerOf(context),
        isLast: (event) => isOurs(event) && isLast(event),
        ...(isSame && { coalesce: (left, right) => isSame(left.item, right.item) }),
      });
    },

    /** Follows the resources that a filter selects: no first state, only changes. `select` reads the filter. */
    followAll(
      context: Context,
      after: string | null | undefined,
      select: () => (event: EventOf<R>) => boolean,
    ) {
      authorize(context);
      const isSelected = select();
      assertOffered?.(context);
      const isSeen = isVisible(context);
      return context.subscribe<Update<Item>>({
        topic: { resource },
        matches: (event) => isOurs(event) && isSeen(event) && isSelected(event),
        after,
        toItem: makerOf(context),
        isLast: () => false,
      });
    },
  };
}

function updateType<R extends Resource, Item>({
  type,
  description,
  status,
  keepsStatus = false,
  isDatedByReading = false,
  fields,
}: Pick<
  Definition<R, Item>,
  'type' | 'description' | 'status' | 'keepsStatus' | 'isDatedByReading' | 'fields'
>) {
  return builder.objectRef<Update<Item>>(type).implement({
    interfaces: [AccountUpdate],
    ...(description !== undefined && { description }),
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description: 'The cursor to pass as `after` in order to continue behind this update.',
      }),
      occurredAt: t.expose('occurredAt', {
        type: 'DateTime',
        ...(isDatedByReading && {
          description: 'The time of the change; in the first state, the time at which it was read.',
        }),
      }),
      ...(status && {
        previousStatus: t.field({
          type: status,
          nullable: true,
          ...(keepsStatus && {
            description:
              'The status before the change, or the current status if another member has changed; null in a first state.',
          }),
          resolve: ({ previousStatus }) => previousStatus as never,
        }),
      }),
      ...fields(t),
    }),
  });
}
