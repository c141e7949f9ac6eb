import { type RestOperation, restOperation } from '../http/rest.ts';
import { createTestPaymentInput, type SandboxService, type StoredTestPayment } from './model.ts';
import { testPaymentWire } from './wire.ts';

/** Test payments in the REST interface (the document's 1 and 4.5). */
export function createSandboxRoutes({
  sandbox,
}: {
  sandbox: SandboxService<StoredTestPayment>;
}): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/sandbox/payments',
      operationId: 'createTestPayment',
      summary: 'Create a test payment, which feeds the simulated balance',
      tag: 'Sandbox',
      section: '4.5',
      body: createTestPaymentInput,
      example: { valueCents: 4990, pending: false },
      answers: { 201: { description: 'The test payment', schema: testPaymentWire } },
      errors: {
        403: 'A live key: the sandbox takes test keys alone',
        409: 'The sandbox holds as much as it can count',
      },
      async handle({ caller, body }) {
        return { status: 201, body: await sandbox.createTestPayment(caller.tenant, body) };
      },
    }),
  ];
}
