import { z } from 'zod';
import type { AccessService } from '../../access/model.ts';
import { type Route, send, sendJson } from '../../api/http/routes.ts';
import { createSameOrigin } from '../../api/http/same-origin.ts';
import { DASHBOARD_SCOPES } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { CardPaymentService } from '../../money-in/card-payments/model.ts';
import { chargeIdText } from '../../money-in/charges/model.ts';
import { type DisputeService, submitDisputeEvidenceInput } from '../../money-in/disputes/model.ts';
import { paymentIdText } from '../../money-in/payments/model.ts';
import { type RefundedResource, type RefundService, refundInput } from '../../money-in/refunds/model.ts';
import { type SubscriptionService, subscriptionIdText } from '../../money-in/subscriptions/model.ts';
import {
  type PayoutMethod,
  type PayoutService,
  requestPayoutInput,
  variantOf,
} from '../../money-out/payouts/model.ts';

/** The life of a token; the page requests a new one before it ends. */
const TOKEN_SECONDS = 900;
const noInput = z.object({});
/** A refund of a card payment, a PIX payment or a charge. */
const paymentRefundInput = refundInput
  .extend({
    orderCode: z.string().optional(),
    paymentId: paymentIdText.optional(),
    chargeId: chargeIdText.optional(),
  })
  .refine(
    ({ orderCode, paymentId, chargeId }) =>
      [orderCode, paymentId, chargeId].filter((id) => id !== undefined).length === 1,
    {
      path: ['orderCode'],
      message: 'must be given, or paymentId or chargeId in its place, and one of them alone',
    },
  );
/** A pending card payment or a subscription. */
const cancellationInput = z
  .object({ orderCode: z.string().optional(), subscriptionId: subscriptionIdText.optional() })
  .refine(({ orderCode, subscriptionId }) => (orderCode === undefined) !== (subscriptionId === undefined), {
    path: ['orderCode'],
    message: 'must be given, or subscriptionId in its place, and not both',
  });

/** The operations that a dashboard's token cannot request. */
export interface DashboardOperations {
  payouts: Pick<PayoutService, 'request'>;
  /**
   * Reads the fee of a payout by each method, which the page shows before a request, together with the kind
   * of the PIX key.
   */
  payoutFees: (tenant: Tenant) => Promise<Record<PayoutMethod, Cents>>;
  refunds: Pick<RefundService, 'request'>;
  cardPayments: Pick<CardPaymentService, 'cancel'>;
  disputes: Pick<DisputeService, 'submitEvidence'>;
  subscriptions: Pick<SubscriptionService, 'cancel'>;
}

/**
 * The routes that the dashboard at `/demo/dashboard` calls at its merchant's server: a token that reads, and the
 * operations that such a token cannot request. A real merchant's server would hold an API key and have its own
 * sign-in.
 */
export function createDashboardRoutes({
  tenant,
  access,
  operations,
  hasConsole,
  clock,
  publicUrl,
}: {
  tenant: Tenant;
  access: AccessService;
  /** Null if money would be real: then the dashboard only reads. */
  operations: DashboardOperations | null;
  hasConsole: boolean;
  clock: Clock;
  publicUrl: string;
}): Route[] {
  const { action } = createSameOrigin(publicUrl);
  const config: Route = {
    methods: ['GET'],
    path: /^\/demo\/dashboard\/config\.json$/,
    handle: ({ response }) =>
      sendJson(
        response,
        200,
        { endpoint: '/graphql', simulated: operations !== null, console: hasConsole },
        { 'cache-control': 'no-store' },
      ),
  };
  // A token is a row: only a page of this server has one minted, never an address that any page can load.
  const token = action(/^\/demo\/dashboard\/token$/, noInput, async () => {
    const { token, expiresAt } = await access.createDashboardToken(tenant, null, {
      scopes: [...DASHBOARD_SCOPES],
      expiresInSeconds: TOKEN_SECONDS,
    });
    // The page counts from `now`: its own clock may be wrong, and the simulator's may be ahead.
    return { status: 201, body: { token, expiresAt, now: clock.now() } };
  });
  const slashRedirect: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/demo\/dashboard\/$/,
    handle: ({ url, response }) => send(response, 308, '', { location: `/demo/dashboard${url.search}` }),
  };
  if (!operations) return [config, token, slashRedirect];
  const { payouts, payoutFees, refunds, cardPayments, disputes, subscriptions } = operations;
  return [
    config,
    token,
    slashRedirect,
    // An action, so that no key is part of an address.
    action(/^\/demo\/dashboard\/payout-terms$/, requestPayoutInput, async ({ method, destination }) => {
      const feeCents = (await payoutFees(tenant))[method];
      return {
        status: 200,
        body: { feeCents, destination, destinationKind: variantOf(method, destination) },
      };
    }),
    action(/^\/demo\/dashboard\/payouts$/, requestPayoutInput, async (input) => {
      const { payout, replayed } = await payouts.request(tenant, input);
      const { withdrawalId, code, status } = payout;
      return { status: 201, body: { withdrawalId, code, status, replayed } };
    }),
    action(/^\/demo\/dashboard\/refunds$/, paymentRefundInput, async (input) => {
      const { orderCode, paymentId, chargeId, ...details } = input;
      const resource: RefundedResource =
        chargeId !== undefined
          ? { type: 'charge', id: chargeId }
          : paymentId !== undefined
            ? { type: 'payment', id: paymentId }
            : { type: 'card_payment', id: orderCode! };
      const { refund, replayed } = await refunds.request(tenant, resource, details);
      const { refundId, status, amountCents } = refund;
      return { status: 201, body: { refundId, status, amountCents, replayed } };
    }),
    action(/^\/demo\/dashboard\/evidence$/, submitDisputeEvidenceInput, async (input) => {
      const { disputeId, ...evidence } = input;
      const { dispute, replayed } = await disputes.submitEvidence(tenant, disputeId, evidence);
      return { status: 201, body: { disputeId, status: dispute.status, replayed } };
    }),
    action(
      /^\/demo\/dashboard\/cancellations$/,
      cancellationInput,
      async ({ orderCode = '', subscriptionId }) => {
        if (subscriptionId !== undefined) {
          const { subscription } = await subscriptions.cancel(tenant, subscriptionId);
          const { status, canceledAt } = subscription;
          return { status: 201, body: { subscriptionId, status, canceledAt } };
        }
        const { status, canceledAt } = (await cardPayments.cancel(tenant, orderCode)).payment;
        return { status: 201, body: { orderCode, status, canceledAt } };
      },
    ),
  ];
}
