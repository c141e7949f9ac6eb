import { builder } from '../../api/graphql/builder.ts';
import { authorized, successType } from '../../api/graphql/mutations.ts';
import { assertUnrestrictedKey } from '../../kernel/caller.ts';
import {
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import type { Wallet } from '../../money-out/wallet/model.ts';
import { WalletRef } from '../../money-out/wallet/schema.ts';
import type { Charge } from '../charges/model.ts';
import { amountInputs } from '../checkout/schema.ts';
import type { Payment } from '../payments/model.ts';
import type { Subscription } from '../subscriptions/model.ts';
import {
  type CreateTestPaymentInput,
  createTestPaymentInput,
  type SandboxService,
  type SimulatePaymentInput,
  simulatePaymentInput,
} from './model.ts';

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    sandbox: SandboxService;
  }
}

const CreateTestPaymentInputRef = builder.inputType('CreateTestPaymentInput', {
  description: 'Values of a test payment, which feeds the simulated balance. Sandbox only.',
  validate: { schema: createTestPaymentInput as never },
  fields: (t) => ({
    ...amountInputs(t, 'The amount in cents; at least 1. Required.'),
    pending: t.boolean({
      defaultValue: false,
      description: 'Whether the amount counts as pendingReleaseCents until the simulator settles it.',
    }),
  }),
});

const CreateTestPaymentSuccess = successType<{ wallet: Wallet }>(
  'CreateTestPaymentSuccess',
  (t) => ({ wallet: t.expose('wallet', { type: WalletRef }) }),
  { formerly: 'WalletSuccess' },
);

builder.mutationField('createTestPayment', (t) =>
  t.field({
    type: CreateTestPaymentSuccess,
    description: 'Creates a test payment, and returns the wallet that it has fed. Test keys only.',
    args: { input: t.arg({ type: CreateTestPaymentInputRef, required: true }) },
    errors: { types: [ValidationError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { input }, { services }) => {
      await services.sandbox.createTestPayment(tenant, input as CreateTestPaymentInput);
      return { wallet: await services.wallet.read(tenant) };
    }),
  }),
);

const SimulatedOutcome = builder.enumType('SimulatedOutcome', {
  description: 'The outcome that a payment with a test key is given.',
  values: {
    PAID: { value: 'paid', description: 'The payer pays; late if the payment has expired.' },
    DECLINED: {
      value: 'declined',
      description:
        'The payer’s bank refuses: a cycle is retried, an authorization is rejected. Not for a payment or charge.',
    },
    EXPIRED: { value: 'expired', description: 'The time to pay ends now. Not allowed with amountCents.' },
  } as const,
});

const SimulatePaymentInputRef = builder.inputType('SimulatePaymentInput', {
  description:
    'The action of the payer of a payment or a charge, in the sandbox: the same input is the same PIX, and changes nothing when it is repeated. For a subscription each call is its next step.',
  validate: { schema: simulatePaymentInput as never },
  fields: (t) => ({
    id: t.string({
      required: true,
      description:
        'A paymentId or chargeId; or a subscriptionId, for its authorization and then its next cycle.',
    }),
    outcome: t.field({
      type: SimulatedOutcome,
      defaultValue: 'paid',
      description: 'The outcome of the payment; PAID if omitted.',
    }),
    amountCents: t.field({
      type: 'Cents',
      description:
        'The amount in cents that the payer sends, if it is not the requested one: it is sent back. Null is refused.',
    }),
  }),
});

const SimulatePaymentSuccess = successType<{ node: Payment | Charge | Subscription }>(
  'SimulatePaymentSuccess',
  (t) => ({
    node: t.field({
      type: builder.nodeInterfaceRef(),
      description: 'The payment, charge or subscription in its state after the simulation.',
      resolve: ({ node }) => node,
    }),
  }),
);

builder.mutationField('simulatePayment', (t) =>
  t.field({
    type: SimulatePaymentSuccess,
    description:
      'Plays the payer of a payment, charge or subscription that was created with a test key. Test keys only.',
    args: { input: t.arg({ type: SimulatePaymentInputRef, required: true }) },
    errors: {
      types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { input }, { services }) => ({
      node: await services.sandbox.simulatePayment(tenant, input as SimulatePaymentInput),
    })),
  }),
);
