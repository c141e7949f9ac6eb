import { z } from 'zod';
import {
  anyOf,
  centsQuery,
  customerQuery,
  listQuery,
  periodQuery,
  readListQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import {
  createSubscriptionInput,
  type StoredCycle,
  type StoredSubscription,
  SUBSCRIPTION_STATUSES,
  type SubscriptionFilter,
  type SubscriptionService,
  subscriptionIdText,
} from './model.ts';
import { SHOWN_CYCLES, subscriptionToWire, subscriptionWire } from './wire.ts';

const TAG = 'Subscriptions';
const NOT_FOUND = 'No such subscription of this account in this environment';
const params = z.object({ id: subscriptionIdText });

/** Recurring PIX in the REST interface (the document's 2.5 and 4.5). */
export function createSubscriptionRoutes({
  subscriptions,
  requestKeys,
  publicUrl,
}: {
  subscriptions: SubscriptionService<StoredSubscription, StoredCycle>;
  requestKeys: RequestKeys;
  publicUrl: string;
}): RestOperation[] {
  async function toWire(tenant: Tenant, shown: readonly StoredSubscription[]) {
    const ids = shown.map(({ subscriptionId }) => subscriptionId);
    const cyclesOf = await subscriptions.newestCycles(tenant, ids, SHOWN_CYCLES);
    return shown.map((subscription, nth) => subscriptionToWire(subscription, cyclesOf[nth] ?? [], publicUrl));
  }

  return [
    restOperation({
      method: 'POST',
      path: '/v1/subscriptions',
      operationId: 'createSubscription',
      summary: 'Create a recurring PIX',
      description:
        'Show the payer `pixCopyPaste`, as text and as a QR code, or send it to `checkoutUrl`: it authorizes the subscription and pays the first cycle. The bank debits each further cycle when it is due. Where the bank gives no code the answer is 502: repeat the request with its idempotencyKey.',
      tag: TAG,
      section: '4.5',
      body: createSubscriptionInput,
      example: {
        valueCents: 4990,
        interval: 'monthly',
        description: 'Clube do café',
        customer: { name: 'Maria da Silva', email: 'maria@example.com' },
        metadata: '{"member":"1042"}',
      },
      answers: { 201: { description: 'The subscription, pending', schema: subscriptionWire } },
      errors: {
        409: 'PIX is not configured for the account, or the idempotency key was used with another input',
        502: 'The bank gave no code',
      },
      async handle({ caller, body }) {
        const { subscription, replayed } = await subscriptions.create(caller.tenant, body);
        const [shown] = await toWire(caller.tenant, [subscription]);
        return { status: 201, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subscriptions/{id}',
      operationId: 'getSubscription',
      summary: 'Look a subscription up, with its last 12 cycles',
      tag: TAG,
      section: '4.5',
      params,
      answers: { 200: { description: 'The subscription as it stands', schema: subscriptionWire } },
      errors: { 404: NOT_FOUND },
      async handle({ caller, params: { id } }) {
        const subscription = await subscriptions.find(caller.tenant, id);
        if (!subscription) throw new NotFoundError('Subscription not found');
        const [shown] = await toWire(caller.tenant, [subscription]);
        return { status: 200, body: shown! };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/subscriptions/{id}',
      operationId: 'cancelSubscription',
      summary: 'Cancel a subscription',
      description:
        'No cycle is debited from now on, except one that the payer’s bank can no longer recall: from 22:00 of the evening before its day. If that is paid, it is paid. A subscription that has ended stays as it is.',
      tag: TAG,
      section: '4.5',
      params,
      answers: { 200: { description: 'The subscription as it stands', schema: subscriptionWire } },
      errors: { 404: NOT_FOUND },
      async handle({ caller, params: { id } }) {
        const { subscription, replayed } = await subscriptions.cancel(caller.tenant, id);
        const [shown] = await toWire(caller.tenant, [subscription]);
        return { status: 200, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subscriptions',
      operationId: 'listSubscriptions',
      summary: 'List subscriptions, newest first',
      description: 'An extension of the document.',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        status: anyOf(SUBSCRIPTION_STATUSES, 'subscriptions'),
        reference: textQuery('Selects the subscription with this id'),
        ...customerQuery,
        ...centsQuery('subscriptions whose cycles are each'),
        ...periodQuery('created', 'subscriptions created'),
        ...periodQuery('canceled', 'subscriptions canceled'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('subscriptions', subscriptionWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => subscriptions.listPage(tenant, readListQuery<SubscriptionFilter>(page)),
          made: async (key) => {
            const id = await requestKeys.resourceOf(tenant, 'createSubscription', key);
            return id === null ? null : subscriptions.find(tenant, id);
          },
        });
        return { status: 200, body: { subscriptions: await toWire(caller.tenant, items), total, ...query } };
      },
    }),
  ];
}
