import type { ListKind } from '../../src/list/list-kind.ts';
import { createSearchField } from '../../src/list/search-field.ts';
import { subscriptionCells } from './cells.ts';
import {
  STATUSES,
  SUBSCRIPTION_DETAILS,
  SUBSCRIPTION_UPDATES,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_POLL,
  SUBSCRIPTIONS_START,
  type Subscription,
  type SubscriptionsAnswer,
  type SubscriptionUpdate,
} from './operations.ts';
import type { Texts } from './texts.ts';

/** The list of subscriptions. */
export const subscriptions: ListKind<Subscription, Texts> = {
  name: 'subscription',
  title: 'subscriptions',
  documents: {
    start: SUBSCRIPTIONS_START,
    page: SUBSCRIPTIONS,
    poll: SUBSCRIPTIONS_POLL,
    details: SUBSCRIPTION_DETAILS,
  },
  listOf: (answer) => (answer as SubscriptionsAnswer).subscriptions,
  topic: { kinds: ['SUBSCRIPTION'], alone: () => SUBSCRIPTION_UPDATES },
  rowOf(update) {
    const { subscription = null, subscriptionBefore } = update as Partial<SubscriptionUpdate>;
    return { row: subscription, previous: subscriptionBefore };
  },
  time: 'created',
  timeOf: ({ createdAt }) => createdAt,
  keys: {
    amount: ({ amountCents }) => amountCents,
    // A subscription that debits nothing any more comes last.
    next: ({ nextDueAt }) => (nextDueAt ? Date.parse(nextDueAt) : Number.MAX_VALUE),
    // An unknown status comes last.
    status: ({ status }) => STATUSES.indexOf(status as 'ACTIVE') >>> 0,
  },
  sorts: ['-created', 'created', 'next', '-next', '-amount', 'amount', 'status', '-status'],
  group: 'status',
  groupOf: ({ status }) => status,
  property: 'statuses',
  values: STATUSES,
  // They are rare, and the buttons fill a phone’s width.
  rare: ['COMPLETED', 'EXPIRED'],
  conditions: ['createdAfter', 'createdBefore', 'amountCents', 'search'],
  columns: ['status', 'amount', 'payer', 'next', 'created'],
  cells: subscriptionCells,
  spoken: ({ amountCents, status }, texts) => ({
    amount: texts.formats.money(amountCents),
    status: texts.text(status).toLowerCase(),
  }),
  search: createSearchField('search', 'searchLabel'),
  memberOf(condition, text) {
    if (condition !== 'search') return;
    if (text.includes('@')) return { customer: { email: text } };
    // No number of a customer is longer.
    if (!text.startsWith('psa_sub_')) return { customer: { externalId: text.slice(0, 200) } };
    return { reference: text.replace(/[^!-~]/g, '').slice(0, 100) };
  },
  async loadControls() {
    const { CREATED, createControls } = await import('../../src/list/filters.ts');
    return createControls<Texts>(CREATED, {});
  },
  loadDetails: () => import('./details.ts'),
};
