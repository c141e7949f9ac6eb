import { z } from 'zod';
import type { Environment } from './tenant.ts';

/**
 * The result of asking an endpoint of the service behind a facade. `unread`: it answers, and the facade cannot read all that it
 * needs. `empty`: it answers, and has nothing to show yet. `no_answer`: nothing that is the service's own. `not_asked`: the
 * endpoint changes something.
 */
export type EndpointFinding =
  | 'read'
  | 'unread'
  | 'empty'
  | 'not_offered'
  | 'refused'
  | 'no_answer'
  | 'not_asked';

export interface CheckedEndpoint {
  /** The method and the path: `GET /v1/products/{id}`. */
  endpoint: string;
  finding: EndpointFinding;
  /** The members that were not read, by the names of the document or of this project's own service. */
  unread: string[];
  /** The reason of a refusal or of no answer, in words. */
  detail: string | null;
}

export interface CheckedFeature {
  feature: string;
  /** `unknown`: nothing was there to read, or there was no answer. */
  works: 'yes' | 'partly' | 'no' | 'unknown';
  because: string;
}

export interface UpstreamCheck {
  environment: Environment;
  /** Whether each endpoint that is offered was read, or has nothing to show. */
  ok: boolean;
  endpoints: CheckedEndpoint[];
  features: CheckedFeature[];
}

export const checkUpstreamInput = z.strictObject({ environment: z.enum(['live', 'sandbox']).optional() });

/** The check of the service behind a facade, for the operator of the server. */
export interface UpstreamChecker {
  /** Asks the service by reads alone, within the budget. @throws UnavailableError (this server is no facade, or has no such key) */
  checkUpstream(input: z.output<typeof checkUpstreamInput>): Promise<UpstreamCheck>;
}
