import { assertUnrestrictedKey } from '../access/model.ts';
import type { Charge } from '../charges/model.ts';
import { builder } from '../graphql/builder.ts';
import { authorized, successType } from '../graphql/mutations.ts';
import {
  NotFoundError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import type { Payment } from '../payments/model.ts';
import type { Subscription } from '../subscriptions/model.ts';
import type { Wallet } from '../wallet/model.ts';
import { WalletRef } from '../wallet/schema.ts';
import { createTestPaymentInput, type SimulatePaymentInput, simulatePaymentInput } from './model.ts';

const CreateTestPaymentInput = builder.inputType('CreateTestPaymentInput', {
  description: 'Sandbox: a test payment that feeds the simulated balance.',
  validate: { schema: createTestPaymentInput },
  fields: (t) => ({
    valueCents: t.field({ type: 'Cents', required: true, description: 'At least 1.' }),
    pending: t.boolean({
      defaultValue: false,
      description: 'Counts as pendingReleaseCents until the simulator settles it.',
    }),
  }),
});

const WalletSuccess = successType<{ wallet: Wallet }>('WalletSuccess', (t) => ({
  wallet: t.expose('wallet', { type: WalletRef }),
}));

builder.mutationField('createTestPayment', (t) =>
  t.field({
    type: WalletSuccess,
    description: 'With a test key alone. Answers with the wallet that it has fed.',
    args: { input: t.arg({ type: CreateTestPaymentInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, UnavailableError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { input }, { services }) => {
      await services.sandbox.createTestPayment(tenant, input);
      return { wallet: await services.wallet.read(tenant) };
    }),
  }),
);

const SimulatedOutcome = builder.enumType('SimulatedOutcome', {
  values: {
    PAID: { value: 'paid', description: 'The payer pays; late where the payment has expired.' },
    DECLINED: {
      value: 'declined',
      description:
        'The payer’s bank refuses: a cycle is retried, an authorisation is rejected. Not for a payment or charge.',
    },
    EXPIRED: { value: 'expired', description: 'Its time ends now. Not together with amountCents.' },
  } as const,
});

const SimulatePaymentInputRef = builder.inputType('SimulatePaymentInput', {
  description:
    'Sandbox: what the payer of a payment or a charge does: the same input is the same PIX, and changes nothing when it is repeated. Of a subscription each is its next step.',
  validate: { schema: simulatePaymentInput as never },
  fields: (t) => ({
    id: t.string({
      required: true,
      description:
        'A paymentId or chargeId; or a subscriptionId: its authorisation, then its cycle that is next.',
    }),
    outcome: t.field({ type: SimulatedOutcome, defaultValue: 'paid' }),
    amountCents: t.field({ type: 'Cents', description: 'Another amount than asked for: sent back.' }),
  }),
});

const SimulatePaymentSuccess = successType<{ node: Payment | Charge | Subscription }>(
  'SimulatePaymentSuccess',
  (t) => ({
    node: t.field({
      type: builder.nodeInterfaceRef(),
      description: 'The payment, charge or subscription as it stands then.',
      resolve: ({ node }) => node,
    }),
  }),
);

builder.mutationField('simulatePayment', (t) =>
  t.field({
    type: SimulatePaymentSuccess,
    description:
      'With a test key alone: plays the payer of a payment, charge or subscription that was created with one.',
    args: { input: t.arg({ type: SimulatePaymentInputRef, required: true }) },
    errors: {
      types: [ValidationError, NotFoundError, RateLimitError, UnavailableError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { input }, { services }) => ({
      node: await services.sandbox.simulatePayment(tenant, input as SimulatePaymentInput),
    })),
  }),
);
