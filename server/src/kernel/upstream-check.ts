import { z } from 'zod';
import type { Environment } from './tenant.ts';

/**
 * The result of calling an endpoint of the service behind a facade. `unread`: it answers, but without all
 * members that the facade needs. `empty`: it answers, but has nothing to show yet. `no_answer`: no answer of
 * the service itself. `not_asked`: the endpoint changes something, so the check does not call it.
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
  /** The members that could not be read, by their names in the document or in this project's own service. */
  unread: string[];
  /** The reason for a refusal or a missing answer, in words. */
  detail: string | null;
}

export interface CheckedFeature {
  feature: string;
  /** `unknown`: the endpoint had nothing to show, or did not answer. */
  works: 'yes' | 'partly' | 'no' | 'unknown';
  because: string;
}

export interface UpstreamCheck {
  environment: Environment;
  /** Whether each endpoint that the service offers could be read, or has nothing to show. */
  ok: boolean;
  endpoints: CheckedEndpoint[];
  features: CheckedFeature[];
}

export const checkUpstreamInput = z.strictObject({ environment: z.enum(['live', 'sandbox']).optional() });

/** The check of the service behind a facade, for the operator of the server. */
export interface UpstreamChecker {
  /**
   * Calls the service by reads alone, within the budget. @throws PreconditionError (this server is no facade,
   * or has no such key)
   */
  checkUpstream(input: z.output<typeof checkUpstreamInput>): Promise<UpstreamCheck>;
}
