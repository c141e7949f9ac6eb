import type { FilterField } from '../../src/list/filter-fields.ts';
import type { ListKind } from '../../src/list/list-kind.ts';
import { subscriptionCells } from './cells.ts';
import {
  STATUSES,
  SUBSCRIPTION_DETAILS,
  SUBSCRIPTION_TOPIC,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_POLL,
  SUBSCRIPTIONS_START,
  type Subscription,
  type SubscriptionsAnswer,
  type SubscriptionUpdate,
} from './operations.ts';
import type { Texts } from './texts.ts';

const FIELDS: readonly FilterField<Texts>[] = [
  { name: 'amountCents', label: 'amountBrl', reads: 'amount' },
  { name: 'createdAfter', label: 'createdFrom', reads: 'from' },
  { name: 'createdBefore', label: 'createdUntil', reads: 'until' },
];

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
  topic: SUBSCRIPTION_TOPIC,
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
  search: { property: 'search', label: 'searchLabel' },
  memberOf(condition, text) {
    if (condition !== 'search') return;
    if (text.includes('@')) return { customer: { email: text } };
    // No number of a customer is longer.
    if (!text.startsWith('psa_sub_')) return { customer: { externalId: text.slice(0, 200) } };
    return { reference: text.replace(/[^!-~]/g, '').slice(0, 100) };
  },
  async loadControls() {
    const { createFilterForm } = await import('../../src/list/filters.ts');
    return { createForm: (parts) => createFilterForm(parts, FIELDS, {}) };
  },
  loadDetails: () => import('./details.ts'),
};
