import { assertUnrestrictedKey } from '../access/model.ts';
import { builder } from '../graphql/builder.ts';
import { authorized, successType } from '../graphql/mutations.ts';
import { RateLimitError, UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import type { Wallet } from '../wallet/model.ts';
import { WalletRef } from '../wallet/schema.ts';
import { createTestPaymentInput } from './model.ts';

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
