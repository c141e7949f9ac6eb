import { type RestOperation, restOperation } from '../../api/http/rest.ts';
import type { StoredCharge } from '../charges/model.ts';
import type { StoredPayment } from '../payments/model.ts';
import type { StoredSubscription } from '../subscriptions/model.ts';
import { type SandboxService, type StoredTestPayment, testPaymentBody } from './model.ts';
import { testPaymentWire } from './wire.ts';

/** Test payments in the REST interface (the document's 1 and 4.5). */
export function createSandboxRoutes({
  sandbox,
}: {
  sandbox: SandboxService<StoredTestPayment, StoredPayment | StoredCharge | StoredSubscription>;
}): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/sandbox/payments',
      operationId: 'createTestPayment',
      summary: 'Create a test payment, which feeds the simulated balance, or pay a payment or a charge',
      description:
        'With an amount alone, `valueCents` or `amountCents`, it creates a test payment. With `id` it plays the payer of a payment or a charge that was created with a test key: the payer pays, sends another amount, or lets it expire. The same body is the same PIX, so that a repeated request changes nothing. With the `id` of a subscription each request is its next step: the authorization, then the attempt of its open cycle, paid or declined.',
      tag: 'Sandbox',
      section: '4.5',
      body: testPaymentBody,
      example: { valueCents: 4990, pending: false },
      answers: {
        201: {
          description: 'The test payment, or what `id` names as it stands then',
          schema: testPaymentWire,
        },
      },
      errors: {
        403: 'A live key: the sandbox takes test keys alone',
        404: 'No such payment, charge or subscription of this account in sandbox',
        409: 'The sandbox holds as much as it can count; or what `id` names has no code, has failed, or has ended and cannot expire',
      },
      async handle({ caller, body }) {
        const { valueCents, pending, id, outcome, amountCents } = body;
        if (id == null)
          return {
            status: 201,
            body: await sandbox.createTestPayment(caller.tenant, {
              valueCents: (valueCents ?? amountCents)!,
              pending,
            }),
          };
        const payment = await sandbox.simulatePayment(caller.tenant, { id, outcome, amountCents });
        const { status, createdAt } = payment;
        return { status: 201, body: { id, valueCents: payment.amountCents, status, createdAt } };
      },
    }),
  ];
}
