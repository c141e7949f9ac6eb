import type { UpstreamFamily } from '../../kernel/upstream-family.ts';

/** The changes for which a page has a button, and the families of the service behind a facade that take them. */
const ACTIONS = {
  refund: 'refunds',
  defence: 'disputes',
  cancel: null,
  accept: null,
  cancelSubscription: 'subscriptions',
  content: 'deliveries',
} as const satisfies Record<string, UpstreamFamily | null>;
export type ConsoleAction = keyof typeof ACTIONS;

/** Lists what is offered: by this server itself all of it; in front of another service what is of a family that it takes. */
export function offeredActions(families: readonly UpstreamFamily[] | null): ConsoleAction[] {
  const actions = Object.keys(ACTIONS) as ConsoleAction[];
  return actions.filter((action) => {
    const family = ACTIONS[action];
    return families === null || (family !== null && families.includes(family));
  });
}
