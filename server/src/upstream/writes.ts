import type { UpstreamDependencies } from './dependencies.ts';
import type { Endpoint, Endpoints } from './endpoint-availability.ts';
import { assertConclusive } from './responses.ts';
import type { RequestOptions, UpstreamAnswer, UpstreamRequest } from './upstream.ts';

/**
 * Sends one request that changes something, at most once. Afterwards, even after a failure, everything is
 * read again. Resolves with an answer that settles the request.
 * @throws RateLimitError, UpstreamFault; UpstreamError if there is no such endpoint
 */
export type Write = (
  endpoint: Endpoint,
  request: Omit<UpstreamRequest, 'requestOptions'>,
) => Promise<UpstreamAnswer>;

export function createWrite(
  { upstream, reads }: Pick<UpstreamDependencies, 'upstream' | 'reads'>,
  endpoints: Endpoints,
  requestOptions: RequestOptions = { priority: 'money' },
): Write {
  return async (endpoint, request) => {
    const { environment } = request;
    const answer = await endpoints
      .ask(environment, endpoint, () => upstream.send({ ...request, requestOptions }))
      .finally(() => reads.forget(environment));
    assertConclusive(answer);
    return answer;
  };
}
