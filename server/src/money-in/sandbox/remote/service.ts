import { type PaymentError, PreconditionError } from '../../../kernel/errors.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createEndpoints } from '../../../upstream/endpoint-availability.ts';
import {
  invalidInput,
  isSuccess,
  messageOf,
  refusalOf,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { createWrite } from '../../../upstream/writes.ts';
import { assertSandbox, type SandboxService } from '../model.ts';

const POST = { name: 'POST /v1/sandbox/payments', inWords: 'test payments' };
/** The longest wait of the mutation for its slot, for it may not be sent twice. */
const WAIT_MS = 10_000;

/** Test payments over HTTP. Their response is not read, for their effect is on the wallet. */
export function createRemoteSandbox({
  clock,
  upstream,
  reads,
  pollNow,
}: UpstreamDependencies): Pick<RemoteSlice<SandboxService>, 'serviceFor'> {
  const write = createWrite({ upstream, reads }, createEndpoints(clock), {
    priority: 'query',
    waitMs: WAIT_MS,
  });

  const service: SandboxService = {
    async createTestPayment(tenant, { valueCents, pending }) {
      assertSandbox(tenant.environment);
      const { environment } = tenant;
      const request = {
        environment,
        method: 'POST',
        path: '/v1/sandbox/payments',
        body: { valueCents, ...(pending == null ? {} : { pending }) },
      } as const;
      // No money is real here, so a retry does no harm.
      const answer = await withUpstreamErrors(write(POST, request)).finally(() => pollNow(tenant, 'wallet'));
      if (!isSuccess(answer)) throw refusalOfTestPayment(answer);
      return { valueCents, status: pending ? 'pending' : 'paid' };
    },

    async simulatePayment({ environment }) {
      assertSandbox(environment);
      throw new PreconditionError(
        'NOT_OFFERED',
        'Playing a payer is not offered by the payments service behind this server',
      );
    },
  };
  return { serviceFor: () => service };
}

function refusalOfTestPayment(answer: { status: number; body: unknown }): PaymentError {
  const message = messageOf(answer.body);
  if (answer.status === 400) return invalidInput(message);
  if (answer.status === 409)
    return new PreconditionError('LIMIT_REACHED', message ?? 'The sandbox holds as much as it can count');
  return refusalOf(answer);
}
