import type { Asker } from '../kernel/asker.ts';
import { type PaymentError, UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import {
  hasNoEndpoint,
  isNotImplemented,
  isSuccess,
  messageOf,
  noEndpoint,
  refusalOf,
} from '../upstream/answers.ts';
import { createEndpoints } from '../upstream/endpoints.ts';
import type { Facade } from '../upstream/facade.ts';
import { UpstreamFault } from '../upstream/upstream.ts';
import { assertSandbox, type SandboxService } from './model.ts';

export interface RemoteSandbox {
  serviceFor(asker: Asker): SandboxService;
}

const POST_PAYMENT = 'POST /v1/sandbox/payments';
/** Somebody waits for it, and it may not be sent twice. */
const WAIT_MS = 10_000;

/** Test payments over HTTP; of the answer nothing is needed, for what they make is the wallet. */
export function createRemoteSandbox({ clock, upstream, reads, nudge }: Facade): RemoteSandbox {
  const endpoints = createEndpoints(clock);

  function missing(): UpstreamError {
    endpoints.markMissing(POST_PAYMENT);
    return noEndpoint('test payments');
  }

  const service: SandboxService = {
    async createTestPayment(tenant, { valueCents, pending }) {
      assertSandbox(tenant.environment);
      if (endpoints.isMissing(POST_PAYMENT)) throw noEndpoint('test payments');
      try {
        const answer = await upstream.send({
          environment: tenant.environment,
          method: 'POST',
          path: '/v1/sandbox/payments',
          body: { valueCents, ...(pending == null ? {} : { pending }) },
          errand: { class: 'query', waitMs: WAIT_MS },
        });
        if (hasNoEndpoint(answer)) throw missing();
        if (!isSuccess(answer)) throw refusalOfTestPayment(answer);
      } catch (error) {
        if (isNotImplemented(error)) throw missing();
        // No money is real here: to repeat it does no harm.
        if (error instanceof UpstreamFault)
          throw new UpstreamError(error.message, { retryable: true, moneyMayHaveMoved: false });
        throw error;
      } finally {
        reads.forget(tenant.environment);
        nudge(tenant, 'wallet');
      }
      return { valueCents, status: pending ? 'pending' : 'paid' };
    },
  };
  return { serviceFor: () => service };
}

function refusalOfTestPayment(answer: { status: number; body: unknown }): PaymentError {
  const said = messageOf(answer.body);
  if (answer.status === 400)
    return new ValidationError([
      { path: 'input', message: said ?? 'the payments service does not accept it' },
    ]);
  if (answer.status === 409)
    return new UnavailableError('LIMIT_REACHED', said ?? 'The sandbox holds as much as it can count');
  return refusalOf(answer);
}
