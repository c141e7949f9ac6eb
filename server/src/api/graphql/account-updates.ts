import { assertMayFollowAccount, callerOf } from '../../kernel/caller.ts';
import { PaymentError, PermissionError, ValidationError } from '../../kernel/errors.ts';
import type { Resource, StoredEvent } from '../../state/events/event.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

/** An update of any kind. */
interface AccountChange {
  cursor: string;
  occurredAt: Date;
}

export const AccountUpdate = builder.interfaceRef<AccountChange>('AccountUpdate').implement({
  description: 'A change of any resource of the account; the argument `kinds` selects which.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'The time of the change.' }),
  }),
  resolveType: (update) => typenames.get(update),
});

/** The type of each update, which its slice sets for a union that it does not know. */
const typenames = new WeakMap<object, string>();

/** The updates of one kind, as its slice follows them. */
interface Followed {
  /** The resources, at the beginning of a sentence. */
  covers: string;
  typename: string;
  resource: Resource;
  /**
   * Returns the topic and the items that a caller follows.
   * @throws PermissionError if it may not
   */
  follow(context: Context): {
    /** Selects events of the resource; by default all. */
    matches?: (event: StoredEvent) => boolean;
    toItem: (event: StoredEvent, cursor: string) => AccountChange;
  };
  /** Refuses a kind that the service behind the facade does not offer. */
  assertOffered?(context: Context): void;
}

const kinds = new Map<string, Followed>();

/** Makes the updates of a slice a part of `accountUpdates`. Their type implements `AccountUpdate`. */
export function addAccountUpdates(kind: string, followed: Followed): void {
  kinds.set(kind, followed);
}

/** Adds `accountUpdates` to the schema, when every slice has added its updates. */
export function addAccountUpdatesField(): void {
  const kindEnum = builder.enumType('AccountUpdateKind', {
    description: 'The kinds of updates of accountUpdates.',
    values: Object.fromEntries(
      [...kinds]
        .sort()
        .map(([kind, { covers, typename }]) => [
          kind,
          { value: kind, description: `${covers}: ${typename}.` },
        ]),
    ),
  });

  builder.queryField('updateKinds', (t) =>
    t.field({
      type: [kindEnum],
      description:
        'The kinds that accountUpdates sends to the credential: those that it may follow and the upstream service reports.',
      resolve(_, __, context) {
        assertMayFollowAccount(callerOf(context));
        return offeredKinds(context);
      },
    }),
  );

  builder.subscriptionField('accountUpdates', (t) =>
    t.field({
      type: AccountUpdate,
      description:
        'All changes that the credential may follow, in one stream with one cursor, in the order in which they happened: what a dashboard opens. No first state, only changes; never coalesced.',
      args: {
        after: t.arg.string({ description: 'The cursor of an update, or an `updatesCursor`.' }),
        kinds: t.arg({
          type: [kindEnum],
          description:
            'The kinds to send. If omitted: all that the credential may follow and the upstream service reports. A named kind is refused with FORBIDDEN if the credential may not follow it, and with NOT_OFFERED if the upstream service does not report it: SUBACCOUNT, and REFUND without refunds.',
        }),
      },
      subscribe: (_, { after, kinds: wanted }, context) => {
        const followers = wanted ? followWanted(wanted, context) : followAllowed(context);
        return context.subscribe<AccountChange>({
          topic: { resources: [...followers.keys()] },
          matches: (event) => followers.get(event.resource)?.matches(event) ?? false,
          after,
          toItem: (event, cursor) => followers.get(event.resource)!.toItem(event, cursor),
          isLast: () => false,
        });
      },
      resolve: (update) => update,
    }),
  );
}

type Followers = ReadonlyMap<Resource, Required<ReturnType<Followed['follow']>>>;

/** @throws PermissionError, ValidationError */
function followWanted(wanted: readonly string[], context: Context): Followers {
  if (wanted.length === 0)
    throw new ValidationError([{ path: 'kinds', message: 'must name at least one kind' }]);
  const followed = wanted.map((kind) => kinds.get(kind)!);
  return new Map(
    followed.map((each) => {
      const follower = followerOf(each, context);
      each.assertOffered?.(context);
      return [each.resource, follower];
    }),
  );
}

/** @throws PermissionError if the credential may follow nothing */
function followAllowed(context: Context): Followers {
  const followers = [...kinds.values()].flatMap((each) => {
    try {
      return [[each.resource, followerOf(each, context)] as const];
    } catch (error) {
      if (error instanceof PermissionError) return [];
      throw error;
    }
  });
  if (followers.length === 0) throw new PermissionError('This credential follows nothing of the account');
  return new Map(followers);
}

function offeredKinds(context: Context): string[] {
  return [...kinds.keys()].sort().filter((kind) => {
    try {
      followWanted([kind], context);
      return true;
    } catch (error) {
      if (error instanceof PaymentError) return false;
      throw error;
    }
  });
}

function followerOf({ typename, follow }: Followed, context: Context) {
  const { matches = () => true, toItem } = follow(context);
  return {
    matches,
    toItem(event: StoredEvent, cursor: string) {
      const item = toItem(event, cursor);
      typenames.set(item, typename);
      return item;
    },
  };
}
