import { expect } from 'vitest';
import { CLAIMED_AFTER_MS } from '../../server/src/money-in/disputes/model.ts';
import { type Arrival, type Fault, PASS, type Plan } from '../support/fault-proxy.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { runsAll } from '../support/scale.ts';
import type { ChildServer } from './child.ts';
import { rowsOf } from './facade-audit.ts';
import type { Facade } from './facades.ts';

// Requests of the families in PSA_UPSTREAM_FAMILIES. A facade dies between the intent of each and the service's
// answer.

export const FAMILIES = 'payments,charges,subscriptions,deliveries,disputes,refunds';

/** A request, and how its answers name the resources that it has created or changed. */
interface FamilyRequest {
  readonly name: string;
  /** The idempotency key; the path of a deletion, which has none. */
  readonly key: string;
  /** Whether the facade dies before the service has the request, or before the facade has the answer. */
  readonly when: 'before' | 'after';
  readonly mutation: string;
  readonly variables: Record<string, unknown>;
  readonly idOf: (done: Done) => string | undefined;
  /** A query for the ids of the created or changed resources at the service. */
  readonly made: string;
  readonly ids: Set<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of GraphQL
type Done = any;

const KEY = 'family:';

function keyOf({ idempotencyKey, method, path }: Arrival): string | null {
  return method === 'DELETE' ? path : idempotencyKey;
}

/** Refusals of a facade whose budget is used up, or that pauses its requests: nothing was sent. */
const COME_BACK = ['RATE_LIMITED', 'UPSTREAM_UNAVAILABLE'];

/** Creates the resources that are refunded, disputed or delivered, and the requests. */
export async function prepareFamilies({
  service,
  merchant,
  subaccountId,
  pass,
}: {
  service: ChildServer;
  merchant: GraphQLClient;
  subaccountId: string;
  /** Advances the service's clock. */
  pass: (ms: number) => Promise<void>;
}) {
  const all: FamilyRequest[] = [];
  for (const [nth, when] of (['before', 'after'] as const).entries()) {
    type Wanted = Pick<FamilyRequest, 'mutation' | 'idOf' | 'made'>;
    const add = (name: string, { input, ...request }: Wanted & { input: object }) => {
      const key = `${KEY}${name}:${when}`;
      const variables = { input: { ...input, idempotencyKey: key } };
      all.push({ name, key, when, ids: new Set(), variables, ...request });
    };
    const addDeletion = (
      name: string,
      { path, ...request }: Wanted & Pick<FamilyRequest, 'variables'> & { path: string },
    ) => all.push({ name, key: path, when, ids: new Set(), ...request });
    const valueCents = 40_010 + nth;
    for (const [method, value] of [
      ['PIX', valueCents],
      ['LTC', valueCents + 10],
    ] as const)
      add(`payment-${method}`, {
        mutation: CREATE_PAYMENT,
        input: { valueCents: value, method },
        idOf: ({ payment }) => payment?.paymentId,
        made: `select payment_id as id from payment where amount_cents = ${value}`,
      });
    for (const [kind, value, splits] of [
      ['charge', valueCents, undefined],
      ['split', valueCents + 10, [{ subaccountId, share: { percent: '33.33' } }]],
    ] as const)
      add(kind, {
        mutation: CREATE_CHARGE,
        input: { valueCents: value, splits },
        idOf: ({ charge }) => charge?.chargeId,
        made: `select charge_id as id from charge where amount_cents = ${value}`,
      });
    add('subscription', {
      mutation: CREATE_SUBSCRIPTION,
      input: { valueCents, interval: 'MONTHLY' },
      idOf: ({ subscription }) => subscription?.subscriptionId,
      made: `select subscription_id as id from pix_subscription where amount_cents = ${valueCents}`,
    });
    const productId = await offer(when);
    add('delivery', {
      mutation: DELIVER,
      input: { productId, content: { text: 'Obrigado' } },
      idOf: ({ delivery }) => delivery?.deliveryId,
      made: `select delivery_id as id from delivery where product_id = '${productId}'`,
    });
    const refunded = await sell(30_010 + nth, 'ana@cliente.example');
    add('refund', {
      mutation: REFUND,
      input: { paymentId: refunded, amountCents: 100 },
      idOf: ({ refund }) => refund?.refundId,
      made: `select refund_id as id from refund where resource_id = '${refunded}'`,
    });
    const disputed = await sell(30_020 + nth, 'contesta@psa.example');
    await pass(CLAIMED_AFTER_MS);
    const { disputes } = await merchant.request(DISPUTES);
    const { disputeId } = disputes.nodes.find((each: Done) => each.of.paymentId === disputed);
    add('evidence', {
      mutation: SUBMIT,
      input: { disputeId, text: when },
      idOf: ({ dispute }) => dispute?.disputeId,
      made: `select id from dispute cross join lateral jsonb_array_elements(evidence) where id = '${disputeId}'`,
    });
    const { done: subscribed } = await merchant.request(CREATE_SUBSCRIPTION, {
      input: { valueCents: valueCents + 10, interval: 'MONTHLY' },
    });
    const { subscriptionId } = subscribed.subscription;
    addDeletion('canceled subscription', {
      path: `/v1/subscriptions/${subscriptionId}`,
      mutation: CANCEL_SUBSCRIPTION,
      variables: { subscriptionId },
      idOf: ({ subscription }) => subscription?.subscriptionId,
      made: `select snapshot ->> 'subscriptionId' as id from event
        where kind = 'subscription.canceled' and snapshot ->> 'subscriptionId' = '${subscriptionId}'`,
    });
    const { done: delivered } = await merchant.request(DELIVER, {
      input: { productId: await offer(`${when}, deleted`), content: { text: 'Até logo' } },
    });
    const { deliveryId } = delivered.delivery;
    addDeletion('deleted delivery', {
      path: `/v1/deliveries/${deliveryId}`,
      mutation: DELETE_DELIVERY,
      variables: { deliveryId },
      // A second deletion is answered with NOT_FOUND.
      idOf: ({ deliveryId: deleted, code }) => (code === 'NOT_FOUND' ? deliveryId : deleted),
      made: `select delivery_id as id from delivery where delivery_id = '${deliveryId}' and deleted_at is not null`,
    });
  }

  // `npm test` runs every second request, of every family.
  const requests = runsAll() ? all : all.filter(({ when }, nth) => (when === 'after') === (nth % 2 === 0));

  async function offer(name: string): Promise<string> {
    const { done } = await merchant.request(OFFER, { input: { name, priceCents: 100 } });
    return done.product.productId;
  }

  async function sell(valueCents: number, email: string): Promise<string> {
    const { done } = await merchant.request(CREATE_PAYMENT, { input: { valueCents, customer: { email } } });
    const { paymentId } = done.payment;
    await service.ask('payPix', { paymentId, endToEndId: `E00000000${'2026'.repeat(3)}${valueCents}000000` });
    return paymentId;
  }

  /** Sends a request until its answer names a resource, or the facade dies. */
  async function send(request: FamilyRequest, facade: Facade): Promise<void> {
    const { live, isOver } = await facade.now();
    const { mutation, variables, idOf, ids, name } = request;
    await expect
      .poll(
        async () => {
          try {
            const { done } = await live.request(mutation, variables);
            const id = idOf(done);
            if (id !== undefined) ids.add(id);
            else if (!COME_BACK.includes(done.code)) throw new Error(`${name}: ${JSON.stringify(done)}`);
            return id !== undefined || isOver();
          } catch (error) {
            if (error instanceof TypeError && isOver()) return true;
            throw error;
          }
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(true);
  }

  const keys: ReadonlySet<string> = new Set(requests.map(({ key }) => key));
  /** The first request of each key hangs, so that its facade is killed while it waits. */
  const hanging = new Map(requests.map(({ key, when }) => [key, { kind: 'hang', when } satisfies Fault]));

  return {
    /**
     * The plan of a network in which these requests hang until their facade dies, and meet no other fault. Until all
     * of them hang the network has no fault: after one a facade would hold requests back.
     */
    planOf: (others: Plan): Plan => {
      return (arrival) => {
        const key = keyOf(arrival);
        if (key === null || !keys.has(key)) return hanging.size > 0 ? PASS : others(arrival);
        const fault = hanging.get(key) ?? PASS;
        hanging.delete(key);
        return fault;
      };
    },

    /** Sends each request, and kills the facade once the network has all of them. */
    async killAndStartAgain(facade: Facade, arrivals: readonly Arrival[]): Promise<void> {
      const sending = Promise.all(requests.map((request) => send(request, facade)));
      const open = () =>
        requests.flatMap(({ key, when }) => {
          const [arrival] = arrivals.filter((each) => keyOf(each) === key);
          if (!arrival) return [`${key} has not arrived`];
          if (!arrival.fault) return [`${key} has not arrived in whole`];
          return when === 'after' && arrival.upstreamStatus === null ? [`${key} has no answer`] : [];
        });
      // A refused request never arrives: the refusal is a better message than a timeout.
      await Promise.race([sending, expect.poll(open).toEqual([])]);
      await facade.killAndStartAgain();
      await sending;
    },

    /**
     * Sends each request again, except for the refund that never arrived: the facade repeats it only after the
     * service has denied it for long.
     */
    async sendAgain(facade: Facade): Promise<void> {
      const again = requests.filter(({ name, when }) => name !== 'refund' || when === 'after');
      await Promise.all(again.map((request) => send(request, facade)));
    },

    /** Sends each request once more, to each facade. Returns the answers that contradict the service. */
    async complaints(facades: readonly Facade[]): Promise<string[]> {
      for (const facade of facades) await Promise.all(requests.map((request) => send(request, facade)));
      const complaints: string[] = [];
      for (const { key, ids, made } of requests) {
        const there = (await rowsOf(service, made)) as { id: string }[];
        if (there.length !== 1) complaints.push(`${key} was done ${there.length} times`);
        if ([...ids].join() !== there.map(({ id }) => id).join())
          complaints.push(`${key} was answered with ${[...ids]}, and is ${JSON.stringify(there)}`);
      }
      return complaints;
    },

    tally: () => requests.length,
  };
}

const REFUSED = '... on UserError { code message }';
const CREATE_PAYMENT = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) { ... on CreatePaymentSuccess { payment { paymentId } } ${REFUSED} }
}`;
const CREATE_CHARGE = `mutation ($input: CreateChargeInput!) {
  done: createCharge(input: $input) { ... on CreateChargeSuccess { charge { chargeId } } ${REFUSED} }
}`;
const CREATE_SUBSCRIPTION = `mutation ($input: CreateSubscriptionInput!) {
  done: createSubscription(input: $input) { ... on CreateSubscriptionSuccess { subscription { subscriptionId } } ${REFUSED} }
}`;
const CANCEL_SUBSCRIPTION = `mutation ($subscriptionId: String!) {
  done: cancelSubscription(subscriptionId: $subscriptionId) {
    ... on CancelSubscriptionSuccess { subscription { subscriptionId } } ${REFUSED}
  }
}`;
const OFFER = `mutation ($input: CreateProductInput!) {
  done: createProduct(input: $input) { ... on CreateProductSuccess { product { productId } } ${REFUSED} }
}`;
const DELIVER = `mutation ($input: CreateDeliveryInput!) {
  done: createDelivery(input: $input) { ... on CreateDeliverySuccess { delivery { deliveryId } } ${REFUSED} }
}`;
const DELETE_DELIVERY = `mutation ($deliveryId: String!) {
  done: deleteDelivery(deliveryId: $deliveryId) { ... on DeleteDeliverySuccess { deliveryId } ${REFUSED} }
}`;
const REFUND = `mutation ($input: RefundPaymentInput!) {
  done: refundPayment(input: $input) { ... on RefundPaymentSuccess { refund { refundId } } ${REFUSED} }
}`;
const SUBMIT = `mutation ($input: SubmitDisputeEvidenceInput!) {
  done: submitDisputeEvidence(input: $input) { ... on SubmitDisputeEvidenceSuccess { dispute { disputeId } } ${REFUSED} }
}`;
const DISPUTES = `{
  disputes(first: 10) { nodes { disputeId of { ... on Payment { paymentId } } } }
}`;
