import { assertUnrestrictedKey } from '../access/model.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import {
  PermissionError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
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

const WalletSuccess = builder.objectRef<{ wallet: Wallet }>('WalletSuccess').implement({
  fields: (t) => ({ wallet: t.field({ type: WalletRef, resolve: ({ wallet }) => wallet }) }),
});

builder.mutationField('createTestPayment', (t) =>
  t.field({
    type: WalletSuccess,
    description: 'With a test key alone. Answers with the wallet that it has fed.',
    args: { input: t.arg({ type: CreateTestPaymentInput, required: true }) },
    errors: {
      union: { name: 'CreateTestPaymentResult' },
      types: [ValidationError, PermissionError, RateLimitError, UnavailableError, UpstreamError],
    },
    resolve: async (_, { input }, context) => {
      const caller = callerOf(context);
      assertUnrestrictedKey(caller);
      await context.services.sandbox.createTestPayment(caller.tenant, input);
      return { wallet: await context.services.wallet.read(caller.tenant) };
    },
  }),
);
